package loop_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/artifact"
	"conclave/internal/loop"
	"conclave/internal/record"
)

// gateInput is a review by two seats: its writer has no engine, and nothing is repaired or ruled on.
func gateInput(discipline string) loop.Input {
	in := input(1)
	text := string(in.Definition)
	for _, role := range []string{"generator", "repair"} {
		lane := `{"role":"` + role + `","lane":{"id":"writer","requested":{"adapter":"claude","provider":"anthropic","modelFamily":"claude","model":"m1","tools":[]},"knownSubstitutions":[]}}`
		text = strings.Replace(text, lane, `{"role":"`+role+`"}`, 1)
	}
	text = strings.Replace(text, `"retryCapPerNode":1`, `"retryCapPerNode":1,"rulings":false,"discipline":"`+discipline+`","requireFindings":false`, 1)
	in.Definition = json.RawMessage(strings.Replace(text, `"quorum":1`, `"quorum":2`, 1))
	in.Source.Gate = &loop.Gate{Base: "b1", Head: "h1", FromCommits: true}
	return in
}

func given() *loop.Given {
	return &loop.Given{
		Head: loop.Snapshot{Commit: "h1", Tree: "tree-1"}, Stats: record.Stats{Files: 1, Added: 3},
		Total: artifact.Of([]byte("list")), TotalDiff: artifact.Of([]byte("diff")), Scan: loop.Scan{Lines: 3, Exempt: []string{"go.sum"}},
	}
}

// newGate is a review whose change was prepared.
func newGate(t *testing.T, in loop.Input) *world {
	w := newWorld(t, in)
	calls := w.progress.Next(w.now)
	require.Equal(t, loop.CallPrepare, calls[0].Kind)
	require.NotNil(t, calls[0].Prepare.Source.Gate)
	w.progress.Done(calls[0], loop.Outcome{Prepared: &loop.Prepared{Base: loop.Snapshot{Commit: "b1", Tree: "tree-0"}, Head: "b1", Given: given()}}, w.now)
	return w
}

func TestAGateAsksItsSeatsAboutTheHeadAndWritesNothing(t *testing.T) {
	for _, discipline := range []string{"basic", "full"} {
		t.Run(discipline, func(t *testing.T) {
			w := newGate(t, gateInput(discipline))
			w.answers["review"] = func(c loop.Call) loop.Outcome {
				require.Equal(t, "h1", c.Turn.From.Commit)
				require.Equal(t, "b1", c.Turn.Base.Commit)
				require.True(t, c.Turn.FromCommits)
				out, sure := judged(c, "pass"), 0.9
				out.Turn.Confidence = &sure
				return out
			}
			require.Equal(t, loop.CallFinish, w.run())
			run := w.record()
			require.Equal(t, record.Converged, run.Stop, run.Message)
			require.Equal(t, "review", run.Kind)
			require.Equal(t, []string{"b1", "h1"}, []string{run.Base, run.Head})
			require.Equal(t, artifact.Of([]byte("diff")), run.Artifacts["changes.diff"])
			require.Equal(t, 3, run.ChangedLines)
			require.Equal(t, []string{"go.sum"}, run.Exempt)
			require.False(t, run.Landed)
			require.NotContains(t, w.calls, "land")
			require.True(t, w.progress.Result().Reusable)
			for _, s := range run.Steps {
				require.NotEqual(t, "implementer", s.Role)
			}
		})
	}
}

func TestHowAGateEnds(t *testing.T) {
	high := func(c loop.Call) loop.Outcome { return judged(c, "block") }
	cases := map[string]struct {
		discipline string
		play       func(w *world)
		stop       record.Stop
		says       string
		reusable   bool
	}{
		"a block": {"basic", func(w *world) { w.answers["review codex"] = high }, record.MaxIters, "blocking findings: F1 (high) off by one", true},
		"a seat without a valid answer": {"basic", func(w *world) {
			w.answers["review codex"] = func(loop.Call) loop.Outcome { return troubled(record.ClassMalformed, "RESULT_INVALID") }
		}, record.NoReview, "reviewer seat codex", false},
		"a seat without a valid answer, full": {"full", func(w *world) {
			w.answers["review codex"] = func(loop.Call) loop.Outcome { return troubled(record.ClassMalformed, "RESULT_INVALID") }
		}, record.NoReview, "codex (RESULT_INVALID)", false},
		"a seat without an engine, full": {"full", func(w *world) {
			w.answers["review codex"] = func(loop.Call) loop.Outcome { return troubled(record.ClassPermanent, "ENGINE_UNAVAILABLE") }
		}, record.NoReview, "codex (ENGINE_UNAVAILABLE)", false},
		"a verifier that fails": {"basic", func(w *world) {
			w.answers["verify"] = func(loop.Call) loop.Outcome { return gate(loop.GateFail) }
		}, record.StepFailed, "the verifier does not pass on the head: `go test ./...` failed with exit code 1", false},
		"a verifier that cannot be judged": {"full", func(w *world) {
			w.answers["verify"] = func(loop.Call) loop.Outcome {
				return loop.Outcome{Verify: &loop.VerifyResult{Class: record.ClassTimeout, Code: "TIMEOUT", Message: "too slow", Attempt: 1}}
			}
		}, record.StepFailed, "too slow", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newGate(t, gateInput(c.discipline))
			sure := 0.9
			w.answers["review"] = func(c loop.Call) loop.Outcome {
				out := judged(c, "pass")
				out.Turn.Confidence = &sure
				return out
			}
			c.play(w)
			require.Equal(t, loop.CallFinish, w.run())
			run := w.record()
			require.Equal(t, c.stop, run.Stop, run.Message)
			require.Contains(t, run.Message, c.says)
			require.NotZero(t, run.ExitCode)
			require.Equal(t, c.reusable, w.progress.Result().Reusable)
			require.NotContains(t, w.calls, "land")
		})
	}
}

func TestAGateWithoutItsChangeEnds(t *testing.T) {
	w := newWorld(t, gateInput("basic"))
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, record.StepFailed, w.record().Stop)
	require.Contains(t, w.record().Message, "no change was given")
}

// A review is paused by Ctrl-C like any run, and goes on.
func TestAnInterruptedGateWaits(t *testing.T) {
	w := newGate(t, gateInput("basic"))
	w.progress.Interrupt("Ctrl-C")
	require.Equal(t, loop.CallWait, w.run())
	require.Equal(t, record.StopInterrupted, w.record().Stop)
	require.False(t, w.progress.Result().Reusable)
}

func TestPartialAndStubbedVerdictsAreNotReusable(t *testing.T) {
	whole := func() record.Run {
		return record.Run{Kind: "review", Stop: record.Converged, Steps: []record.Step{
			{Role: "reviewer", Seat: "a", Status: record.Invalid}, {Role: "verifier", Status: record.OK},
			{Role: "reviewer", Seat: "a", Status: record.OK, Verdict: "pass"}, {Role: "reviewer", Seat: "b", Status: record.OK, Verdict: "block"},
		}}
	}
	require.True(t, loop.Reusable(whole()))
	confirmed := whole()
	confirmed.Steps = append(confirmed.Steps, record.Step{Role: "confirmer", Seat: "a", Position: "confirm/1/F1/1", Status: record.Invalid},
		record.Step{Role: "confirmer", Seat: "a", Position: "confirm/1/F1/2", Status: record.OK})
	require.True(t, loop.Reusable(confirmed), "asked again, it answered")
	for name, change := range map[string]func(*record.Run){
		"a run":     func(r *record.Run) { r.Kind = "run" },
		"a dry run": func(r *record.Run) { r.DryRun = true },
		"a stub's":  func(r *record.Run) { r.Steps[2].Adapter = "stub" },
		"a stub in an engine's place": func(r *record.Run) {
			r.Steps[3].Identity.Reported = &record.Engine{Adapter: "stub", Provider: "openai"}
		},
		"a stub that confirms": func(r *record.Run) {
			r.Steps = append(r.Steps, record.Step{Role: "confirmer", Seat: "a", Adapter: "stub", Status: record.OK})
		},
		"a confirmer that failed": func(r *record.Run) {
			r.Steps = append(r.Steps, record.Step{Role: "confirmer", Seat: "a", Position: "confirm/1/F1/2", Status: record.Invalid})
		},
		"a skipped seat":   func(r *record.Run) { r.Steps[3].Status, r.Steps[3].Verdict = record.Failed, "" },
		"no seat":          func(r *record.Run) { r.Steps = r.Steps[1:2] },
		"a running one":    func(r *record.Run) { r.Stop = "" },
		"a waiting one":    func(r *record.Run) { r.Stop = record.NeedsRuling },
		"no review":        func(r *record.Run) { r.Stop = record.NoReview },
		"a failed step":    func(r *record.Run) { r.Stop = record.StepFailed },
		"a person's abort": func(r *record.Run) { r.Stop = record.Aborted },
		"a cancelled one":  func(r *record.Run) { r.Stop = record.Cancelled },
	} {
		t.Run(name, func(t *testing.T) {
			run := whole()
			change(&run)
			require.False(t, loop.Reusable(run))
		})
	}
}
