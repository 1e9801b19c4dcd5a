package loop_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/loop"
	"conclave/internal/record"
)

// Two seats are waived, one word right after the other: none is lost.
func TestAWaiverIsNotLostToTheNextResume(t *testing.T) {
	in := fullInput(3, "", "codex", "gemini", "codex-security")
	w := newFullWorld(t, in)
	for _, seat := range []string{"codex", "gemini"} {
		w.answers["review "+seat] = func(loop.Call) loop.Outcome { return troubled(record.ClassMalformed, "RESULT_INVALID") }
	}
	require.Equal(t, loop.CallWait, w.run())
	require.Equal(t, []string{"codex", "gemini"}, w.record().Unresolved)
	w.progress.AskResume(loop.Resume{Waive: "codex", Reason: "it is down"})
	w.progress.AskResume(loop.Resume{Waive: "gemini", Reason: "it is down too"})
	w.progress.AskResume(loop.Resume{})
	w.progress.Resumed()
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, record.Converged, w.record().Stop)
	require.Contains(t, w.record().Notes, "seat codex was waived: it is down")
	require.Contains(t, w.record().Notes, "seat gemini was waived: it is down too")
	w.checkReplay(in)
}

// A waiver that waives nothing is not told as one.
func TestAWaiverThatWaivesNothingIsToldAsThat(t *testing.T) {
	in := fullInput(3, "", "codex", "gemini")
	w := newFullWorld(t, in)
	w.answers["review codex"] = func(loop.Call) loop.Outcome { return troubled(record.ClassMalformed, "RESULT_INVALID") }
	for _, r := range []loop.Resume{{Waive: "nobody", Reason: "x"}, {Waive: "gemini", Reason: "it answered"}, {Waive: "final", Reason: "not asked yet"}, {Waive: "codex"}} {
		require.Equal(t, loop.CallWait, w.run())
		w.progress.AskResume(r)
		w.progress.Resumed()
		notes := w.record().Notes
		require.Contains(t, notes[len(notes)-1], "seat "+r.Waive+" was not waived")
	}
	require.Equal(t, loop.CallWait, w.run())
	require.Equal(t, []string{"codex"}, w.record().Unresolved)
}
