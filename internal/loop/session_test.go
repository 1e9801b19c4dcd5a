package loop_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"conclave/internal/loop"
	"conclave/internal/record"
)

// talking lets writers report a session and its usage, and go on with the one they are asked to resume.
func talking(w *world, session func(loop.Call) string) {
	for _, turn := range []string{"implement", "repair"} {
		play := w.answers[turn]
		w.answers[turn] = func(c loop.Call) loop.Outcome {
			out := play(c)
			out.Turn.Session, out.Turn.Usage = session(c), &record.Usage{InputTokens: 10, OutputTokens: 1}
			if c.Turn.Resume != nil {
				out.Turn.Session, out.Turn.Resumed = c.Turn.Resume.Session, true
			}
			return out
		}
	}
}

func named(c loop.Call) string { return "session of " + c.Step }

// resumedIn tells of each writing turn what it was asked to resume.
func resumedIn(w *world) []string {
	var out []string
	for _, turn := range w.turns {
		if !turn.Writing {
			continue
		}
		text := fmt.Sprintf("%d %s: ", turn.Iteration, turn.Target.Adapter)
		if turn.Resume != nil {
			text += turn.Resume.Session
			if u := turn.Resume.Usage; u != nil {
				text += fmt.Sprintf(" (%d)", u.InputTokens)
			}
		}
		out = append(out, text)
	}
	return out
}

func TestARepairGoesOnWithTheWritersSessionUntilRoundFour(t *testing.T) {
	in := input(6)
	in.WriterSession = loop.SessionResume
	w := newWorld(t, in)
	talking(w, named)
	w.answers["review codex"] = func(c loop.Call) loop.Outcome { return judged(c, "block") }
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, []string{
		"1 claude: ", "2 claude: session of 01 (10)", "3 claude: session of 01 (20)", "4 claude: session of 01 (30)", "5 claude: ", "6 claude: ",
	}, resumedIn(w))
	step := w.record().Steps[4]
	require.Equal(t, "repair", step.Turn)
	require.Equal(t, "session of 01", step.Session)
	require.True(t, step.Resumed)
	require.EqualValues(t, 60, w.record().UsageByRole["implementer"].InputTokens, "each turn's share")
	w.checkReplay(in)
}

func TestARepairBeginsAFreshSession(t *testing.T) {
	block := func(w *world) {
		w.answers["review codex"] = func(c loop.Call) loop.Outcome { return judged(c, "block") }
	}
	t.Run("where it was asked for", func(t *testing.T) {
		for _, word := range []string{loop.SessionFresh, "", "other"} {
			in := input(3)
			in.WriterSession = word
			w := newWorld(t, in)
			talking(w, named)
			block(w)
			require.Equal(t, loop.CallFinish, w.run())
			require.Equal(t, []string{"1 claude: ", "2 claude: ", "3 claude: "}, resumedIn(w))
		}
	})
	t.Run("where the program reported none", func(t *testing.T) {
		in := input(3)
		in.WriterSession = loop.SessionResume
		w := newWorld(t, in)
		talking(w, func(loop.Call) string { return "" })
		block(w)
		require.Equal(t, loop.CallFinish, w.run())
		require.Equal(t, []string{"1 claude: ", "2 claude: ", "3 claude: "}, resumedIn(w))
	})
	t.Run("after a dry run's stub", func(t *testing.T) {
		in := input(3)
		in.WriterSession, in.DryRun = loop.SessionResume, true
		w := newWorld(t, in)
		talking(w, named)
		block(w)
		require.Equal(t, loop.CallFinish, w.run())
		require.Equal(t, []string{"1 claude: ", "2 claude: ", "3 claude: "}, resumedIn(w))
	})
}

// The worker began a new session because the old one was lost: what comes next goes on with the new one.
func TestAfterALostSessionTheNewOneCounts(t *testing.T) {
	in := input(4)
	in.WriterSession = loop.SessionResume
	w := newWorld(t, in)
	talking(w, named)
	repair := w.answers["repair"]
	w.answers["repair"] = func(c loop.Call) loop.Outcome {
		out := repair(c)
		if c.Turn.Iteration == 2 {
			out.Turn.Session, out.Turn.Resumed = "new", false
		}
		if c.Turn.Iteration == 3 {
			out.Turn.Usage = nil
		}
		return out
	}
	w.answers["review codex"] = func(c loop.Call) loop.Outcome { return judged(c, "block") }
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, []string{"1 claude: ", "2 claude: session of 01 (10)", "3 claude: new (10)", "4 claude: new"}, resumedIn(w),
		"what the session used is unknown after a turn that reported nothing")
	require.False(t, w.record().Steps[4].Resumed)
}

// A substitute, and whoever takes over, begins its own session; so does the writer after it.
func TestAnotherEngineNeverGetsTheWritersSession(t *testing.T) {
	in := fullInput(6, "", "codex")
	in.WriterSession = loop.SessionResume
	w := newFullWorld(t, in)
	w.answers["review"] = func(c loop.Call) loop.Outcome { return says(c, nil, problem("high", "off by one")) }
	w.answers["recheck"] = func(c loop.Call) loop.Outcome { return says(c, rechecks(c, "not-addressed")) }
	n := 0
	w.answers["repair"] = func(c loop.Call) loop.Outcome {
		if c.Turn.Iteration == 3 && c.Turn.Target.Adapter == "claude" {
			return troubled(record.ClassPermanent, "ENGINE_UNAVAILABLE")
		}
		n++
		return repaired(c, fmt.Sprintf("tree-%d", n+1), "fixed")
	}
	repair := w.answers["repair"]
	w.answers["repair"] = func(c loop.Call) loop.Outcome {
		out := repair(c)
		if out.Turn.Class == record.ClassOK {
			out.Turn.Session, out.Turn.Resumed = "session of "+c.Turn.Target.Adapter, c.Turn.Resume != nil
		}
		return out
	}
	w.answers["implement"] = func(loop.Call) loop.Outcome {
		out := wrote("tree-1", true)
		out.Turn.Session = "first"
		return out
	}
	w.run()
	got := resumedIn(w)
	require.Equal(t, []string{
		"1 claude: ", "2 claude: first (10)", "3 claude: session of claude (10)", "3 opencode: ", "4 claude: ",
	}, got[:5])
	for _, turn := range got[5:] {
		require.NotContains(t, turn, "session", "rounds 4 and 5 are fresh, and another engine's")
	}
}

// Whatever comes, a reader never resumes anything, and a writer never another engine's session.
func TestPropertyNoReaderEverResumesASession(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := fullInput(4, "", "codex", "gemini")
		in.WriterSession = loop.SessionResume
		w := newFullWorld(t, in)
		g := gambler{t, w}
		sessions := map[string]string{}
		for _, turn := range []string{"review", "recheck", "confirm", "arbitrate", "implement", "repair"} {
			play := w.answers[turn]
			switch turn {
			case "review":
				play = g.review
			case "recheck":
				play = g.recheck
			case "repair":
				play = g.repair
			}
			w.answers[turn] = func(c loop.Call) loop.Outcome {
				out := play(c)
				if out.Turn != nil && out.Turn.Class == record.ClassOK {
					out.Turn.Session = fmt.Sprintf("s%s.%d", c.Step, c.Turn.Try)
					sessions[out.Turn.Session] = c.Turn.Target.Adapter
				}
				return out
			}
		}
		w.onCall = func(c loop.Call) {
			if c.Turn == nil || c.Turn.Resume == nil {
				return
			}
			require.True(t, c.Turn.Writing, "step %s (%s) resumes", c.Step, c.Turn.Turn)
			require.Equal(t, "repair", c.Turn.Turn)
			require.Equal(t, c.Turn.Target.Adapter, sessions[c.Turn.Resume.Session])
		}
		w.run()
	})
}
