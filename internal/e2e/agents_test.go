package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Field row 34, on the command line: the reviewer's login expired after the writer was paid. Nobody waits, the change
// stands on its branch, and what `starter run` prints goes on with it once the login is renewed.
func TestAfterAnExpiredLoginTheReviewGoesOnByWhatIsPrinted(t *testing.T) {
	t.Parallel()
	l := newLab(t, []step{
		{Role: "implement", Write: map[string]string{"calc.go": mended}, Say: "Sum is there."},
		{Role: "review", Silent: true, Stderr: "ERROR: unexpected status 401 Unauthorized: token expired\n", Exit: 1},
	})
	out := l.starter("run", "--no-progress", "Add Sum")
	require.Equal(t, 4, out.code, out.String())
	require.Equal(t, 1, l.started("review"), "an expired login is not waited for")
	require.Contains(t, out.stdout, "401")
	printed := regexp.MustCompile(`starter review --base \S+ --head \S+.*`).FindString(out.stdout)
	require.NotEmpty(t, printed, out.String())

	l.play([]step{{Role: "review", Say: "fine\n\nVERDICT: PASS"}})
	out = l.starter(strings.Fields(strings.TrimPrefix(printed, "starter "))...)
	require.Equal(t, 0, out.code, out.String())
	require.Equal(t, 1, l.started("implement"), "the writer was paid once")
}

// A repair goes on with the writer's session; reviewers begin their own each time. The record tells both, and what it cost.
func TestARepairResumesTheWritersSessionAndTheRecordTellsTheCost(t *testing.T) {
	t.Parallel()
	l := newLab(t, twoIterations())
	args := filepath.Join(l.dir, "args")
	for i, entry := range l.env {
		name, path, _ := strings.Cut(entry, "=")
		if !strings.HasSuffix(name, "_BIN") {
			continue
		}
		wrapper := path + "-noting"
		require.NoError(t, os.WriteFile(wrapper, []byte("#!/bin/sh\nprintf '%s ' \"$0\" \"$@\" >> "+args+"; echo >> "+args+"\nexec "+path+" \"$@\"\n"), 0o755))
		l.env[i] = name + "=" + wrapper
	}
	config := filepath.Join(mkdir(t, filepath.Join(l.dir, "home", ".config", "conclave")), "config.yaml")
	require.NoError(t, os.WriteFile(config, []byte("prices:\n  gpt-5.5: {input: 10, cached: 1, output: 100}\n"), 0o600))
	run := l.run(0, "--seat", "codex=codex:gpt-5.5", "--seat", "claude=claude", "--allow-self-review", "Add Sum")
	require.Equal(t, 2, run.Iterations)
	for _, step := range run.Steps {
		require.Equal(t, step.Turn == "repair", step.Resumed, step.ID)
		if step.Role != "verifier" {
			require.NotEmpty(t, step.Session, step.ID)
		}
	}
	called := l.read(args)
	require.Equal(t, 1, strings.Count(called, " --resume "), called)
	require.NotContains(t, called, "exec resume", "a reviewer resumes nothing")

	codex := run.UsageBySeat["codex"]
	require.Equal(t, 2, codex.Turns)
	require.True(t, codex.Priced)
	require.InDelta(t, 2*(190*10+10*1+30*100)/1e6, *codex.CostUSD, 1e-9)
	require.InDelta(t, 0.02, *run.UsageByRole["implementer"].CostUSD, 1e-9, "as claude reports it")
	require.False(t, run.UsageByRole["implementer"].Priced)
	require.InDelta(t, 0.04+*codex.CostUSD, *run.Usage.CostUSD, 1e-9)
	require.Contains(t, l.read(l.bundle(run.RunID, "report.md")), "(priced)")
	shown := l.starter("show", run.RunID)
	require.Contains(t, shown.stdout, "| seat codex | 2 |")

	fresh := l.run(0, "--preset", "dual-review", "--writer-session", "fresh", "Add Sum again")
	for _, step := range fresh.Steps {
		require.False(t, step.Resumed)
	}
}

// Nothing of the user's home is the agents' with --isolate-home.
func TestAnIsolatedHomeIsTheRunsOwn(t *testing.T) {
	t.Parallel()
	l := newLab(t, []step{
		{Role: "implement", Shell: "echo \"$HOME\" > home.txt; echo state > \"$HOME/state\"", Say: "done"},
		{Role: "review", Say: "fine\n\nVERDICT: PASS"},
	})
	run := l.run(0, "--isolate-home", "Note the home")
	home := strings.TrimSpace(l.git("show", "conclave/"+run.RunID+":home.txt"))
	require.Equal(t, filepath.Join(l.state, "runs", run.RunID, "home"), home)
	require.NoFileExists(t, filepath.Join(l.dir, "home", "state"))
	require.NoDirExists(t, home, "it goes with the run")
}
