package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"

	"conclave/internal/record"
	"conclave/workflows"
)

// lab is a scratch user: a repository, a state folder with a server of its own, scripted agents.
type lab struct {
	settings
	dir, repo, state, script, ledger string
	env                              []string
}

// step is an entry of scriptagent's script.
type step struct {
	Role    string            `json:"role,omitempty"`
	Round   string            `json:"round,omitempty"`
	Write   map[string]string `json:"write,omitempty"`
	Say     string            `json:"say,omitempty"`
	SleepMS int               `json:"sleep_ms,omitempty"`
}

const (
	passes = "Nothing to object to.\n\nVERDICT: PASS"
	blocks = "There is a flaw.\n\nVERDICT: BLOCK"
)

func newLab(s settings, script []step) (*lab, error) {
	dir, err := os.MkdirTemp("", "conclave-bench-")
	if err != nil {
		return nil, err
	}
	l := &lab{settings: s, dir: dir, repo: filepath.Join(dir, "repo"), state: filepath.Join(dir, "state"),
		script: filepath.Join(dir, "script.json"), ledger: filepath.Join(dir, "ledger.jsonl")}
	l.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"), "TMPDIR=" + filepath.Join(dir, "tmp"),
		"CONCLAVE_STATE_DIR=" + l.state, "LANG=C.UTF-8",
		"CONCLAVE_SANDBOX=off", // scripted agents write their ledger beside the repository; the cost of a sandbox is BenchmarkTurn in internal/process
	}
	for _, folder := range []string{"home", "tmp", "repo"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o755); err != nil {
			return nil, err
		}
	}
	for _, cli := range []string{"claude", "codex"} {
		wrapper := filepath.Join(dir, "scripted-"+cli)
		text := fmt.Sprintf("#!/bin/sh\nexec %q --as %s --script %q --ledger %q -- \"$@\"\n", filepath.Join(s.bin, "scriptagent"), cli, l.script, l.ledger)
		if err := os.WriteFile(wrapper, []byte(text), 0o755); err != nil {
			return nil, err
		}
		l.env = append(l.env, "CONCLAVE_"+strings.ToUpper(cli)+"_BIN="+wrapper)
	}
	return l, errors.Join(l.play(script), l.fill())
}

func (l *lab) play(script []step) error {
	raw, err := json.Marshal(script)
	if err != nil {
		return err
	}
	return os.WriteFile(l.script, raw, 0o600)
}

// fill makes the repository: one commit with one file.
func (l *lab) fill() error {
	if err := os.WriteFile(filepath.Join(l.repo, "calc.go"), []byte("package calc\n"), 0o644); err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-qm", "start"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = l.repo
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=user", "GIT_AUTHOR_EMAIL=user@localhost",
			"GIT_COMMITTER_NAME=user", "GIT_COMMITTER_EMAIL=user@localhost")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return nil
}

// starter runs a command of the CLI and measures it from outside.
func (l *lab) starter(args ...string) (string, time.Duration, error) {
	cmd := exec.Command(filepath.Join(l.bin, "starter"), args...)
	cmd.Dir, cmd.Env = l.repo, l.env
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
	server, err := l.server()
	if err != nil {
		return run, nil, 0, err
	}
	history, err := fetch(server.Address, workflows.WorkflowID(run.RunID))
	return run, history, took, err
}

// server is what the lab's server says about itself.
func (l *lab) server() (found struct {
	Address string `json:"address"`
	PID     int    `json:"pid"`
}, err error) {
	raw, err := os.ReadFile(filepath.Join(l.state, "server.json"))
	if err != nil {
		return found, err
	}
	return found, json.Unmarshal(raw, &found)
}

// stopServer ends the lab's server and waits for that.
func (l *lab) stopServer() {
	if s, err := l.server(); err == nil && s.PID > 0 {
		stop(s.PID)
	}
}

func stop(pid int) {
	_ = syscall.Kill(pid, syscall.SIGTERM)
	for end := time.Now().Add(20 * time.Second); syscall.Kill(pid, 0) == nil && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
}

func (l *lab) close() {
	l.stopServer()
	_ = os.RemoveAll(l.dir)
}

// quiet is a logger that says nothing.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}

func dial(address string) (client.Client, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return client.DialContext(ctx, client.Options{HostPort: address, Logger: quiet{}})
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
