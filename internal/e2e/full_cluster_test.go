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
