package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

// One server through its life in this process: ready, usable, a second one refused, ended by its last client, and nothing but two lines said.
func TestLifeOfAServer(t *testing.T) {
	dir := t.TempDir()
	clients, readyFile := filepath.Join(dir, "clients"), filepath.Join(dir, "server.json")
	require.NoError(t, os.Mkdir(clients, 0o700))
	me := lockClient(t, clients, "me.lock")
	args := []string{"server", "start-dev", "--port", "0", "--db-filename", filepath.Join(dir, "{version}.db"), "--ready-file", readyFile,
		"--clients-dir", clients, "--idle-exit", "50ms", "--search-attribute", "Phase=Keyword"}
	var out, errOut strings.Builder
	ended := make(chan int, 1)
	go func() { ended <- run(args, &out, &errOut) }()
	info := awaitReadyFile(t, readyFile, ended)

	c, err := client.DialContext(t.Context(), client.Options{HostPort: info.Address})
	require.NoError(t, err)
	defer c.Close()
	_, err = c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: "run", TaskQueue: "nobody",
		TypedSearchAttributes: temporal.NewSearchAttributes(temporal.NewSearchAttributeKeyKeyword("Phase").ValueSet("x")),
	}, "Review")
	require.NoError(t, err)
	described, err := c.DescribeWorkflowExecution(t.Context(), "run", "")
	require.NoError(t, err)
	require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, described.GetWorkflowExecutionInfo().GetStatus())

	var second strings.Builder
	require.Equal(t, exitLocked, run(args, &second, &second))
	require.Contains(t, second.String(), "in use by another server")

	me.Close()
	select {
	case code := <-ended:
		require.Equal(t, exitOK, code)
	case <-time.After(3 * time.Minute):
		t.Fatal("the server did not end after its last client")
	}
	require.NoFileExists(t, readyFile)
	require.Empty(t, errOut.String(), "it ends quietly")
	require.Len(t, strings.Split(strings.TrimSpace(out.String()), "\n"), 2)
}

func awaitReadyFile(t *testing.T, file string, ended <-chan int) readyInfo {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), readyTimeout)
	defer cancel()
	for {
		var info readyInfo
		if data, err := os.ReadFile(file); err == nil {
			require.NoError(t, json.Unmarshal(data, &info))
			require.Equal(t, os.Getpid(), info.PID)
			return info
		}
		select {
		case code := <-ended:
			t.Fatalf("the server ended with %d", code)
		case <-ctx.Done():
			t.Fatal("the server did not become ready")
		case <-time.After(readyInterval):
		}
	}
}
