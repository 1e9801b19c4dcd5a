//go:build linux

package process

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// waits bounds every wait for another process.
const waits = 3 * time.Minute

// startWorker runs another process that runs a turn with a whole tree, and waits until the tree stands.
func startWorker(t *testing.T) (*exec.Cmd, string) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append([]string{zooVariable + "=worker:" + dir, "CONCLAVE_TEST_SANDBOX=" + contained, "PATH=" + os.Getenv("PATH")}, OwnVariables...)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	require.Eventually(t, func() bool {
		b, _ := os.ReadFile(filepath.Join(dir, "stdout"))
		return strings.Count(string(b), "ready") == 3
	}, waits, 10*time.Millisecond)
	return cmd, dir
}

func readEntry(t *testing.T, dir string) entry {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "registry", "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	b, err := os.ReadFile(files[0])
	require.NoError(t, err)
	var e entry
	require.NoError(t, json.Unmarshal(b, &e))
	return e
}

func TestKilledWorkerLeavesNothing(t *testing.T) {
	cmd, dir := startWorker(t)
	// bubblewrap's own two processes work there as well
	require.Eventually(t, func() bool { n := len(processesIn(dir)); return n == 3 || n == 5 && contained == "bubblewrap" }, waits, 5*time.Millisecond,
		"leader, tool and daemon; the daemon's parent has left")
	e := readEntry(t, dir)
	require.Equal(t, []string{"r", "t", "zoo"}, []string{e.Run, e.Turn, e.Name})

	require.NoError(t, cmd.Process.Kill())
	require.Eventually(t, func() bool { return len(processesIn(dir)) == 0 }, waits, 5*time.Millisecond, "at once, and not after the grace of an hour")
	require.Eventually(t, func() bool { _, ok := e.supervisor(); return !ok }, waits, 5*time.Millisecond)
	files, err := os.ReadDir(filepath.Join(dir, "registry"))
	require.NoError(t, err)
	require.Empty(t, files, "the supervisor takes its entry away")
}

func TestKillRegisteredEndsALivingTree(t *testing.T) {
	_, dir := startWorker(t)
	e := readEntry(t, dir)
	pids, err := KillRegistered(filepath.Join(dir, "registry"))
	require.NoError(t, err)
	require.Equal(t, []int{e.Pid}, pids)
	requireNothingIn(t, dir)
	_, alive := e.supervisor()
	require.False(t, alive)
}

// A supervisor that was killed together with its worker could not clean up: its entry still names what it left.
func TestKillRegisteredEndsWhatAKilledSupervisorLeft(t *testing.T) {
	cmd, dir := startWorker(t)
	e := readEntry(t, dir)
	require.NoError(t, syscall.Kill(cmd.Process.Pid, syscall.SIGSTOP)) // the worker must not clean up either
	require.NoError(t, syscall.Kill(e.Pid, syscall.SIGKILL))
	require.NoError(t, cmd.Process.Kill())
	if contained != "bubblewrap" { // that one dies with its supervisor, and takes its namespace along
		require.NotEmpty(t, processesIn(dir))
	}
	_, err := KillRegistered(filepath.Join(dir, "registry"))
	require.NoError(t, err)
	requireNothingIn(t, dir)
	files, err := os.ReadDir(filepath.Join(dir, "registry"))
	require.NoError(t, err)
	require.Empty(t, files)
}

func TestKillRegisteredSparesOthers(t *testing.T) {
	dir := t.TempDir()
	pids, err := KillRegistered(filepath.Join(dir, "none"))
	require.NoError(t, err)
	require.Empty(t, pids)

	// Our own number with another start time: that process is long gone, we are somebody else.
	self, ok := lookProcess(os.Getpid())
	require.True(t, ok)
	for name, e := range map[string]entry{
		"1": {Pid: os.Getpid(), StartTime: self.start + 1, Boot: bootID(), Mark: newMark()},
		"2": {Pid: os.Getpid(), StartTime: self.start, Boot: "another boot", Mark: newMark()},
	} {
		e.path = filepath.Join(dir, name+".json")
		require.NoError(t, e.write())
	}
	pids, err = KillRegistered(dir)
	require.NoError(t, err)
	require.Empty(t, pids)
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, files)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "3.json"), []byte("{"), 0o600))
	_, err = KillRegistered(dir)
	require.ErrorContains(t, err, "3.json")
}

// A supervisor that gets its work from a worker which is already dead starts nothing.
func TestASupervisorOfADeadWorkerStartsNothing(t *testing.T) {
	s := shell(t, "touch started; sleep 300")
	controlR, controlW, err := os.Pipe()
	require.NoError(t, err)
	reportR, reportW, err := os.Pipe()
	require.NoError(t, err)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	require.NoError(t, err)
	defer func() { _ = reportR.Close(); _ = null.Close() }()
	require.NoError(t, sendJob(controlW, (&turn{spec: s, mark: newMark()}).job())) // fits into the pipe
	require.NoError(t, controlW.Close())
	cmd := exec.Command(os.Args[0])
	cmd.Args = []string{supervisorName}
	cmd.Env = append([]string{supervisorVariable + "=" + supervisorProtocol}, OwnVariables...)
	cmd.ExtraFiles = []*os.File{controlR, reportW, null, null, null}
	require.NoError(t, cmd.Start())
	_, _ = controlR.Close(), reportW.Close()
	_ = cmd.Wait()
	require.NoFileExists(t, filepath.Join(s.Dir, "started"))
	requireNothingIn(t, s.Dir)
}

// peak is the most memory that a process of ours had, in MiB.
func peak(t *testing.T, who int) int64 {
	t.Helper()
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(who, &u))
	return u.Maxrss >> 10
}

func TestMemoryStaysBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 2 GiB")
	}
	before := peak(t, syscall.RUSAGE_SELF)
	res, lines := run(t, context.Background(), animal(t, "long:200"))
	require.Equal(t, []string{"short"}, lines)
	require.Equal(t, 1, res.DroppedLines)
	require.EqualValues(t, 200<<20+7, res.StdoutBytes)

	count := 0
	s := animal(t, "much:2048")
	s.Timeout = 20 * time.Minute
	res, err := Run(context.Background(), contain(s), func(line []byte) error { count++; return nil })
	require.NoError(t, err)
	require.Equal(t, 2<<20, count)
	require.EqualValues(t, 2<<30, res.StdoutBytes)
	after := peak(t, syscall.RUSAGE_SELF)
	require.Less(t, after-before, int64(100), "MiB")

	// A line that is long and wanted arrives whole.
	s = animal(t, "long:3")
	_, lines = run(t, context.Background(), s)
	require.Equal(t, []string{strings.Repeat("y", 3<<20), "short"}, lines)
}
