package workflows

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"conclave/activities"
	"conclave/internal/artifact"
	"conclave/internal/loop"
	"conclave/internal/record"
)

// These tests assert on commands only: which activities are scheduled, with
// what, and what signals change. What a run means is asserted on real runs.

const definition = `{"id":"run","definitionVersion":1,
 "data":{"maxIterations":3,"maxReviewRestarts":2,"quorum":1,"requireDiversity":false,"skippableSeats":[],"seatConcurrency":2,"retryCapPerNode":1},
 "nodes":[
  {"id":"implement","data":{"role":"generator","lane":{"id":"writer","requested":{"adapter":"claude","provider":"anthropic","modelFamily":"claude","model":"m1","tools":[]},"knownSubstitutions":[]}}},
  {"id":"verify","data":{"role":"evaluator"}},
  {"id":"codex","data":{"role":"seat","lane":{"id":"codex","requested":{"adapter":"codex","provider":"openai","modelFamily":"gpt","model":"m2","tools":[]},"knownSubstitutions":[]}}},
  {"id":"repair","data":{"role":"repair","lane":{"id":"writer","requested":{"adapter":"claude","provider":"anthropic","modelFamily":"claude","model":"m1","tools":[]},"knownSubstitutions":[]}}}],
 "edges":[]}`

func newInput() loop.Input {
	return loop.Input{
		Schema: loop.InputSchema, RunID: "r", Rules: "conclave/v1", Definition: []byte(definition),
		Requirement: artifact.Of([]byte("x")), Title: "x", VerdictMode: "strict", Source: loop.Source{Dir: "/r"},
		Limits: loop.Limits{WriterTimeout: time.Hour, ReaderTimeout: time.Hour, VerifyTimeout: time.Hour},
		Queues: loop.Queues{Source: "source-r", Agents: "run-r"},
	}
}

func newEnvironment(t *testing.T) *testsuite.TestWorkflowEnvironment {
	env := bareEnvironment(t)
	prepares(env)
	finishes(env)
	return env
}

// bareEnvironment answers no activity but Verify.
func bareEnvironment(t *testing.T) *testsuite.TestWorkflowEnvironment {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute) // of real time, in which nothing happens
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute})
	env.RegisterWorkflow(ReviewLoop)
	var a *activities.Activities
	a.RegisterTurns(env)
	a.RegisterSource(env)
	env.OnActivity(a.Verify, mock.Anything, mock.Anything).Return(&loop.VerifyResult{Class: record.ClassOK, Gate: loop.GateNotRun}, nil).Maybe()
	t.Cleanup(func() { env.AssertExpectations(t) })
	return env
}

func prepares(env *testsuite.TestWorkflowEnvironment) {
	var a *activities.Activities
	env.OnActivity(a.PrepareRun, mock.Anything, mock.Anything).Return(&loop.Prepared{Base: loop.Snapshot{Commit: "b", Tree: "t0"}}, nil).Maybe()
}

func finishes(env *testsuite.TestWorkflowEnvironment) {
	var a *activities.Activities
	env.OnActivity(a.WriteBundle, mock.Anything, mock.Anything).Return(nil).Maybe()
	env.OnActivity(a.Land, mock.Anything, mock.Anything).Return(&loop.Landed{Branch: "conclave/r", Commit: "c"}, nil).Maybe()
}

var writer = record.Engine{Adapter: "claude", Provider: "anthropic", ModelFamily: "claude", Model: "m1"}
var reader = record.Engine{Adapter: "codex", Provider: "openai", ModelFamily: "gpt", Model: "m2"}

func wrote() *loop.TurnResult {
	return &loop.TurnResult{Class: record.ClassOK, Reported: &writer, Changed: true, Snapshot: loop.Snapshot{Commit: "c1", Tree: "t1"}}
}

func passed() *loop.TurnResult {
	return &loop.TurnResult{Class: record.ClassOK, Reported: &reader, Verdict: "pass"}
}

func TestEveryActivityHasItsQueueAndItsTimes(t *testing.T) {
	env := newEnvironment(t)
	var a *activities.Activities
	env.OnActivity(a.RunTurn, mock.Anything, mock.Anything).Return(func(_ context.Context, r *loop.TurnRequest) (*loop.TurnResult, error) {
		if r.Writing {
			return wrote(), nil
		}
		return passed(), nil
	})
	env.ExecuteWorkflow(ReviewLoop, newInput())
	require.NoError(t, env.GetWorkflowError())
	var result loop.Result
	require.NoError(t, env.GetWorkflowResult(&result))
	require.Equal(t, loop.Result{RunID: "r", Stop: record.Converged, Iterations: 1, Landed: true, Branch: "conclave/r"}, result)
}

func TestPolicies(t *testing.T) {
	in := newInput()
	turn := options(loop.Call{Kind: loop.CallTurn, Turn: &loop.TurnRequest{Timeout: time.Hour}}, in.Queues)
	verify := options(loop.Call{Kind: loop.CallVerify, Verify: &loop.VerifyRequest{Timeout: time.Hour}}, in.Queues)
	for _, o := range []struct {
		name  string
		queue string
		got   any
	}{{"turn", "run-r", turn.TaskQueue}, {"verify", "run-r", verify.TaskQueue}} {
		require.Equal(t, o.queue, o.got, o.name)
	}
	require.Greater(t, turn.StartToCloseTimeout, time.Hour, "stopping the agent takes time of its own")
	require.GreaterOrEqual(t, verify.StartToCloseTimeout, 3*time.Hour)
	for _, kind := range []loop.Kind{loop.CallPrepare, loop.CallLand, loop.CallBundle} {
		o := options(loop.Call{Kind: kind}, in.Queues)
		require.Equal(t, "source-r", o.TaskQueue)
		require.Positive(t, o.StartToCloseTimeout)
		require.EqualValues(t, sourceRetries, o.RetryPolicy.MaximumAttempts)
	}
	for _, o := range []struct{ beat, start time.Duration }{{turn.HeartbeatTimeout, turn.StartToCloseTimeout}, {verify.HeartbeatTimeout, verify.StartToCloseTimeout}} {
		require.Positive(t, o.beat, "without a heartbeat a cancellation is not delivered")
		require.Less(t, o.beat, o.start)
	}
	require.True(t, turn.WaitForCancellation)
	for _, o := range []workflow.ActivityOptions{turn, verify} {
		require.Zero(t, o.RetryPolicy.MaximumAttempts, "lost workers are no failure")
		require.Contains(t, o.RetryPolicy.NonRetryableErrorTypes, "TemporalTimeout:StartToClose", "a turn that used up its time is not paid again")
		require.Contains(t, o.RetryPolicy.NonRetryableErrorTypes, "PanicError", "nor is one that ends in a bug of ours")
	}
}

func TestInterruptCancelsTheTurnAndResumeAsksAgain(t *testing.T) {
	env := newEnvironment(t)
	var a *activities.Activities
	writes := 0
	env.OnActivity(a.RunTurn, mock.Anything, mock.MatchedBy(func(r *loop.TurnRequest) bool { return r.Writing })).Return(
		func(ctx context.Context, _ *loop.TurnRequest) (*loop.TurnResult, error) {
			if writes++; writes == 1 {
				return &loop.TurnResult{Class: record.ClassAborted, Code: "ABORTED"}, nil
			}
			return wrote(), nil
		}).After(time.Minute)
	env.OnActivity(a.RunTurn, mock.Anything, mock.MatchedBy(func(r *loop.TurnRequest) bool { return !r.Writing })).Return(passed(), nil)
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(SignalInterrupt, "ctrl-c") }, 30*time.Second)
	waited := false
	env.RegisterDelayedCallback(func() {
		answer, err := env.QueryWorkflow(QueryStatus)
		require.NoError(t, err)
		var run record.Run
		require.NoError(t, answer.Get(&run))
		waited = run.Stop == record.StopInterrupted && run.Waiting != ""
		env.SignalWorkflow(SignalResume, "go on")
	}, 48*time.Hour)
	env.ExecuteWorkflow(ReviewLoop, newInput())
	require.NoError(t, env.GetWorkflowError())
	require.True(t, waited, "the run waits for days at no cost")
	require.Equal(t, 2, writes)
	var result loop.Result
	require.NoError(t, env.GetWorkflowResult(&result))
	require.Equal(t, record.Converged, result.Stop)
}

func TestCancelCompletesTheRun(t *testing.T) {
	env := newEnvironment(t)
	var a *activities.Activities
	env.OnActivity(a.RunTurn, mock.Anything, mock.MatchedBy(func(r *loop.TurnRequest) bool { return r.Writing })).Return(wrote(), nil)
	env.OnActivity(a.RunTurn, mock.Anything, mock.MatchedBy(func(r *loop.TurnRequest) bool { return !r.Writing })).Return(passed(), nil).After(time.Hour)
	env.RegisterDelayedCallback(env.CancelWorkflow, time.Minute)
	env.ExecuteWorkflow(ReviewLoop, newInput())
	require.NoError(t, env.GetWorkflowError())
	var result loop.Result
	require.NoError(t, env.GetWorkflowResult(&result))
	require.Equal(t, record.Cancelled, result.Stop)
	require.True(t, result.Landed, "what was written is kept on a branch")
}

func TestAQuotaIsWaitedForByATimer(t *testing.T) {
	env := newEnvironment(t)
	var a *activities.Activities
	env.OnActivity(a.RunTurn, mock.Anything, mock.MatchedBy(func(r *loop.TurnRequest) bool { return r.Writing })).Return(wrote(), nil)
	var tries []int
	env.OnActivity(a.RunTurn, mock.Anything, mock.MatchedBy(func(r *loop.TurnRequest) bool { return !r.Writing })).Return(
		func(_ context.Context, r *loop.TurnRequest) (*loop.TurnResult, error) {
			if tries = append(tries, r.Try); r.Try == 1 {
				return &loop.TurnResult{Class: record.ClassQuota, Code: "EFFECT_FAILED", RetryAfter: 3 * time.Hour}, nil
			}
			return passed(), nil
		})
	began := env.Now()
	env.ExecuteWorkflow(ReviewLoop, newInput())
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, []int{1, 2}, tries, "each real attempt is a call of its own")
	require.GreaterOrEqual(t, env.Now().Sub(began), 3*time.Hour)
}

// A seat that waits for its provider holds nobody up: the timer is its own.
func TestOtherSeatsDoNotWaitForAQuota(t *testing.T) {
	env := newEnvironment(t)
	var a *activities.Activities
	env.OnActivity(a.RunTurn, mock.Anything, mock.MatchedBy(func(r *loop.TurnRequest) bool { return r.Writing })).Return(wrote(), nil)
	began := env.Now()
	at := map[string]time.Duration{}
	env.OnActivity(a.RunTurn, mock.Anything, mock.MatchedBy(func(r *loop.TurnRequest) bool { return !r.Writing })).Return(
		func(_ context.Context, r *loop.TurnRequest) (*loop.TurnResult, error) {
			at[fmt.Sprint(r.Seat, r.Try)] = env.Now().Sub(began)
			if r.Seat == "codex" && r.Try == 1 {
				return &loop.TurnResult{Class: record.ClassQuota, Code: "EFFECT_FAILED", RetryAfter: 3 * time.Hour}, nil
			}
			return passed(), nil
		})
	in := newInput()
	seat := `{"id":"codex","data":{"role":"seat",`
	in.Definition = []byte(strings.Replace(definition, seat, `{"id":"other","data":{"role":"seat","lane":{"id":"other","requested":{"adapter":"codex","provider":"openai","modelFamily":"gpt","model":"m2","tools":[]},"knownSubstitutions":[]}}},
  `+seat, 1))
	env.ExecuteWorkflow(ReviewLoop, in)
	require.NoError(t, env.GetWorkflowError())
	require.Less(t, at["other1"], time.Hour)
	require.GreaterOrEqual(t, at["codex2"], 3*time.Hour)
	var result loop.Result
	require.NoError(t, env.GetWorkflowResult(&result))
	require.Equal(t, record.Converged, result.Stop)
}

func TestAContinuedRunKeepsItsState(t *testing.T) {
	env := newEnvironment(t)
	env.SetContinueAsNewSuggested(true)
	env.ExecuteWorkflow(ReviewLoop, newInput())
	require.ErrorContains(t, env.GetWorkflowError(), "continue as new")
}

func TestOtherCodeIsRefusedBeforeAnyStep(t *testing.T) {
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.RegisterWorkflow(ReviewLoop)
	in := newInput()
	in.Rules = "conclave/v9"
	env.ExecuteWorkflow(ReviewLoop, in)
	require.ErrorContains(t, env.GetWorkflowError(), "STORED_GRAPH_MISMATCH")
}

// waiting asks a test run whether it waits.
func waiting(t *testing.T, env *testsuite.TestWorkflowEnvironment) bool {
	answer, err := env.QueryWorkflow(QueryStatus)
	require.NoError(t, err)
	var run record.Run
	require.NoError(t, answer.Get(&run))
	return run.Stop == record.StopInterrupted && run.Waiting != ""
}

// converges runs the input and wants it to converge and land.
func converges(t *testing.T, env *testsuite.TestWorkflowEnvironment) {
	t.Helper()
	env.ExecuteWorkflow(ReviewLoop, newInput())
	require.NoError(t, env.GetWorkflowError())
	var result loop.Result
	require.NoError(t, env.GetWorkflowResult(&result))
	require.Equal(t, record.Converged, result.Stop, result.Message)
	require.True(t, result.Landed)
}

// answers plays every turn without trouble.
func answers(env *testsuite.TestWorkflowEnvironment) {
	var a *activities.Activities
	env.OnActivity(a.RunTurn, mock.Anything, mock.Anything).Return(func(_ context.Context, r *loop.TurnRequest) (*loop.TurnResult, error) {
		if r.Writing {
			return wrote(), nil
		}
		return passed(), nil
	})
}

func TestInterruptBeforeTheRunIsPreparedCanBeResumed(t *testing.T) {
	env := bareEnvironment(t)
	var a *activities.Activities
	prepared := 0
	env.OnActivity(a.PrepareRun, mock.Anything, mock.Anything).Return(func(context.Context, *loop.PrepareRequest) (*loop.Prepared, error) {
		prepared++
		return &loop.Prepared{Base: loop.Snapshot{Commit: "b", Tree: "t0"}}, nil
	}).After(time.Minute)
	finishes(env)
	answers(env)
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(SignalInterrupt, "ctrl-c") }, time.Second)
	env.RegisterDelayedCallback(func() {
		require.True(t, waiting(t, env))
		env.SignalWorkflow(SignalResume, "go on")
	}, time.Hour)
	converges(t, env)
}

func TestInterruptStopsNeitherLandingNorTheBundle(t *testing.T) {
	env := bareEnvironment(t)
	var a *activities.Activities
	prepares(env)
	answers(env)
	env.OnActivity(a.Land, mock.Anything, mock.Anything).Return(&loop.Landed{Branch: "conclave/r", Commit: "c"}, nil).After(time.Minute)
	bundles := 0
	env.OnActivity(a.WriteBundle, mock.Anything, mock.Anything).Return(func(context.Context, *loop.BundleRequest) error {
		bundles++
		return nil
	}).After(time.Minute)
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(SignalInterrupt, "while it lands") }, 90*time.Second)
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(SignalInterrupt, "while the bundle is written") }, 150*time.Second)
	converges(t, env)
	require.Equal(t, 2, bundles)
}

// Clients see that the run waits before its bundle is written: a resume that
// comes in between is not lost.
func TestAResumeWhileTheWaitBeginsCounts(t *testing.T) {
	env := bareEnvironment(t)
	var a *activities.Activities
	prepares(env)
	env.OnActivity(a.Land, mock.Anything, mock.Anything).Return(&loop.Landed{Branch: "conclave/r", Commit: "c"}, nil)
	env.OnActivity(a.WriteBundle, mock.Anything, mock.Anything).Return(nil).After(time.Minute)
	writes := 0
	env.OnActivity(a.RunTurn, mock.Anything, mock.MatchedBy(func(r *loop.TurnRequest) bool { return r.Writing })).Return(
		func(context.Context, *loop.TurnRequest) (*loop.TurnResult, error) {
			if writes++; writes == 1 {
				return &loop.TurnResult{Class: record.ClassAborted, Code: "ABORTED"}, nil
			}
			return wrote(), nil
		}).After(10 * time.Second)
	env.OnActivity(a.RunTurn, mock.Anything, mock.MatchedBy(func(r *loop.TurnRequest) bool { return !r.Writing })).Return(passed(), nil)
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(SignalInterrupt, "ctrl-c") }, 65*time.Second)
	env.RegisterDelayedCallback(func() {
		require.True(t, waiting(t, env))
		env.SignalWorkflow(SignalResume, "at once")
	}, 80*time.Second)
	converges(t, env)
}

// A wait for a quota is no turn, but it can be interrupted and cancelled like one.
func TestAWaitForAQuotaEndsAtOnce(t *testing.T) {
	for _, cancelled := range []bool{false, true} {
		env := newEnvironment(t)
		var a *activities.Activities
		env.OnActivity(a.RunTurn, mock.Anything, mock.MatchedBy(func(r *loop.TurnRequest) bool { return r.Writing })).Return(wrote(), nil)
		var keys []string
		env.OnActivity(a.RunTurn, mock.Anything, mock.MatchedBy(func(r *loop.TurnRequest) bool { return !r.Writing })).Return(
			func(_ context.Context, r *loop.TurnRequest) (*loop.TurnResult, error) {
				if keys = append(keys, fmt.Sprintf("%s.%d", r.Step, r.Try)); len(keys) == 1 {
					return &loop.TurnResult{Class: record.ClassQuota, Code: "EFFECT_FAILED", RetryAfter: 20 * time.Hour}, nil
				}
				return passed(), nil
			})
		env.RegisterDelayedCallback(func() {
			if cancelled {
				env.CancelWorkflow()
				return
			}
			env.SignalWorkflow(SignalInterrupt, "ctrl-c")
		}, time.Hour)
		if !cancelled {
			env.RegisterDelayedCallback(func() {
				require.True(t, waiting(t, env))
				env.SignalWorkflow(SignalResume, nil)
			}, 2*time.Hour)
		}
		began := env.Now()
		env.ExecuteWorkflow(ReviewLoop, newInput())
		require.NoError(t, env.GetWorkflowError())
		require.Less(t, env.Now().Sub(began), 3*time.Hour)
		var result loop.Result
		require.NoError(t, env.GetWorkflowResult(&result))
		if cancelled {
			require.Equal(t, record.Cancelled, result.Stop)
			require.Len(t, keys, 1)
		} else {
			require.Equal(t, record.Converged, result.Stop)
			require.Equal(t, []string{"03.1", "04.1"}, keys, "asked again as a step of its own")
		}
	}
}
