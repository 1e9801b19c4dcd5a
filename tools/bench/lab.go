package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.uber.org/zap"

	"conclave/internal/host"
	"conclave/internal/localserver"
	"conclave/internal/record"
	"conclave/internal/scripted"
	"conclave/workflows"
)

// lab is a scratch user: a repository, a state folder with a server of its own, scripted agents.
type lab struct {
	settings
	*scripted.User
}

type step = scripted.Step

const (
	passes = "Nothing to object to.\n\nVERDICT: PASS"
	blocks = "There is a flaw.\n\nVERDICT: BLOCK"
)

func newLab(s settings, script []step) (*lab, error) {
	dir, err := os.MkdirTemp("", "conclave-bench-")
	if err != nil {
		return nil, err
	}
	user, err := scripted.New(dir, s.bin)
	if err != nil {
		return nil, err
	}
	return &lab{s, user}, user.Play(script)
}

// starter runs a command of the CLI and measures it from outside.
func (l *lab) starter(args ...string) (string, time.Duration, error) {
	cmd := exec.Command(filepath.Join(l.bin, "starter"), args...)
	cmd.Dir, cmd.Env = l.Repo, l.Env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	err := cmd.Run()
	took := time.Since(began)
	if err != nil {
		err = fmt.Errorf("starter %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String(), took, err
}

// run carries a requirement with scripted agents and returns its record and history.
func (l *lab) run(args ...string) (record.Run, *historypb.History, time.Duration, error) {
	var run record.Run
	stdout, took, err := l.starter(append(append([]string{"run", "--json"}, args...), "Add Sum")...)
	if err != nil {
		return run, nil, 0, err
	}
	if err := json.Unmarshal([]byte(stdout), &run); err != nil {
		return run, nil, 0, err
	}
	server, err := localserver.Find(context.Background(), l.State)
	if err != nil {
		return run, nil, 0, err
	}
	history, err := fetch(server.Address, workflows.WorkflowID(run.RunID))
	return run, history, took, err
}

// stopServer ends the lab's server and waits for that.
func (l *lab) stopServer() {
	if server, err := localserver.Find(context.Background(), l.State); err == nil {
		_ = server.Stop(context.Background())
	}
}

func (l *lab) close() {
	l.stopServer()
	_ = os.RemoveAll(l.Dir)
}

func dial(address string) (client.Client, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return client.DialContext(ctx, client.Options{HostPort: address, Logger: host.NewLogger(zap.NewNop())})
}

func fetch(address, workflowID string) (*historypb.History, error) {
	c, err := dial(address)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	history := &historypb.History{}
	events := c.GetWorkflowHistory(context.Background(), workflowID, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return nil, err
		}
		history.Events = append(history.Events, event)
	}
	return history, nil
}
