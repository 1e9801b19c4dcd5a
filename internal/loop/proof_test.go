package loop_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/artifact"
	"conclave/internal/loop"
	"conclave/internal/record"
)

func block(title string) func(loop.Call) loop.Outcome {
	return func(c loop.Call) loop.Outcome { return says(c, nil, problem("high", title)) }
}

func TestTwoVotingSeatsConfirmEachOther(t *testing.T) {
	in := fullInput(6, "", "codex-correctness", "gemini-security")
	w := newFullWorld(t, in)
	w.answers["review codex-correctness"], w.answers["review gemini-security"] = block("off by one"), func(c loop.Call) loop.Outcome {
		same := problem("high", "off by one")
		same.Title, same.Evidence[0].Line = "Off by one!", 8
		return says(c, nil, same)
	}
	require.Equal(t, loop.CallFinish, w.run())
	require.Zero(t, w.count("confirm"))
	f := w.finding("F1")
	require.Equal(t, "two-seats", f.Proof)
	require.Equal(t, "codex-correctness and gemini-security", f.ConfirmedBy)
	require.Equal(t, []string{"codex-correctness", "gemini-security"}, f.RaisedBy)
	require.Equal(t, []string{"correctness", "security"}, f.Lenses)
	require.Contains(t, story(f), "raised it independently")
	require.Equal(t, 2, w.count("recheck"), "every raiser has a say")
	w.checkProjection()
	w.checkReplay(in)
}

func TestHowStrongAConfirmationIsIsRecorded(t *testing.T) {
	cases := []struct {
		name  string
		seats []string
		data  string
		play  func(loop.Call) loop.Outcome
		by    string
		proof string
		story string
	}{
		{"another engine", []string{"codex", "gemini"}, "", nil, "gemini", "independent", "confirmed by gemini"},
		{"a declared confirmer", []string{"codex"}, `"confirmer":{"id":"c","requested":` + target("gemini") + `,"knownSubstitutions":[]}`, nil, "gemini", "independent", "confirmed by gemini"},
		{"a fresh context of the raiser", []string{"codex"}, "", nil, "codex", "same-engine", "confirmed by codex"},
		{"no valid answer", []string{"codex", "gemini"}, "", func(loop.Call) loop.Outcome { return troubled(record.ClassMalformed, "RESULT_INVALID") }, "", "unconfirmable", "gave no valid confirmation, so it counts as confirmed"},
		{"a writer's engine may not refute", []string{"codex", "gemini"}, "", func(c loop.Call) loop.Outcome {
			out := confirms(c, false)
			out.Turn.Reported = &claude
			return out
		}, "", "unconfirmable", "may not: I traced it"},
		{"an unknown engine may not refute", []string{"codex", "gemini"}, "", func(c loop.Call) loop.Outcome {
			out := confirms(c, false)
			out.Turn.Reported = nil
			return out
		}, "", "unconfirmable", "may not"},
		{"every engine is a writer's", []string{"claude"}, `"writerExclusion":false`, nil, "", "unconfirmable", "every engine is a writer's: it counts as confirmed"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			in := fullInput(6, c.data, c.seats...)
			w := newFullWorld(t, in)
			w.answers["review "+c.seats[0]] = block("off by one")
			if c.play != nil {
				w.answers["confirm"] = c.play
			}
			require.Equal(t, loop.CallFinish, w.run())
			f := w.finding("F1")
			require.Equal(t, "addressed", f.Disposition, story(f))
			require.Equal(t, c.by, f.ConfirmedBy)
			require.Equal(t, c.proof, f.Proof)
			require.Contains(t, story(f), c.story)
			w.checkProjection()
			w.checkReplay(in)
		})
	}
}

func TestAConfirmerWhoseAnswerDoesNotCountIsToldWhy(t *testing.T) {
	in := fullInput(6, "", "codex", "gemini")
	w := newFullWorld(t, in)
	w.answers["review codex"] = block("off by one")
	tries := 0
	w.answers["confirm"] = func(c loop.Call) loop.Outcome {
		if tries++; tries == 1 {
			return troubled(record.ClassMalformed, "RESULT_INVALID")
		}
		return confirms(c, true)
	}
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, "because RESULT_INVALID", w.turn("confirm", 2).Reask)
	for _, turn := range w.turns {
		if turn.Turn == "recheck" || turn.Turn == "review" {
			require.Empty(t, turn.Reask, "the seat whose engine was borrowed is not blamed")
		}
	}
}

func TestWhatTheWriterRefutesIsDecidedOnceByTheConfirmer(t *testing.T) {
	for _, upheld := range []bool{true, false} {
		in := fullInput(6, "", "codex", "gemini")
		w := newFullWorld(t, in)
		w.answers["review codex"] = func(c loop.Call) loop.Outcome {
			return says(c, nil, problem("high", "off by one"), problem("high", "missing error check"))
		}
		w.answers["repair"] = func(c loop.Call) loop.Outcome {
			out := repaired(c, []string{"tree-2", "tree-3"}[w.count("repair")-1], "fixed")
			if w.count("repair") == 1 {
				out.Turn.FixReport[0].Status = "refuted"
			}
			return out
		}
		w.answers["confirm"] = func(c loop.Call) loop.Outcome { return confirms(c, !c.Turn.Rebuttal || upheld) }
		require.Equal(t, loop.CallFinish, w.run())
		require.Equal(t, record.Converged, w.record().Stop)
		rebuttal := w.turn("confirm", 3)
		require.True(t, rebuttal.Rebuttal)
		require.Equal(t, []string{"F1"}, rebuttal.Findings)
		require.False(t, rebuttal.FixReport.IsZero())
		require.Contains(t, story(w.finding("F1")), "the writer claude refutes it")
		if upheld {
			require.Contains(t, story(w.finding("F1")), "upheld against the writer's rebuttal by gemini")
			require.Equal(t, "addressed", w.finding("F1").Disposition)
		} else {
			require.Equal(t, "refuted", w.finding("F1").Disposition)
		}
		w.checkProjection()
		w.checkReplay(in)
	}
}

func TestAWriterWithoutAFixReportIsAskedForItOnce(t *testing.T) {
	in := fullInput(6, "", "codex", "gemini")
	w := newFullWorld(t, in)
	w.answers["review codex"] = block("off by one")
	w.answers["repair"] = func(c loop.Call) loop.Outcome {
		out := repaired(c, "tree-2", "fixed")
		if !c.Turn.ReportOnly {
			out.Turn.FixReport, out.Turn.Artifacts = nil, nil
		} else { // after a lost worker
			out.Turn.Changed, out.Turn.Attempt = false, 2
			out.Turn.Artifacts = map[string]artifact.Ref{"attempt-2/fix-report.json": artifact.Of([]byte("second"))}
		}
		return out
	}
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, record.Converged, w.record().Stop, w.record().Message)
	require.Equal(t, 2, w.count("repair"))
	require.Equal(t, []string{"F1"}, ids(w.turn("repair", 2).Feedback.Findings))
	require.Equal(t, w.turn("repair", 1).Iteration, w.turn("repair", 2).Iteration)
	require.Equal(t, artifact.Of([]byte("second")), w.turn("recheck", 1).FixReport)
	w.checkReplay(in)

	w = newFullWorld(t, in)
	w.answers["review codex"] = block("off by one")
	w.answers["repair"] = func(c loop.Call) loop.Outcome {
		out := repaired(c, "tree-2", "fixed")
		out.Turn.FixReport, out.Turn.Artifacts = nil, nil
		return out
	}
	require.Equal(t, loop.CallWait, w.run())
	require.Equal(t, 2, w.count("repair"), "asked twice, then rulings")
	require.Zero(t, w.count("recheck"), "re-review does not start without a report")
	w.checkReplay(in)
}

func TestTheSameVerifierFailureThreeTimesIsAStall(t *testing.T) {
	in := fullInput(6, "", "codex", "gemini")
	w := newFullWorld(t, in)
	w.answers["verify"] = func(loop.Call) loop.Outcome {
		out := gate(loop.GateFail)
		out.Verify.FailureDigest = "sha256:the same"
		return out
	}
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, record.Stalled, w.record().Stop, w.record().Message)
	require.Equal(t, 2, w.count("repair"))
	require.False(t, w.turn("repair", 1).Feedback.Failure.IsZero())
	w.checkReplay(in)
}

func TestServedIdentityRefusesAnswersOfUnknownModels(t *testing.T) {
	in := fullInput(6, "", "codex", "gemini")
	in.Policy.ServedIdentity = true
	w := newFullWorld(t, in)
	require.Equal(t, loop.CallWait, w.run(), "codex is pinned only")
	require.Equal(t, []string{"codex"}, w.record().Unresolved)
	step := w.record().Steps[2]
	require.Equal(t, record.Invalid, step.Status)
	require.Equal(t, record.ClassMalformed, step.Class)
	require.Contains(t, step.Message, "review.identity is served, and the model of codex is known by pinned only")
	require.Equal(t, record.OK, w.record().Steps[3].Status, "gemini's model was served")

	in.Policy.ServedIdentity = false
	w = newFullWorld(t, in)
	require.Equal(t, loop.CallFinish, w.run())
}

func TestAnAdvisoryRunEndsWithItsFindingsAndSaysSo(t *testing.T) {
	in := fullInput(2, `"advisory":true`, "codex", "gemini")
	w := newFullWorld(t, in)
	w.answers["review codex"] = block("off by one")
	w.answers["recheck codex"] = func(c loop.Call) loop.Outcome { return says(c, rechecks(c, "not-addressed")) }
	require.Equal(t, loop.CallFinish, w.run())
	run := w.record()
	require.True(t, run.Advisory)
	require.Equal(t, record.Converged, run.Stop, run.Message)
	require.Contains(t, run.Message, "did not stop the end: F1")
	require.Equal(t, 1, run.OpenFindings())
	w.checkReplay(in)
}

func TestBasicRunsOnlyReportSizeAndProtectedPaths(t *testing.T) {
	in := input(3)
	in.Policy = loop.Policy{SizeLimit: 500}
	w := newWorld(t, in)
	w.answers["implement"] = func(loop.Call) loop.Outcome {
		out := wrote("tree-1", true)
		out.Turn.Scan = &loop.Scan{Lines: 501, Exempt: []string{"go.sum"}, Protected: []loop.Guarded{{Path: "AGENTS.md", Why: "instruction file"}}}
		return out
	}
	require.Equal(t, loop.CallFinish, w.run())
	run := w.record()
	require.Equal(t, record.Converged, run.Stop)
	require.Equal(t, 501, run.ChangedLines)
	require.Equal(t, []string{"go.sum"}, run.Exempt)
	require.Contains(t, run.Notes, "the change has more than 500 changed lines: reviewers find less in so much")
	require.Contains(t, run.Notes, "the change touches a protected path: AGENTS.md (instruction file)")
}

func TestThePolicyReachesTheTurnsThatItConcerns(t *testing.T) {
	in := fullInput(6, "", "codex", "gemini")
	in.Policy = loop.Policy{Protected: []string{"CI file\t.ci/**"}, Generated: []string{"*.pb.go"}, MaxFindings: 7, Lenses: []loop.NamedRef{{Name: "style"}}, Prompts: []loop.NamedRef{{Name: "review"}}}
	w := newFullWorld(t, in)
	w.answers["review codex"] = block("off by one")
	require.Equal(t, loop.CallFinish, w.run())
	for _, turn := range w.turns {
		require.Equal(t, in.Policy.Prompts, turn.Prompts, turn.Turn)
		require.Equal(t, in.Policy.Lenses, turn.Lenses, turn.Turn)
		require.Equal(t, 7, turn.MaxFindings, turn.Turn)
		require.Equal(t, turn.Writing, len(turn.Protected) == 1 && len(turn.Generated) == 1, turn.Turn)
	}
}

func TestProtectedPathsThatMayChangeAreStillReported(t *testing.T) {
	in := fullInput(6, "", "codex", "gemini")
	in.Policy = loop.Policy{SizeLimit: 500, Ask: true, AllowProtected: true}
	w := newFullWorld(t, in)
	w.answers["implement"] = func(loop.Call) loop.Outcome {
		out := wrote("tree-1", true)
		out.Turn.Scan = &loop.Scan{Lines: 5, Protected: []loop.Guarded{{Path: "AGENTS.md", Why: "instruction file"}}, ProtectedDigest: "sha256:x"}
		return out
	}
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, []string{"the change touches a protected path: AGENTS.md (instruction file)"}, w.record().Notes)
}

func TestAnEscalationTargetThatIsNotThereEndsTheRunOnce(t *testing.T) {
	in := fullInput(6, "", "codex", "gemini")
	w := newFullWorld(t, in)
	w.answers["review codex"] = block("off by one")
	w.answers["recheck codex"] = func(c loop.Call) loop.Outcome { return says(c, rechecks(c, "not-addressed")) }
	w.answers["repair"] = func(c loop.Call) loop.Outcome {
		if c.Turn.Escalated {
			return troubled(record.ClassPermanent, "ENGINE_UNAVAILABLE")
		}
		return repaired(c, "tree-"+c.Step, "fixed")
	}
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, record.StepFailed, w.record().Stop)
	require.Equal(t, 4, w.count("repair"), "it is not its own substitute")
	w.checkReplay(in)
}
