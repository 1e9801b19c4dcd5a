package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"conclave/internal/record"
)

func TestRunsAndShow(t *testing.T) {
	c := newCLI(t)
	require.Contains(t, c.run("", "runs").err, "no runs yet")
	require.JSONEq(t, `{"runs":[]}`, c.run("", "runs", "--json").out)
	c.have(record.Run{RunID: "old-aaaaa", Stop: record.Converged, Converged: true, Iterations: 1}, time.Hour)
	c.have(record.Run{RunID: "new-bbbbb", Stop: record.MaxIters, ExitCode: 1, Iterations: 3}, time.Minute)

	got := c.run("", "runs", "--json")
	require.Equal(t, 0, got.code, got.err)
	var doc struct{ Runs []runLine }
	require.NoError(t, json.Unmarshal([]byte(got.out), &doc))
	require.Equal(t, "new-bbbbb old-aaaaa", doc.Runs[0].RunID+" "+doc.Runs[1].RunID)
	require.Equal(t, "max-iters", doc.Runs[0].State)

	require.Equal(t, "# Run new-bbbbb\n", c.run("", "show", "@last").out)
	require.Equal(t, "diff of old-aaaaa\n", c.run("", "show", "--diff", "aaaaa").out)
	require.JSONEq(t, c.run("", "show", "--json", "old").out, c.run("", "show", "--json", "old-aaaaa").out)

	c.have(record.Run{RunID: "new-ccccc", Stop: record.Stalled}, time.Second)
	got = c.run("", "show", "new")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, `"new" names several runs: new-ccccc, new-bbbbb`)

	require.NoError(t, os.RemoveAll(c.state().Dir("old-aaaaa")))
	require.Equal(t, "# Run old-aaaaa\n", c.run("", "show", "old").out, "found in the repository's bundles")
	got = c.run("", "resume", "old")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, "CONCLAVE_STATE_DIR")
}

func TestRunsSayWhatARunIs(t *testing.T) {
	c := newCLI(t)
	c.have(record.Run{RunID: "dry-aaaaa", Stop: record.Converged, Converged: true, DryRun: true, Preset: "dual-review"}, time.Hour)
	c.have(record.Run{RunID: "left-bbbbb", Stop: record.StopInterrupted, Waiting: "interrupted: implement"}, time.Minute)
	got := c.run("", "runs")
	require.Contains(t, got.out, "converged (dry run)")
	require.Contains(t, got.out, "interrupted")
	require.NotContains(t, got.out, "waiting")
	var doc struct{ Runs []runLine }
	require.NoError(t, json.Unmarshal([]byte(c.run("", "runs", "--json").out), &doc))
	require.Equal(t, "interrupted", doc.Runs[0].State)
	require.True(t, doc.Runs[1].DryRun)
	require.Equal(t, "converged", doc.Runs[1].State)
}

func TestRunsFitTheTerminal(t *testing.T) {
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	rows := runRows([]runLine{
		{RunID: "add-an-endpoint-that-lists-all-abcde", State: "converged", DryRun: true, Preset: "dual-review", Created: now, Source: "/home/somebody/work/数据/repository"},
		{RunID: "x-bbbbb", State: "max-iters", Preset: "claude-codex", Created: now.AddDate(-2, 0, 0), Source: "/a"},
	}, now)
	for _, width := range []int{60, 72, 80, 90, 100, 110, 120, 200} {
		lines := fitRuns(rows, width)
		for i, line := range lines {
			require.LessOrEqual(t, ansi.StringWidth(line), max(width, 76), line)
			require.Contains(t, line, rows[i][0], "an id is never cut")
		}
	}
	require.Contains(t, fitRuns(rows, 0)[1], rows[1][5], "all of it where no terminal is")
	require.Contains(t, fitRuns(rows, 90)[1], "…")
	require.Contains(t, fitRuns(rows, 90)[1], "repository")
	require.NotContains(t, fitRuns(rows, 80)[0], "SOURCE")
	require.Contains(t, fitRuns(rows, 80)[2], "2024-08-01")
}

func TestTablesFitATerminal(t *testing.T) {
	c := newCLI(t)
	t.Setenv("PATH", filepath.Dir(lookPath(t, "git")))
	for _, command := range []string{"presets", "adapters"} {
		for line := range strings.SplitSeq(c.run("", command).out, "\n") {
			require.LessOrEqual(t, len(line), 80, line)
		}
	}
	require.NotContains(t, c.run("", "adapters").out, "missing: any")
	require.Contains(t, c.run("", "doctor").out, "--dry-run` needs no agent")
}

// TestLastIsTheNewestRunOfThisRepository: another repository's newer run must not be shown, resumed or applied here.
func TestLastIsTheNewestRunOfThisRepository(t *testing.T) {
	c := newCLI(t)
	c.have(record.Run{RunID: "mine-aaaaa", Stop: record.Converged}, time.Hour)
	other := &cli{t: t, repo: filepath.Join(os.Getenv("HOME"), "other")}
	require.NoError(t, os.MkdirAll(other.repo, 0o755))
	other.git("init", "-q")
	other.write("README", "another\n")
	other.commit()
	head := strings.TrimSpace(other.git("rev-parse", "HEAD"))
	other.have(record.Run{RunID: "theirs-bbbbb", Stop: record.Converged, Head: head}, time.Minute)

	got := c.run("", "show", "@last")
	require.Equal(t, "# Run mine-aaaaa\n", got.out)
	require.Empty(t, got.err)
	require.NoError(t, os.RemoveAll(c.state().Dir("mine-aaaaa")))
	require.Equal(t, "# Run mine-aaaaa\n", c.run("", "show", "@last").out, "known by its bundle")

	require.NoError(t, os.RemoveAll(filepath.Join(c.repo, ".conclave")))
	got = c.run("", "show", "@last")
	require.Equal(t, "# Run theirs-bbbbb\n", got.out)
	require.Contains(t, got.err, "the newest run, theirs-bbbbb, is of "+other.repo)

	got = c.run("", "apply", "@last")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, "is of "+other.repo)
	require.Contains(t, got.err, "--workdir")
	require.Equal(t, 0, c.run("", "apply", "--workdir", ".", "theirs").code, "a named directory is meant")

	clone := filepath.Join(os.Getenv("HOME"), "clone")
	other.git("clone", "-q", other.repo, clone)
	t.Chdir(clone)
	got = c.run("", "apply", "theirs")
	require.Equal(t, 0, got.code, got.err)
}
