package config_test

import (
	"encoding/json"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"conclave/config"
	"conclave/internal/convergence"
)

func TestEveryPresetMakesAGate(t *testing.T) {
	for _, preset := range config.Presets() {
		t.Run(preset.Name, func(t *testing.T) {
			clean(t)
			c, err := load(t, given{args: []string{"--preset", preset.Name, "--trust-reviewers"}, unrun: true})
			require.NoError(t, err)
			document, machine, err := c.CompileGate(identify)
			require.NoError(t, err)
			require.Equal(t, "claude-codex", config.DefaultPreset)
			var d convergence.Definition
			require.NoError(t, json.Unmarshal(document, &d))
			require.EqualValues(t, 1, d.Data.MaxIterations)
			require.Zero(t, d.Data.MaxReviewRestarts)
			require.False(t, *d.Data.Rulings)
			for _, n := range d.Nodes {
				if n.Data.Role == convergence.RoleGenerator || n.Data.Role == convergence.RoleRepair {
					require.Nil(t, n.Data.Lane, "nobody writes")
				}
			}
			require.Len(t, machine.Seats(), len(c.Seats))
			for _, seat := range machine.Seats() {
				require.True(t, seat.Voting, "there is no writer that %s could be related to", seat.ID)
			}
			require.Empty(t, machine.Warnings())
			require.Equal(t, preset.Discipline, string(machine.Definition().Data.Discipline))
			for _, adapter := range c.ForGate().Adapters() {
				used := false
				for _, s := range c.Seats {
					used = used || s.Adapter == adapter
				}
				require.True(t, used, "%s reviews nothing and is not looked for", adapter)
			}
		})
	}
}

func TestAGateRefusesWhatNoReviewCanReach(t *testing.T) {
	clean(t)
	c, err := load(t, given{args: []string{"--reviewers", "codex,claude", "--quorum", "3"}})
	require.NoError(t, err)
	_, _, err = c.CompileGate(identify)
	require.ErrorContains(t, err, "--quorum 3 cannot be reached")
	require.NotContains(t, err.Error(), "--allow-self-review", "a review has no such flag")

	c, err = load(t, given{args: []string{"--reviewers", "codex"}, repo: "seats: {codex: {skippable: true}}\n"})
	require.NoError(t, err)
	_, _, err = c.CompileGate(identify)
	require.ErrorContains(t, err, "skippable")
}

func TestAGateHasNoFlagsOfWriters(t *testing.T) {
	fs := pflag.NewFlagSet("review", pflag.ContinueOnError)
	config.GateFlags(fs)
	for _, name := range []string{"implementer", "designer", "design", "max-iters", "allow-self-review"} {
		require.Nil(t, fs.Lookup(name), name)
	}
	for _, name := range []string{"preset", "seat", "reviewers", "discipline", "verify-cmd", "trust-reviewers", "max-tokens", "allow-protected", "quorum"} {
		require.NotNil(t, fs.Lookup(name), name)
	}
}
