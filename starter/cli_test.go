package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"conclave/internal/record"
	"conclave/internal/runindex"
)

// cli is a scratch machine: a home, a state folder, a repository.
type cli struct {
	t    *testing.T
	repo string
}

func newCLI(t *testing.T) *cli {
	t.Helper()
	for _, entry := range os.Environ() {
		name, old, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "CONCLAVE_") || strings.HasPrefix(name, "TEMPORAL_") {
			t.Setenv(name, old)
			require.NoError(t, os.Unsetenv(name))
		}
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
	c := &cli{t: t, repo: filepath.Join(home, "repo")}
	require.NoError(t, os.MkdirAll(c.repo, 0o755))
	c.git("init", "-q")
	c.write("README", "hello\n")
	c.commit()
	t.Chdir(c.repo)
	return c
}

func (c *cli) git(args ...string) string {
	c.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=A", "-c", "user.email=a@example.com"}, args...)...)
	cmd.Dir = c.repo
	out, err := cmd.CombinedOutput()
	require.NoError(c.t, err, string(out))
	return string(out)
}

func (c *cli) write(path, content string) {
	c.t.Helper()
	path = filepath.Join(c.repo, path)
	require.NoError(c.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(c.t, os.WriteFile(path, []byte(content), 0o644))
}

func (c *cli) commit() {
	c.t.Helper()
	c.git("add", ".")
	c.git("commit", "-qm", "state")
}

type answered struct {
	code     int
	out, err string
}

func (c *cli) run(input string, args ...string) answered {
	c.t.Helper()
	var out, errs bytes.Buffer
	a := &app{in: strings.NewReader(input), out: &out, err: &errs}
	code := a.run(context.Background(), args)
	return answered{code, out.String(), errs.String()}
}

func (c *cli) state() runindex.Index {
	return runindex.Open(filepath.Join(os.Getenv("XDG_STATE_HOME"), "conclave"))
}

// have records a run with a bundle.
func (c *cli) have(run record.Run, age time.Duration) runindex.Entry {
	c.t.Helper()
	bundle := filepath.Join(c.repo, ".conclave", "runs", run.RunID)
	e := runindex.Entry{RunID: run.RunID, WorkflowID: "run-" + run.RunID, Source: c.repo, Bundle: bundle, Preset: run.Preset,
		Created: time.Now().Add(-age).UTC(), Namespace: "default"}
	require.NoError(c.t, c.state().Write(e))
	content, err := json.Marshal(run)
	require.NoError(c.t, err)
	c.write(filepath.Join(".conclave", "runs", run.RunID, "run.json"), string(content))
	c.write(filepath.Join(".conclave", "runs", run.RunID, "report.md"), "# Run "+run.RunID+"\n")
	c.write(filepath.Join(".conclave", "runs", run.RunID, "changes.diff"), "diff of "+run.RunID+"\n")
	return e
}

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

func lookPath(t *testing.T, name string) string {
	path, err := exec.LookPath(name)
	require.NoError(t, err)
	return path
}

func TestRepositoriesThatCannotBeUsed(t *testing.T) {
	cases := []struct {
		name string
		make func(c *cli)
		want string
	}{
		{"no commit yet", func(c *cli) { c.reinit(); c.git("init", "-q") }, "git commit"},
		{"bare", func(c *cli) { c.reinit(); c.git("init", "-q", "--bare") }, "bare repository"},
		{"corrupt", func(c *cli) { require.NoError(c.t, os.Remove(filepath.Join(c.repo, ".git", "HEAD"))) }, "corrupt repository"},
		{"invalid policy", func(c *cli) { c.write("conclave.yaml", "max_iters: many\n"); c.commit() }, "conclave.yaml of "},
		{"policy that chooses programs", func(c *cli) { c.write("conclave.yaml", "agents: {claude: {bin: ./x}}\n"); c.commit() }, "agents may not be set by a repository"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c := newCLI(t)
			tc.make(c)
			got := c.run("", "run", "--dry-run", "r")
			require.Equal(t, exitUsage, got.code)
			require.Contains(t, got.err, tc.want)
			require.Empty(t, got.out)
		})
	}
}

func TestFoldersThatAreNoRepository(t *testing.T) {
	c := newCLI(t)
	c.reinit()
	c.write("a/b.txt", strings.Repeat("x", 3<<20))
	c.write("c.txt", "c")
	c.write(".conclave/old", "not counted")
	got := c.run("", "plan", "r")
	require.Equal(t, 0, got.code, got.err)
	require.Contains(t, got.err, c.repo+" is no git repository: all 2 files (3.0 MB) below it are copied")

	for _, dir := range []string{os.Getenv("HOME"), filepath.Dir(os.Getenv("HOME")), "/"} {
		for _, command := range []string{"run", "plan"} {
			got = c.run("", command, "--dry-run", "--workdir", dir, "r")
			require.Equal(t, exitUsage, got.code, dir)
			require.Contains(t, got.err, "home folder")
			require.Contains(t, got.err, "git init")
		}
	}
	require.False(t, holdsHome(os.Getenv("HOME")+"-other"))
	require.NoDirExists(t, filepath.Join(os.Getenv("HOME"), ".conclave"))
}

// reinit empties the repository's folder.
func (c *cli) reinit() {
	entries, err := os.ReadDir(c.repo)
	require.NoError(c.t, err)
	for _, e := range entries {
		require.NoError(c.t, os.RemoveAll(filepath.Join(c.repo, e.Name())))
	}
}

func TestBundleFolderThatCannotBeWritten(t *testing.T) {
	c := newCLI(t)
	c.write(".conclave", "in the way")
	got := c.run("", "run", "--dry-run", "r")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, "bundle folder cannot be written")
	runs, err := c.state().List()
	require.NoError(t, err)
	require.Empty(t, runs)
}

func TestBundleFolderThatLeadsElsewhere(t *testing.T) {
	c := newCLI(t)
	elsewhere := t.TempDir()
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(c.repo, ".conclave")))
	got := c.run("", "run", "--dry-run", "r")
	require.Equal(t, exitUsage, got.code)
	entries, err := os.ReadDir(elsewhere)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestStateFolderThatCannotBeWritten(t *testing.T) {
	c := newCLI(t)
	t.Setenv("CONCLAVE_STATE_DIR", filepath.Join(c.repo, "README", "state"))
	got := c.run("", "run", "--dry-run", "r")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, "CONCLAVE_STATE_DIR")
	require.NoDirExists(t, filepath.Join(c.repo, ".conclave", "runs", "r"))
}

func TestUnreachableServerIsAnError(t *testing.T) {
	c := newCLI(t)
	start := time.Now()
	got := c.run("", "run", "--dry-run", "--address", "127.0.0.1:1", "r")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, "127.0.0.1:1")
	require.Contains(t, got.err, "--address")
	require.Less(t, time.Since(start), 20*time.Second)
	runs, err := c.state().List()
	require.NoError(t, err)
	require.Empty(t, runs, "a run that never started is no run")
}

func TestPolicyComesFromTheBase(t *testing.T) {
	c := newCLI(t)
	c.write("conclave.yaml", "max_iters: 2\nverify_cmd: make check\n")
	c.commit()
	c.write("conclave.yaml", "max_iters: 9\n")
	got := c.run("", "plan", "--json", "r")
	require.Equal(t, 0, got.code, got.err)
	require.Contains(t, got.err, "conclave.yaml") // listed as left out
	var doc planDocument
	require.NoError(t, json.Unmarshal([]byte(got.out), &doc))
	require.Equal(t, int64(2), doc.Limits.MaxIterations)
	require.Equal(t, "make check", doc.Commands["verify"])

	got = c.run("", "plan", "--json", "--base", "HEAD~1", "r")
	require.Equal(t, 0, got.code, got.err)
	require.NoError(t, json.Unmarshal([]byte(got.out), &doc))
	require.Equal(t, int64(3), doc.Limits.MaxIterations)
}

func TestConfigShowSaysWhichPolicyCounts(t *testing.T) {
	c := newCLI(t)
	c.write("conclave.yaml", "max_iters: 2\n")
	got := c.run("", "config", "show")
	require.Equal(t, 0, got.code, got.err)
	require.Contains(t, got.err, "commit it")
	c.commit()
	require.Empty(t, c.run("", "config", "show").err)
	c.write("conclave.yaml", "max_iters: 2\r\n")
	require.Empty(t, c.run("", "config", "show").err, "other line ends are the checkout's")
	c.write("conclave.yaml", "max_iters: 9\n")
	got = c.run("", "config", "show")
	require.Contains(t, got.err, "read from the commit")
	require.Regexp(t, `max_iters +2 `, got.out)
}

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

func TestVerdictCommand(t *testing.T) {
	c := newCLI(t)
	cases := []struct {
		text, verdict string
		code          int
	}{{"x\n\nVERDICT: PASS\n", "pass", 0}, {"VERDICT: BLOCK", "block", 1}, {"> VERDICT: PASS", "invalid", 6}}
	for _, tc := range cases {
		got := c.run(tc.text, "verdict", "-")
		require.Equal(t, tc.code, got.code)
		require.Empty(t, got.err)
		var doc struct {
			Verdict string `json:"verdict"`
			Line    *int   `json:"line"`
			Reason  string `json:"reason"`
		}
		require.NoError(t, json.Unmarshal([]byte(got.out), &doc))
		require.Equal(t, tc.verdict, doc.Verdict)
		require.NotNil(t, doc.Line)
		require.NotEmpty(t, doc.Reason)
	}
	c.write("review.md", "no blocking findings")
	require.Equal(t, 0, c.run("", "verdict", "--mode", "heuristic", "review.md").code)
	require.Equal(t, 6, c.run("", "verdict", "review.md").code)
}

func TestDecideReportsEveryProblem(t *testing.T) {
	c := newCLI(t)
	c.write("d.json", `{"id":"x","definitionVersion":1,"data":{},"nodes":[],"edges":[]}`)
	c.write("e.json", `[{"type":"x"},{"type":"y","version":0,"payload":{}}]`)
	got := c.run("", "decide", "--definition", "d.json", "--events", "e.json")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, "ROLE_COUNT")
	require.Contains(t, got.err, "/data/maxIterations")
	c.write("bad.json", `{`)
	got = c.run("", "decide", "--definition", "bad.json", "--events", "e.json")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, "bad.json")
}

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

func TestApplyRefusals(t *testing.T) {
	c := newCLI(t)
	c.have(record.Run{RunID: "bad-aaaaa", Stop: record.MaxIters, Steps: []record.Step{{Role: "implementer", Status: record.OK, Tree: "t"}}}, time.Hour)
	got := c.run("", "apply", "bad")
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "did not converge")
	require.Contains(t, got.err, "--force")
	got = c.run("", "apply", "--force", "bad")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, "not in the state folder")

	c.have(record.Run{RunID: "going-bbbbb"}, time.Hour)
	got = c.run("", "apply", "going")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, "has not ended")

	c.have(record.Run{RunID: "nothing-ccccc", Stop: record.Converged}, time.Hour)
	got = c.run("", "apply", "nothing")
	require.Equal(t, 0, got.code)
	require.Contains(t, got.err, "changed nothing")
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

func TestDoctorFailsWithoutTheAgentsOfThePreset(t *testing.T) {
	c := newCLI(t)
	t.Setenv("PATH", filepath.Dir(lookPath(t, "git")))
	t.Setenv("CONCLAVE_CLAUDE_BIN", filepath.Join(c.repo, "none"))
	got := c.run("", "doctor")
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.out, "CONCLAVE_CLAUDE_BIN")
	got = c.run("", "doctor", "--json", "--implementer", "stub", "--reviewers", "stub", "--allow-self-review")
	var doc struct{ Checks []check }
	require.NoError(t, json.Unmarshal([]byte(got.out), &doc))
	for _, line := range doc.Checks {
		if strings.HasPrefix(line.Name, "agent ") {
			require.False(t, line.Needed, line.Name)
		}
	}
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
