//go:build linux

package sandbox_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"conclave/internal/process"
	"conclave/internal/sandbox"
)

// scene is a user's home with what may be found there, a run's folders, and another run's.
type scene struct {
	t                                    *testing.T
	home, state, workspace, agent, temp  string
	objects, project, elsewhere, outputs string
}

func newScene(t *testing.T) *scene {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	home := filepath.Join(root, "home", "user")
	state := filepath.Join(home, ".local", "state", "conclave")
	run := filepath.Join(state, "runs", "this")
	s := &scene{
		t: t, home: home, state: state, workspace: filepath.Join(run, "work", "writer-1"), agent: filepath.Join(run, "turns", "1", "agent"),
		temp: filepath.Join(run, "turns", "1", "tmp"), objects: filepath.Join(run, "repo.git", "objects"),
		project: filepath.Join(home, "project"), elsewhere: filepath.Join(root, "elsewhere"), outputs: t.TempDir(),
	}
	for _, dir := range []string{s.agent, s.temp} {
		require.NoError(t, os.MkdirAll(dir, 0o700))
	}
	for _, path := range []string{
		s.home + "/.ssh/id", s.home + "/.netrc", s.home + "/.aws/credentials", s.home + "/.config/gcloud/token", s.home + "/.config/temporalio/temporal.toml", s.home + "/.config/tool/settings",
		s.home + "/.gitconfig", s.home + "/.cache/go-build/x", s.home + "/.cache/opencode/x", s.home + "/.cargo/registry/x", s.home + "/.cargo/bin/cargo", s.home + "/.npm/_cacache/x",
		s.home + "/.cargo/credentials.toml", s.home + "/.claude/.credentials.json", s.home + "/.claude.json", s.home + "/.codex/auth.json", s.home + "/.config/conclave/config.yaml",
		s.home + "/notes.txt", s.project + "/.git/config", s.project + "/main.go", s.workspace + "/main.go", s.workspace + "/sub/CLAUDE.md", s.workspace + "/.git/HEAD",
		s.objects + "/aa/bb", s.state + "/runs/this/repo.git/config", s.state + "/runs/this/run.json", s.state + "/runs/this/turns/1/transcript.jsonl",
		s.state + "/runs/this/work/seat-2/main.go", s.state + "/runs/other/work/writer/main.go", s.state + "/store/aa", s.elsewhere + "/file", s.agent + "/prompt.md",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("content of "+path+"\n"), 0o644))
	}
	return s
}

// turn is a call of the shell in the scene by a role.
func (s *scene) turn(role sandbox.Role) sandbox.Turn {
	t := sandbox.Turn{
		Role: role, Program: "/bin/sh", Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home}, Workspace: s.workspace, Temp: s.temp,
		Read: []string{s.objects}, Write: []string{s.agent}, Hide: []string{s.state},
		Protected: []string{s.workspace + "/sub/CLAUDE.md"},
	}
	if role != sandbox.Command {
		t.State = sandbox.StatePaths("claude", s.home)
	}
	return t
}

// kinds runs a test under each sandbox of this machine.
func kinds(t *testing.T, f func(t *testing.T, kind sandbox.Kind)) {
	support := sandbox.Detect(context.Background())
	for _, kind := range []sandbox.Kind{sandbox.Bubblewrap, sandbox.Landlock} {
		t.Run(string(kind), func(t *testing.T) {
			if support.Only(kind).Kind() != kind {
				t.Skip(support.Why())
			}
			f(t, kind)
		})
	}
}

// run runs a shell script as a turn and returns what it printed, and how it ended.
func (s *scene) run(kind sandbox.Kind, turn sandbox.Turn, script string) (string, process.Result) {
	s.t.Helper()
	policy, err := turn.Policy()
	require.NoError(s.t, err)
	confinement, err := sandbox.Detect(context.Background()).Only(kind).Confine(policy, turn.Workspace)
	require.NoError(s.t, err)
	spec := process.Spec{
		Name: "test", Path: turn.Program, Args: append(turn.Args, "-c", script), Env: turn.Env, Dir: turn.Workspace, Timeout: 15 * time.Minute,
		Stdout: filepath.Join(s.outputs, "out"), Stderr: filepath.Join(s.outputs, "err"), Sandbox: confinement, Grace: 200 * time.Millisecond,
	}
	if turn.Program != "/bin/sh" {
		spec.Args = turn.Args
	}
	res, err := process.Run(context.Background(), spec, nil)
	require.NoError(s.t, err)
	require.Equal(s.t, process.CauseExited, res.Cause, res.Message)
	out, err := os.ReadFile(spec.Stdout)
	require.NoError(s.t, err)
	problem, err := os.ReadFile(spec.Stderr)
	require.NoError(s.t, err)
	s.t.Logf("stderr: %s", problem)
	return strings.TrimSpace(string(out)), res
}
