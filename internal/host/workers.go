package host

import (
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"conclave/activities"
	"conclave/internal/process"
	"conclave/workflows"
)

const (
	// stickyTimeout is how long a workflow task waits for a worker that died.
	stickyTimeout = 500 * time.Millisecond
	// beatCap keeps cancellations and the last action of an agent prompt. The
	// server is on this machine, so it may be asked more often than a cluster.
	beatCap = time.Second
	// stopMargin is what an activity may need after its agent was stopped.
	stopMargin = 3 * time.Second
)

// buildOnce names this build to the server. Without a name the SDK hashes the
// whole program at each start, which takes longer than everything else here.
var buildOnce = sync.OnceFunc(func() {
	name := "conclave"
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, s := range build.Settings {
			if s.Key == "vcs.revision" || s.Key == "vcs.modified" {
				name += "-" + s.Value
			}
		}
	}
	worker.SetBinaryChecksum(name)
})

// NameBuild names this build to the server; StartWorkers does it by itself.
func NameBuild() { buildOnce() }

// Share is which part of a run a process carries.
type Share int

// The shares.
const (
	// Nothing is the zero value.
	Nothing Share = iota
	// Everything of a local run: workflow tasks, turns, the source.
	Everything
	// SourceOnly is the starter's part on a cluster.
	SourceOnly
	// WorkflowOnly answers queries of a local run that nobody carries; its activities wait.
	WorkflowOnly
	// Ending is what cancelling needs: workflow tasks and the source, no turns.
	Ending
)

// Workers are the started workers of one run.
type Workers struct{ list []worker.Worker }

// StartWorkers polls the queues of one run. fatal is told when a worker gives up.
func StartWorkers(c client.Client, acts *activities.Activities, runID string, share Share, fatal func(error)) (*Workers, error) {
	NameBuild()
	w := &Workers{}
	if share == Everything || share == WorkflowOnly || share == Ending {
		o := workerOptions(fatal)
		o.LocalActivityWorkerOnly = share != Everything
		run := worker.New(c, workflows.RunQueue(runID), o)
		workflows.Register(run)
		if share == Everything {
			acts.RegisterTurns(run)
		}
		w.list = append(w.list, run)
	}
	if share == Everything || share == SourceOnly || share == Ending {
		o := workerOptions(fatal)
		o.DisableWorkflowWorker = true
		source := worker.New(c, workflows.SourceQueue(runID), o)
		acts.RegisterSource(source)
		w.list = append(w.list, source)
	}
	for i, started := range w.list {
		if err := started.Start(); err != nil {
			w.list = w.list[:i]
			w.Stop()
			return nil, fmt.Errorf("the worker of run %s did not start: %w", runID, err)
		}
	}
	return w, nil
}

func workerOptions(fatal func(error)) worker.Options {
	return worker.Options{
		StickyScheduleToStartTimeout: stickyTimeout,
		MaxHeartbeatThrottleInterval: beatCap,
		WorkerStopTimeout:            process.DefaultGrace + stopMargin,
		DisableRegistrationAliasing:  true,
		DeadlockDetectionTimeout:     workflows.TaskPatience,
		OnFatalError:                 fatal,
	}
}

// Stop stops polling and waits for running activities, longer than an agent's grace.
func (w *Workers) Stop() {
	if w == nil {
		return
	}
	done := make(chan struct{}, len(w.list))
	for _, started := range w.list {
		go func() {
			started.Stop()
			done <- struct{}{}
		}()
	}
	for range w.list {
		<-done
	}
	w.list = nil
}
