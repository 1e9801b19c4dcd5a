package loop_test

import (
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
