package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestATableFitsItsWidth(t *testing.T) {
	rows := [][]string{{"ORDER", "ROLE", "WHEN"}, {"1", "generator", "iteration 1"}, {"4", "repair", "when something is open and iterations are left; then the verifier again"}}
	var b bytes.Buffer
	writeTable(&b, rows, 40)
	require.Equal(t, strings.TrimPrefix(`
ORDER  ROLE       WHEN
1      generator  iteration 1
4      repair     when something is open
                  and iterations are
                  left; then the
                  verifier again
`, "\n"), b.String())
	b.Reset()
	writeTable(&b, rows, 200)
	require.Equal(t, 3, strings.Count(b.String(), "\n"), "what fits is not broken")
	b.Reset()
	writeTable(&b, [][]string{{strings.Repeat("x", 50), "y"}}, 20)
	for line := range strings.Lines(b.String()) {
		require.LessOrEqual(t, len(strings.TrimRight(line, "\n")), 20)
	}
}

// A plan is read on a terminal, and in the log of a machine.
func TestThePlansTablesAreNotTooWide(t *testing.T) {
	c := newCLI(t)
	for _, preset := range []string{"claude-codex", "panel", "strict"} {
		got := c.run("", "plan", "--preset", preset, "--trust-reviewers", "--design", "r")
		require.Zero(t, got.code, got.err)
		_, tables, _ := strings.Cut(got.out, "\n\n")
		tables, _, _ = strings.Cut(tables, "seats of the same order")
		require.Contains(t, tables, "LANE")
		for line := range strings.Lines(tables) {
			require.LessOrEqual(t, len(strings.TrimRight(line, "\n")), tableWidth, line)
		}
	}
}

// What doctor finds missing a plan says too: on this machine nobody could run it.
func TestAPlanNamesTheAgentsThatAreMissingHere(t *testing.T) {
	c := newCLI(t)
	t.Setenv("PATH", filepath.Dir(lookPath(t, "git")))
	here := filepath.Join(c.repo, "agent")
	require.NoError(t, os.WriteFile(here, []byte("#!/bin/sh\n"), 0o700))
	t.Setenv("CONCLAVE_CLAUDE_BIN", here)
	t.Setenv("CONCLAVE_CODEX_BIN", here)
	t.Setenv("CONCLAVE_GEMINI_BIN", filepath.Join(c.repo, "no-such-gemini"))
	got := c.run("", "plan", "--preset", "strict", "--trust-reviewers", "r")
	require.Zero(t, got.code, got.err)
	require.Regexp(t, `(?m)^warning: the agent gemini cannot be run: .*no-such-gemini does not exist.*starter doctor`, got.out)
	require.NotContains(t, got.out, "agent claude")
	require.NotContains(t, got.out, "agent codex")
	for _, args := range [][]string{{"--preset", "panel", "--trust-reviewers"}, {"--preset", "strict", "--dry-run"}, {"--preset", "strict", "--trust-reviewers", "--address", "cluster:7233"}} {
		got = c.run("", append(append([]string{"plan"}, args...), "r")...)
		require.NotContains(t, got.out, "warning", "%v", args)
	}
	got = c.run("", "plan", "--json", "--preset", "strict", "--trust-reviewers", "r")
	require.Contains(t, got.out, `"missing_agents"`)
	got = c.run("", "plan", "--preset", "strict", "--trust-reviewers", "--seat", "a=codex", "--seat", "b=gemini", "r")
	require.Contains(t, got.out, "seats of your own, the rest of preset strict, discipline full")
}
