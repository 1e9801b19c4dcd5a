package loop_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"conclave/internal/artifact"
	"conclave/internal/convergence"
	"conclave/internal/loop"
	"conclave/internal/record"
)

var claude = record.Engine{Adapter: "claude", Provider: "anthropic", ModelFamily: "claude", Model: "m1", Source: "served"}
var codex = record.Engine{Adapter: "codex", Provider: "openai", ModelFamily: "gpt", Model: "m2", Source: "pinned"}

func definition(iterations int) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"id":"run","definitionVersion":1,
	 "data":{"maxIterations":%d,"maxReviewRestarts":%d,"quorum":1,"requireDiversity":false,"skippableSeats":[],"seatConcurrency":2,"retryCapPerNode":1},
	 "nodes":[
	  {"id":"implement","data":{"role":"generator","lane":{"id":"writer","requested":{"adapter":"claude","provider":"anthropic","modelFamily":"claude","model":"m1","tools":[]},"knownSubstitutions":[]}}},
	  {"id":"verify","data":{"role":"evaluator"}},
	  {"id":"codex","data":{"role":"seat","lane":{"id":"codex","requested":{"adapter":"codex","provider":"openai","modelFamily":"gpt","model":"m2","tools":[]},"knownSubstitutions":[]}}},
	  {"id":"claude","data":{"role":"seat","lane":{"id":"claude","requested":{"adapter":"claude","provider":"anthropic","modelFamily":"claude","model":"m1","tools":[]},"knownSubstitutions":[]}}},
	  {"id":"repair","data":{"role":"repair","lane":{"id":"writer","requested":{"adapter":"claude","provider":"anthropic","modelFamily":"claude","model":"m1","tools":[]},"knownSubstitutions":[]}}}],
	 "edges":[]}`, iterations, iterations-1))
}

func input(iterations int) loop.Input {
	return loop.Input{
		Schema: loop.InputSchema, RunID: "add-sum-abcde", Rules: "conclave/v1", Definition: definition(iterations),
		Requirement: artifact.Of([]byte("Add Sum")), Title: "Add Sum", Source: loop.Source{Dir: "/repo"},
		Commands: loop.Commands{Verify: "go test ./..."}, VerdictMode: "strict",
		Limits: loop.Limits{WriterTimeout: time.Minute, ReaderTimeout: time.Minute, VerifyTimeout: time.Minute},
		Lenses: map[string]string{"codex": "correctness", "claude": "correctness"},
	}
}

// world plays the activities. answers are taken by "turn seat iteration", else by "turn seat", else by "turn".
type world struct {
	t        *testing.T
	progress *loop.Progress
	now      time.Time
	answers  map[string]func(loop.Call) loop.Outcome
	calls    []string
	turns    []loop.TurnRequest
	marks    []string
	onCall   func(loop.Call)
}

func newWorld(t *testing.T, in loop.Input) *world {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	p, err := loop.New(in, "run-x", now)
	require.NoError(t, err)
	return &world{t: t, progress: p, now: now, answers: map[string]func(loop.Call) loop.Outcome{
		"verify":    func(loop.Call) loop.Outcome { return gate(loop.GatePass) },
		"implement": func(loop.Call) loop.Outcome { return wrote("tree-1", true) },
		"repair":    func(c loop.Call) loop.Outcome { return wrote(fmt.Sprintf("tree-%d", c.Turn.Iteration), true) },
		"design": func(loop.Call) loop.Outcome {
			return loop.Outcome{Turn: &loop.TurnResult{Class: record.ClassOK, Final: artifact.Of([]byte("contract")), Attempt: 1}}
		},
		"review": func(c loop.Call) loop.Outcome { return judged(c, "pass") },
	}}
}

func wrote(tree string, changed bool) loop.Outcome {
	return loop.Outcome{Turn: &loop.TurnResult{
		Class: record.ClassOK, Reported: &claude, Snapshot: loop.Snapshot{Commit: "c-" + tree, Tree: tree}, Changed: changed,
		Stats: &record.Stats{Files: 1}, Attempt: 1, Usage: &record.Usage{InputTokens: 10},
	}}
}

func judged(c loop.Call, verdict string) loop.Outcome {
	who := codex
	if c.Turn.Seat == "claude" {
		who = claude
	}
	r := &loop.TurnResult{Class: record.ClassOK, Reported: &who, Verdict: verdict, Final: artifact.Of([]byte(c.Turn.Seat + " says " + verdict)), Attempt: 1}
	if verdict == "block" {
		r.Findings = []loop.Finding{{Severity: "high", Kind: "patch", Title: "off by one"}}
	}
	return loop.Outcome{Turn: r}
}

func gate(gate string) loop.Outcome {
	v := &loop.VerifyResult{Class: record.ClassOK, Gate: gate, Attempt: 1}
	if gate == loop.GateFail {
		v.ExitCode, v.Failure = 1, artifact.Of([]byte("FAIL"))
	}
	return loop.Outcome{Verify: v}
}

func troubled(class record.Class, code string) loop.Outcome {
	return loop.Outcome{Turn: &loop.TurnResult{Class: class, Code: code, Message: "because " + code, Attempt: 1}}
}

// run plays until the run ends or waits, and returns that call's kind.
func (w *world) run() loop.Kind {
	for range 100 {
		w.now = w.now.Add(time.Second)
		calls := w.progress.Next(w.now)
		if kind := calls[0].Kind; kind == loop.CallFinish || kind == loop.CallWait {
			return kind
		}
		for _, call := range calls {
			w.play(call)
		}
	}
	require.Fail(w.t, "the run does not end")
	return ""
}

func (w *world) play(call loop.Call) {
	if w.onCall != nil {
		w.onCall(call)
	}
	for {
		w.calls = append(w.calls, describe(call))
		again := w.progress.Done(call, w.answer(call), w.now)
		if again == nil {
			return
		}
		w.now, call = w.now.Add(again.After), again.Call
	}
}

func describe(c loop.Call) string {
	switch c.Kind {
	case loop.CallTurn:
		text := fmt.Sprintf("%s %s", c.Step, c.Turn.Turn)
		if c.Turn.Seat != "" {
			text += " " + c.Turn.Seat
		}
		return text
	case loop.CallVerify:
		return c.Step + " verify"
	default:
		return string(c.Kind)
	}
}

func (w *world) answer(c loop.Call) loop.Outcome {
	switch c.Kind {
	case loop.CallPrepare:
		return loop.Outcome{Prepared: &loop.Prepared{Base: loop.Snapshot{Commit: "base", Tree: "tree-0"}, Head: "head"}}
	case loop.CallBundle:
		w.marks = append(w.marks, c.Bundle.Mark)
		return loop.Outcome{Bundled: true}
	case loop.CallLand:
		return loop.Outcome{Landed: &loop.Landed{Branch: c.Land.Branch, Commit: "landed"}}
	case loop.CallVerify:
		return w.answers["verify"](c)
	default:
		w.turns = append(w.turns, *c.Turn)
		for _, key := range []string{
			fmt.Sprintf("%s %s %d", c.Turn.Turn, c.Turn.Seat, c.Turn.Iteration), c.Turn.Turn + " " + c.Turn.Seat, c.Turn.Turn,
		} {
			if play := w.answers[key]; play != nil {
				return play(c)
			}
		}
		require.Fail(w.t, "no answer for "+describe(c))
		return loop.Outcome{}
	}
}

func (w *world) record() record.Run { return w.progress.Record(w.now) }

// checkReplay: the events give exactly the dispatches that became steps.
func (w *world) checkReplay(in loop.Input) {
	machine, err := convergence.Compile(in.Definition, convergence.V1)
	require.NoError(w.t, err)
	dispatched, _, err := loop.Replay(machine, w.progress.Events)
	require.NoError(w.t, err)
	var want []string
	for _, s := range w.record().Steps {
		if s.Position != "" {
			want = append(want, s.Position)
		}
	}
	var got []string
	for _, d := range dispatched {
		got = append(got, d.Position)
	}
	require.Equal(w.t, want, got)
}

func TestConvergesAtOnce(t *testing.T) {
	w := newWorld(t, input(3))
	require.Equal(t, loop.CallFinish, w.run())
	run := w.record()
	require.Equal(t, record.Converged, run.Stop)
	require.True(t, run.Converged)
	require.Equal(t, 0, run.ExitCode)
	require.Equal(t, 1, run.Iterations)
	require.True(t, run.Landed)
	require.Equal(t, "conclave/add-sum-abcde", run.Branch)
	require.Equal(t, []string{"prepare", "bundle", "01 implement", "02 verify", "03 review codex", "04 review claude", "land", "bundle"}, w.calls)
	require.True(t, *run.Steps[2].Voting)
	require.False(t, *run.Steps[3].Voting, "a seat of the writer's family has no vote")
	w.checkReplay(input(3))
}

func TestSecondIterationGetsTheBlockersWords(t *testing.T) {
	w := newWorld(t, input(3))
	w.answers["review  1"] = nil
	w.answers["review codex 1"] = func(c loop.Call) loop.Outcome { return judged(c, "block") }
	w.answers["review claude 1"] = func(c loop.Call) loop.Outcome { return judged(c, "block") }
	require.Equal(t, loop.CallFinish, w.run())
	run := w.record()
	require.Equal(t, record.Converged, run.Stop)
	require.Equal(t, 2, run.Iterations)
	repair := w.turns[3]
	require.Equal(t, "repair", repair.Turn)
	require.Equal(t, 2, repair.Iteration)
	require.Equal(t, "c-tree-1", repair.From.Commit)
	require.Len(t, repair.Feedback.Blocks, 2)
	require.Equal(t, "codex", repair.Feedback.Blocks[0].Name)
	require.Equal(t, artifact.Of([]byte("codex says block")), repair.Feedback.Blocks[0].Ref)
	require.True(t, repair.Feedback.Failure.IsZero(), "the verifier passed")
	require.Equal(t, []string{"before convergence/1/implement/1", "before convergence/repair/1/1", "end"}, w.marks)
	require.Len(t, run.Findings, 2)
	require.Equal(t, "addressed", run.Findings[0].Disposition)
	require.NotEqual(t, w.turns[1].Evidence, w.turns[4].Evidence, "the token is bound to the tree")
	w.checkReplay(input(3))
}

func TestAFailingVerifierGoesBackWithItsWords(t *testing.T) {
	w := newWorld(t, input(3))
	verifies := 0
	w.answers["verify"] = func(loop.Call) loop.Outcome {
		if verifies++; verifies == 1 {
			return gate(loop.GateFail)
		}
		return gate(loop.GatePass)
	}
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, record.Converged, w.record().Stop)
	require.Equal(t, "repair", w.turns[1].Turn, "no seat is asked while the gate is not met")
	require.Equal(t, artifact.Of([]byte("FAIL")), w.turns[1].Feedback.Failure)
	w.checkReplay(input(3))
}

func TestEndsThatAreNoSuccess(t *testing.T) {
	block := func(c loop.Call) loop.Outcome { return judged(c, "block") }
	cases := []struct {
		name       string
		iterations int
		answers    map[string]func(loop.Call) loop.Outcome
		stop       record.Stop
		exit       int
		message    string
		landed     bool
	}{
		{"limit", 1, map[string]func(loop.Call) loop.Outcome{"review codex": block}, record.MaxIters, 1, "", true},
		{"stalled", 3, map[string]func(loop.Call) loop.Outcome{"review codex": block, "repair": func(loop.Call) loop.Outcome { return wrote("tree-1", false) }}, record.Stalled, 1, "", true},
		{"no change", 3, map[string]func(loop.Call) loop.Outcome{"implement": func(loop.Call) loop.Outcome { return wrote("tree-0", false) }}, record.StepFailed, 4, "changed nothing", false},
		{"writer fails", 3, map[string]func(loop.Call) loop.Outcome{"implement": func(loop.Call) loop.Outcome { return troubled(record.ClassPermanent, "ENGINE_UNAVAILABLE") }}, record.StepFailed, 4, "step 01 (implementer claude) failed: because ENGINE_UNAVAILABLE", false},
		{"writer times out", 3, map[string]func(loop.Call) loop.Outcome{"implement": func(loop.Call) loop.Outcome { return troubled(record.ClassTimeout, "TIMEOUT") }}, record.StepFailed, 4, "because TIMEOUT", false},
		{"activity fails", 3, map[string]func(loop.Call) loop.Outcome{"implement": func(loop.Call) loop.Outcome {
			return loop.Outcome{Failure: &loop.Failure{Code: "EFFECT_FAILED", Message: "disk full"}}
		}}, record.StepFailed, 4, "disk full", false},
		{"seat never answers", 3, map[string]func(loop.Call) loop.Outcome{"review codex": func(loop.Call) loop.Outcome { return troubled(record.ClassMalformed, "RESULT_INVALID") }}, record.StepFailed, 4, "step 05 (reviewer seat codex) failed: because RESULT_INVALID", true},
		{"non-voting seat never answers", 3, map[string]func(loop.Call) loop.Outcome{"review claude": func(loop.Call) loop.Outcome { return troubled(record.ClassMalformed, "RESULT_INVALID") }}, record.StepFailed, 4, "seat claude", true},
		{"seat reads with the writer's engine", 3, map[string]func(loop.Call) loop.Outcome{"review codex": func(c loop.Call) loop.Outcome {
			out := judged(c, "pass")
			out.Turn.Reported = &claude
			return out
		}}, record.NoReview, 6, "", true},
		{"verifier cannot run", 3, map[string]func(loop.Call) loop.Outcome{"verify": func(loop.Call) loop.Outcome {
			return loop.Outcome{Verify: &loop.VerifyResult{Class: record.ClassPermanent, Code: "EFFECT_FAILED", Message: "not found"}}
		}}, record.StepFailed, 4, "not found", true},
		{"design fails", 3, map[string]func(loop.Call) loop.Outcome{"design": func(loop.Call) loop.Outcome { return troubled(record.ClassPermanent, "ENGINE_UNAVAILABLE") }}, record.StepFailed, 4, "step 01 (designer claude)", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			in := input(c.iterations)
			if c.answers["design"] != nil {
				in.Designer = &claude
			}
			w := newWorld(t, in)
			for key, play := range c.answers {
				w.answers[key] = play
			}
			require.Equal(t, loop.CallFinish, w.run())
			run := w.record()
			require.Equal(t, c.stop, run.Stop, run.Message)
			require.False(t, run.Converged)
			require.Equal(t, c.exit, run.ExitCode)
			require.Contains(t, run.Message, c.message)
			require.Equal(t, c.landed, run.Landed)
			w.checkReplay(in)
		})
	}
}

func TestPreparationThatFailsEndsTheRun(t *testing.T) {
	w := newWorld(t, input(3))
	calls := w.progress.Next(w.now)
	w.progress.Done(calls[0], loop.Outcome{Failure: &loop.Failure{Code: "INPUT_INVALID", Message: "base x does not resolve"}}, w.now)
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, record.StepFailed, w.record().Stop)
	require.Contains(t, w.record().Message, "does not resolve")
}

func TestTheDesignContractReachesEveryLaterTurn(t *testing.T) {
	in := input(3)
	in.Designer = &codex
	w := newWorld(t, in)
	require.Equal(t, loop.CallFinish, w.run())
	contract := artifact.Of([]byte("contract"))
	require.Equal(t, "design", w.turns[0].Turn)
	for _, turn := range w.turns[1:] {
		require.Equal(t, contract, turn.Contract, turn.Turn)
	}
	require.Equal(t, contract, w.record().Artifacts["design-contract.md"])
	require.Equal(t, "designer", w.record().Steps[0].Role)
	w.checkReplay(in)
}

func TestInterruptedRunsWaitAndGoOn(t *testing.T) {
	for _, role := range []string{"design", "implement", "review"} {
		t.Run(role, func(t *testing.T) {
			in := input(3)
			in.Designer = &codex
			w := newWorld(t, in)
			interrupted := false
			usual := w.answers[role]
			w.answers[role] = func(c loop.Call) loop.Outcome {
				if interrupted {
					return usual(c)
				}
				return troubled(record.ClassAborted, "ABORTED")
			}
			w.onCall = func(c loop.Call) {
				if c.Turn != nil && c.Turn.Turn == role && !interrupted && !w.progress.Interrupted {
					w.progress.Interrupt("interrupted")
				}
			}
			require.Equal(t, loop.CallWait, w.run())
			run := w.record()
			require.Equal(t, record.StopInterrupted, run.Stop)
			require.Equal(t, 130, run.ExitCode)
			require.Contains(t, run.Waiting, "interrupted")
			require.Equal(t, record.Interrupted, run.Steps[len(run.Steps)-1].Status)

			interrupted = true
			w.progress.AskResume(loop.Resume{Reason: "again"})
			w.progress.Resumed()
			require.Equal(t, loop.CallFinish, w.run())
			require.Equal(t, record.Converged, w.record().Stop)
			require.Equal(t, 1, w.record().Iterations)
			w.checkReplay(in)
		})
	}
}

func TestCancelledRunsEndAndKeepTheirWork(t *testing.T) {
	w := newWorld(t, input(3))
	w.answers["review"] = func(loop.Call) loop.Outcome { return troubled(record.ClassAborted, "ABORTED") }
	w.onCall = func(c loop.Call) {
		if c.Turn != nil && c.Turn.Turn == "review" {
			w.progress.Cancelled()
		}
	}
	require.Equal(t, loop.CallFinish, w.run())
	run := w.record()
	require.Equal(t, record.Cancelled, run.Stop)
	require.Equal(t, 130, run.ExitCode)
	require.True(t, run.Landed, "a run that did not converge gets its branch too")
}

func TestTroubleThatPassesIsWaitedOut(t *testing.T) {
	for _, class := range []record.Class{record.ClassTransient, record.ClassQuota} {
		w := newWorld(t, input(3))
		tries := 0
		w.answers["review codex"] = func(c loop.Call) loop.Outcome {
			if tries++; tries < 3 {
				out := troubled(class, "EFFECT_FAILED")
				out.Turn.RetryAfter = 90 * time.Second
				return out
			}
			return judged(c, "pass")
		}
		require.Equal(t, loop.CallFinish, w.run())
		run := w.record()
		require.Equal(t, record.Converged, run.Stop)
		require.Equal(t, 3, run.Steps[2].Attempts)
		require.GreaterOrEqual(t, run.TotalMS, int64(180_000))
		w.checkReplay(input(3))
	}
}

func TestTroubleThatStaysEndsTheRun(t *testing.T) {
	w := newWorld(t, input(3))
	w.answers["implement"] = func(loop.Call) loop.Outcome { return troubled(record.ClassTransient, "EFFECT_FAILED") }
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, record.StepFailed, w.record().Stop)
	require.Equal(t, 4, w.record().Steps[0].Attempts)
}

func TestTheCarryIsPlainJSON(t *testing.T) {
	in := input(3)
	w := newWorld(t, in)
	w.answers["review codex 1"] = func(c loop.Call) loop.Outcome { return judged(c, "block") }
	// After each batch the progress is written, read, and continued elsewhere.
	for range 100 {
		w.now = w.now.Add(time.Second)
		calls := w.progress.Next(w.now)
		if calls[0].Kind == loop.CallFinish {
			break
		}
		for _, call := range calls {
			w.play(call)
		}
		raw, err := json.Marshal(w.progress.Carry)
		require.NoError(t, err)
		var carry loop.Carry
		require.NoError(t, json.Unmarshal(raw, &carry))
		next := in
		next.Resume = &carry
		w.progress, err = loop.New(next, "run-x", w.now)
		require.NoError(t, err)
	}
	require.Equal(t, record.Converged, w.record().Stop)
	require.Equal(t, 2, w.record().Iterations)
	w.checkReplay(in)
}

func TestOtherCodeRefusesAStoredRun(t *testing.T) {
	var mismatch *loop.MismatchError
	in := input(3)
	in.Rules = "conclave/v0"
	_, err := loop.New(in, "run-x", time.Now())
	require.ErrorAs(t, err, &mismatch)
	in = input(3)
	in.Schema = 99
	_, err = loop.New(in, "run-x", time.Now())
	require.ErrorAs(t, err, &mismatch)
	in = input(3)
	in.Resume = &loop.Carry{Schema: 99}
	_, err = loop.New(in, "run-x", time.Now())
	require.ErrorAs(t, err, &mismatch)
	require.ErrorContains(t, err, "STORED_GRAPH_MISMATCH")
}

func TestUsageThatNobodyReportedIsUnknown(t *testing.T) {
	w := newWorld(t, input(3))
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, &record.Usage{InputTokens: 10, Unknown: 2}, w.record().Usage)
	require.Nil(t, w.record().Steps[2].Usage)
}

func TestAnInterruptedSeatIsNotBlamed(t *testing.T) {
	in := input(3)
	w := newWorld(t, in)
	w.answers["review codex"] = func(loop.Call) loop.Outcome {
		w.progress.Interrupt("interrupted")
		return troubled(record.ClassAborted, "ABORTED")
	}
	require.Equal(t, loop.CallWait, w.run())
	w.answers["review codex"] = nil
	w.progress.AskResume(loop.Resume{Reason: "again"})
	w.progress.Resumed()
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, record.Converged, w.record().Stop)
	again := w.turns[len(w.turns)-1]
	require.Equal(t, "codex", again.Seat)
	require.Empty(t, again.Reask, "it gave no answer that did not count")
	w.checkReplay(in)
}

func TestARunThatEndsIsNotPaused(t *testing.T) {
	for _, kind := range []loop.Kind{loop.CallLand, loop.CallBundle} {
		in := input(3)
		w := newWorld(t, in)
		w.onCall = func(c loop.Call) {
			if c.Kind == kind && w.record().Stop.Final() {
				w.progress.Interrupt("interrupted")
			}
		}
		require.Equal(t, loop.CallFinish, w.run())
		require.Equal(t, record.Converged, w.record().Stop)
		require.Equal(t, 0, w.record().ExitCode)
		w.checkReplay(in)
	}
}

func TestOnlyAWaitingRunIsResumed(t *testing.T) {
	w := newWorld(t, input(3))
	w.answers["implement"] = func(loop.Call) loop.Outcome {
		w.progress.Interrupt("interrupted")
		w.progress.AskResume(loop.Resume{}) // it does not wait yet: this asks for nothing
		return troubled(record.ClassAborted, "ABORTED")
	}
	require.Equal(t, loop.CallWait, w.run())
	require.Nil(t, w.progress.ResumeAsked)
	w.progress.AskResume(loop.Resume{})
	require.NotNil(t, w.progress.ResumeAsked)
	w.progress.AskResume(loop.Resume{Reason: "again"})
	w.progress.Resumed()
	require.Nil(t, w.progress.ResumeAsked)
}

func TestFailedTriesAreInTheBill(t *testing.T) {
	w := newWorld(t, input(3))
	tries := 0
	w.answers["implement"] = func(loop.Call) loop.Outcome {
		out := wrote("tree-1", true)
		if tries++; tries == 1 {
			out = troubled(record.ClassTransient, "EFFECT_FAILED")
			out.Turn.Usage = &record.Usage{InputTokens: 7}
		}
		return out
	}
	require.Equal(t, loop.CallFinish, w.run())
	require.EqualValues(t, 17, w.record().Usage.InputTokens)
}
