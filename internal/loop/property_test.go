package loop_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"conclave/internal/convergence"
	"conclave/internal/loop"
	"conclave/internal/record"
)

// gambler answers each call at random.
type gambler struct {
	*rapid.T
	w *world
}

func (g gambler) chance(percent int, label string) bool {
	return rapid.IntRange(0, 99).Draw(g.T, label) < percent
}

func pick[T any](g gambler, label string, items ...T) T {
	return rapid.SampledFrom(items).Draw(g.T, label)
}

// found draws a few findings out of a small pool, so that they come back.
func (g gambler) found() []loop.Finding {
	var out []loop.Finding
	for range rapid.IntRange(0, 3).Draw(g.T, "findings") {
		f := problem(pick(g, "severity", "high", "medium", "low", "grave"), pick(g, "title", "off by one", "missing error check", "a path leaves the folder", "long function"))
		f.Kind = pick(g, "kind", "patch", "patch", "patch", "decision", "odd")
		f.Outside = g.chance(10, "outside")
		out = append(out, f)
	}
	return out
}

// trouble is sometimes the end of a turn.
func (g gambler) trouble(outcome loop.Outcome) loop.Outcome {
	switch n := rapid.IntRange(0, 99).Draw(g.T, "trouble"); {
	case n < 6:
		return troubled(record.ClassMalformed, "RESULT_INVALID")
	case n < 8:
		return troubled(record.ClassPermanent, "ENGINE_UNAVAILABLE")
	case n < 10:
		outcome.Turn.Reported = nil
	case n < 12:
		outcome.Turn.Reported = &claude
	}
	return outcome
}

func (g gambler) review(c loop.Call) loop.Outcome {
	out := says(c, nil, g.found()...)
	if g.chance(5, "disagrees") {
		out.Turn.Verdict = pick(g, "verdict", "pass", "block", "")
	}
	return g.trouble(out)
}

func (g gambler) recheck(c loop.Call) loop.Outcome {
	var said []loop.Rechecked
	for _, id := range c.Turn.Findings {
		if g.chance(95, "named") {
			said = append(said, loop.Rechecked{Finding: id, Status: pick(g, "status", "addressed", "addressed", "not-addressed")})
		}
	}
	return g.trouble(says(c, said, g.found()...))
}

func (g gambler) repair(c loop.Call) loop.Outcome {
	tree := fmt.Sprintf("tree-%s", c.Step)
	if g.chance(10, "old tree") {
		tree = pick(g, "tree", "tree-1", c.Turn.From.Tree)
	}
	out := repaired(c, tree, "fixed")
	out.Turn.Changed = tree != c.Turn.From.Tree
	for i := range out.Turn.FixReport {
		out.Turn.FixReport[i].Status = pick(g, "fix", "fixed", "fixed", "fixed", "refuted")
	}
	if g.chance(10, "no report") {
		out.Turn.FixReport = nil
	}
	return out
}

func (g gambler) verify(loop.Call) loop.Outcome {
	if g.chance(85, "gate") {
		return gate(loop.GatePass)
	}
	out := gate(loop.GateFail)
	out.Verify.FailureDigest = pick(g, "failure", "sha256:a", "sha256:b")
	return out
}

// answer lets a waiting run go on, or ends it.
func (g gambler) answer() {
	run := g.w.record()
	for _, q := range run.Questions {
		g.w.progress.Rule(loop.RulingRequest{
			Finding: q.Subject, Decision: pick(g, "ruling", "stand", "stand", "fix", "abort"), Reason: "so be it", By: "ada",
		}, g.w.now)
	}
	for _, seat := range run.Unresolved {
		resume := loop.Resume{Reopen: seat}
		if g.chance(50, "waive") {
			resume = loop.Resume{Waive: seat, Reason: "it is down"}
		}
		g.w.progress.AskResume(resume)
	}
	if len(run.Questions) == 0 && len(run.Unresolved) == 0 {
		g.w.progress.AskResume(loop.Resume{Reason: "go on"})
	}
	g.w.progress.Woken(g.w.now)
}

func TestPropertyTheRecordIsAProjectionOfTheMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SampledFrom([]string{"", "", `"advisory":true`, `"rulings":false`, `"reviewWhen":"always"`}).Draw(t, "data")
		in := fullInput(rapid.IntRange(1, 6).Draw(t, "iterations"), data, "codex-correctness", "gemini-security", "codex-tests")
		w := newFullWorld(t, in)
		g := gambler{t, w}
		w.answers["review"], w.answers["recheck"], w.answers["repair"], w.answers["verify"] = g.review, g.recheck, g.repair, g.verify
		w.answers["confirm"] = func(c loop.Call) loop.Outcome { return g.trouble(confirms(c, g.chance(60, "holds"))) }
		w.answers["arbitrate"] = func(c loop.Call) loop.Outcome {
			return g.trouble(arbitrates(c, pick(g, "decision", "stand", "fix", "person")))
		}
		w.onCall = func(loop.Call) { w.checkProjection() }
		for waits := 0; w.run() == loop.CallWait; waits++ {
			w.checkProjection()
			if waits == 8 {
				w.progress.Cancelled()
				continue
			}
			g.answer()
			w.recreate(in)
		}
		run := w.record()
		w.checkProjection()
		w.checkReplay(in)
		if run.Stop == record.Converged && !run.Advisory || run.Stop == record.Ruled {
			require.Zero(t, run.OpenFindings())
			require.Empty(t, w.progress.State.Review.Standing)
		}
		for _, f := range run.Findings {
			require.NotEmpty(t, f.History, f.ID)
			require.NotEmpty(t, f.Texts, f.ID)
		}
	})
}

// recreate carries the run on from its JSON, as continue-as-new does.
func (w *world) recreate(in loop.Input) {
	raw, err := json.Marshal(w.progress.Carry)
	require.NoError(w.t, err)
	in.Resume = &loop.Carry{}
	require.NoError(w.t, json.Unmarshal(raw, in.Resume))
	w.progress, err = loop.New(in, "run-x", w.now)
	require.NoError(w.t, err)
}

// What the machine decides is not the loop's to say: whatever comes in, no
// request leaves out a finding that its turn has to answer for.
func TestPropertyRequestsNameWhatTheyAreAbout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := fullInput(6, "", "codex", "gemini")
		w := newFullWorld(t, in)
		g := gambler{t, w}
		w.answers["review"], w.answers["recheck"], w.answers["repair"] = g.review, g.recheck, g.repair
		w.onCall = func(c loop.Call) {
			if c.Turn == nil {
				return
			}
			standing := w.progress.State.Review.Standing
			switch c.Turn.Turn {
			case "repair":
				require.Equal(t, standing, ids(c.Turn.Feedback.Findings))
			case "recheck":
				require.Equal(t, c.Turn.Findings, ids(c.Turn.Open))
				require.NotEmpty(t, c.Turn.Since.Commit)
				require.Equal(t, w.progress.Judged[c.Turn.Seat], c.Turn.Since)
			case "confirm", "arbitrate":
				require.Equal(t, c.Turn.Findings, ids(c.Turn.Open))
				require.NotEmpty(t, c.Turn.Evidence)
			}
			for _, k := range append(c.Turn.Open, c.Turn.Feedback.Findings...) {
				require.NotEmpty(t, k.Texts)
			}
		}
		w.run()
		machine, err := convergence.Compile(in.Definition, convergence.V1)
		require.NoError(t, err)
		_, final, err := loop.Replay(machine, w.progress.Events)
		require.NoError(t, err)
		require.Equal(t, machine.Decide(w.progress.State), final)
	})
}
