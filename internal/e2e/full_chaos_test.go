package e2e

import (
	"testing"
	"time"
)

// fullPlot has every kind of turn: a confirmed finding, a repair that does not
// help, an arbiter who asks for a fix, a repair that does, and the final review.
func fullPlot() plot {
	script := []step{
		{Role: "implement", Write: map[string]string{"calc.go": flawed}, Say: "drafted"},
		{Role: "repair", Round: "1", Shell: "echo '// looked at again' >> calc.go", Fix: object{"*": "fixed"}},
		{Role: "repair", Write: map[string]string{"calc.go": mended}, Fix: object{"*": "fixed"}},
		{Role: "review", Seat: "first", Review: blocked(offByOne(), undocumented())},
		{Role: "review", Review: clean()},
		{Role: "confirm", Confirm: yes()},
		{Role: "recheck", Round: "1", Recheck: all("not-addressed")},
		{Role: "recheck", Recheck: all("addressed")},
		{Role: "arbitrate", Rulings: all("fix"), Reason: "It is one line."},
	}
	for i := range script {
		script[i].SleepMS = 150
	}
	return plot{
		script: script,
		args:   func(l *lab) []string { return append(l.fullArgs(), "--max-iters", "2", "--allow-protected") },
		turns: map[string]string{
			"01": "implement/0/-", "03": "review/0/first", "04": "review/0/second", "05": "confirm/0/second",
			"06": "repair/1/-", "08": "recheck/1/first", "09": "recheck/1/second", "10": "arbitrate/1/first",
			"11": "repair/2/-", "13": "recheck/2/first", "14": "recheck/2/second", "15": "review/2/final",
		},
	}
}

// Nothing that was paid for is paid again, wherever the starter dies.
func TestKillsInAFullRun(t *testing.T) {
	t.Parallel()
	p := fullPlot()
	l := newLab(t, p.script)
	for _, k := range []kill{
		{starterAlone, 7, 0}, {withGroup, 8, 0}, // the confirmer starts, has ended
		{withServer, 12, 20 * time.Millisecond},   // among the rechecks
		{starterAlone, 15, 0}, {withGroup, 16, 0}, // the arbiter
		{starterAlone, 23, 0}, {withServer, 24, 0}, // the final review
	} {
		l.survive(p, k)
	}
}

// TestChaosOfAFullRun is the long version: every boundary in three ways.
func TestChaosOfAFullRun(t *testing.T) {
	if !*chaosRun {
		t.Skip("the long version: make chaos")
	}
	p := fullPlot()
	newLab(t, p.script).surviveBoundaries(p)
}
