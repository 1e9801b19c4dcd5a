package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

func lookPath(t *testing.T, name string) string {
	path, err := exec.LookPath(name)
	require.NoError(t, err)
	return path
}
