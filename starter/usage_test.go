package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestUsageErrors: each is refused with exit code 2 before anything starts, in at most two lines per problem.
func TestUsageErrors(t *testing.T) {
	cases := []struct {
		args string
		want []string
	}{
		{"rum x", []string{`unknown command "rum"`, "did you mean run?"}},
		{"run", []string{"the requirement is missing", "quotes"}},
		{"run ", []string{"the requirement is empty"}},
		{"run a|b", []string{"2 arguments", `starter run "a b"`}},
		{"run --presett a|b", []string{"unknown flag --presett", "--preset?"}},
		{"run --max-iters x|r", []string{"--max-iters", "whole number"}},
		{"run --max-iters|0|r", []string{"--max-iters", "least is 1"}},
		{"run --timeout|5|r", []string{"--timeout", "unit"}},
		{"run --verify-timeout|never|r", []string{"--verify-timeout", "no duration"}},
		{"run --preset|dual|r", []string{"--preset", "dual-review"}},
		{"run --preset|panel|r", []string{"not calibrated: codex-correctness (never measured), codex-security (never measured)", "codex-conventions (never measured)", "--trust-reviewers", "--advisory", "starter calibrate"}},
		{"run --implementer|cluade|r", []string{"--implementer", "did you mean claude?"}},
		{"run --seat|a=codex@securty|r", []string{"--seat", "did you mean security?"}},
		{"run --review|never|r", []string{"--review", "verified, always"}},
		{"run --verdict-mode|strikt|r", []string{"--verdict-mode", "did you mean strict?"}},
		{"run --color|allways|r", []string{"--color", "did you mean always?"}},
		{"run --sandbox|require|r", []string{"--sandbox", "did you mean required?"}},
		{"run --discipline|full|r", []string{"not calibrated: codex (never measured)", "--trust-reviewers", "--advisory"}},
		{"run --definition|f|r", []string{"--definition", "no such file"}},
		{"run --definition|README|r", []string{"README: /", "INVALID_JSON_VALUE"}},
		{"run --max-tokens|many|r", []string{"--max-tokens", "whole number"}},
		{"run --max-cost|cheap|r", []string{"--max-cost", "no amount of money"}},
		{"run --max-duration|5|r", []string{"--max-duration", "unit"}},
		{"run --writer-session|old|r", []string{"--writer-session", "resume, fresh"}},
		{"run --implementer|claude|--reviewers|claude|r", []string{"--allow-self-review"}},
		{"run --reviewers|codex,claude|--quorum|2|r", []string{"--quorum 1"}},
		{"run --workdir|/does/not/exist|r", []string{"not a directory", "--workdir"}},
		{"run --workdir|README|r", []string{"not a directory"}},
		{"run --base|nope|r", []string{`"nope"`, "--base"}},
		{"run --config|none.yaml|r", []string{"none.yaml", "--config"}},
		{"run --constraint|none.md|r", []string{"--constraint", "none.md"}},
		{"run --store|s3://b|r", []string{"--store", "not yet"}},
		{"run r", []string{"claude", "CONCLAVE_CLAUDE_BIN", "starter doctor"}},
		{"plan --reviewers|x|r", []string{"unknown adapter"}},
		{"rule a|F1|--stand", []string{"reason is missing"}},
		{"calibrate", []string{"CASES are missing", "case.yaml"}},
		{"calibrate x", []string{"x is no case and holds none", "case.yaml"}},
		{"calibrate --jobs|0|x", []string{"--jobs", "least is 1"}},
		{"adapters explain", []string{"ADAPTER is missing"}},
		{"adapters explain|claude|--stdout|README", []string{"--exit is missing", "124"}},
		{"adapters explain|claude|--exit|0", []string{"--stdout is missing"}},
		{"adapters explain|claude|--stdout|none|--exit|0", []string{"--stdout: open none", "can be read"}},
		{"adapters explain|qwen|--stdout|README|--exit|0", []string{`unknown adapter "qwen"`, "starter adapters"}},
		{"adapters explain|claude|codex|--exit|0|--stdout|README", []string{`"codex" is one argument too many`}},
		{"resume", []string{"RUN is missing"}},
		{"resume a|b", []string{`"b" is one argument too many`}},
		{"resume --waive|codex|x", []string{"--waive needs --reason"}},
		{"resume --waive|codex|--reason| |x", []string{"--waive needs --reason"}},
		{"resume --waive|codex|--reopen|codex|x", []string{"exclude each other"}},
		{"resume --reopen||x", []string{"the seat is empty"}},
		{"resume @last", []string{"no run yet", "starter run"}},
		{"show nothing", []string{`no run is named "nothing"`}},
		{"show --diff|--json|x", []string{"exclude each other"}},
		{"verdict --mode|x|f", []string{"--mode", "strict or heuristic"}},
		{"verdict nofile", []string{"nofile"}},
		{"decide", []string{"--definition is missing"}},
		{"decide --rules|v9", []string{"--rules", "convergence/v3"}},
		{"config shw", []string{"did you mean show?"}},
		{"runs x", []string{"too many"}},
		{"stop", []string{"did you mean cancel?"}},
		{"status", []string{"did you mean show RUN, or runs"}},
		{"ls", []string{"did you mean runs?"}},
		{"logs", []string{"did you mean show?"}},
		{"completion foo", []string{`unknown command "foo"`}},
		{"help foo", []string{`unknown command "foo"`}},
		{"help config|foo", []string{`unknown command "foo" for starter config`}},
	}
	for _, tc := range cases {
		t.Run(tc.args, func(t *testing.T) {
			c := newCLI(t)
			t.Setenv("PATH", filepath.Dir(lookPath(t, "git"))) // no agents
			if strings.Contains(tc.args, "run r") {
				t.Setenv("CONCLAVE_CLAUDE_BIN", filepath.Join(c.repo, "no-such-claude"))
			}
			name, rest, _ := strings.Cut(tc.args, " ")
			args := []string{name}
			if strings.Contains(tc.args, " ") {
				args = append(args, splitArgs(rest)...)
			}
			got := c.run("", args...)
			require.Equal(t, exitUsage, got.code, got.err)
			require.Empty(t, got.out)
			for _, want := range tc.want {
				require.Contains(t, got.err, want)
			}
			require.NoDirExists(t, filepath.Join(c.repo, ".conclave"), "nothing may be left behind")
		})
	}
}

// splitArgs splits at | and at the first blank of a flag with a value.
func splitArgs(s string) []string {
	var args []string
	for part := range strings.SplitSeq(s, "|") {
		if strings.HasPrefix(part, "--") {
			args = append(args, strings.Split(part, " ")...)
		} else {
			args = append(args, part)
		}
	}
	return args
}

func TestUnreachableServerIsAnError(t *testing.T) {
	c := newCLI(t)
	start := time.Now()
	got := c.run("", "run", "--dry-run", "--address", "127.0.0.1:1", "r")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, "127.0.0.1:1")
	require.Contains(t, got.err, "--address")
	require.Less(t, time.Since(start), 3*time.Minute)
	runs, err := c.state().List()
	require.NoError(t, err)
	require.Empty(t, runs, "a run that never started is no run")
}

func TestListingCommands(t *testing.T) {
	c := newCLI(t)
	for args, want := range map[string]string{
		"presets":            "dual-review",
		"presets --json":     `"claude-solo"`,
		"adapters":           "anthropic/claude",
		"adapters --json":    `"opencode"`,
		"version":            "conclave/v1",
		"version --json":     `"rules":"conclave/v1"`,
		"config show":        "claude-codex",
		"config show --json": `"max_iters"`,
		"completion bash":    "__start_starter",
		"--help":             "resume",
		"--version":          "conclave dev (",
		"help run":           "--verify-cmd",
		"completion":         "bash",
	} {
		got := c.run("", strings.Fields(args)...)
		require.Equal(t, 0, got.code, got.err)
		require.Contains(t, got.out, want, args)
	}
}

func TestMistypedVariablesAreNamed(t *testing.T) {
	c := newCLI(t)
	t.Setenv("CONCLAVE_STATEDIR", "/x")
	t.Setenv("CONCLAVE_TEST_SOMETHING", "/x")
	t.Setenv("CONCLAVE_MINE_BIN", "/x")
	got := c.run("", "presets")
	require.Equal(t, 0, got.code)
	require.Contains(t, got.err, "did you mean CONCLAVE_STATE_DIR?")
	require.Contains(t, got.err, "CONCLAVE_MINE_BIN")
	require.NotContains(t, got.err, "SOMETHING")
	c.write("c.yaml", "agents: {mine: {adapter: command, argv: [x], identity: {provider: p, model_family: f, model: m}}}\n")
	t.Setenv("CONCLAVE_CONFIG", "c.yaml")
	got = c.run("", "presets")
	require.NotContains(t, got.err, "CONCLAVE_MINE_BIN", got.err)
	require.Contains(t, got.err, "CONCLAVE_STATEDIR")
}

// TestHelpFitsTheTerminal: 80 columns where nothing tells the width, and nothing that is refused anyway.
func TestHelpFitsTheTerminal(t *testing.T) {
	c := newCLI(t)
	for _, command := range []string{"", "run", "plan", "runs", "show", "watch", "apply", "resume", "cancel", "doctor", "config show", "decide", "verdict", "dev"} {
		got := c.run("", append(strings.Fields(command), "--help")...)
		require.Equal(t, 0, got.code)
		require.NotContains(t, got.out, "not yet supported", command)
		for line := range strings.SplitSeq(got.out, "\n") {
			require.LessOrEqual(t, len([]rune(line)), 80, "%s: %s", command, line)
		}
	}
}

func TestTexts(t *testing.T) {
	require.Equal(t, "first", title("\n first\nsecond"))
	for _, most := range []int{5, 6, 7, 8} {
		cut := cutBytes("aäöü€", most)
		require.LessOrEqual(t, len(cut), most)
		require.True(t, strings.HasSuffix(cut, "..."))
		require.NotContains(t, cut, "\ufffd")
	}
	require.Equal(t, "short", cutBytes("short", 5))
	require.Equal(t, "a b", oneLine(" a\n\tb "))
	require.Contains(t, fmt.Sprint(usage("remedy", "what %d", 1)), "what 1")
}
