package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	runrecord "conclave/internal/record"
)

// One seat raises a high and a low finding, an engine of another family upholds
// the high one: one repair, a recheck of that finding on the fix alone, and one
// look at the whole at the end.
func TestAConfirmedFindingIsRepairedAndRechecked(t *testing.T) {
	t.Parallel()
	const prose = "I rewrote the loop because it felt wrong."
	script := repaired()
	script[1].Say = prose
	l, run := full(t, 0, append(script,
		step{Role: "review", Seat: "first", Review: blocked(offByOne(), undocumented())},
		step{Role: "review", Review: clean()},
		step{Role: "confirm", Seat: "second", Finding: "F1", Confirm: yes(), Reason: "Sum(1) is 0."},
		step{Role: "recheck", Recheck: all("addressed")},
	), "--verify-cmd", sumTest)
	require.Equal(t, runrecord.Converged, run.Stop)
	require.Equal(t, []string{"implement", "verify", "review", "review", "confirm", "repair", "verify", "recheck", "recheck", "review"}, turns(run))

	high, low := findingOf(t, run, "Sum stops before n"), findingOf(t, run, "Sum does not say what it does for negative n")
	require.Equal(t, []string{"high addressed", "low logged"}, []string{high.Severity + " " + high.Disposition, low.Severity + " " + low.Disposition})
	require.Equal(t, []string{"first"}, high.RaisedBy)
	require.Equal(t, "bolt independent", high.ConfirmedBy+" "+high.Proof)
	require.Contains(t, strings.Join(high.History, "\n"), "Sum(1) is 0.")

	confirm := l.prompt(run, stepOf(t, run, "confirm", "second", 1))
	require.Contains(t, head(confirm), "role=confirm")
	require.Contains(t, head(confirm), "findings="+high.ID)
	require.Contains(t, confirm, "Sum(3) is 3 and not 6")
	require.NotContains(t, confirm, low.Title)

	repair := l.prompt(run, stepOf(t, run, "repair", "", 2))
	require.Contains(t, repair, "Sum(3) is 3 and not 6", "the finding word for word")
	require.NotContains(t, repair, low.Title)

	recheck := l.prompt(run, stepOf(t, run, "recheck", "first", 2))
	require.Contains(t, head(recheck), "role=recheck")
	require.Contains(t, head(recheck), "findings="+high.ID)
	require.Contains(t, recheck, "Sum(3) is 3 and not 6")
	require.NotContains(t, recheck, low.Title, "only that finding")
	diff := part(recheck, "untrusted diff")
	require.Contains(t, diff, "-\tfor i := 0; i < n; i++ {")
	require.Contains(t, diff, "+\tfor i := 1; i <= n; i++ {")
	require.NotContains(t, diff, "+func Sum", "the fix only, and not the whole change")
	require.Contains(t, recheck, "TestScripted", "the fix report is evidence")
	require.NotContains(t, recheck, prose, "the writer's other words never reach a reviewer")

	final := l.prompt(run, run.Steps[len(run.Steps)-1])
	require.Contains(t, head(final), "role=review")
	require.Contains(t, head(final), "seat=final")
	require.Contains(t, final, low.Title, "the log")
	require.Contains(t, final, high.Title)
	require.Contains(t, part(final, "untrusted diff"), "+func Sum", "the whole change")
	require.Contains(t, l.read(l.bundle(run.RunID, "findings.json")), low.Title)
	require.Contains(t, l.read(l.bundle(run.RunID, "report.md")), low.Title)
}

func TestARefutedFindingCostsNoRepair(t *testing.T) {
	t.Parallel()
	l, run := full(t, 0, []step{
		{Role: "implement", Write: map[string]string{"calc.go": mended}, Say: "drafted"},
		{Role: "review", Seat: "first", Review: blocked(offByOne())},
		{Role: "review", Review: clean()},
		{Role: "confirm", Seat: "second", Confirm: no(), Reason: "The loop runs to n inclusive."},
	})
	require.Equal(t, runrecord.Converged, run.Stop)
	require.Equal(t, []string{"implement", "verify", "review", "review", "confirm", "review"}, turns(run))
	require.Equal(t, 1, run.Iterations)
	require.Equal(t, "refuted", run.Findings[0].Disposition)
	require.Contains(t, strings.Join(run.Findings[0].History, "\n"), "The loop runs to n inclusive.")
	require.Contains(t, l.read(l.bundle(run.RunID, "report.md")), "The loop runs to n inclusive.")
	require.Contains(t, l.prompt(run, run.Steps[5]), "Sum stops before n", "the final reviewer sees what was refuted")
}

// Two voting seats of different families that say the same confirm each other.
func TestTwoFamiliesConfirmEachOther(t *testing.T) {
	t.Parallel()
	reworded := object{"title": "Sum stops before n is reached", "claim": "n itself is never added.", "at": "calc.go:6"}
	_, run := full(t, 0, append(repaired(),
		step{Role: "review", Seat: "first", Review: blocked(offByOne())},
		step{Role: "review", Seat: "second", Review: blocked(reworded)},
		step{Role: "review", Review: clean()},
		step{Role: "recheck", Recheck: all("addressed")},
	))
	require.Equal(t, runrecord.Converged, run.Stop)
	require.Equal(t, 0, strings.Count(strings.Join(turns(run), " "), "confirm"))
	require.Len(t, run.Findings, 1, "one finding, raised twice")
	require.ElementsMatch(t, []string{"first", "second"}, run.Findings[0].RaisedBy)
	require.ElementsMatch(t, []string{"correctness", "security"}, run.Findings[0].Lenses)
	require.Equal(t, "two-seats", run.Findings[0].Proof)
}

// What the writer refutes, the confirmer decides, once.
func TestTheConfirmerDecidesWhatTheWriterRefutes(t *testing.T) {
	t.Parallel()
	for name, upheld := range map[string]bool{"upheld": true, "refuted": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := no()
			if upheld {
				answer = yes()
			}
			l, run := full(t, 0, []step{
				{Role: "implement", Write: map[string]string{"calc.go": flawed}, Say: "drafted"},
				{Role: "repair", Round: "1", Shell: "echo '// the bound is exclusive by design' >> calc.go", Fix: object{"*": "refuted"}, Reason: "The bound is exclusive by design."},
				{Role: "repair", Write: map[string]string{"calc.go": mended}, Fix: object{"*": "fixed"}},
				{Role: "review", Round: "0", Seat: "first", Review: blocked(offByOne())},
				{Role: "review", Review: clean()},
				{Role: "confirm", Round: "0", Confirm: yes()},
				{Role: "confirm", Confirm: answer, Reason: "I compared both."},
				{Role: "recheck", Recheck: all("addressed")},
			})
			require.Equal(t, runrecord.Converged, run.Stop)
			confirms := 0
			for _, s := range run.Steps {
				if s.Turn == "confirm" {
					confirms++
					if s.Iteration > 1 {
						require.Contains(t, l.prompt(run, s), "The bound is exclusive by design.", "the writer's evidence is shown")
					}
				}
			}
			require.Equal(t, 2, confirms)
			if !upheld {
				require.Equal(t, "refuted", run.Findings[0].Disposition)
			} else {
				require.Equal(t, "addressed", run.Findings[0].Disposition)
			}
		})
	}
}

// Breakage in the fix joins the open list; what lies outside of it is logged and adds no round.
func TestARecheckLooksAtTheFixOnly(t *testing.T) {
	t.Parallel()
	other := "package calc\n\n// Half halves.\nfunc Half(n int) int { return n / 3 }\n"
	outside := object{"title": "Half divides by three", "at": "half.go:4"}
	inside := object{"title": "Sum now starts at two", "at": "calc.go:6"}
	atTwo := strings.Replace(mended, "i := 1", "i := 2", 1)
	_, run := full(t, 0, []step{
		{Role: "implement", Write: map[string]string{"calc.go": flawed, "half.go": other}, Say: "drafted"},
		{Role: "repair", Round: "1", Write: map[string]string{"calc.go": atTwo}, Fix: object{"*": "fixed"}},
		{Role: "repair", Write: map[string]string{"calc.go": mended}, Fix: object{"*": "fixed"}},
		{Role: "review", Seat: "first", Review: blocked(offByOne())},
		{Role: "review", Review: clean()},
		{Role: "confirm", Confirm: yes()},
		{Role: "recheck", Round: "1", Seat: "first", Recheck: all("addressed"), Review: blocked(inside, outside)},
		{Role: "recheck", Recheck: all("addressed")},
	})
	require.Equal(t, runrecord.Converged, run.Stop)
	require.Equal(t, 3, run.Iterations, "one round for the breakage, none for what lies outside")
	require.Equal(t, "addressed", findingOf(t, run, "Sum now starts at two").Disposition)
	require.Equal(t, "logged", findingOf(t, run, "Half divides by three").Disposition)
}
