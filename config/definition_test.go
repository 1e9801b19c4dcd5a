package config_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/config"
	"conclave/internal/convergence"
)

var update = flag.Bool("update", false, "write the golden files anew")

// identify is a table of our own: goldens do not depend on the adapters' defaults.
func identify(l config.Lane) convergence.Target {
	t := convergence.Target{Adapter: l.Adapter, Provider: l.Adapter + "-co", ModelFamily: l.Adapter + "-family", Model: l.Model}
	if t.Model == "" {
		t.Model = "default"
	}
	return t
}

func TestPresetsCompileToDefinitions(t *testing.T) {
	cases := map[string][]string{
		"claude-codex":                  nil,
		"codex-claude":                  {"--preset", "codex-claude"},
		"claude-solo":                   {"--preset", "claude-solo"},
		"dual-review":                   {"--preset", "dual-review"},
		"dual-review-implementer-codex": {"--preset", "dual-review", "--implementer", "codex"},
		"every-limit": {"--seat", "a=codex:gpt-5.5@tests", "--seat", "b=stub", "--quorum", "1", "--require-diversity",
			"--seat-concurrency", "1", "--max-iters", "6", "--review", "always"},
	}
	for name, args := range cases {
		t.Run(name, func(t *testing.T) {
			clean(t)
			c, err := load(t, given{args: args})
			require.NoError(t, err)
			d, err := c.Definition(identify)
			require.NoError(t, err)
			got, err := json.MarshalIndent(d, "", "  ")
			require.NoError(t, err)
			golden := filepath.Join("testdata", name+".json")
			if *update {
				require.NoError(t, os.WriteFile(golden, append(got, '\n'), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.JSONEq(t, string(want), string(got))
			_, err = convergence.Compile(got, convergence.V1)
			require.NoError(t, err)
		})
	}
}

func TestReviewersEqualThePreset(t *testing.T) {
	clean(t)
	byFlags, err := load(t, given{args: []string{"--reviewers", "codex,claude"}})
	require.NoError(t, err)
	byName, err := load(t, given{args: []string{"--preset", "dual-review"}})
	require.NoError(t, err)
	one, err := byFlags.Definition(identify)
	require.NoError(t, err)
	two, err := byName.Definition(identify)
	require.NoError(t, err)
	require.Equal(t, two, one)
	require.Equal(t, []string{"claude"}, byName.NonVoting(identify))
	require.Equal(t, map[string]string{"codex": "correctness", "claude": "correctness"}, byName.Lenses())
}

func TestImpossibleDefinitionsAreRefused(t *testing.T) {
	cases := []struct {
		name string
		args []string
		want string
	}{
		{"only the writer's own engine", []string{"--implementer", "claude", "--reviewers", "claude"}, "--allow-self-review"},
		{"a substitution of the writer's engine", []string{"--preset", "codex-claude", "--reviewers", "codex"}, "--reviewers"},
		{"quorum over the seats", []string{"--reviewers", "codex,claude", "--quorum", "2"}, "--quorum 1 or less"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			clean(t)
			got, err := load(t, given{args: c.args})
			require.NoError(t, err)
			_, err = got.Definition(identify)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestSelfReview(t *testing.T) {
	clean(t)
	solo, err := load(t, given{args: []string{"--preset", "claude-solo"}})
	require.NoError(t, err)
	require.True(t, solo.SelfReviewed(identify))
	require.Empty(t, solo.NonVoting(identify))
	dual, err := load(t, given{args: []string{"--preset", "dual-review"}})
	require.NoError(t, err)
	require.False(t, dual.SelfReviewed(identify))
	pointless, err := load(t, given{args: []string{"--allow-self-review"}})
	require.NoError(t, err)
	require.False(t, pointless.SelfReviewed(identify), "nobody reviews himself")
}

func TestSubstitutionsMakeASeatNonVoting(t *testing.T) {
	clean(t)
	c, err := load(t, given{repo: "reviewers: [codex, stub]\nseats:\n  codex: {substitutions: [\"claude:m\"], skippable: true, evidence_paths: [\"docs/**\"]}\n"})
	require.NoError(t, err)
	require.Equal(t, []string{"codex"}, c.NonVoting(identify))
	d, err := c.Definition(identify)
	require.NoError(t, err)
	require.Equal(t, int64(1), d.Data.Quorum)
	require.Equal(t, []string{"codex"}, d.Data.SkippableSeats)
	require.Equal(t, []string{"docs/**"}, d.Nodes[2].Data.EvidencePaths)
	require.Equal(t, "m", d.Nodes[2].Data.Lane.KnownSubstitutions[0].Model)
}
