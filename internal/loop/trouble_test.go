package loop_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"conclave/internal/loop"
	"conclave/internal/record"
)

func TestPreparationThatFailsEndsTheRun(t *testing.T) {
	w := newWorld(t, input(3))
	calls := w.progress.Next(w.now)
	w.progress.Done(calls[0], loop.Outcome{Failure: &loop.Failure{Code: "INPUT_INVALID", Message: "base x does not resolve"}}, w.now)
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, record.StepFailed, w.record().Stop)
	require.Contains(t, w.record().Message, "does not resolve")
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

func TestUsageThatNobodyReportedIsUnknown(t *testing.T) {
	w := newWorld(t, input(3))
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, &record.Usage{InputTokens: 10, Unknown: 2, Turns: 1, Unpriced: 1}, w.record().Usage)
	require.Nil(t, w.record().Steps[2].Usage)
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

// Field row 34: an expired login is no reason to wait, and none to throw away what was paid for.
func TestAnExpiredLoginAtTheReviewKeepsThePaidTurn(t *testing.T) {
	w := newWorld(t, input(3))
	w.answers["review codex"] = func(loop.Call) loop.Outcome {
		return troubled(record.ClassPermanent, "ENGINE_UNAVAILABLE")
	}
	require.Equal(t, loop.CallFinish, w.run())
	run := w.record()
	require.Equal(t, record.StepFailed, run.Stop)
	require.Equal(t, 4, run.ExitCode)
	require.True(t, run.Landed, "the change stands on its branch")
	require.Equal(t, "conclave/add-sum-abcde", run.Branch)
	require.Contains(t, run.Message, "reviewer seat codex) failed: because ENGINE_UNAVAILABLE")
	require.Equal(t, 1, run.Steps[2].Attempts, "nobody waited")
	require.Less(t, run.TotalMS, int64(60_000))
	w.checkReplay(input(3))
}

func TestDeclaredSubstitutionsAreTriedInTheirOrder(t *testing.T) {
	others := `[{"adapter":"opencode","provider":"zai","modelFamily":"glm","model":"m4","tools":[]},{"adapter":"gemini","provider":"google","modelFamily":"gemini","model":"m3","tools":[]}]`
	in := changed(input(3), codexLane, strings.TrimSuffix(codexLane, "[]")+others)
	for name, unavailable := range map[string]func() loop.Outcome{
		"permanent": func() loop.Outcome { return troubled(record.ClassPermanent, "ENGINE_UNAVAILABLE") },
		"a limit that is lifted next week": func() loop.Outcome {
			out := troubled(record.ClassQuota, "EFFECT_FAILED")
			out.Turn.RetryAfter = 7 * 24 * time.Hour
			return out
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, in)
			var asked []string
			w.answers["review codex"] = func(c loop.Call) loop.Outcome {
				asked = append(asked, c.Turn.Target.Adapter)
				if len(asked) < 3 {
					return unavailable()
				}
				out, engine := judged(c, "pass"), engines["gemini"]
				out.Turn.Reported = &engine
				return out
			}
			require.Equal(t, loop.CallFinish, w.run())
			require.Equal(t, []string{"codex", "opencode", "gemini"}, asked)
			run := w.record()
			require.Equal(t, record.Converged, run.Stop, run.Message)
			require.Equal(t, 3, run.Steps[2].Attempts)
			require.Empty(t, run.Steps[2].Message, "what was waited for is over")
			require.Less(t, run.TotalMS, int64(60_000))
			w.checkReplay(in)
		})
	}
}

func TestALimitThatIsLiftedTooLateIsToldAsSuch(t *testing.T) {
	w := newWorld(t, input(3))
	w.answers["review codex"] = func(loop.Call) loop.Outcome {
		out := troubled(record.ClassQuota, "EFFECT_FAILED")
		out.Turn.RetryAfter = 7 * 24 * time.Hour
		return out
	}
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, record.StepFailed, w.record().Stop)
	require.Contains(t, w.record().Message, "lifted in 168h0m0s; a run waits for at most 24h0m0s")
	require.Equal(t, "ENGINE_UNAVAILABLE", w.record().Steps[2].Code)
	require.Equal(t, record.ClassQuota, w.record().Steps[2].Class)
}

func TestWhileALimitIsWaitedForTheRecordSaysSo(t *testing.T) {
	w := newWorld(t, input(3))
	said := ""
	w.answers["review codex"] = func(c loop.Call) loop.Outcome {
		if c.Turn.Try == 1 {
			out := troubled(record.ClassQuota, "EFFECT_FAILED")
			out.Turn.RetryAfter = 3 * time.Hour
			return out
		}
		said = w.record().Steps[2].Message
		return judged(c, "pass")
	}
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, "waits 3h0m0s for another try: because EFFECT_FAILED", said)
}

// Field row 35: a writer that asks instead of working needs a decision; it did not fail.
func TestAQuestionInsteadOfAChangeIsReportedAsOne(t *testing.T) {
	w := newWorld(t, input(3))
	w.answers["implement"] = func(loop.Call) loop.Outcome {
		out := wrote("tree-0", false)
		out.Turn.Question = "Should Sum return an error?"
		return out
	}
	require.Equal(t, loop.CallFinish, w.run())
	run := w.record()
	require.Equal(t, record.StepFailed, run.Stop)
	require.Equal(t, "step 01 (implementer claude) changed nothing and needs a decision: Should Sum return an error?", run.Message)
	require.Contains(t, strings.Join(run.Notes, "\n"), "Answer it in the requirement")
	require.False(t, run.Landed)

	w = newWorld(t, input(3))
	w.answers["review codex 1"] = func(c loop.Call) loop.Outcome { return judged(c, "block") }
	w.answers["repair"] = func(c loop.Call) loop.Outcome {
		out := wrote("tree-1", false)
		out.Turn.Question = "Which of both is right?"
		return out
	}
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, record.Stalled, w.record().Stop)
	require.Contains(t, strings.Join(w.record().Notes, "\n"), "needs a decision: Which of both is right?")
}
