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
		"panel":                         {"--preset", "panel"},
		"strict":                        {"--preset", "strict"},
		"every-limit": {"--seat", "a=codex:gpt-5.5@tests", "--seat", "b=stub", "--quorum", "1", "--require-diversity",
			"--seat-concurrency", "1", "--max-iters", "6", "--review", "always"},
	}
	for name, args := range cases {
		t.Run(name, func(t *testing.T) {
			clean(t)
			c, err := load(t, given{args: args, unrun: true})
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
	require.Equal(t, []string{"claude"}, mute(t, byName))
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

// mute lists the seats that can block and cannot count.
func mute(t *testing.T, c config.Config) []string {
	t.Helper()
	_, machine, err := c.Compile(identify)
	require.NoError(t, err)
	var found []string
	for _, s := range machine.Seats() {
		if !s.Voting {
			found = append(found, s.ID)
		}
	}
	return found
}

func selfReviewed(t *testing.T, args ...string) bool {
	t.Helper()
	clean(t)
	c, err := load(t, given{args: args})
	require.NoError(t, err)
	d, err := c.Definition(identify)
	require.NoError(t, err)
	return config.SelfReviewed(d)
}

func TestSelfReview(t *testing.T) {
	require.True(t, selfReviewed(t, "--preset", "claude-solo"))
	require.False(t, selfReviewed(t, "--preset", "dual-review"))
	require.False(t, selfReviewed(t, "--allow-self-review"), "nobody reviews himself")
	clean(t)
	solo, err := load(t, given{args: []string{"--preset", "claude-solo"}})
	require.NoError(t, err)
	require.Empty(t, mute(t, solo))
}

func TestSeatsOfTheConfiguration(t *testing.T) {
	clean(t)
	c, err := load(t, given{
		user: "agents: {claude: {model: opus}, codex: {model: gpt-5.5}}\n",
		repo: "reviewers: [codex, stub]\nseats:\n  codex: {substitutions: [\"claude:m\", claude], skippable: true, evidence_paths: [\"docs/**\", requirement]}\n"})
	require.NoError(t, err)
	require.Equal(t, []string{"codex"}, mute(t, c), "it may run on the writer's engine")
	d, err := c.Definition(identify)
	require.NoError(t, err)
	require.Equal(t, int64(1), d.Data.Quorum)
	require.Equal(t, []string{"codex"}, d.Data.SkippableSeats)
	require.Equal(t, "opus", d.Nodes[0].Data.Lane.Requested.Model)
	seat := d.Nodes[2].Data
	require.Equal(t, []string{"docs/**", "requirement"}, seat.EvidencePaths)
	require.Equal(t, "gpt-5.5", seat.Lane.Requested.Model)
	require.Equal(t, []convergence.Target{
		{Adapter: "claude", Provider: "claude-co", ModelFamily: "claude-family", Model: "m", Tools: []string{}},
		{Adapter: "claude", Provider: "claude-co", ModelFamily: "claude-family", Model: "opus", Tools: []string{}},
	}, seat.Lane.KnownSubstitutions)
	require.Nil(t, d.Nodes[3].Data.EvidencePaths)
}

// TestASkippableSeatIsNotNeeded: the default quorum holds without the seats that may be missing.
func TestASkippableSeatIsNotNeeded(t *testing.T) {
	clean(t)
	c, err := load(t, given{repo: "reviewers: [codex, stub]\nseats: {stub: {skippable: true}}\n"})
	require.NoError(t, err)
	_, machine, err := c.Compile(identify)
	require.NoError(t, err)
	require.Equal(t, int64(1), machine.Definition().Data.Quorum)

	c, err = load(t, given{repo: "reviewers: [codex, stub]\nseats: {stub: {skippable: true}}\n", args: []string{"--quorum", "2"}})
	require.NoError(t, err)
	_, _, err = c.Compile(identify)
	require.ErrorContains(t, err, "1 of them may be skipped")

	c, err = load(t, given{repo: "seats: {codex: {adapter: codex, skippable: true}}\n"})
	require.NoError(t, err)
	_, _, err = c.Compile(identify)
	require.ErrorContains(t, err, "skippable: false")
}
