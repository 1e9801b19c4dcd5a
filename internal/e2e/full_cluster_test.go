package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	runrecord "conclave/internal/record"
	"conclave/workflows"
)

// The turns of a full run land on whichever of two machines is free, and
// neither has the user's repository: what a recheck or a confirmer reads travels through the store.
func TestAFullRunOnACluster(t *testing.T) {
	t.Parallel()
	l, args := fullLab(t, append(unmovedOnce(),
		step{Role: "review", Seat: "first", Review: blocked(offByOne(), undocumented())}, step{Role: "review", Review: clean()},
		step{Role: "confirm", Confirm: yes()},
		step{Role: "recheck", Round: "1", Seat: "first", Recheck: all("not-addressed")}, step{Role: "recheck", Recheck: all("addressed")},
	))
	c := newCluster(l, workflows.SearchAttributes())
	for _, name := range []string{"a", "b"} {
		worker := l.worker(c, name)
		worker.Args = append(worker.Args, "--config", filepath.Join(l.dir, "agents.yaml"), "--slots", "1")
		startInBackground(t, worker)
	}
	end := finish(t, l.starterOn(c, append(append([]string{"run", "--json", "--no-progress"}, args...), "Add Sum")...))
	require.Equal(t, 0, end.code, end.String())
	run := decodeRun(t, end.stdout)
	require.Equal(t, runrecord.Converged, run.Stop)
	require.Equal(t, 3, run.Iterations)
	l.checkBundle(run)
	recheck := l.prompt(run, stepOf(t, run, "recheck", "first", 3))
	require.Contains(t, part(recheck, "untrusted diff"), "-// looked at again")
	require.NotContains(t, strings.Join(run.Notes, "\n"), "could not")
}

// unmovedOnce is a writer whose first repair does not help.
func unmovedOnce() []step {
	return []step{
		{Role: "implement", Write: map[string]string{"calc.go": flawed}, Say: "drafted"},
		{Role: "repair", Round: "1", Shell: "echo '// looked at again' >> calc.go", Fix: object{"*": "fixed"}},
		{Role: "repair", Write: map[string]string{"calc.go": mended}, Fix: object{"*": "fixed"}},
	}
}

// A person rules on a cluster: the starter that began the run has ended, the worker is another process with a state folder of
// its own, and what was ruled reaches the writer there.
func TestAPersonRulesOnACluster(t *testing.T) {
	t.Parallel()
	decision := offByOne()
	decision["kind"] = "decision"
	l, args := fullLab(t, []step{
		{Role: "implement", Write: map[string]string{"calc.go": flawed}, Say: "drafted"},
		{Role: "review", Seat: "first", Review: blocked(decision)}, {Role: "review", Review: clean()},
		{Role: "confirm", Confirm: yes()}, {Role: "arbitrate", Rulings: all("person"), Reason: "Both readings are possible."},
		{Role: "repair", Contains: "Sum includes n", Write: map[string]string{"calc.go": mended}, Fix: object{"*": "fixed"}},
		{Role: "recheck", Recheck: all("addressed")},
	})
	c := newCluster(l, workflows.SearchAttributes())
	worker := l.worker(c, "a")
	worker.Args = append(worker.Args, "--config", filepath.Join(l.dir, "agents.yaml"))
	startInBackground(t, worker)
	end := finish(t, l.starterOn(c, append(append([]string{"run", "--json", "--no-progress"}, args...), "Add Sum")...))
	require.Equal(t, 3, end.code, end.String())
	waits := decodeRun(t, end.stdout)
	require.Equal(t, runrecord.NeedsRuling, waits.Stop)
	require.Equal(t, "F1", waits.Questions[0].Subject)
	require.Zero(t, l.started("repair"))

	end = finish(t, l.starterOn(c, "rule", waits.RunID, "F9", "--stand", "--reason", "x"))
	require.Equal(t, 2, end.code, end.String())
	require.Contains(t, end.stderr, "F1", "what is asked")
	end = finish(t, l.starterOn(c, "rule", "--json", waits.RunID, "F1", "--fix", "--reason", "Sum includes n", "--by", "ada"))
	require.Equal(t, 0, end.code, end.String())
	require.Contains(t, end.stdout, `"applied"`)
	end = finish(t, l.starterOn(c, "resume", "--json", waits.RunID))
	require.Equal(t, 0, end.code, end.String())
	run := decodeRun(t, end.stdout)
	require.Equal(t, runrecord.Converged, run.Stop, run.Message)
	require.Equal(t, waits.RunID, run.RunID)
	require.Equal(t, "addressed", run.Findings[0].Disposition)
	require.Equal(t, "ada", run.Rulings[len(run.Rulings)-1].By)
	require.Len(t, run.Refused, 1)
	require.Equal(t, 1, l.started("repair"))
	require.True(t, run.Landed)
	require.Positive(t, run.WaitedMS)
	require.NoDirExists(t, filepath.Join(l.state, "runs", run.RunID, "work"), "no turn ran here")
	require.DirExists(t, filepath.Join(l.dir, "worker-a", "runs", run.RunID))
	l.checkBundle(run)
}
