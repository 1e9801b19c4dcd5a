package loop_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/artifact"
	"conclave/internal/loop"
	"conclave/internal/record"
)

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
		{"change taken back", 3, map[string]func(loop.Call) loop.Outcome{"review codex": block, "repair": func(loop.Call) loop.Outcome { return wrote("tree-0", true) }}, record.StepFailed, 4, "step 05 (claude) took the whole change back: nothing is left to review", false},
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
