package loop_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/loop"
	"conclave/internal/record"
)

// scanned lets the draft and each repair leave a change of that size and digest.
func scanned(w *world, scans ...loop.Scan) {
	n := 0
	for _, turn := range []string{"implement", "repair"} {
		play := w.answers[turn]
		w.answers[turn] = func(c loop.Call) loop.Outcome {
			out := play(c)
			out.Turn.Scan = &scans[min(n, len(scans)-1)]
			n++
			return out
		}
	}
}

func askingInput(iterations int) loop.Input {
	in := ruledInput(iterations)
	in.Policy = loop.Policy{Ask: true, SizeLimit: 500}
	return in
}

func TestTooLargeAChangeWaitsBeforeAnySeatRan(t *testing.T) {
	w := newRuled(t, askingInput(1), 0)
	scanned(w, loop.Scan{Lines: 501, Exempt: []string{"go.sum"}})
	require.Equal(t, loop.CallWait, w.run())
	require.Equal(t, "implement", turnsIn(w))
	require.Equal(t, []string{"SIZE#1"}, w.asked())
	require.Contains(t, w.record().Questions[0].Text, "501 changed lines, more than 500")
	require.Contains(t, w.record().Questions[0].Text, "not counted: go.sum")
	require.Equal(t, record.NeedsRuling, w.record().Stop)
	require.Equal(t, 501, w.record().ChangedLines)
	w.signal(`{"finding":"SIZE","decision":"fix"}`)
	w.signal(`{"finding":"PROTECTED","decision":"stand"}`)
	require.Len(t, w.refusals(), 2)
	w.signal(`{"finding":"SIZE","decision":"stand","by":"ann"}`)
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, record.Converged, w.record().Stop, "who lets a size stand rules on no finding")
	require.Contains(t, turnsIn(w), "review final")
}

func TestWhenTheSizeIsAsked(t *testing.T) {
	for name, c := range map[string]struct {
		policy loop.Policy
		lines  []int
		asked  int
	}{
		"at the limit":                  {loop.Policy{Ask: true, SizeLimit: 500}, []int{500, 500}, 0},
		"only reported":                 {loop.Policy{SizeLimit: 500}, []int{900, 900}, 0},
		"no limit":                      {loop.Policy{Ask: true}, []int{9000, 9000}, 0},
		"once":                          {loop.Policy{Ask: true, SizeLimit: 500}, []int{501, 600}, 1},
		"not again up to twice as much": {loop.Policy{Ask: true, SizeLimit: 500}, []int{501, 1002}, 1},
		"again beyond":                  {loop.Policy{Ask: true, SizeLimit: 500}, []int{501, 1003}, 2},
		"grown later":                   {loop.Policy{Ask: true, SizeLimit: 500}, []int{100, 501}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			in := ruledInput(2)
			in.Policy = c.policy
			w := newRuled(t, in, 1)
			w.answers["recheck"] = func(c loop.Call) loop.Outcome { return answersAll(c, "addressed") }
			w.answers["review final"] = func(c loop.Call) loop.Outcome { return finds(c, 0) }
			var scans []loop.Scan
			for _, lines := range c.lines {
				scans = append(scans, loop.Scan{Lines: lines})
			}
			scanned(w, scans...)
			asked := 0
			for w.run() == loop.CallWait {
				asked++
				require.Equal(t, []string{fmt.Sprintf("SIZE#%d", asked)}, w.asked())
				w.signal(`{"finding":"SIZE","decision":"stand"}`)
			}
			require.Equal(t, c.asked, asked)
			require.Equal(t, record.Converged, w.record().Stop, w.record().Message)
		})
	}
}

func TestWhenProtectedPathsAreAsked(t *testing.T) {
	const asks = true
	for name, c := range map[string]struct {
		policy  loop.Policy
		digests []string
		asked   int
	}{
		"none":                   {loop.Policy{Ask: asks}, []string{"", ""}, 0},
		"allowed by flag":        {loop.Policy{Ask: asks, AllowProtected: true}, []string{"a", "b"}, 0},
		"only reported":          {loop.Policy{}, []string{"a", "b"}, 0},
		"the same change once":   {loop.Policy{Ask: asks}, []string{"a", "a"}, 1},
		"another change again":   {loop.Policy{Ask: asks}, []string{"a", "b"}, 2},
		"by a repair":            {loop.Policy{Ask: asks}, []string{"", "a"}, 1},
		"one that is taken back": {loop.Policy{Ask: asks}, []string{"a", ""}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			in := ruledInput(2)
			in.Policy = c.policy
			w := newRuled(t, in, 1)
			w.answers["recheck"] = func(c loop.Call) loop.Outcome { return answersAll(c, "addressed") }
			w.answers["review final"] = func(c loop.Call) loop.Outcome { return finds(c, 0) }
			var scans []loop.Scan
			for _, digest := range c.digests {
				scan := loop.Scan{ProtectedDigest: digest}
				if digest != "" {
					scan.Protected = []loop.Guarded{{Path: "AGENTS.md", Why: "instruction file"}}
				}
				scans = append(scans, scan)
			}
			scanned(w, scans...)
			asked := 0
			for w.run() == loop.CallWait {
				asked++
				require.Equal(t, []string{fmt.Sprintf("PROTECTED#%d", asked)}, w.asked())
				require.Contains(t, w.record().Questions[0].Text, "AGENTS.md (instruction file)")
				w.signal(`{"finding":"PROTECTED","decision":"stand"}`)
			}
			require.Equal(t, c.asked, asked)
			require.Equal(t, record.Converged, w.record().Stop, w.record().Message)
		})
	}
}

// A writer that touches a hundred harmless guarded files hides no change of the configuration among them.
func TestManyProtectedChangesOfOneKindHideNoOther(t *testing.T) {
	w := newRuled(t, askingInput(1), 0)
	scan := loop.Scan{ProtectedDigest: "a"}
	for i := range 100 {
		scan.Protected = append(scan.Protected, loop.Guarded{Path: fmt.Sprintf("a/%03d/AGENTS.md", i), Why: "instruction file"})
	}
	scan.Protected = append(scan.Protected, loop.Guarded{Path: "conclave.yaml", Why: "conclave.yaml"}, loop.Guarded{Path: strings.Repeat("z", 4000), Why: "CI file"})
	scanned(w, scan)
	require.Equal(t, loop.CallWait, w.run())
	text := w.record().Questions[0].Text
	require.Contains(t, text, "conclave.yaml (conclave.yaml)")
	require.Contains(t, text, "(CI file)")
	require.Contains(t, text, "a/000/AGENTS.md (instruction file)")
	require.Contains(t, text, "stand: let them change")
	require.Regexp(t, `, and \d\d more$`, text)
}

func TestAQuestionNamesTheTestsThatAreGone(t *testing.T) {
	w := newRuled(t, askingInput(1), 0)
	scanned(w, loop.Scan{Lines: 9, ProtectedDigest: "a", Protected: []loop.Guarded{
		{Path: "sum_test.go", Why: "deleted test", Detail: "TestSum, TestOverflow"}, {Path: "calc.test.ts", Why: "skipped test", Detail: strings.Repeat("adds, ", 50)},
	}})
	require.Equal(t, loop.CallWait, w.run())
	require.Contains(t, w.record().Questions[0].Text, "sum_test.go (deleted test: TestSum, TestOverflow), calc.test.ts (skipped test: adds, adds,")
	require.Less(t, len(w.record().Questions[0].Text), 250)
}

func TestSizeAndProtectedPathsAreAskedTogetherAndRuledApart(t *testing.T) {
	w := newRuled(t, askingInput(1), 0)
	scanned(w, loop.Scan{Lines: 900, ProtectedDigest: "a", Protected: []loop.Guarded{{Path: "ci.yml", Why: "CI file"}}})
	require.Equal(t, loop.CallWait, w.run())
	require.Equal(t, []string{"SIZE#1", "PROTECTED#1"}, w.asked())
	w.signal(`{"finding":"SIZE","decision":"stand"}`)
	require.False(t, w.progress.Awake())
	w.signal(`{"finding":"PROTECTED","decision":"abort"}`)
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, record.Aborted, w.record().Stop)
	require.Contains(t, w.record().Message, "PROTECTED")
}
