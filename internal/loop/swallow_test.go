package loop_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/loop"
	"conclave/internal/record"
)

// query is a defect of a.go with a title that many defects have.
func query(line int, code string) loop.Finding {
	f := problem("high", "SQL injection via string concatenation")
	f.Anchor, f.Evidence = code, []record.Place{{Path: "a.go", Line: line}}
	return f
}

// Row 47 the other way round: a refuted finding must not hide a real one that sounds like it.
func TestARefutedFindingDoesNotSwallowADefectNearby(t *testing.T) {
	in := fullInput(6, "", "codex", "gemini")
	w := newFullWorld(t, in)
	harmless, real := query(10, `rows := db.Query("select * from users where role=" + constant)`), query(18, `return tx.Exec("delete from orders where id=" + id)`)
	w.answers["review codex"] = func(c loop.Call) loop.Outcome { return says(c, nil, harmless, problem("high", "missing error check")) }
	w.answers["confirm"] = func(c loop.Call) loop.Outcome { return confirms(c, c.Turn.Findings[0] != "F1") }
	w.answers["recheck gemini"] = func(c loop.Call) loop.Outcome {
		if c.Turn.Iteration == 2 {
			return says(c, rechecks(c, "addressed"), real) // the repair brought it in
		}
		return says(c, rechecks(c, "addressed"))
	}
	require.Equal(t, loop.CallFinish, w.run())
	run := w.record()
	require.Equal(t, record.Converged, run.Stop, run.Message)
	require.Equal(t, "refuted", w.finding("F1").Disposition)
	require.Equal(t, []string{"gemini"}, w.finding("F3").RaisedBy)
	require.Equal(t, "addressed", w.finding("F3").Disposition)
	require.Equal(t, 2, w.count("repair"))
	w.checkProjection()
	w.checkReplay(in)
}

// A ruling is about one place: the same words about another one are asked anew.
func TestARulingDoesNotSwallowTheSameWordsAboutAnotherPlace(t *testing.T) {
	in := fullInput(6, "", "codex", "gemini")
	w := newFullWorld(t, in)
	ruled := query(10, `rows := db.Query("select * from users where role=" + constant)`)
	ruled.Kind = "decision"
	w.answers["review codex"] = func(c loop.Call) loop.Outcome { return says(c, nil, ruled, problem("high", "missing error check")) }
	w.answers["arbitrate"] = func(c loop.Call) loop.Outcome { return arbitrates(c, "stand") }
	w.answers["recheck gemini"] = func(c loop.Call) loop.Outcome {
		if c.Turn.Iteration == 2 {
			return says(c, rechecks(c, "addressed"), query(18, `return tx.Exec("delete from orders where id=" + id)`))
		}
		return says(c, rechecks(c, "addressed"))
	}
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, record.Ruled, w.record().Stop)
	require.Equal(t, "ruled", w.finding("F1").Disposition)
	require.Equal(t, "addressed", w.finding("F3").Disposition)
	require.Equal(t, 2, w.count("repair"))
	w.checkReplay(in)
}

// What a recheck saw outside of the fix was logged and judged by nobody. Called high by the final review, it is.
func TestTheFinalReviewCallsALoggedFindingHigh(t *testing.T) {
	in := fullInput(6, "", "codex", "gemini")
	w := newFullWorld(t, in)
	elsewhere := problem("high", "the cache is never emptied")
	elsewhere.Outside = true
	w.answers["review codex"] = func(c loop.Call) loop.Outcome { return says(c, nil, problem("high", "off by one")) }
	w.answers["recheck codex"] = func(c loop.Call) loop.Outcome {
		if c.Turn.Iteration == 2 {
			return says(c, rechecks(c, "addressed"), elsewhere)
		}
		return says(c, rechecks(c, "addressed"))
	}
	w.answers["review final"] = func(c loop.Call) loop.Outcome { return says(c, nil, problem("high", "the cache is never emptied")) }
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, record.Converged, w.record().Stop)
	require.Equal(t, "logged", w.finding("F2").Disposition)
	require.Equal(t, []string{"final"}, w.finding("F3").RaisedBy)
	require.Equal(t, "addressed", w.finding("F3").Disposition)
	require.Equal(t, 2, w.count("repair"))
	w.checkProjection()
	w.checkReplay(in)
}

// What everybody found addressed stays so in the final review, where nothing has changed since.
func TestTheFinalReviewDoesNotReopenWhatWasAddressed(t *testing.T) {
	in := fullInput(6, "", "codex", "gemini")
	w := newFullWorld(t, in)
	w.answers["review codex"] = func(c loop.Call) loop.Outcome { return says(c, nil, problem("high", "off by one")) }
	w.answers["review final"] = func(c loop.Call) loop.Outcome { return says(c, nil, problem("high", "off by one")) }
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, record.Converged, w.record().Stop)
	require.Len(t, w.record().Findings, 1)
	require.Equal(t, 1, w.count("repair"))
	w.checkReplay(in)
}

// A ruling that waits for its question is about what its sender saw. What sounds like it later is asked apart.
func TestARulingThatIsKeptTakesInNothingNew(t *testing.T) {
	in := fullInput(2, "", "codex", "gemini")
	w := newFullWorld(t, in)
	w.answers["review codex"] = func(c loop.Call) loop.Outcome {
		return says(c, nil, query(10, `rows := db.Query("select * from users where role=" + constant)`))
	}
	w.answers["repair"] = func(c loop.Call) loop.Outcome {
		w.progress.Signalled([]byte(`{"finding":"F1","decision":"stand","reason":"it is a constant"}`), w.now)
		return repaired(c, "tree-2", "fixed")
	}
	w.answers["recheck codex"] = func(c loop.Call) loop.Outcome { return says(c, rechecks(c, "not-addressed")) }
	w.answers["recheck gemini"] = func(c loop.Call) loop.Outcome {
		return says(c, rechecks(c, "addressed"), query(18, `return tx.Exec("delete from orders where id=" + id)`))
	}
	require.Equal(t, loop.CallWait, w.run())
	require.Equal(t, record.NeedsRuling, w.record().Stop)
	require.Equal(t, "ruled", w.finding("F1").Disposition)
	require.Equal(t, "confirmed", w.finding("F2").Disposition)
	require.Equal(t, "F2", w.record().Questions[0].Subject)
}

// Row 47 the other way round: what a claim was refuted with may be what a repair takes away. The line that it names
// need not change for that.
func TestARefutedClaimIsJudgedAnewOnceItsFileChanged(t *testing.T) {
	for name, c := range map[string]struct {
		file     string
		findings int
	}{
		"its file changed":     {"without its guard", 3},
		"another file changed": {"as it was", 2},
	} {
		t.Run(name, func(t *testing.T) {
			in := fullInput(6, "", "codex", "gemini")
			w := newFullWorld(t, in)
			guarded := query(10, `rows := db.Query("select * from users where role=" + role)`)
			guarded.File = "as it was"
			w.answers["review codex"] = func(c loop.Call) loop.Outcome { return says(c, nil, guarded, problem("high", "missing error check")) }
			w.answers["confirm"] = func(c loop.Call) loop.Outcome { return confirms(c, c.Turn.Findings[0] != "F1") }
			w.answers["recheck gemini"] = func(call loop.Call) loop.Outcome {
				if call.Turn.Iteration > 2 {
					return says(call, rechecks(call, "addressed"))
				}
				again := guarded
				again.File = c.file
				return says(call, rechecks(call, "addressed"), again)
			}
			require.Equal(t, loop.CallFinish, w.run())
			require.Equal(t, record.Converged, w.record().Stop)
			require.Len(t, w.record().Findings, c.findings)
			require.Equal(t, "refuted", w.finding("F1").Disposition)
			require.Equal(t, c.findings-1, w.count("repair"))
			if c.findings > 2 {
				require.Equal(t, "addressed", w.finding("F3").Disposition)
			}
			w.checkProjection()
			w.checkReplay(in)
		})
	}
}

// The final review itself must not lose it either, and a change of the tree alone does not make it new.
func TestTheFinalReviewRaisesARefutedClaimAnewOnceItsFileChanged(t *testing.T) {
	for file, findings := range map[string]int{"without its guard": 3, "as it was": 2} {
		t.Run(file, func(t *testing.T) {
			in := fullInput(6, "", "codex", "gemini")
			w := newFullWorld(t, in)
			guarded := problem("high", "off by one")
			w.answers["review codex"] = func(c loop.Call) loop.Outcome { return says(c, nil, guarded, problem("high", "missing error check")) }
			w.answers["confirm"] = func(c loop.Call) loop.Outcome { return confirms(c, c.Turn.Findings[0] != "F1") }
			w.answers["review final"] = func(c loop.Call) loop.Outcome {
				again := guarded
				again.File = file
				return says(c, nil, again)
			}
			require.Equal(t, loop.CallFinish, w.run())
			require.Equal(t, record.Converged, w.record().Stop)
			require.Len(t, w.record().Findings, findings)
			require.Equal(t, findings-1, w.count("repair"))
			w.checkReplay(in)
		})
	}
}

// A later repair may break again what an earlier one has put right, and the seats may have missed it.
func TestTheFinalReviewFindsThatALaterRepairBrokeAnEarlierOne(t *testing.T) {
	in := fullInput(6, "", "codex", "gemini")
	w := newFullWorld(t, in)
	w.answers["review codex"] = func(c loop.Call) loop.Outcome { return says(c, nil, problem("high", "off by one")) }
	w.answers["recheck gemini"] = func(c loop.Call) loop.Outcome {
		if c.Turn.Iteration == 2 {
			return says(c, nil, problem("high", "missing error check"))
		}
		return says(c, rechecks(c, "addressed"))
	}
	w.answers["review final"] = func(c loop.Call) loop.Outcome { return says(c, nil, problem("high", "off by one")) }
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, record.Converged, w.record().Stop)
	require.Len(t, w.record().Findings, 3)
	require.Equal(t, []string{"final"}, w.finding("F3").RaisedBy)
	require.Equal(t, "addressed", w.finding("F3").Disposition)
	require.Equal(t, 3, w.count("repair"))
	w.checkProjection()
	w.checkReplay(in)
}
