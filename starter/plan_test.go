package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlanShowsStepsAndBounds(t *testing.T) {
	c := newCLI(t)
	got := c.run("from standard input", "plan", "--preset", "dual-review", "--design", "-")
	require.Equal(t, 0, got.code, got.err)
	for _, want := range []string{"design", "implement", "verify", "codex", "non-voting", "repair", "quorum: 1", "dispatches: 4 to 18, at most 2 at once", "plan digest sha256:"} {
		require.Contains(t, got.out, want)
	}
	require.NoDirExists(t, filepath.Join(c.repo, ".conclave"))
}

func TestPlansAreEqualWhereTheirMeaningIs(t *testing.T) {
	c := newCLI(t)
	digest := func(args ...string) string {
		got := c.run("", append([]string{"plan", "--json", "r"}, args...)...)
		require.Equal(t, 0, got.code, got.err)
		var doc planDocument
		require.NoError(t, json.Unmarshal([]byte(got.out), &doc))
		return doc.PlanDigest
	}
	require.Equal(t, digest("--preset", "dual-review"), digest("--reviewers", "codex,claude"))
	require.NotEqual(t, digest("--preset", "dual-review"), digest("--preset", "dual-review", "--implementer", "codex"))
	require.NotEqual(t, digest(), digest("--max-iters", "2"))
}
