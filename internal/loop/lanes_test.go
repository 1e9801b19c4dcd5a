package loop_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/convergence"
	"conclave/internal/loop"
	"conclave/internal/record"
)

// changed is the input with one text of its definition replaced.
func changed(in loop.Input, old, with string) loop.Input {
	in.Definition = []byte(strings.Replace(string(in.Definition), old, with, 1))
	return in
}

const codexLane = `"requested":{"adapter":"codex","provider":"openai","modelFamily":"gpt","model":"m2","tools":[]},"knownSubstitutions":[]`

func TestADeclaredSubstitutionTakesTheEnginesPlace(t *testing.T) {
	in := changed(input(3), codexLane, strings.TrimSuffix(codexLane, "[]")+`[{"adapter":"gemini","provider":"google","modelFamily":"gemini","model":"m3","tools":[]}]`)
	gemini := record.Engine{Adapter: "gemini", Provider: "google", ModelFamily: "gemini", Model: "m3", Source: "served"}
	w := newWorld(t, in)
	w.answers["review codex"] = func(c loop.Call) loop.Outcome {
		if c.Turn.Target.Adapter == "codex" {
			return troubled(record.ClassPermanent, "ENGINE_UNAVAILABLE")
		}
		out := judged(c, "pass")
		out.Turn.Reported = &gemini
		return out
	}
	require.Equal(t, loop.CallFinish, w.run())
	run := w.record()
	require.Equal(t, record.Converged, run.Stop, run.Message)
	step := run.Steps[2]
	require.Equal(t, "gemini", step.Identity.Requested.Adapter)
	require.Equal(t, "gemini", step.Identity.Reported.Adapter)
	require.Equal(t, 2, step.Attempts)
	require.Contains(t, strings.Join(run.Notes, "\n"), "codex was not available")
	receipts := 0
	for _, event := range w.progress.Events {
		if event.Type == convergence.EventEngine && strings.Contains(string(event.Payload), "review/1/codex/1") {
			receipts++
		}
	}
	require.Equal(t, 2, receipts, "each engine call has a receipt of its own")
	w.checkReplay(in)
}

func TestASkippableSeatWithoutAnEngineIsSkipped(t *testing.T) {
	in := changed(input(3), `"skippableSeats":[]`, `"skippableSeats":["claude"]`)
	w := newWorld(t, in)
	w.answers["review claude"] = func(loop.Call) loop.Outcome { return troubled(record.ClassPermanent, "ENGINE_UNAVAILABLE") }
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, record.Converged, w.record().Stop, w.record().Message)
	w.checkReplay(in)
}

func full(in loop.Input) loop.Input {
	return changed(in, `"retryCapPerNode":1`, `"retryCapPerNode":1,"discipline":"full","requireFindings":false`)
}

func TestAFullRunEndsWithOneMoreReview(t *testing.T) {
	in := full(input(3))
	w := newWorld(t, in)
	require.Equal(t, loop.CallFinish, w.run())
	run := w.record()
	require.Equal(t, record.Converged, run.Stop, run.Message)
	last := run.Steps[len(run.Steps)-1]
	require.Equal(t, "final", last.Seat)
	require.Equal(t, "codex", last.Adapter, "the first voting seat's engine")
	require.Equal(t, "final", w.turns[len(w.turns)-1].Scope)
	w.checkReplay(in)
}

func TestASeatThatNeverAnswersPausesAFullRun(t *testing.T) {
	for _, how := range []string{"reopen", "waive"} {
		in := full(input(3))
		w := newWorld(t, in)
		w.answers["review claude"] = func(loop.Call) loop.Outcome { return troubled(record.ClassMalformed, "RESULT_INVALID") }
		require.Equal(t, loop.CallWait, w.run())
		run := w.record()
		require.Equal(t, record.NeedsRuling, run.Stop)
		require.Equal(t, 3, run.ExitCode)
		require.Contains(t, run.Waiting, "claude")
		if how == "reopen" {
			w.answers["review claude"] = nil
			w.progress.AskResume(loop.Resume{Reopen: "claude"})
		} else {
			w.progress.AskResume(loop.Resume{Waive: "claude", Reason: "it is down until Monday"})
		}
		w.progress.Resumed()
		require.Equal(t, loop.CallFinish, w.run(), how)
		require.Equal(t, record.Converged, w.record().Stop, how)
		w.checkReplay(in)
	}
}

func TestAResumeThatSomebodyTypedOnlyResumes(t *testing.T) {
	require.Equal(t, loop.Resume{Reason: "x", Reopen: "codex"}, loop.ReadResume([]byte(`{"reason":"x","reopen":"codex"}`)))
	for _, payload := range []string{"", `"go on"`, "7", "{", `{"reopen":7}`} {
		require.Equal(t, loop.Resume{}, loop.ReadResume([]byte(payload)), payload)
	}
}
