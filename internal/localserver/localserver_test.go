//go:build unix

package localserver

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// patience bounds every wait of these tests; none of them asserts how long something took.
const patience = 3 * time.Minute

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// fakeOptions starts the test binary as server. A server that a test leaves behind ends with the test.
func fakeOptions(t *testing.T) Options {
	exe, err := os.Executable()
	require.NoError(t, err)
	o := Options{StateDir: t.TempDir(), Binary: exe, IdleExit: time.Minute}
	t.Cleanup(func() { stopIn(t, o.StateDir) })
	return o
}

func stopIn(t *testing.T, dir string) {
	s, err := Find(testContext(t), dir)
	if err != nil {
		return
	}
	require.NoError(t, s.Stop(testContext(t)))
}

func lines(t *testing.T, dir, name string) []string {
	data, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return strings.Fields(string(data))
}

// eventually waits for a condition that another process brings about.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, patience, 2*time.Millisecond, what)
}

func TestEnsureStartsOneServerAndFindsItAgain(t *testing.T) {
	o := fakeOptions(t)
	_, err := Find(testContext(t), o.StateDir)
	require.ErrorIs(t, err, ErrNotRunning)

	first, err := Ensure(testContext(t), o)
	require.NoError(t, err)
	defer first.Close()
	require.Equal(t, "default", first.Namespace)
	require.Equal(t, fakeVersion, first.Version)

	second, err := Ensure(testContext(t), o)
	require.NoError(t, err)
	defer second.Close()
	require.Equal(t, first.PID, second.PID)

	found, err := Find(testContext(t), o.StateDir)
	require.NoError(t, err)
	require.Equal(t, first.Address, found.Address)
	require.Len(t, lines(t, o.StateDir, "starts"), 1)
}

func TestServerLeadsASessionOfItsOwn(t *testing.T) {
	s, err := Ensure(testContext(t), fakeOptions(t))
	require.NoError(t, err)
	defer s.Close()
	session, err := unix.Getsid(s.PID)
	require.NoError(t, err)
	require.Equal(t, s.PID, session)
}

func TestManyStartersAtOnceEndUpWithOneServer(t *testing.T) {
	o := fakeOptions(t)
	const starters = 8
	servers, errs := make([]*Server, starters), make([]error, starters)
	var wg sync.WaitGroup
	for i := range starters {
		wg.Go(func() { servers[i], errs[i] = Ensure(testContext(t), o) })
	}
	wg.Wait()
	for i := range starters {
		require.NoError(t, errs[i])
		require.Equal(t, servers[0].PID, servers[i].PID)
		defer servers[i].Close()
	}
	require.Len(t, lines(t, o.StateDir, "starts"), 1)
}

func TestServerEndsAfterTheLastClient(t *testing.T) {
	o := fakeOptions(t)
	o.IdleExit = 50 * time.Millisecond
	first, err := Ensure(testContext(t), o)
	require.NoError(t, err)
	second, err := Ensure(testContext(t), o)
	require.NoError(t, err)
	require.NoError(t, first.Close())
	require.NoError(t, first.Close(), "twice is harmless")

	_, err = Find(testContext(t), o.StateDir)
	require.NoError(t, err, "one client is left")
	require.NoError(t, second.Close())
	require.NoError(t, waitUntilFree(testContext(t), lockOf(second.db)))
	_, err = Find(testContext(t), o.StateDir)
	require.ErrorIs(t, err, ErrNotRunning)
}

// A server that ends for want of clients while one arrives must not be handed to it.
func TestClientNeverGetsAServerThatIsEnding(t *testing.T) {
	o := fakeOptions(t)
	o.IdleExit = time.Millisecond
	for range 40 {
		s, err := Ensure(testContext(t), o)
		require.NoError(t, err)
		require.NoError(t, answersWithin(testContext(t), patience, s.Address))
		require.NoError(t, s.Close())
	}
}

func TestKilledServerIsReplacedOnTheSameDatabase(t *testing.T) {
	o := fakeOptions(t)
	killed, err := Ensure(testContext(t), o)
	require.NoError(t, err)
	defer killed.Close()
	require.NoError(t, syscall.Kill(killed.PID, syscall.SIGKILL))
	require.NoError(t, waitUntilFree(testContext(t), lockOf(killed.db)))
	require.FileExists(t, filepath.Join(o.StateDir, "server.json"), "it could not clean up")

	_, err = Find(testContext(t), o.StateDir)
	require.ErrorIs(t, err, ErrNotRunning)
	next, err := Ensure(testContext(t), o)
	require.NoError(t, err)
	defer next.Close()
	require.NotEqual(t, killed.PID, next.PID)
	require.Equal(t, killed.db, next.db)
	require.Len(t, lines(t, o.StateDir, filepath.Base(next.db)), 2, "the database went on")
}

// The entry of a dead server may name a port that a stranger listens on now, and a process that is one of ours.
func TestStaleEntryThatSomebodyAnswersIsNotBelieved(t *testing.T) {
	o := fakeOptions(t)
	stranger, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer stranger.Close()
	go serveFake(stranger, nil)
	f := files{o.StateDir}
	require.NoError(t, f.writeReady(ready{Address: stranger.Addr().String(), PID: os.Getpid(), DB: f.database(fakeVersion)}))

	s, err := Ensure(testContext(t), o)
	require.NoError(t, err)
	defer s.Close()
	require.NotEqual(t, stranger.Addr().String(), s.Address)
}

func TestBrokenEntryIsNone(t *testing.T) {
	o := fakeOptions(t)
	require.NoError(t, os.WriteFile(files{o.StateDir}.ready(), []byte(`{"address":`), 0o600))
	_, err := Find(testContext(t), o.StateDir)
	require.ErrorIs(t, err, ErrNotRunning)
	s, err := Ensure(testContext(t), o)
	require.NoError(t, err)
	require.NoError(t, s.Close())
}

// startStarter runs a starter process on dir and returns its input, whose end ends it, and its output.
func startStarter(t *testing.T, dir, mode string) (*exec.Cmd, *bufio.Scanner, func()) {
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe, "fake-starter", dir)
	cmd.Env = append(os.Environ(), fakeModeVariable+"="+mode)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, bufio.NewScanner(out), func() { in.Close() }
}

func TestStarterKilledWhileStartingLeavesAServerThatTheNextOneWaitsFor(t *testing.T) {
	o := fakeOptions(t)
	starter, _, _ := startStarter(t, o.StateDir, "gate")
	db := files{o.StateDir}.database(fakeVersion)
	eventually(t, "server has its database", func() bool { return fileExists(db) })
	require.NoError(t, starter.Process.Kill())
	_ = starter.Wait()

	got := make(chan *Server, 1)
	go func() {
		s, err := Ensure(testContext(t), o)
		if err != nil {
			t.Error(err)
		}
		got <- s
	}()
	eventually(t, "the next starter holds the start lock", func() bool {
		held, err := locked(files{o.StateDir}.startLock())
		return err == nil && held
	})
	require.NoError(t, os.WriteFile(filepath.Join(o.StateDir, "gate"), nil, 0o600))
	s := <-got
	require.NotNil(t, s)
	defer s.Close()
	require.Equal(t, []string{fmt.Sprint(s.PID)}, lines(t, o.StateDir, "starts"))
}

func TestServerOutlivesAKilledStarterAndIsReleasedByIt(t *testing.T) {
	o := fakeOptions(t)
	starter, out, _ := startStarter(t, o.StateDir, "")
	require.True(t, out.Scan(), "starter is up")
	require.True(t, anyClient(files{o.StateDir}.clients()))
	require.NoError(t, starter.Process.Kill())
	_ = starter.Wait()
	require.False(t, anyClient(files{o.StateDir}.clients()), "its lock went with it")
	s, err := Find(testContext(t), o.StateDir)
	require.NoError(t, err)
	require.Equal(t, fmt.Sprint("pid ", s.PID), out.Text())
}

func TestServerThatFailsIsReportedWithItsWords(t *testing.T) {
	o := fakeOptions(t)
	t.Setenv(fakeModeVariable, "fail")
	_, err := Ensure(testContext(t), o)
	require.ErrorContains(t, err, "the fake server fails on purpose")
	require.ErrorContains(t, err, filepath.Join(o.StateDir, "server.log"))
	require.False(t, anyClient(files{o.StateDir}.clients()), "a failed Ensure leaves no claim")
}

func TestEnsureThatIsGivenUpEndsTheServerItStarted(t *testing.T) {
	o := fakeOptions(t)
	t.Setenv(fakeModeVariable, "gate")
	ctx, cancel := context.WithCancel(testContext(t))
	done := make(chan error, 1)
	go func() {
		_, err := Ensure(ctx, o)
		done <- err
	}()
	db := files{o.StateDir}.database(fakeVersion)
	eventually(t, "server has its database", func() bool { return fileExists(db) })
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	require.NoError(t, waitUntilFree(testContext(t), lockOf(db)))
}

func TestWaitingForTheStartLockEndsWithItsContext(t *testing.T) {
	o := fakeOptions(t)
	start, err := openLock(files{o.StateDir}.startLock())
	require.NoError(t, err)
	defer start.close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Ensure(ctx, o)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "another starter")
}

func TestStuckServerIsNamed(t *testing.T) {
	t.Parallel() // it waits for the answer timeout
	o := fakeOptions(t)
	s, err := Ensure(testContext(t), o)
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, syscall.Kill(s.PID, syscall.SIGSTOP))
	defer syscall.Kill(s.PID, syscall.SIGCONT)
	_, err = Find(testContext(t), o.StateDir)
	require.ErrorIs(t, err, errNoAnswer)
	require.NotErrorIs(t, err, ErrNotRunning)
	require.ErrorContains(t, err, fmt.Sprintf("kill %d", s.PID))
}

func TestSearchAttributesAreAddedToARunningServer(t *testing.T) {
	o := fakeOptions(t)
	o.SearchAttributes = map[string]string{"RunPhase": "Keyword"}
	first, err := Ensure(testContext(t), o)
	require.NoError(t, err)
	defer first.Close()

	o.SearchAttributes = map[string]string{"RunPhase": "Keyword", "RunRound": "Int"}
	second, err := Ensure(testContext(t), o)
	require.NoError(t, err)
	defer second.Close()
	conn, err := dial(second.Address)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, attributesUsable(testContext(t), conn, "default", o.SearchAttributes))
	require.Error(t, attributesUsable(testContext(t), conn, "default", map[string]string{"Unknown": "Int"}))

	o.SearchAttributes = map[string]string{"RunRound": "Number"}
	_, err = Ensure(testContext(t), o)
	require.ErrorContains(t, err, `unknown type "Number"`)
}

func TestStopEndsTheServerForAll(t *testing.T) {
	o := fakeOptions(t)
	o.KeepUp = true
	s, err := Ensure(testContext(t), o)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	_, err = Find(testContext(t), o.StateDir)
	require.NoError(t, err, "it is kept up")
	require.NoError(t, s.Stop(testContext(t)))
	require.NoError(t, s.Stop(testContext(t)), "twice is harmless")
	_, err = Find(testContext(t), o.StateDir)
	require.ErrorIs(t, err, ErrNotRunning)
}

func TestOthersCannotReadTheStateFolder(t *testing.T) {
	o := fakeOptions(t)
	o.StateDir = filepath.Join(o.StateDir, "new")
	s, err := Ensure(testContext(t), o)
	require.NoError(t, err)
	defer stopIn(t, o.StateDir)
	require.NoError(t, s.Close())
	info, err := os.Stat(o.StateDir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}
