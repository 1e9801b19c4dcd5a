package loop_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"conclave/internal/artifact"
	"conclave/internal/loop"
	"conclave/internal/record"
)

// foreign draws a result that no activity of ours would give: whoever can reach
// the server can complete an activity.
func (g gambler) foreign(c loop.Call) loop.Outcome {
	if g.chance(10, "nothing") {
		return loop.Outcome{}
	}
	word := func(label string) string {
		return pick(g, label, "", "pass", "block", "PASS", "addressed", "not-addressed", "fixed", "refuted", "stand", "fix", "person", "abort", "high", "\x00")
	}
	id := func() string { return pick(g, "id", "F1", "F2", "F99", "", "SIZE", "final", "../x") }
	engine := engines[c.Turn.Target.Adapter]
	r := loop.TurnResult{Class: pick(g, "class", record.ClassOK, record.ClassOK, record.ClassOK, record.ClassMalformed, "", "newer"), Verdict: word("verdict"), Attempt: rapid.IntRange(-1, 2).Draw(g.T, "attempt")}
	if g.chance(70, "known") {
		r.Reported = &engine
	}
	if g.chance(70, "sure") {
		sure := rapid.Float64Range(-1, 2).Draw(g.T, "confidence")
		r.Confidence = &sure
	}
	for range rapid.IntRange(0, 3).Draw(g.T, "items") {
		r.Findings = append(r.Findings, loop.Finding{Severity: word("severity"), Kind: word("kind"), Title: word("title"), Text: artifact.Ref{Digest: pick(g, "digest", "", "sha256:x", artifact.Of(nil).Digest)}})
		r.Rechecked = append(r.Rechecked, loop.Rechecked{Finding: id(), Status: word("status")})
		r.FixReport = append(r.FixReport, loop.Fixed{Finding: id(), Status: word("fix")})
		r.Said = append(r.Said, loop.Said{Finding: id(), Decision: word("said")})
	}
	r.Answer = json.RawMessage(pick(g, "answer", "", "{", "null", "[]", `{"confirmed":"false"}`, `{"confirmed":false}`, `{"rulings":[{"finding":"F1","decision":"stand"}]}`, `{"rulings":{}}`, "\xff"))
	r.Snapshot, r.Changed = loop.Snapshot{Commit: word("commit"), Tree: word("tree")}, g.chance(50, "changed")
	return loop.Outcome{Turn: &r}
}

func TestPropertyForeignResultsNeverBreakARunAndNeverHelpIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := fullInput(4, "", "codex", "gemini")
		w := newFullWorld(t, in)
		g := gambler{t, w}
		hostile := func(usual func(loop.Call) loop.Outcome, percent int) func(loop.Call) loop.Outcome {
			return func(c loop.Call) loop.Outcome {
				if g.chance(percent, "hostile") {
					return g.foreign(c)
				}
				return usual(c)
			}
		}
		w.answers["review"], w.answers["recheck"], w.answers["repair"] = hostile(g.review, 30), hostile(g.recheck, 40), hostile(g.repair, 30)
		w.answers["confirm"], w.answers["arbitrate"] = hostile(w.answers["confirm"], 50), hostile(w.answers["arbitrate"], 50)
		w.answers["verify"] = func(loop.Call) loop.Outcome {
			if g.chance(5, "verify") {
				return pick(g, "verified", loop.Outcome{}, loop.Outcome{Verify: &loop.VerifyResult{}}, loop.Outcome{Verify: &loop.VerifyResult{Class: record.ClassOK, Gate: "maybe"}})
			}
			return gate(loop.GatePass)
		}
		w.onCall = func(c loop.Call) {
			_, err := json.Marshal(c.Turn)
			require.NoError(t, err)
		}
		for waits := 0; w.run() == loop.CallWait; waits++ {
			if waits == 6 {
				w.progress.Cancelled()
				continue
			}
			g.answer()
		}
		run := w.record()
		w.checkProjection()
		w.checkReplay(in)
		if run.Stop == record.Converged {
			require.Empty(t, w.progress.State.Review.Standing)
			for _, seat := range []string{"codex", "gemini"} {
				rec, _ := w.progress.State.Seats.Get(seat)
				require.True(t, rec.Answered || rec.Outcome == "waived", seat)
			}
		}
		raw, err := json.Marshal(w.progress.Status(w.now))
		require.NoError(t, err)
		require.NotEmpty(t, raw)
	})
}

func TestAnActivityWithoutAResultIsAFailure(t *testing.T) {
	w := newWorld(t, input(3))
	w.answers["verify"] = func(loop.Call) loop.Outcome { return loop.Outcome{} }
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, record.StepFailed, w.record().Stop)
	require.Contains(t, w.record().Message, "without a result")

	p := newWorld(t, input(3)).progress
	p.Done(p.Next(w.now)[0], loop.Outcome{}, w.now)
	require.Equal(t, loop.CallBundle, p.Next(w.now)[0].Kind)
	require.Contains(t, p.Record(w.now).Message, "without a result")
}
