package e2e

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	runrecord "conclave/internal/record"
)

// A block for something that is not high enters no loop, and stops nothing.
func TestABlockWithoutAHighFindingIsLogged(t *testing.T) {
	t.Parallel()
	minor := undocumented()
	minor["severity"] = "medium"
	review := blocked(minor)
	review["verdict"] = "block"
	_, run := full(t, 0, []step{
		{Role: "implement", Write: map[string]string{"calc.go": mended}, Say: "drafted"},
		{Role: "review", Seat: "first", Review: review}, {Role: "review", Review: clean()},
	})
	require.Equal(t, runrecord.Converged, run.Stop)
	require.Equal(t, []string{"implement", "verify", "review", "review", "review"}, turns(run))
	require.Equal(t, "logged", run.Findings[0].Disposition)
}

// A new high finding of the final review goes through confirm, repair and recheck like any other, and there is no second last look.
func TestTheFinalReviewFindsSomething(t *testing.T) {
	t.Parallel()
	_, run := full(t, 0, []step{
		{Role: "implement", Write: map[string]string{"calc.go": flawed}, Say: "drafted"},
		{Role: "repair", Write: map[string]string{"calc.go": mended}, Fix: object{"*": "fixed"}},
		{Role: "review", Seat: "final", Review: blocked(offByOne())}, {Role: "review", Review: clean()},
		{Role: "confirm", Confirm: yes()}, {Role: "recheck", Recheck: all("addressed")},
	})
	require.Equal(t, runrecord.Converged, run.Stop)
	require.Equal(t, []string{
		"implement ", "verify ", "review first", "review second", "review final", "confirm second", "repair ", "verify ", "recheck first", "recheck second",
	}, turnSeats(run))
	require.Equal(t, "addressed", run.Findings[0].Disposition)
}

// What only a decision can settle is not given to a writer.
func TestADecisionGoesToTheArbiterAtOnce(t *testing.T) {
	t.Parallel()
	decision := offByOne()
	decision["kind"] = "decision"
	l, run := full(t, 0, []step{
		{Role: "implement", Write: map[string]string{"calc.go": flawed}, Say: "drafted"},
		{Role: "review", Seat: "first", Review: blocked(decision)}, {Role: "review", Review: clean()},
		{Role: "confirm", Confirm: yes()}, {Role: "arbitrate", Rulings: all("stand"), Reason: "Exclusive bounds are the house's style."},
	})
	require.Equal(t, runrecord.Ruled, run.Stop)
	require.Equal(t, 0, l.started("repair"))
	require.Equal(t, 1, l.started("arbitrate"))
	require.Contains(t, l.read(l.bundle(run.RunID, "report.md")), "Exclusive bounds are the house's style.")
}

// A failing verifier is repaired before anybody reviews, and needs no fix report.
func TestAFailingVerifierComesFirst(t *testing.T) {
	t.Parallel()
	l, run := full(t, 0, []step{
		{Role: "implement", Write: map[string]string{"calc.go": "package calc\n\n// to do\n"}, Say: "drafted"},
		{Role: "repair", Contains: "Sum is missing", Write: map[string]string{"calc.go": mended}, Say: "now it is there"},
		{Role: "review", Review: clean()},
	}, "--verify-cmd", sumTest+" || { echo 'Sum is missing'; exit 1; }")
	require.Equal(t, runrecord.Converged, run.Stop)
	require.Equal(t, 1, l.started("repair"))
	require.Equal(t, 3, l.started("review"))
}

// The same failure three times is no progress, and there is no finding to rule on.
func TestTheSameFailureThreeTimesIsStalled(t *testing.T) {
	t.Parallel()
	l, run := full(t, 1, []step{
		{Role: "implement", Write: map[string]string{"calc.go": flawed}, Say: "drafted"},
		{Role: "repair", Shell: "echo '// tried again' >> calc.go", Say: "tried"},
	}, "--verify-cmd", "echo '--- FAIL: TestSum'; exit 1")
	require.Equal(t, runrecord.Stalled, run.Stop)
	require.Equal(t, 2, l.started("repair"))
	require.Equal(t, 0, l.started("review"))
}

// The repair removes the file that the finding is about, and then the whole change.
func TestARepairThatRemovesWhatWasFound(t *testing.T) {
	t.Parallel()
	extra := map[string]string{"calc.go": mended, "draft notes/sum \"old\".go": "package notes\n\nvar Old = 1\n"}
	finding := object{"title": "A stray file is left behind", "at": "draft notes/sum \"old\".go:3"}
	script := func(remove ...string) []step {
		return []step{
			{Role: "implement", Write: extra, Say: "drafted"},
			{Role: "repair", Delete: remove, Fix: object{"*": "fixed"}},
			{Role: "review", Seat: "first", Review: blocked(finding)}, {Role: "review", Review: clean()},
			{Role: "confirm", Confirm: yes()}, {Role: "recheck", Recheck: all("addressed")}, {Role: "arbitrate", Rulings: all("person")},
		}
	}
	t.Run("the file", func(t *testing.T) {
		t.Parallel()
		l, run := full(t, 0, script("draft notes"))
		require.Equal(t, runrecord.Converged, run.Stop)
		require.Equal(t, "calc.go\n", l.git("diff", "--name-only", "main", "conclave/"+run.RunID))
		require.Contains(t, part(l.prompt(run, stepOf(t, run, "recheck", "first", 2)), "untrusted changed files"), `draft notes/sum \"old\".go`)
	})
	t.Run("the change", func(t *testing.T) {
		t.Parallel()
		steps := script("draft notes")
		steps[1].Write = map[string]string{"calc.go": "package calc\n"}
		_, run := full(t, 4, steps)
		require.Equal(t, runrecord.StepFailed, run.Stop)
		require.Contains(t, run.Message, "took the whole change back")
	})
}

// Two findings on one line are two; one that is said twice in one answer is one.
func TestFindingsAreToldApart(t *testing.T) {
	t.Parallel()
	again, other := offByOne(), object{"title": "Sum overflows for large n", "claim": "int wraps around without an error.", "at": "calc.go:6"}
	again["claim"] = "Sum(3) should be 6."
	_, run := full(t, 0, append(repaired(),
		step{Role: "review", Seat: "first", Review: blocked(offByOne(), again, other)}, step{Role: "review", Review: clean()},
		step{Role: "confirm", Confirm: yes()}, step{Role: "recheck", Recheck: all("addressed")},
	))
	require.Equal(t, runrecord.Converged, run.Stop)
	require.Len(t, run.Findings, 2)
}

// A diff that does not fit into a prompt is a file that the prompt names, for every kind of turn; a small fix is shown.
func TestALongDiffIsAFileOfTheWorkspace(t *testing.T) {
	t.Parallel()
	script := repaired()
	script[0].Shell = "mkdir -p vendor && seq 1 300000 > vendor/table.txt" // not counted, and part of the diff
	kept := t.TempDir()
	keep := func(name string) string { return "cp CONCLAVE_REVIEW.diff " + kept + "/" + name + " 2>/dev/null" }
	l, run := full(t, 0, append(script,
		step{Role: "review", Seat: "first", Shell: keep("first"), Review: blocked(offByOne())}, step{Role: "review", Seat: "final", Shell: keep("final"), Review: clean()},
		step{Role: "review", Review: clean()}, step{Role: "confirm", Shell: keep("confirm"), Confirm: yes()},
		step{Role: "recheck", Seat: "first", Shell: keep("recheck"), Recheck: all("addressed")}, step{Role: "recheck", Recheck: all("addressed")},
	))
	require.Equal(t, runrecord.Converged, run.Stop)
	require.Equal(t, []string{"vendor/table.txt"}, run.Exempt)
	for _, s := range run.Steps {
		switch s.Turn + " " + s.Seat {
		case "review first", "review final":
			require.Contains(t, l.prompt(run, s), "CONCLAVE_REVIEW.diff", s.ID)
			require.Contains(t, l.read(filepath.Join(kept, s.Seat)), "+300000\n", s.ID)
		case "recheck first":
			require.NotContains(t, l.prompt(run, s), "CONCLAVE_REVIEW.diff", s.ID)
			require.Contains(t, part(l.prompt(run, s), "untrusted diff"), "i <= n")
			require.NoFileExists(t, filepath.Join(kept, "recheck"))
		}
	}
}
