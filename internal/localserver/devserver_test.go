//go:build unix

package localserver

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// devserverOptions starts the real server that the Makefile has built.
func devserverOptions(t *testing.T) Options {
	path := os.Getenv("CONCLAVE_TEST_DEVSERVER")
	if path == "" {
		t.Skip("CONCLAVE_TEST_DEVSERVER names no devserver (make sets it)")
	}
	o := Options{StateDir: t.TempDir(), Binary: path, IdleExit: time.Minute, SearchAttributes: map[string]string{"RunPhase": "Keyword", "RunRound": "Int"}}
	t.Cleanup(func() { stopIn(t, o.StateDir) })
	return o
}

func dialServer(t *testing.T, s *Server) client.Client {
	c, err := client.DialContext(testContext(t), client.Options{HostPort: s.Address, Namespace: s.Namespace})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// startRun starts a workflow that no worker takes up, with a search attribute, and so needs all that readiness promises.
func startRun(t *testing.T, c client.Client, id, attribute string) {
	_, err := c.ExecuteWorkflow(testContext(t), client.StartWorkflowOptions{
		ID: id, TaskQueue: "nobody",
		TypedSearchAttributes: temporal.NewSearchAttributes(temporal.NewSearchAttributeKeyKeyword(attribute).ValueSet("waiting")),
	}, "ReviewLoop")
	require.NoError(t, err)
}

func runIsOpen(t *testing.T, c client.Client, id string) bool {
	d, err := c.DescribeWorkflow(testContext(t), id, "")
	require.NoError(t, err)
	return d.RawResponse.GetWorkflowExecutionInfo().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
}

func TestDevserverIsUsableWhenEnsureReturns(t *testing.T) {
	o := devserverOptions(t)
	s, err := Ensure(testContext(t), o)
	require.NoError(t, err)
	defer s.Close()
	require.Equal(t, ServerVersion, s.Version)
	require.Equal(t, files{o.StateDir}.database(ServerVersion), s.db)

	c := dialServer(t, s)
	startRun(t, c, "run-1", "RunPhase")
	require.True(t, runIsOpen(t, c, "run-1"))
	ns, err := c.WorkflowService().DescribeNamespace(testContext(t), &workflowservice.DescribeNamespaceRequest{Namespace: s.Namespace})
	require.NoError(t, err)
	require.Equal(t, retention, ns.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration())
	require.True(t, ns.GetNamespaceInfo().GetCapabilities().GetWorkerCommands(), "activities are cancelled without waiting for a heartbeat")

	resp, err := http.Get("http://" + s.UIAddress + "/")
	require.NoError(t, err)
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Contains(t, strings.ToLower(string(page)), "<!doctype html>")
}

func TestKilledDevserverKeepsItsRuns(t *testing.T) {
	o := devserverOptions(t)
	killed, err := Ensure(testContext(t), o)
	require.NoError(t, err)
	defer killed.Close()
	startRun(t, dialServer(t, killed), "run-1", "RunPhase")
	require.NoError(t, syscall.Kill(killed.PID, syscall.SIGKILL))

	// The next starter also wants an attribute that the file does not have yet.
	o.SearchAttributes["RunVerdict"] = "Keyword"
	next, err := Ensure(testContext(t), o)
	require.NoError(t, err)
	defer next.Close()
	require.NotEqual(t, killed.PID, next.PID)
	c := dialServer(t, next)
	require.True(t, runIsOpen(t, c, "run-1"))
	startRun(t, c, "run-2", "RunVerdict")
}

func TestManyStartersAtOnceEndUpWithOneDevserver(t *testing.T) {
	o := devserverOptions(t)
	servers, errs := make([]*Server, 4), make([]error, 4)
	var wg sync.WaitGroup
	for i := range servers {
		wg.Go(func() { servers[i], errs[i] = Ensure(testContext(t), o) })
	}
	wg.Wait()
	for i := range servers {
		require.NoError(t, errs[i])
		defer servers[i].Close()
		require.Equal(t, servers[0].PID, servers[i].PID)
	}
}

func TestDevserverEndsQuietlyAfterItsLastClient(t *testing.T) {
	o := devserverOptions(t)
	o.IdleExit = 100 * time.Millisecond
	s, err := Ensure(testContext(t), o)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.NoError(t, waitUntilFree(testContext(t), lockOf(s.db)))
	_, err = Find(testContext(t), o.StateDir)
	require.ErrorIs(t, err, ErrNotRunning)
	said, err := os.ReadFile(filepath.Join(o.StateDir, "server.log"))
	require.NoError(t, err)
	require.Len(t, strings.Split(strings.TrimSpace(string(said)), "\n"), 2, "the two addresses and no error: %s", said)
}

func TestAddingSearchAttributesToARunningDevserver(t *testing.T) {
	o := devserverOptions(t)
	first, err := Ensure(testContext(t), o)
	require.NoError(t, err)
	defer first.Close()
	o.SearchAttributes["RunVerdict"] = "Keyword"
	second, err := Ensure(testContext(t), o)
	require.NoError(t, err)
	defer second.Close()
	require.Equal(t, first.PID, second.PID)
	startRun(t, dialServer(t, second), "run-1", "RunVerdict")
}

// Without the server's worker commands an activity that does not heartbeat would never hear of it.
func TestCancellationReachesAnActivityWithoutAHeartbeat(t *testing.T) {
	s, err := Ensure(testContext(t), devserverOptions(t))
	require.NoError(t, err)
	defer s.Close()
	c := dialServer(t, s)
	started, cancelled := make(chan struct{}), make(chan time.Time, 1)
	w := worker.New(c, "queue", worker.Options{})
	w.RegisterActivityWithOptions(func(ctx context.Context) error {
		close(started)
		<-ctx.Done()
		cancelled <- time.Now()
		return ctx.Err()
	}, activity.RegisterOptions{Name: "wait"})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Hour, HeartbeatTimeout: 10 * time.Minute, WaitForCancellation: true})
		return workflow.ExecuteActivity(ctx, "wait").Get(ctx, nil)
	}, workflow.RegisterOptions{Name: "wait"})
	require.NoError(t, w.Start())
	defer w.Stop()
	run, err := c.ExecuteWorkflow(testContext(t), client.StartWorkflowOptions{TaskQueue: "queue"}, "wait")
	require.NoError(t, err)
	<-started
	asked := time.Now()
	require.NoError(t, c.CancelWorkflow(testContext(t), run.GetID(), ""))
	select {
	case at := <-cancelled:
		t.Logf("cancelled after %s", at.Sub(asked))
	case <-time.After(patience):
		t.Fatal("the activity was not told")
	}
	var canceled *temporal.CanceledError
	require.ErrorAs(t, run.Get(testContext(t), nil), &canceled)
}

// Integration tests of others may start it by the means of the SDK, which passes the command line of the `temporal` CLI; without a file it is in memory.
func TestDevserverStandsInForTheCLI(t *testing.T) {
	o := devserverOptions(t)
	server, err := testsuite.StartDevServer(testContext(t), testsuite.DevServerOptions{
		ExistingPath: o.Binary, LogLevel: "error", Stdout: io.Discard,
		SearchAttributes: temporal.NewSearchAttributes(temporal.NewSearchAttributeKeyKeyword("RunPhase").ValueSet("")),
	})
	require.NoError(t, err)
	startRun(t, server.Client(), "run-1", "RunPhase")
	require.NoError(t, server.Stop())
}

// BenchmarkFind measures what every starter pays when the server runs already.
func BenchmarkFind(b *testing.B) {
	path := os.Getenv("CONCLAVE_TEST_DEVSERVER")
	if path == "" {
		b.Skip("CONCLAVE_TEST_DEVSERVER names no devserver")
	}
	dir := b.TempDir()
	s, err := Ensure(context.Background(), Options{StateDir: dir, Binary: path})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Find(context.Background(), dir); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Stop(context.Background()); err != nil {
		b.Fatal(err)
	}
}
