package activities

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdkactivity "go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"conclave/internal/agent"
	"conclave/internal/artifact"
	"conclave/internal/gitrepo"
	"conclave/internal/loop"
	"conclave/internal/process"
	"conclave/internal/record"
	"conclave/internal/store"
)

func TestMain(m *testing.M) {
	process.Main() // does not return in a supervisor of an agent
	agent.StubMain()
	os.Exit(m.Run())
}

// lab is one machine with a repository, and one agent that is a shell script.
// The script runs in the workspace; $STARTS and $LAB are its environment.
type lab struct {
	t        *testing.T
	dir      string
	source   string
	acts     *Activities
	store    *store.Folder
	prepared *loop.Prepared
}

const runID = "add-sum-abcde"

var began = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func newLab(t *testing.T) *lab {
	t.Helper()
	dir := t.TempDir()
	l := &lab{t: t, dir: dir, source: filepath.Join(dir, "source")}
	var err error
	l.store, err = store.OpenFolder(filepath.Join(dir, "store"))
	require.NoError(t, err)
	l.acts = l.machine("state", l.store)
	require.NoError(t, os.Mkdir(l.source, 0o755))
	l.git("init", "-q", "-b", "main")
	l.write("calc.go", "package calc\n")
	l.write(".gitignore", "cache/\n")
	l.git("add", ".")
	l.git("commit", "-qm", "start")
	return l
}

// machine is the activities of a process with a state folder of its own.
func (l *lab) machine(state string, s store.Store) *Activities {
	environ := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + l.dir, "TMPDIR=" + os.TempDir()}
	acts, err := New(Options{Store: s, StateDir: filepath.Join(l.dir, state), Environ: environ, Sandbox: SandboxOff, Agents: agent.Settings{
		Commands: map[string]agent.CommandSettings{"hand": {Argv: []string{"/bin/sh", filepath.Join(l.dir, "agent.sh")}}},
		Binaries: map[string]string{"codex": filepath.Join(l.dir, "agent.sh")},
		Environ:  environ,
		ExtraEnv: map[string]map[string]string{"hand": {"LAB": l.dir}, "codex": {"LAB": l.dir}},
	}})
	require.NoError(l.t, err)
	return acts
}

// prepare runs PrepareRun for later turns.
func (l *lab) prepare(shared bool) *lab {
	l.t.Helper()
	req := &loop.PrepareRequest{RunID: runID, Source: loop.Source{Dir: l.source}, Shared: shared, At: began}
	l.prepared = do[loop.Prepared](l, l.acts.PrepareRun, req)
	return l
}

// plays makes the agent: a shell script that first leaves a line in the file "starts".
func (l *lab) plays(script string) {
	text := "#!/bin/sh\ncat > $LAB/prompt\necho start >> $LAB/starts\n" + script + "\n"
	require.NoError(l.t, os.WriteFile(filepath.Join(l.dir, "agent.sh"), []byte(text), 0o755))
}

func (l *lab) starts() int { return strings.Count(l.read("starts"), "start\n") }

// read is a file of the lab, empty when it is missing.
func (l *lab) read(name string) string {
	content, _ := os.ReadFile(filepath.Join(l.dir, name))
	return string(content)
}

func (l *lab) write(path, text string) {
	require.NoError(l.t, os.WriteFile(filepath.Join(l.source, path), []byte(text), 0o644))
}

func (l *lab) git(args ...string) string {
	l.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = l.source
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=user", "GIT_AUTHOR_EMAIL=user@localhost",
		"GIT_COMMITTER_NAME=user", "GIT_COMMITTER_EMAIL=user@localhost", "GIT_CONFIG_GLOBAL=/dev/null")
	out, err := cmd.CombinedOutput()
	require.NoError(l.t, err, string(out))
	return string(out)
}

func (l *lab) put(text string) artifact.Ref {
	ref, err := l.store.Put(context.Background(), []byte(text))
	require.NoError(l.t, err)
	return ref
}

func (l *lab) get(ref artifact.Ref) string {
	l.t.Helper()
	content, err := l.store.Get(context.Background(), ref)
	require.NoError(l.t, err)
	return string(content)
}

func (l *lab) workspace(from loop.Snapshot) loop.Workspace {
	return loop.Workspace{RunID: runID, Base: l.prepared.Base, From: from, Excludes: l.prepared.Excludes, ObjectFormat: l.prepared.ObjectFormat}
}

// turn is a writing turn from the base; change it to taste.
func (l *lab) turn(step string) *loop.TurnRequest {
	return &loop.TurnRequest{
		Workspace: l.workspace(l.prepared.Base), Step: step, Try: 1, Turn: "implement", Writing: true, Iteration: 1,
		Target:      record.Engine{Adapter: "hand", Provider: "us", ModelFamily: "sh", Model: "m1"},
		Requirement: l.put("Add Sum"), Timeout: 5 * time.Minute, IdleTimeout: 5 * time.Minute,
		Discipline: "basic", VerdictMode: "strict", At: began,
	}
}

// review is a reviewer's turn on a snapshot.
func (l *lab) review(step string, from loop.Snapshot) *loop.TurnRequest {
	req := l.turn(step)
	req.Workspace, req.Turn, req.Writing, req.Seat, req.Lens, req.Evidence = l.workspace(from), "review", false, "hand", "correctness", "token"
	return req
}

func (l *lab) verify(step string, from loop.Snapshot, command string) *loop.VerifyRequest {
	return &loop.VerifyRequest{Workspace: l.workspace(from), Step: step, Command: command, Timeout: 5 * time.Minute, At: began}
}

// wrote is the result of a writing turn with a script.
func (l *lab) wrote(step, script string) *loop.TurnResult {
	l.t.Helper()
	l.plays(script)
	out := do[loop.TurnResult](l, l.acts.RunTurn, l.turn(step))
	require.Equal(l.t, record.ClassOK, out.Class, out.Message)
	return out
}

// repo is the run's repository of the lab's own machine.
func (l *lab) repo() *gitrepo.RunRepo {
	repo, err := gitrepo.OpenRunRepo(context.Background(), RepoDir(l.acts.StateDir, runID))
	require.NoError(l.t, err)
	return repo
}

func (l *lab) paths(commit string) []string {
	changed, err := l.repo().Changes(context.Background(), l.prepared.Base.Commit, commit)
	require.NoError(l.t, err)
	return paths(changed)
}

// attempt is how an activity is called.
type attempt struct {
	stop       chan struct{}   // the worker's
	background context.Context // ends when the activity is cancelled
	beats      func(Beat)      // gets the heartbeats
}

// try runs an activity as a worker would.
func try[Result any](a attempt, activity, request any) (*Result, error) {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestActivityEnvironment()
	env.SetTestTimeout(15 * time.Minute)
	if a.stop != nil {
		env.SetWorkerStopChannel(a.stop)
	}
	if a.background != nil {
		env.SetWorkerOptions(worker.Options{BackgroundActivityContext: a.background})
	}
	if a.beats != nil {
		env.SetOnActivityHeartbeatListener(func(_ *sdkactivity.Info, details converter.EncodedValues) {
			var beat Beat
			if details.Get(&beat) == nil {
				a.beats(beat)
			}
		})
	}
	env.RegisterActivity(activity)
	arguments := []any{request}
	if request == nil {
		arguments = nil
	}
	value, err := env.ExecuteActivity(activity, arguments...)
	if err != nil {
		return nil, err
	}
	out := new(Result)
	return out, value.Get(out)
}

// do is try for an activity that must succeed.
func do[Result any](l *lab, activity, request any) *Result {
	l.t.Helper()
	out, err := try[Result](attempt{}, activity, request)
	require.NoError(l.t, err)
	return out
}

// eventually waits for something that another goroutine or process does.
func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	require.Fail(t, "it did not happen within five minutes")
}

// forget removes a turn's stored result, as if the worker had died before it was written.
func (l *lab) forget(step string) {
	require.NoError(l.t, os.Remove(filepath.Join(l.dir, "store", "keys", filepath.FromSlash(resultKey(runID, step, 1)))))
}
