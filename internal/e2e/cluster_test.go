package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	runrecord "conclave/internal/record"
	"conclave/workflows"
)

// cluster is a server that belongs to nobody's state folder.
type cluster struct {
	address string
	store   string
}

// newCluster starts the server, with more arguments if need be, and ends it with the test.
func newCluster(l *lab, attributes map[string]string, more ...string) cluster {
	l.t.Helper()
	ready := filepath.Join(l.dir, "ready.json")
	args := []string{
		"server", "start-dev", "--headless", "--port", "0",
		"--db-filename", filepath.Join(l.dir, "cluster.db"), "--ready-file", ready,
	}
	args = append(args, more...)
	for name, kind := range attributes {
		args = append(args, "--search-attribute", name+"="+kind)
	}
	startInBackground(l.t, exec.Command(filepath.Join(bin, "devserver"), args...))
	c := cluster{store: mkdir(l.t, filepath.Join(l.dir, "shared-store"))}
	var found serverFile
	eventually(l.t, patience, func() bool {
		raw, err := os.ReadFile(ready)
		return err == nil && json.Unmarshal(raw, &found) == nil
	})
	c.address = found.Address
	return c
}

// startInBackground runs a program until the test ends. Its output is shown when the test fails.
func startInBackground(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		late := time.AfterFunc(40*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		late.Stop()
		if t.Failed() {
			t.Logf("%s:\n%s", cmd.Path, output.String())
		}
	})
}

func eventually(t *testing.T, within time.Duration, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if ok() {
			return
		}
	}
	require.Fail(t, "it did not happen within "+within.String())
}

// worker is a worker process with a state folder of its own, from whose mount
// namespace the user's repository is gone where the system allows it.
func (l *lab) worker(c cluster, name string) *exec.Cmd {
	l.t.Helper()
	args := []string{filepath.Join(bin, "worker"), "--address", c.address, "--store", c.store, "--stop-timeout", "12s"}
	if hide := hideFolder(l.repo); hide != nil {
		args = append(hide, args...)
	} else {
		l.t.Log("no mount namespace here: the worker could see the repository")
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = l.dir
	cmd.Env = append(slices.Clone(l.env), "CONCLAVE_STATE_DIR="+filepath.Join(l.dir, "worker-"+name))
	return cmd
}

// hideFolder is a command prefix that runs a program in a mount namespace with
// an empty folder in that place; nil where the system refuses it.
func hideFolder(dir string) []string {
	for _, flags := range []string{"-m", "-rm"} {
		prefix := []string{"unshare", flags, "sh", "-c", `mount -t tmpfs none "$0" && exec "$@"`, dir}
		if exec.Command(prefix[0], append(prefix[1:], "true")...).Run() == nil {
			return prefix
		}
	}
	return nil
}

// starterOn is the user's starter against the cluster: it has no agents.
func (l *lab) starterOn(c cluster, args ...string) *exec.Cmd {
	cmd := l.command("starter", args...)
	cmd.Env = slices.DeleteFunc(slices.Clone(l.env), func(entry string) bool { return strings.Contains(entry, "_BIN=") })
	cmd.Env = append(cmd.Env, "CONCLAVE_ADDRESS="+c.address, "CONCLAVE_STORE="+c.store)
	return cmd
}

func TestTwoIterationsOnACluster(t *testing.T) {
	t.Parallel()
	l := newLab(t, together(twoIterations()))
	c := newCluster(l, workflows.SearchAttributes())
	startInBackground(t, l.worker(c, "a"))
	end := finish(t, l.starterOn(c, "run", "--json", "--preset", "dual-review", "--verify-cmd", goTest, "Add Sum"))
	require.Equal(t, 0, end.code, end.String())
	l.checkTwoIterations(decodeRun(t, end.stdout))
	require.DirExists(t, filepath.Join(l.dir, "worker-a", "runs"))
}

// Two workers share the queue: a turn may land on a machine that has never seen
// the run, and one of them is killed in the middle.
func TestAKilledWorkerIsReplaced(t *testing.T) {
	t.Parallel()
	script := twoIterations()
	script[1].SleepMS = 600_000
	l := newLab(t, script)
	c := newCluster(l, nil)
	first := l.worker(c, "a")
	require.NoError(t, first.Start())
	starter := l.starterOn(c, "run", "--json", "--preset", "dual-review", "Add Sum")
	ends := make(chan done, 1)
	go func() { ends <- finish(t, starter) }()
	eventually(t, patience, func() bool { return l.started("repair") == 1 })
	require.NoError(t, first.Process.Kill())
	_ = first.Wait()
	script[1].SleepMS = 0
	l.play(script)
	startInBackground(t, l.worker(c, "b"))
	end := <-ends
	require.Equal(t, 0, end.code, end.String())
	run := decodeRun(t, end.stdout)
	require.Equal(t, runrecord.Converged, run.Stop)
	require.Equal(t, 2, l.started("repair"), "the lost turn was started once more, elsewhere")
	require.Equal(t, 1, l.started("implement"), "a finished turn is not")
	require.Equal(t, 2, run.Steps[4].Attempts)
	require.Equal(t, mended, l.git("show", "conclave/"+run.RunID+":calc.go"))
	require.DirExists(t, l.bundle(run.RunID, "agents", "05-implementer-claude", "attempt-2"))
}

func (l *lab) started(role string) int {
	count := 0
	for _, n := range l.notes() {
		if n.What == "start" && n.Role == role {
			count++
		}
	}
	return count
}

func TestAStarterWithoutWorkersSaysSo(t *testing.T) {
	t.Parallel()
	l := newLab(t, twoIterations())
	c := newCluster(l, nil)
	cmd := l.starterOn(c, "run", "--preset", "dual-review", "Add Sum")
	said := make(chan struct{})
	output := &heard{text: "no worker polls", then: func() { close(said) }}
	cmd.Stderr, cmd.Stdout = output, output
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-said:
	case <-time.After(patience):
		_ = cmd.Process.Kill()
	}
	for left := false; !left; { // Ctrl-C, and again
		_ = cmd.Process.Signal(syscall.SIGINT)
		select {
		case err := <-ended:
			require.Error(t, err)
			left = true
		case <-time.After(200 * time.Millisecond):
		}
	}
	require.Equal(t, 130, cmd.ProcessState.ExitCode(), output.String())
	require.Contains(t, output.String(), "no worker polls")
}

func TestAnUnreachableServerIsAnError(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	out := l.starter("run", "--address", "127.0.0.1:1", "--dry-run", "x") // a port that no program gets by chance
	require.Equal(t, 2, out.code, out.String())
	require.Contains(t, out.stderr, "--address")
	left, _ := filepath.Glob(filepath.Join(l.repo, ".conclave", "runs", "*"))
	require.Empty(t, left, "nothing was begun")
}
