package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"conclave/internal/artifact"
	"conclave/internal/host"
	"conclave/internal/localserver"
	"conclave/internal/loop"
	"conclave/internal/record"
	"conclave/workflows"
)

// sameShape compares our workflow, with activities that answer at once, with a
// workflow that only schedules the same activities in the same order.
func sameShape(s settings) ([]row, error) {
	l, err := newLab(s, nil)
	if err != nil {
		return nil, err
	}
	defer l.close()
	// A client of its own: the server ends when it has none.
	server, err := localserver.Ensure(context.Background(), localserver.Options{
		StateDir: l.State, Binary: filepath.Join(l.bin, "devserver"), SearchAttributes: workflows.SearchAttributes(),
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = server.Close() }()
	c, err := dial(server.Address)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	stopWorkers, err := instantWorkers(c)
	if err != nil {
		return nil, err
	}
	defer stopWorkers()
	rows, err := compareShapes(c)
	if err == nil && s.timeline {
		for _, name := range []string{"ours", "empty"} {
			history, err := fetch(server.Address, "bench-40-"+name)
			if err != nil {
				return nil, err
			}
			printTimeline(name+", with activities that answer at once", history)
		}
	}
	return rows, err
}

const shapeSource, shapeRun = "bench-source", "bench-run"

// instantWorkers poll as a local run's do: one queue for the source, one for the rest.
func instantWorkers(c client.Client) (func(), error) {
	host.NameBuild()
	source := worker.New(c, shapeSource, worker.Options{DisableWorkflowWorker: true})
	run := worker.New(c, shapeRun, worker.Options{})
	for _, w := range []worker.Worker{source, run} {
		for name, f := range instant() {
			w.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
		}
	}
	workflows.Register(run)
	run.RegisterWorkflowWithOptions(empty, workflow.RegisterOptions{Name: "Empty"})
	for _, w := range []worker.Worker{source, run} {
		if err := w.Start(); err != nil {
			return nil, err
		}
	}
	return func() { run.Stop(); source.Stop() }, nil
}

var writerEngine = record.Engine{Adapter: "claude", Provider: "anthropic", ModelFamily: "claude", Model: "m1"}

// instant are activities that succeed at once.
func instant() map[string]any {
	snapshot := loop.Snapshot{Commit: "c1", Tree: "t1"}
	return map[string]any{
		"PrepareRun": func(context.Context, *loop.PrepareRequest) (*loop.Prepared, error) {
			return &loop.Prepared{Base: loop.Snapshot{Commit: "c0", Tree: "t0"}}, nil
		},
		"RunTurn": func(_ context.Context, r *loop.TurnRequest) (*loop.TurnResult, error) {
			out := &loop.TurnResult{Class: record.ClassOK, Reported: &r.Target, Verdict: "pass", Attempt: 1}
			if r.Writing {
				out = &loop.TurnResult{Class: record.ClassOK, Reported: &writerEngine, Changed: true, Snapshot: snapshot, Attempt: 1}
			}
			return out, nil
		},
		"Verify": func(context.Context, *loop.VerifyRequest) (*loop.VerifyResult, error) {
			return &loop.VerifyResult{Class: record.ClassOK, Gate: loop.GatePass, Attempt: 1}, nil
		},
		"Land":        func(context.Context, *loop.LandRequest) (*loop.Landed, error) { return &loop.Landed{Branch: "b"}, nil },
		"WriteBundle": func(context.Context, *loop.BundleRequest) error { return nil },
	}
}

// empty schedules what a run of one iteration with two seats schedules.
func empty(ctx workflow.Context) error {
	on := func(queue string) workflow.Context {
		return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{TaskQueue: queue, StartToCloseTimeout: time.Minute, HeartbeatTimeout: 30 * time.Second})
	}
	writing := &loop.TurnRequest{Writing: true}
	for _, one := range []struct {
		queue, name string
		request     any
	}{
		{shapeSource, "PrepareRun", &loop.PrepareRequest{}}, {shapeSource, "WriteBundle", &loop.BundleRequest{}},
		{shapeRun, "RunTurn", writing}, {shapeRun, "Verify", &loop.VerifyRequest{}},
	} {
		if err := workflow.ExecuteActivity(on(one.queue), one.name, one.request).Get(ctx, nil); err != nil {
			return err
		}
	}
	seats := []workflow.Future{
		workflow.ExecuteActivity(on(shapeRun), "RunTurn", &loop.TurnRequest{}),
		workflow.ExecuteActivity(on(shapeRun), "RunTurn", &loop.TurnRequest{}),
	}
	for _, seat := range seats {
		if err := seat.Get(ctx, nil); err != nil {
			return err
		}
	}
	if err := workflow.ExecuteActivity(on(shapeSource), "Land", &loop.LandRequest{}).Get(ctx, nil); err != nil {
		return err
	}
	return workflow.ExecuteActivity(on(shapeSource), "WriteBundle", &loop.BundleRequest{}).Get(ctx, nil)
}

// shapeStages is how many activities follow one another in a run of one iteration.
const shapeStages = 7

func compareShapes(c client.Client) ([]row, error) {
	var ours, theirs []float64
	for i := range 41 {
		id := fmt.Sprintf("bench-%d", i)
		a, err := execute(c, id+"-ours", workflows.ReviewLoopName, shapeInput(id))
		if err != nil {
			return nil, err
		}
		b, err := execute(c, id+"-empty", "Empty")
		if err != nil {
			return nil, err
		}
		if i > 0 { // the first warms up
			ours, theirs = append(ours, a.Seconds()), append(theirs, b.Seconds())
		}
	}
	var ratio []float64
	for i := range ours {
		ratio = append(ratio, ours[i]/theirs[i])
	}
	return []row{
		{"a step of an empty workflow of the same shape", over(theirs, shapeStages), millis, 0},
		{"a step of ours, with activities that answer at once", over(ours, shapeStages), millis, 0},
		{"the same as a ratio", ratio, times, 1.5},
	}, nil
}

func execute(c client.Client, id, name string, args ...any) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	began := time.Now()
	run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: shapeRun}, name, args...)
	if err != nil {
		return 0, err
	}
	var result loop.Result
	err = run.Get(ctx, &result)
	took := time.Since(began)
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", name, err, lastFailure(c, id))
	}
	if err == nil && result.Stop != "" && result.Stop != record.Converged {
		err = fmt.Errorf("%s ended %s: %s", name, result.Stop, result.Message)
	}
	return took, err
}

// lastFailure is why a workflow did not come to its end.
func lastFailure(c client.Client, id string) string {
	text := "no failure in its history"
	events := c.GetWorkflowHistory(context.Background(), id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return err.Error()
		}
		for _, f := range []*failurepb.Failure{
			event.GetWorkflowTaskFailedEventAttributes().GetFailure(), event.GetActivityTaskStartedEventAttributes().GetLastFailure(),
			event.GetActivityTaskFailedEventAttributes().GetFailure(), event.GetWorkflowExecutionFailedEventAttributes().GetFailure(),
		} {
			if f != nil {
				text = f.GetMessage()
			}
		}
	}
	return text
}

// shapeInput is a run with two seats.
func shapeInput(runID string) loop.Input {
	lane := func(id string, e record.Engine) map[string]any {
		return map[string]any{"id": id, "requested": map[string]any{
			"adapter": e.Adapter, "provider": e.Provider, "modelFamily": e.ModelFamily, "model": e.Model, "tools": []string{},
		}, "knownSubstitutions": []any{}}
	}
	node := func(id, role string, e *record.Engine) map[string]any {
		data := map[string]any{"role": role}
		if e != nil {
			data["lane"] = lane(id, *e)
		}
		return map[string]any{"id": id, "data": data}
	}
	reader := record.Engine{Adapter: "codex", Provider: "openai", ModelFamily: "gpt", Model: "m2"}
	definition, err := json.Marshal(map[string]any{
		"id": "run", "definitionVersion": 1, "edges": []any{},
		"data": map[string]any{
			"maxIterations": 3, "maxReviewRestarts": 2, "quorum": 1, "requireDiversity": false, "skippableSeats": []string{},
			"seatConcurrency": 2, "retryCapPerNode": 1,
		},
		"nodes": []any{
			node("implement", "generator", &writerEngine), node("verify", "evaluator", nil), node("codex", "seat", &reader),
			node("claude", "seat", &writerEngine), node("repair", "repair", &writerEngine),
		},
	})
	if err != nil {
		panic(err) // it is made of constants
	}
	return loop.Input{
		Schema: loop.InputSchema, RunID: runID, Rules: "conclave/v1", Definition: definition,
		Requirement: artifact.Of([]byte("x")), Title: "x", VerdictMode: "strict", Source: loop.Source{Dir: "/r"},
		Limits: loop.Limits{WriterTimeout: time.Hour, ReaderTimeout: time.Hour, VerifyTimeout: time.Hour},
		Queues: loop.Queues{Source: shapeSource, Agents: shapeRun},
	}
}
