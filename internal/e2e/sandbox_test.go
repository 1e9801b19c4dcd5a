//go:build linux

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	runrecord "conclave/internal/record"
	"conclave/internal/sandbox"
)

// containedLab is a lab whose agents are contained, and therefore leave no ledger beside the repository.
func containedLab(t *testing.T, script []step) *lab {
	t.Helper()
	support := sandbox.Detect(context.Background())
	if support.Kind() == sandbox.None {
		t.Skip(support.Why()) // internal/sandbox says whether that is a failure
	}
	l := newLab(t, script)
	l.env = append(l.env, "CONCLAVE_SANDBOX=required")
	require.NoError(t, l.user.Install())
	return l
}

// withoutBubblewrap is a search path with everything but it.
func withoutBubblewrap(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, from := range filepath.SplitList(os.Getenv("PATH")) {
		entries, _ := os.ReadDir(from)
		for _, e := range entries {
			if e.Name() != "bwrap" {
				_ = os.Symlink(filepath.Join(from, e.Name()), filepath.Join(dir, e.Name())) // the first on the path is there
			}
		}
	}
	return dir
}

func TestARunIsContained(t *testing.T) {
	support := sandbox.Detect(context.Background())
	for _, kind := range []sandbox.Kind{sandbox.Bubblewrap, sandbox.Landlock} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			if support.Only(kind).Kind() != kind {
				t.Skip(support.Why())
			}
			contained(t, kind)
		})
	}
}

func contained(t *testing.T, kind sandbox.Kind) {
	steps := twoIterations()
	steps[0].Shell = `cat "$HOME/.ssh/id" >> stolen; ls "$HOME/../state/runs" >> stolen; echo x > "$HOME/planted"; (setsid sh -c 'sleep 5; echo late >> calc.go' &)`
	steps[2].Shell = `echo x >> calc.go; git commit --allow-empty -qm x; cat "$HOME/.ssh/id"; (setsid sh -c 'sleep 5; echo late >> calc.go' &)`
	l := containedLab(t, steps)
	if kind == sandbox.Landlock {
		l.env = append(l.env, "PATH="+withoutBubblewrap(t))
	}
	mkdir(t, filepath.Join(l.dir, "home", ".ssh"))
	require.NoError(t, os.WriteFile(filepath.Join(l.dir, "home", ".ssh", "id"), []byte("private"), 0o600))

	run := l.run(0, "--preset", "dual-review", "--implementer", "claude", "--verify-cmd", goTest+" && ! echo x > ~/planted", "Add a sum")
	require.Equal(t, runrecord.Converged, run.Stop)
	require.Equal(t, 2, run.Iterations)
	for _, s := range run.Steps {
		require.Equal(t, string(kind), s.Sandbox, "step %s", s.ID)
	}
	report := l.read(l.bundle(run.RunID, "report.md"))
	require.Contains(t, report, string(kind))
	require.NoFileExists(t, filepath.Join(l.dir, "home", "planted"))
	diff := l.read(l.bundle(run.RunID, "changes.diff"))
	require.NotContains(t, diff, "private")
	require.NotContains(t, diff, "late")
	l.checkBundle(run)
}

func TestWithoutASandboxTheRecordSaysSo(t *testing.T) {
	t.Parallel()
	l := newLab(t, twoIterations())
	run := l.run(0, "--preset", "claude-solo", "--sandbox", "off", "Add a sum")
	for _, s := range run.Steps {
		if s.Identity.Requested != nil {
			require.Equal(t, "none", s.Sandbox)
		}
	}
	require.False(t, strings.Contains(l.read(l.bundle(run.RunID, "report.md")), "bubblewrap"))
}
