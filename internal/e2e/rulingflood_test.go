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
	w := worker.New(c, "flood", worker.Options{})
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

// 200 rulings arrive at once, with what is none among them, while the server
// suggests a new history after every few: each is applied once, none is lost.
func TestNoRulingIsLostOrDoubledAroundContinueAsNew(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	cluster := newCluster(l, nil, "--dynamic-config-value", "limit.historyCount.suggestContinueAsNew=48")
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	c, err := client.DialContext(ctx, client.Options{HostPort: cluster.address, Logger: quiet{}})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	startFloodWorker(t, c)
	_, err = c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: "flood", TaskQueue: "flood"}, workflows.ReviewLoopName, floodInput())
	require.NoError(t, err)
	status := func() (run runrecord.Run) {
		answer, err := c.QueryWorkflow(ctx, "flood", "", workflows.QueryStatus)
		if err == nil {
			err = answer.Get(&run)
		}
		if err != nil {
			t.Log(err)
		}
		return run
	}
	eventually(t, time.Minute, func() bool { return len(status().Questions) == floodFindings })

	signal := func(payload any) {
		if err := c.SignalWorkflow(ctx, "flood", "", workflows.SignalRuling, payload); err != nil {
			t.Error(err)
		}
	}
	refused := make([]int, 8)
	var group sync.WaitGroup
	for sender := range refused {
		group.Go(func() {
			for n := sender + 1; n < floodFindings; n += len(refused) { // all but the last
				ruling := object{"finding": fmt.Sprintf("F%d", n), "decision": "stand", "reason": fmt.Sprintf("reason %d", n)}
				if n%2 == 0 {
					ruling["request_id"] = fmt.Sprintf("r%d", n)
				}
				signal(ruling)
				before := refused[sender]
				switch n % 10 {
				case 1: // repeated
					signal(ruling)
				case 2: // repeated, with a request id
					signal(ruling)
				case 3:
					signal("no ruling")
				case 4:
					signal(object{"finding": n, "decision": "stand", "reason": "x"})
				case 5:
					signal(object{"finding": "F999", "decision": "abort", "reason": "x"})
				case 6:
					signal(object{"finding": fmt.Sprintf("F%d", floodFindings), "decision": "abort", "reason": "x", "head": "t0"})
				default:
					continue
				}
				refused[sender] = before + 1
			}
		})
	}
	group.Wait()
	last := fmt.Sprintf("F%d", floodFindings)
	signal(object{"finding": last, "decision": "fix", "reason": "try"})
	t.Cleanup(func() {
		if run := status(); t.Failed() {
			t.Logf("%s %q: %d rulings, %d refused, %d asked, refused: %v", run.Stop, run.Waiting, len(run.Rulings), len(run.Refused), len(run.Questions), run.Refused)
		}
	})
	eventually(t, time.Minute, func() bool {
		run := status()
		return len(run.Questions) == 1 && run.Questions[0].Number == 2
	})
	signal(object{"finding": last, "decision": "stand", "reason": "it stands"})
	var result loop.Result
	require.NoError(t, c.GetWorkflow(ctx, "flood", "").Get(ctx, &result))
	require.Equal(t, runrecord.Ruled, result.Stop)

	run := status()
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
	want := 0
	for _, n := range refused {
		want += n
	}
	require.Len(t, run.Refused, want)
	executions := 0
	for id, newest := "", true; newest || id != ""; newest = false {
		started := c.GetWorkflowHistory(ctx, "flood", id, false, 0)
		event, err := started.Next()
		require.NoError(t, err)
		id = event.GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId()
		executions++
	}
	require.Greater(t, executions, 3)
	t.Logf("%d executions, %d refused", executions, want)
}
