package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"conclave/internal/convergence"
	"conclave/internal/loop"
	runrecord "conclave/internal/record"
	"conclave/internal/scripted"
)

// patience bounds every wait for something that a test wants to happen, on the busiest machine.
const patience = 5 * time.Minute

// lab is one user's machine: a repository, a state folder, agents with a script.
type lab struct {
	t      *testing.T
	user   *scripted.User
	dir    string
	repo   string
	state  string
	ledger string
	env    []string
}

// newLab makes a repository with one commit, and agents that play the script as claude and codex.
func newLab(t *testing.T, script []step) *lab {
	t.Helper()
	u, err := scripted.New(t.TempDir(), bin)
	require.NoError(t, err)
	l := &lab{t: t, user: u, dir: u.Dir, repo: u.Repo, state: u.State, ledger: u.Ledger}
	l.env = slices.Concat(u.Env, []string{"GOCACHE=" + filepath.Join(u.Dir, "gocache"), "GOFLAGS=-mod=mod"})
	l.play(script)
	t.Cleanup(l.stopServer)
	return l
}

// play replaces the script.
func (l *lab) play(script []step) {
	l.t.Helper()
	require.NoError(l.t, l.user.Play(script))
}

func mkdir(t *testing.T, dir string) string {
	require.NoError(t, os.MkdirAll(dir, 0o755))
	return dir
}

func (l *lab) write(path, text string) {
	full := filepath.Join(l.repo, path)
	mkdir(l.t, filepath.Dir(full))
	require.NoError(l.t, os.WriteFile(full, []byte(text), 0o644))
}

// git runs git in the repository, as its user.
func (l *lab) git(args ...string) string {
	l.t.Helper()
	l.user.Repo = l.repo // a test may have gone to another one
	out, err := l.user.Git(args...)
	require.NoError(l.t, err)
	return out
}

// done is how a command ended.
type done struct {
	code           int
	stdout, stderr string
}

func (d done) String() string {
	return fmt.Sprintf("exit %d\n--- stdout\n%s\n--- stderr\n%s", d.code, d.stdout, d.stderr)
}

// command prepares a program of ours in the repository, in a session of its own.
func (l *lab) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(bin, program), args...)
	cmd.Dir, cmd.Env = l.repo, l.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// starter runs a command of the CLI to its end.
func (l *lab) starter(args ...string) done {
	l.t.Helper()
	return finish(l.t, l.command("starter", args...))
}

func finish(t *testing.T, cmd *exec.Cmd) done {
	t.Helper()
	return finishHeard(t, cmd, &heard{})
}

// finishHeard is finish with something to do when the command says a text on standard error.
func finishHeard(t *testing.T, cmd *exec.Cmd, stderr *heard) done {
	t.Helper()
	var stdout bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, stderr
	require.NoError(t, cmd.Start())
	late := time.AfterFunc(2*patience, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	require.True(t, late.Stop(), "the command did not end:\n%s\n%s", stdout.String(), stderr.String())
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return done{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// heard is the output of a command. When it first holds the text, then is called.
type heard struct {
	text string
	then func()
	all  bytes.Buffer
}

// Write implements io.Writer.
func (h *heard) Write(p []byte) (int, error) {
	n, err := h.all.Write(p)
	if h.then != nil && strings.Contains(h.all.String(), h.text) {
		h.then()
		h.then = nil
	}
	return n, err
}

func (h *heard) String() string { return h.all.String() }

// untilOpen is a shell's part of a step that goes on when the lab is opened: what a test does meanwhile is done by then,
// however slow the machine is.
const untilOpen = `while ! test -e "$HOME/open"; do sleep 0.1; done`

func (l *lab) open() {
	if err := os.WriteFile(filepath.Join(l.dir, "home", "open"), nil, 0o600); err != nil {
		l.t.Error(err)
	}
}

// run carries a requirement with --json and returns the record it printed.
func (l *lab) run(wantExit int, args ...string) runrecord.Run {
	l.t.Helper()
	out := l.starter(append([]string{"run", "--json", "--no-progress"}, args...)...)
	require.Equal(l.t, wantExit, out.code, out.String())
	return decodeRun(l.t, out.stdout)
}

func decodeRun(t *testing.T, text string) runrecord.Run {
	t.Helper()
	var run runrecord.Run
	require.NoError(t, json.Unmarshal([]byte(text), &run), text)
	return run
}

// bundle is a path inside the run's bundle.
func (l *lab) bundle(runID string, parts ...string) string {
	return filepath.Join(append([]string{l.repo, ".conclave", "runs", runID}, parts...)...)
}

func (l *lab) read(path string) string {
	l.t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(l.t, err)
	return string(content)
}

// note is one line of the ledger.
type note struct {
	What, As, Role, Run, Round, Seat, Lens, Evidence, Findings, Model string
	PID                                                               int
	At                                                                int64
}

func (l *lab) notes() []note {
	l.t.Helper()
	raw, err := os.ReadFile(l.ledger)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	require.NoError(l.t, err)
	var notes []note
	for line := range strings.Lines(string(raw)) {
		if !strings.HasSuffix(line, "\n") {
			break // it is being written
		}
		var n note
		require.NoError(l.t, json.Unmarshal([]byte(line), &n))
		notes = append(notes, n)
	}
	return notes
}

// checkEvents replays the bundle's events: the machine must decide exactly the
// dispatches that the record holds as steps.
func (l *lab) checkEvents(run runrecord.Run, definition []byte) {
	l.t.Helper()
	rules, err := convergence.RulesByName(run.Rules)
	require.NoError(l.t, err)
	machine, err := convergence.Compile(definition, rules)
	require.NoError(l.t, err)
	var events []convergence.Event
	for line := range strings.Lines(l.read(l.bundle(run.RunID, "events.jsonl"))) {
		var event convergence.Event
		require.NoError(l.t, json.Unmarshal([]byte(line), &event))
		events = append(events, event)
	}
	dispatched, _, err := loop.Replay(machine, events)
	require.NoError(l.t, err)
	var want, got []string
	for _, s := range run.Steps {
		if s.Position != "" {
			want = append(want, s.Position)
		}
	}
	for _, command := range dispatched {
		got = append(got, command.Position)
	}
	require.Equal(l.t, want, got)
}

// serverFile is what the local server wrote about itself.
type serverFile struct {
	Address   string `json:"address"`
	UIAddress string `json:"ui_address"`
	PID       int    `json:"pid"`
}

func (l *lab) server() (serverFile, bool) {
	var s serverFile
	raw, err := os.ReadFile(filepath.Join(l.state, "server.json"))
	return s, err == nil && json.Unmarshal(raw, &s) == nil && s.PID > 0
}

// stopServer ends the server that this lab's state folder started.
func (l *lab) stopServer() {
	s, ok := l.server()
	if !ok || syscall.Kill(s.PID, syscall.SIGTERM) != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for syscall.Kill(s.PID, 0) == nil && ctx.Err() == nil {
		time.Sleep(20 * time.Millisecond)
	}
	_ = syscall.Kill(s.PID, syscall.SIGKILL)
}
