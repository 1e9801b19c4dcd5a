package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"conclave/activities"
	"conclave/internal/loop"
	"conclave/internal/record"
)

const fullDefinition = `{"id":"run","definitionVersion":1,
 "data":{"maxIterations":1,"maxReviewRestarts":0,"quorum":2,"requireDiversity":false,"skippableSeats":[],"seatConcurrency":2,"retryCapPerNode":1,"discipline":"full"},
 "nodes":[
  {"id":"implement","data":{"role":"generator","lane":{"id":"writer","requested":{"adapter":"claude","provider":"anthropic","modelFamily":"claude","model":"m1","tools":[]},"knownSubstitutions":[]}}},
  {"id":"verify","data":{"role":"evaluator"}},
  {"id":"codex","data":{"role":"seat","lane":{"id":"codex","requested":{"adapter":"codex","provider":"openai","modelFamily":"gpt","model":"m2","tools":[]},"knownSubstitutions":[]}}},
  {"id":"gemini","data":{"role":"seat","lane":{"id":"gemini","requested":{"adapter":"gemini","provider":"google","modelFamily":"gemini","model":"m3","tools":[]},"knownSubstitutions":[]}}},
  {"id":"repair","data":{"role":"repair","lane":{"id":"writer","requested":{"adapter":"claude","provider":"anthropic","modelFamily":"claude","model":"m1","tools":[]},"knownSubstitutions":[]}}}],
 "edges":[]}`

var third = record.Engine{Adapter: "gemini", Provider: "google", ModelFamily: "gemini", Model: "m3"}

func fullInput() loop.Input {
	in := newInput()
	in.Definition = []byte(fullDefinition)
	return in
}

// stubborn plays the turns of a run in which both seats find the same n flaws
// and no repair removes one; the arbiter leaves every finding to a person.
func stubborn(n int) func(context.Context, *loop.TurnRequest) (*loop.TurnResult, error) {
	return func(_ context.Context, r *loop.TurnRequest) (*loop.TurnResult, error) {
		sure, who := 0.9, &reader
		if r.Target.Adapter == third.Adapter {
			who = &third
		}
		out := &loop.TurnResult{Class: record.ClassOK, Reported: who, Confidence: &sure, Attempt: 1}
		switch r.Turn {
		case "implement", "repair":
			out = wrote()
			out.Snapshot = loop.Snapshot{Commit: "c" + r.Step, Tree: "t" + r.Step}
			for _, f := range r.Feedback.Findings {
				out.FixReport = append(out.FixReport, loop.Fixed{Finding: f.ID, Status: "fixed"})
			}
		case "review":
			out.Verdict = "block"
			for i := range n {
				out.Findings = append(out.Findings, loop.Finding{Severity: "high", Kind: "patch", Title: fmt.Sprintf("flaw number %d", i+1),
					Evidence: []record.Place{{Path: fmt.Sprintf("f%d.go", i+1), Line: 7}}})
			}
		case "recheck":
			out.Verdict = "block"
			for _, id := range r.Findings {
				out.Rechecked = append(out.Rechecked, loop.Rechecked{Finding: id, Status: "not-addressed"})
			}
		case "arbitrate":
			out.Answer = json.RawMessage(`{"rulings":[]}`)
		}
		return out, nil
	}
}

func stubbornEnvironment(t *testing.T, n int) *testsuite.TestWorkflowEnvironment {
	env := newEnvironment(t)
	var a *activities.Activities
	env.OnActivity(a.RunTurn, mock.Anything, mock.Anything).Return(stubborn(n)).Maybe()
	return env
}

func statusOf(t *testing.T, env *testsuite.TestWorkflowEnvironment) record.Run {
	t.Helper()
	answer, err := env.QueryWorkflow(QueryStatus)
	require.NoError(t, err)
	var run record.Run
	require.NoError(t, answer.Get(&run))
	return run
}

func stop(t *testing.T, env *testsuite.TestWorkflowEnvironment) record.Stop {
	t.Helper()
	require.NoError(t, env.GetWorkflowError())
	var result loop.Result
	require.NoError(t, env.GetWorkflowResult(&result))
	return result.Stop
}

// answered collects what an update answers.
type answered struct {
	rejected error
	answer   loop.RulingAnswer
	err      error
}

func (a *answered) callback() *testsuite.TestUpdateCallback {
	return &testsuite.TestUpdateCallback{
		OnAccept: func() {},
		OnReject: func(err error) { a.rejected = err },
		OnComplete: func(value any, err error) {
			a.err = err
			if answer, ok := value.(loop.RulingAnswer); ok {
				a.answer = answer
			}
		},
	}
}

func TestAnUpdateIsAnsweredAtOnceAndTheRunGoesOn(t *testing.T) {
	env := stubbornEnvironment(t, 2)
	var wrong, unknown, first, again, last answered
	env.RegisterDelayedCallback(func() {
		require.Equal(t, []string{"F1", "F2"}, subjectsOf(statusOf(t, env)))
		env.UpdateWorkflow(UpdateRule, "u1", wrong.callback(), map[string]any{"finding": 7})
		env.UpdateWorkflow(UpdateRule, "u2", unknown.callback(), loop.RulingRequest{Finding: "F9", Decision: "stand", Reason: "x"})
		ruling := loop.RulingRequest{Finding: "F1", Decision: "stand", Reason: "x", RequestID: "r1", By: "ann"}
		env.UpdateWorkflow(UpdateRule, "u3", first.callback(), ruling)
		env.UpdateWorkflow(UpdateRule, "u4", again.callback(), ruling)
	}, 24*time.Hour)
	env.RegisterDelayedCallback(func() {
		run := statusOf(t, env)
		require.Equal(t, []string{"F2"}, subjectsOf(run))
		require.Equal(t, record.NeedsRuling, run.Stop)
		env.UpdateWorkflow(UpdateRule, "u5", last.callback(), loop.RulingRequest{Finding: "F2", Decision: "stand", Reason: "y"})
	}, 48*time.Hour)
	env.ExecuteWorkflow(ReviewLoop, fullInput())
	require.Equal(t, record.Ruled, stop(t, env))
	require.ErrorContains(t, wrong.rejected, `this is no ruling: "finding" must be a text and is a number`)
	require.Equal(t, loop.RulingAnswer{Status: loop.RulingRefused, Finding: "F9", Decision: "stand",
		Why: "there is no finding F9; asked now: F1, F2", Open: []string{"F1", "F2"}}, unknown.answer)
	require.Equal(t, loop.RulingAnswer{Status: loop.RulingApplied, Finding: "F1", Number: 1, Decision: "stand", Open: []string{"F2"}}, first.answer)
	require.True(t, again.answer.Repeated)
	require.Equal(t, loop.RulingApplied, last.answer.Status)
	run := statusOf(t, env)
	require.Len(t, run.Rulings, 2)
	require.Len(t, run.Refused, 1, "what is no ruling leaves no trace, what is refused does")
}

func subjectsOf(run record.Run) []string {
	var out []string
	for _, q := range run.Questions {
		out = append(out, q.Subject)
	}
	return out
}

func TestASignalOfAnyShapeIsReadAndNeverLost(t *testing.T) {
	env := stubbornEnvironment(t, 1)
	env.RegisterDelayedCallback(func() {
		env.SignalWorkflow(SignalRuling, nil)
		env.SignalWorkflow(SignalRuling, 7)
		env.SignalWorkflow(SignalRuling, "F1")
		env.SignalWorkflow(SignalRuling, []byte(`{"finding":"F1"}`))
		env.SignalWorkflow(SignalRuling, []string{"F1", "stand"})
		env.SignalWorkflow(SignalRuling, map[string]any{"finding": "F1", "decision": 1})
	}, time.Hour)
	env.RegisterDelayedCallback(func() {
		require.Len(t, statusOf(t, env).Refused, 6)
		env.SignalWorkflow(SignalRuling, map[string]string{"finding": "F1", "decision": "stand", "reason": "plain JSON"})
	}, 2*time.Hour)
	env.ExecuteWorkflow(ReviewLoop, fullInput())
	require.Equal(t, record.Ruled, stop(t, env))
	run := statusOf(t, env)
	require.Len(t, run.Refused, 6)
	require.Equal(t, "signal", run.Rulings[0].By)
	answer, err := env.QueryWorkflow(QueryFindings)
	require.NoError(t, err)
	var findings []record.Finding
	require.NoError(t, answer.Get(&findings))
	require.Equal(t, run.Findings, findings)
	require.Equal(t, "ruled", findings[0].Disposition)
}

func TestAWaitingRunRemindsUntilItsDeadlineRules(t *testing.T) {
	env := stubbornEnvironment(t, 1)
	in := fullInput()
	in.Policy.Reminder, in.Policy.Deadline, in.Policy.DeadlineRuling = 4*time.Hour, 70*time.Hour, "abort"
	began := env.Now()
	env.RegisterDelayedCallback(func() {
		run := statusOf(t, env)
		require.Equal(t, 17, run.Reminders)
		require.Contains(t, run.Waiting, "reminded 17 times")
	}, 69*time.Hour)
	env.ExecuteWorkflow(ReviewLoop, in)
	require.Equal(t, record.Aborted, stop(t, env))
	require.InDelta(t, 70, env.Now().Sub(began).Hours(), 0.1)
	require.Equal(t, "deadline", statusOf(t, env).Rulings[0].By)
}

func TestAWaitIsCancelled(t *testing.T) {
	env := stubbornEnvironment(t, 1)
	in := fullInput()
	in.Policy.Reminder = time.Hour
	env.RegisterDelayedCallback(env.CancelWorkflow, 90*time.Minute)
	env.ExecuteWorkflow(ReviewLoop, in)
	require.Equal(t, record.Cancelled, stop(t, env))
}

// A new execution goes on in the middle of 200 questions. (What arrives while
// it begins is tested on a real server, which hands it on.)
func TestWhatWasRuledSurvivesContinueAsNew(t *testing.T) {
	const all = 17 * 12
	in, sent, executions := fullInput(), 0, 0
	var last *testsuite.TestWorkflowEnvironment
	for {
		executions++
		require.LessOrEqual(t, executions, 12)
		env := stubbornEnvironment(t, all)
		last = env
		rule := func() {
			sent++
			env.SignalWorkflow(SignalRuling, map[string]string{"finding": fmt.Sprintf("F%d", sent), "decision": "stand", "reason": fmt.Sprintf("reason %d", sent)})
		}
		env.RegisterDelayedCallback(func() {
			rule()
			env.SignalWorkflow(SignalRuling, "no ruling")
			env.SignalWorkflow(SignalRuling, map[string]string{"finding": "F500", "decision": "stand", "reason": "x"})
			env.SignalWorkflow(SignalRuling, map[string]string{"finding": "F1", "decision": "abort", "reason": "too late"})
			for range 16 {
				rule()
			}
		}, time.Hour)
		env.RegisterDelayedCallback(func() {
			env.SetContinueAsNewSuggested(true)
			env.SignalWorkflow(SignalInterrupt, "wakes it up, and changes nothing while it waits")
		}, 2*time.Hour)
		env.ExecuteWorkflow(ReviewLoop, in)
		var next *workflow.ContinueAsNewError
		if !errors.As(env.GetWorkflowError(), &next) {
			break
		}
		in = loop.Input{}
		require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(next.Input, &in))
	}
	require.Equal(t, record.Ruled, stop(t, last))
	run := statusOf(t, last)
	require.Len(t, run.Rulings, all)
	for i, r := range run.Rulings {
		require.Equal(t, fmt.Sprintf("F%d", i+1), r.Finding)
		require.Equal(t, fmt.Sprintf("reason %d", i+1), r.Reason)
	}
	require.Len(t, run.Refused, 3*12)
}
