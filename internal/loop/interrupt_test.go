package loop_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/loop"
	"conclave/internal/record"
)

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
