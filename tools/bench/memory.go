package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"go.temporal.io/sdk/client"

	"conclave/activities"
	"conclave/internal/agent"
	"conclave/internal/host"
	"conclave/internal/loop"
	"conclave/internal/store"
	"conclave/workflows"
)

const (
	inFlight    = 100
	startWithin = 150 * time.Second
)

// manyRuns measures a worker process that carries 100 runs, each with an agent at work.
func manyRuns(s settings) ([]row, error) {
	draft := step{Role: "implement", Write: map[string]string{"calc.go": "package calc // 1\n"}, Say: "done"}
	l, err := newLab(s, []step{draft, {Role: "review", Say: passes}})
	if err != nil {
		return nil, err
	}
	defer l.close()
	address, stopCluster, err := l.cluster()
	if err != nil {
		return nil, err
	}
	defer stopCluster()
	worker, stopWorker, err := l.worker(address)
	if err != nil {
		return nil, err
	}
	defer stopWorker()
	atRest := memoryOf(worker)
	c, err := dial(address)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	model, err := l.modelRun(c, address)
	if err != nil {
		return nil, err
	}
	draft.SleepMS = int((startWithin + 30*time.Second).Milliseconds())
	if err := l.Play([]step{draft}); err != nil {
		return nil, err
	}
	stopSource, err := l.startRuns(c, model)
	if err != nil {
		return nil, err
	}
	defer stopSource()
	busy, err := l.awaitAgents(worker)
	if err != nil {
		return nil, err
	}
	return []row{
		{"worker process, nothing to do", []float64{atRest}, megabyte, 0},
		{fmt.Sprintf("worker process, %d runs in flight, an agent at work in each", inFlight), busy, megabyte, 400e6},
		{"the most that it ever was", []float64{peakOf(worker)}, megabyte, 400e6},
	}, nil
}

// cluster starts a server that belongs to nobody's state folder.
func (l *lab) cluster() (string, func(), error) {
	ready := filepath.Join(l.Dir, "ready.json")
	args := []string{"server", "start-dev", "--headless", "--port", "0", "--db-filename", filepath.Join(l.Dir, "cluster.db"), "--ready-file", ready}
	for name, kind := range workflows.SearchAttributes() {
		args = append(args, "--search-attribute", name+"="+kind)
	}
	end, _, err := l.background("devserver", args...)
	if err != nil {
		return "", nil, err
	}
	var found struct {
		Address string `json:"address"`
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if raw, err := os.ReadFile(ready); err == nil && json.Unmarshal(raw, &found) == nil {
			return found.Address, end, nil
		}
		if time.Now().After(deadline) {
			end()
			return "", nil, fmt.Errorf("the server did not become ready")
		}
	}
}

func (l *lab) sharedStore() string { return filepath.Join(l.Dir, "shared-store") }

func (l *lab) worker(address string) (pid int, end func(), err error) {
	end, pid, err = l.background("worker", "--address", address, "--store", l.sharedStore(), "--slots", strconv.Itoa(inFlight), "--stop-timeout", "12s")
	time.Sleep(2 * time.Second)
	return pid, end, err
}

// background runs a program of ours until end is called.
func (l *lab) background(program string, args ...string) (end func(), pid int, err error) {
	cmd := exec.Command(filepath.Join(l.bin, program), args...)
	cmd.Dir = l.Dir
	cmd.Env = append(slices.Clip(l.Env), "CONCLAVE_STATE_DIR="+filepath.Join(l.Dir, program+"-state"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		return nil, 0, err
	}
	return func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		late := time.AfterFunc(40*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		late.Stop()
	}, cmd.Process.Pid, nil
}

// modelRun carries one run to its end, to learn the input of such a run.
func (l *lab) modelRun(c client.Client, address string) (loop.Input, error) {
	stdout, _, err := l.starter("run", "--json", "--address", address, "--store", l.sharedStore(), "Add Sum")
	if err != nil {
		return loop.Input{}, err
	}
	var run struct {
		RunID string `json:"run_id"`
	}
	if err := json.Unmarshal([]byte(stdout), &run); err != nil {
		return loop.Input{}, err
	}
	past, err := host.ReadPast(context.Background(), c, workflows.WorkflowID(run.RunID))
	return past.Input, err
}

// startRuns starts the runs and stands in for their starters.
func (l *lab) startRuns(c client.Client, in loop.Input) (func(), error) {
	folder, err := store.OpenFolder(l.sharedStore())
	if err != nil {
		return nil, err
	}
	acts, err := activities.New(activities.Options{Store: folder, StateDir: l.State, Agents: agent.Settings{}, Environ: l.Env, Sandbox: activities.SandboxOff, Client: c})
	if err != nil {
		return nil, err
	}
	var sources []*host.Workers
	end := func() {
		for _, s := range sources {
			s.Stop()
		}
	}
	for i := range inFlight {
		in.RunID = fmt.Sprintf("add-sum-%05d", i)
		in.Queues.Source = workflows.SourceQueue(in.RunID)
		source, err := host.StartWorkers(c, acts, in.RunID, host.SourceOnly, nil)
		if err != nil {
			end()
			return nil, err
		}
		sources = append(sources, source)
		o := client.StartWorkflowOptions{ID: workflows.WorkflowID(in.RunID), TaskQueue: workflows.TaskQueue}
		if _, err := c.ExecuteWorkflow(context.Background(), o, workflows.ReviewLoopName, in); err != nil {
			end()
			return nil, err
		}
	}
	return end, nil
}

// awaitAgents waits until every run's agent is at work, and then looks at the worker for a while.
func (l *lab) awaitAgents(worker int) ([]float64, error) {
	deadline := time.Now().Add(startWithin)
	for {
		raw, _ := os.ReadFile(l.Ledger)
		started := strings.Count(string(raw), `"what":"start"`)
		if started >= inFlight+2 { // two of the model run
			break
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("only %d agents at work after %s", started-2, startWithin)
		}
		time.Sleep(50 * time.Millisecond)
	}
	var seen []float64
	for range 20 {
		seen = append(seen, memoryOf(worker))
		time.Sleep(250 * time.Millisecond)
	}
	return seen, nil
}

// memoryOf is a process's resident memory in bytes.
func memoryOf(pid int) float64 { return statusOf(pid, "VmRSS:") }

// peakOf is the most that it ever was.
func peakOf(pid int) float64 { return statusOf(pid, "VmHWM:") }

func statusOf(pid int, name string) float64 {
	for line := range strings.Lines(fileText(fmt.Sprintf("/proc/%d/status", pid))) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == name {
			kib, _ := strconv.ParseFloat(fields[1], 64)
			return kib * 1024
		}
	}
	return 0
}
