//go:build linux || darwin

package realagents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"conclave/internal/fakemodel"
	"conclave/internal/record"
)

// buildPrograms builds our own programs once, beside the local server that `make build` leaves.
var buildPrograms = sync.OnceValues(func() (string, error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return "", err
	}
	devserver := os.Getenv("CONCLAVE_TEST_DEVSERVER")
	if devserver == "" {
		devserver = filepath.Join(root, "bin", "devserver")
	}
	if _, err := os.Stat(devserver); err != nil {
		return "", errors.New("the local server is not built: run `make build` first")
	}
	if bin := os.Getenv("CONCLAVE_TEST_BIN"); bin != "" {
		return bin, nil
	}
	dir, err := os.MkdirTemp("", "conclave-real-bin-")
	if err != nil {
		return "", err
	}
	cleanUp = append(cleanUp, func() { _ = os.RemoveAll(dir) })
	build := exec.Command("go", "build", "-o", dir+"/", "./starter", "./worker")
	build.Dir, build.Stderr, build.Stdout = root, os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		return "", err
	}
	return dir, os.Symlink(devserver, filepath.Join(dir, "devserver"))
})

// cleanUp is done when all tests are through.
var cleanUp []func()

// lab is a world with a user's repository and a state folder.
type lab struct {
	*world
	bin    string
	repo   string
	state  string
	config string
	// sandbox is the value of --sandbox.
	sandbox string
}

func newLab(t *testing.T, script fakemodel.Script) *lab {
	t.Helper()
	w := newWorld(t, script)
	bin, err := buildPrograms()
	require.NoError(t, err)
	l := &lab{world: w, bin: bin, state: filepath.Join(w.dir, "state"), config: filepath.Join(w.dir, "config.yaml"), sandbox: sandboxFlag()}
	w.whole.Store(true)
	l.repo = w.workspace(nil)
	l.configure(nil)
	t.Cleanup(l.stopServer)
	return l
}

// sandboxFlag is the --sandbox that the runs get.
func sandboxFlag() string {
	if flag := os.Getenv("CONCLAVE_TEST_SANDBOX"); flag != "" {
		return flag
	}
	return "auto"
}

// configure writes the user's configuration: how each program reaches the scripted model.
func (l *lab) configure(more map[string]any) {
	l.t.Helper()
	agents := map[string]any{}
	for _, e := range engines {
		env, args := leads(e.name, l.address)
		one := map[string]any{"env": env, "model": e.model}
		if args != nil {
			one["args"] = args
		}
		if e.name == "opencode" {
			one["identity"] = map[string]any{"provider": "acme", "model_family": "acme-large"}
		}
		agents[e.name] = one
	}
	config := map[string]any{"agents": agents}
	for key, value := range more {
		config[key] = value
	}
	text, err := json.Marshal(config) // JSON is YAML
	require.NoError(l.t, err)
	write(l.t, l.config, string(text))
}

func (l *lab) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(l.bin, "starter"), args...)
	cmd.Dir, cmd.Env = l.repo, append(l.environ(), "CONCLAVE_STATE_DIR="+l.state)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// runArgs are the arguments of a run.
func (l *lab) runArgs(args ...string) []string {
	return append([]string{"run", "--json", "--no-progress", "--config", l.config, "--sandbox", l.sandbox}, args...)
}

// done is how a command ended.
type done struct {
	code           int
	stdout, stderr string
}

func (l *lab) finish(cmd *exec.Cmd) done {
	l.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(l.t, cmd.Start())
	late := time.AfterFunc(20*time.Minute, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	require.True(l.t, late.Stop(), "the command did not end:\n%s\n%s", stdout.String(), stderr.String())
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(l.t, err)
	}
	return done{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// run carries a requirement to its end and returns the record that stands in the bundle.
func (l *lab) run(wantExit int, args ...string) record.Run {
	l.t.Helper()
	out := l.finish(l.command(l.runArgs(args...)...))
	require.Equal(l.t, wantExit, out.code, "%s\n%s", out.stderr, out.stdout)
	return l.record(out.stdout)
}

func (l *lab) record(printed string) record.Run {
	l.t.Helper()
	var run, kept record.Run
	require.NoError(l.t, json.Unmarshal([]byte(printed), &run), printed)
	require.NoError(l.t, json.Unmarshal([]byte(read(l.t, l.bundle(run.RunID, "run.json"))), &kept))
	return kept
}

func (l *lab) bundle(runID string, parts ...string) string {
	return filepath.Join(append([]string{l.repo, ".conclave", "runs", runID}, parts...)...)
}

// stopServer ends the server that belongs to this lab's state folder.
func (l *lab) stopServer() {
	var server struct{ PID int }
	raw, err := os.ReadFile(filepath.Join(l.state, "server.json"))
	if err != nil || json.Unmarshal(raw, &server) != nil || server.PID <= 0 || syscall.Kill(server.PID, syscall.SIGTERM) != nil {
		return
	}
	for range 500 {
		if syscall.Kill(server.PID, 0) != nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	_ = syscall.Kill(server.PID, syscall.SIGKILL)
}

// processesOf lists the processes that mention a folder in their arguments or their environment.
func processesOf(dir string) []string {
	var found []string
	entries, _ := filepath.Glob("/proc/[0-9]*")
	for _, entry := range entries {
		args, _ := os.ReadFile(filepath.Join(entry, "cmdline"))
		env, _ := os.ReadFile(filepath.Join(entry, "environ"))
		if bytes.Contains(args, []byte(dir)) || bytes.Contains(env, []byte(dir)) {
			found = append(found, fmt.Sprintf("%s %s", filepath.Base(entry), strings.ReplaceAll(string(args), "\x00", " ")))
		}
	}
	return found
}
