package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"conclave/internal/artifact"
	"conclave/internal/loop"
	runrecord "conclave/internal/record"
	"conclave/workflows"
)

const (
	floodFindings = 200
	floodLane     = `"lane":{"id":%q,"requested":{"adapter":%q,"provider":%q,"modelFamily":%q,"model":"m","tools":[]},"knownSubstitutions":[]}`
)

// floodInput is a run whose seats leave 200 questions. Its activities are
// played in this process: what is tested is between clients and workflow.
func floodInput() loop.Input {
	lane := func(id, family string) string { return fmt.Sprintf(floodLane, id, id, family, family) }
	definition := fmt.Sprintf(`{"id":"run","definitionVersion":1,
	 "data":{"maxIterations":1,"maxReviewRestarts":0,"quorum":2,"requireDiversity":false,"skippableSeats":[],"seatConcurrency":2,"retryCapPerNode":1,"discipline":"full"},
	 "nodes":[{"id":"implement","data":{"role":"generator",%s}},{"id":"verify","data":{"role":"evaluator"}},
	  {"id":"one","data":{"role":"seat",%s}},{"id":"two","data":{"role":"seat",%s}},{"id":"repair","data":{"role":"repair",%s}}],"edges":[]}`,
		lane("writer", "a"), lane("one", "b"), lane("two", "c"), lane("writer", "a"))
	return loop.Input{
		Schema: loop.InputSchema, RunID: "flood", Rules: "conclave/v1", Definition: json.RawMessage(definition), Requirement: artifact.Of([]byte("x")), Title: "x",
		VerdictMode: "strict", Unindexed: true, Limits: loop.Limits{WriterTimeout: time.Minute, ReaderTimeout: time.Minute, VerifyTimeout: time.Minute},
		Queues: loop.Queues{Source: "flood", Agents: "flood"},
	}
}

func floodTurn(_ context.Context, r *loop.TurnRequest) (*loop.TurnResult, error) {
	sure := 0.9
	out := &loop.TurnResult{Class: runrecord.ClassOK, Reported: &r.Target, Confidence: &sure, Verdict: "block", Attempt: 1}
	switch r.Turn {
	case "implement", "repair":
		out.Verdict, out.Changed, out.Snapshot = "", true, loop.Snapshot{Commit: "c" + r.Step, Tree: "t" + r.Step}
		for _, f := range r.Feedback.Findings {
			out.FixReport = append(out.FixReport, loop.Fixed{Finding: f.ID, Status: "fixed"})
		}
	case "review":
		for i := range floodFindings {
			out.Findings = append(out.Findings, loop.Finding{Severity: "high", Kind: "patch", Title: fmt.Sprintf("flaw number %d", i+1),
				Evidence: []runrecord.Place{{Path: fmt.Sprintf("f%d.go", i+1), Line: 7}}})
		}
	case "recheck":
		for _, id := range r.Findings {
			out.Rechecked = append(out.Rechecked, loop.Rechecked{Finding: id, Status: "not-addressed"})
		}
	case "arbitrate":
		out.Verdict, out.Answer = "", json.RawMessage(`{"rulings":[]}`)
	}
	return out, nil
}

func startFloodWorker(t *testing.T, c client.Client) {
	t.Helper()
	w := worker.New(c, "flood", worker.Options{DeadlockDetectionTimeout: time.Minute}) // with the race detector a flood takes seconds
	workflows.Register(w)
	for name, play := range map[string]any{
		"RunTurn": floodTurn,
		"PrepareRun": func(context.Context, *loop.PrepareRequest) (*loop.Prepared, error) {
			return &loop.Prepared{Base: loop.Snapshot{Commit: "c0", Tree: "t0"}}, nil
		},
		"Verify": func(context.Context, *loop.VerifyRequest) (*loop.VerifyResult, error) {
			return &loop.VerifyResult{Class: runrecord.ClassOK, Gate: loop.GateNotRun, Attempt: 1}, nil
		},
		"WriteBundle": func(context.Context, *loop.BundleRequest) error { return nil },
		"Land": func(context.Context, *loop.LandRequest) (*loop.Landed, error) {
			return &loop.Landed{Branch: "conclave/flood", Commit: "c"}, nil
		},
	} {
		w.RegisterActivityWithOptions(play, activity.RegisterOptions{Name: name})
	}
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
}

// flood is a run that asks 200 questions, on a server that suggests a new history after few events.
type flood struct {
	t   *testing.T
	ctx context.Context
	client.Client
}

func newFlood(t *testing.T, suggestAfter int) flood {
	t.Helper()
	l := newLab(t, nil)
	cluster := newCluster(l, nil, "--dynamic-config-value", fmt.Sprintf("limit.historyCount.suggestContinueAsNew=%d", suggestAfter))
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience)
	t.Cleanup(cancel)
	c, err := client.DialContext(ctx, client.Options{HostPort: cluster.address, Logger: quiet{}})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	startFloodWorker(t, c)
	_, err = c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: "flood", TaskQueue: "flood", WorkflowTaskTimeout: time.Minute}, workflows.ReviewLoopName, floodInput())
	require.NoError(t, err)
	f := flood{t, ctx, c}
	eventually(t, patience, func() bool { return len(f.status().Questions) == floodFindings })
	return f
}

// status is empty while no worker answers.
func (f flood) status() (run runrecord.Run) {
	answer, err := f.QueryWorkflow(f.ctx, "flood", "", workflows.QueryStatus)
	if err != nil || answer.Get(&run) != nil {
		return runrecord.Run{}
	}
	return run
}

func (f flood) signal(payload any) {
	if err := f.SignalWorkflow(f.ctx, "flood", "", workflows.SignalRuling, payload); err != nil {
		f.t.Error(err)
	}
}

func (f flood) ends(stop runrecord.Stop) runrecord.Run {
	f.t.Helper()
	var result loop.Result
	require.NoError(f.t, f.GetWorkflow(f.ctx, "flood", "").Get(f.ctx, &result))
	require.Equal(f.t, stop, result.Stop)
	return f.status()
}

func (f flood) executions() int {
	f.t.Helper()
	n := 0
	for id, newest := "", true; newest || id != ""; newest = false {
		event, err := f.GetWorkflowHistory(f.ctx, "flood", id, false, 0).Next()
		require.NoError(f.t, err)
		id = event.GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId()
		n++
	}
	return n
}

// 200 rulings arrive in waves from eight senders, with what is none among them, while the server suggests a new history
// after fewer than a wave: each is applied once, none is lost. A worker that is slow takes in a whole wave at once.
func TestNoRulingIsLostOrDoubledAroundContinueAsNew(t *testing.T) {
	t.Parallel()
	f := newFlood(t, 48)
	const wave = 50
	want := 0
	for first := 1; first < floodFindings; first += wave { // all but the last finding
		end := min(first+wave, floodFindings)
		want += f.wave(first, end)
		eventually(t, patience, func() bool { return len(f.status().Rulings) == end-1 })
	}
	last := fmt.Sprintf("F%d", floodFindings)
	f.signal(object{"finding": last, "decision": "fix", "reason": "try"})
	eventually(t, patience, func() bool {
		run := f.status()
		return len(run.Questions) == 1 && run.Questions[0].Number == 2
	})
	f.signal(object{"finding": last, "decision": "stand", "reason": "it stands"})
	run := f.ends(runrecord.Ruled)
	require.Len(t, run.Rulings, floodFindings+1)
	taken := map[string]string{}
	for _, r := range run.Rulings {
		key := fmt.Sprintf("%s#%d", r.Finding, r.Number)
		require.NotContains(t, taken, key, "applied twice")
		taken[key] = r.Decision + " " + r.Reason
	}
	for n := range floodFindings - 1 {
		require.Equal(t, fmt.Sprintf("stand reason %d", n+1), taken[fmt.Sprintf("F%d#1", n+1)])
	}
	require.Equal(t, "fix try", taken[last+"#1"])
	require.Equal(t, "stand it stands", taken[last+"#2"])
	require.Len(t, run.Refused, want)
	require.Greater(t, f.executions(), 3)
}

// wave sends rulings on some findings, and tells how many signals are to be refused.
func (f flood) wave(first, end int) int {
	refused := make([]int, 8)
	var group sync.WaitGroup
	for sender := range refused {
		group.Go(func() {
			for n := first + sender; n < end; n += len(refused) {
				ruling := object{"finding": fmt.Sprintf("F%d", n), "decision": "stand", "reason": fmt.Sprintf("reason %d", n)}
				if n%2 == 0 {
					ruling["request_id"] = fmt.Sprintf("r%d", n)
				}
				f.signal(ruling)
				switch n % 10 {
				case 1: // repeated
					f.signal(ruling)
				case 2: // repeated, with a request id
					f.signal(ruling)
				case 3:
					f.signal("no ruling")
				case 4:
					f.signal(object{"finding": n, "decision": "stand", "reason": "x"})
				case 5:
					f.signal(object{"finding": "F999", "decision": "abort", "reason": "x"})
				case 6:
					f.signal(object{"finding": fmt.Sprintf("F%d", floodFindings), "decision": "abort", "reason": "x", "head": "t0"})
				default:
					continue
				}
				refused[sender]++
			}
		})
	}
	group.Wait()
	sum := 0
	for _, n := range refused {
		sum += n
	}
	return sum
}

// 200 rulings arrive as updates: each sender has the answer to its own.
func TestEveryUpdateIsAnsweredAroundContinueAsNew(t *testing.T) {
	t.Parallel()
	f := newFlood(t, 60)
	answers, errs := make([]loop.RulingAnswer, floodFindings), make([]error, floodFindings)
	var group sync.WaitGroup
	for sender := range 4 {
		group.Go(func() {
			for n := sender; n < floodFindings; n += 4 {
				ruling := loop.RulingRequest{Finding: fmt.Sprintf("F%d", n+1), Decision: "stand", Reason: "x", RequestID: fmt.Sprintf("r%d", n)}
				handle, err := f.UpdateWorkflow(f.ctx, client.UpdateWorkflowOptions{
					WorkflowID: "flood", UpdateName: workflows.UpdateRule, UpdateID: ruling.RequestID, Args: []any{ruling}, WaitForStage: client.WorkflowUpdateStageCompleted,
				})
				if err == nil {
					err = handle.Get(f.ctx, &answers[n])
				}
				errs[n] = err
			}
		})
	}
	group.Wait()
	for n, err := range errs {
		require.NoError(t, err, n)
		require.Equal(t, loop.RulingApplied, answers[n].Status, answers[n].Why)
		require.Equal(t, fmt.Sprintf("F%d", n+1), answers[n].Finding)
	}
	run := f.ends(runrecord.Ruled)
	require.Len(t, run.Rulings, floodFindings)
	require.Empty(t, run.Refused)
	require.Greater(t, f.executions(), 3)
}
