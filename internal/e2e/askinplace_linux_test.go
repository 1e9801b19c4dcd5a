package e2e

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	runrecord "conclave/internal/record"
)

// terminal is a pseudo terminal with a program on it.
type terminal struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd

	mu     sync.Mutex
	screen bytes.Buffer
	off    chan struct{} // closed when everything that was printed is on the screen
}

// onTerminal starts a command of the CLI as a person would.
func (l *lab) onTerminal(args ...string) *terminal {
	l.t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		l.t.Skipf("no pseudo terminal here: %v", err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	require.NoError(l.t, err)
	require.NoError(l.t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	require.NoError(l.t, unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120}))
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(l.t, err)
	y := &terminal{t: l.t, master: master, cmd: l.command("starter", args...), off: make(chan struct{})}
	y.cmd.Env = append(y.cmd.Env, "TERM=xterm")
	y.cmd.Stdin, y.cmd.Stdout, y.cmd.Stderr = slave, slave, slave
	y.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	require.NoError(l.t, y.cmd.Start())
	require.NoError(l.t, slave.Close())
	go func() {
		defer close(y.off)
		buffer := make([]byte, 4096)
		for {
			n, err := master.Read(buffer)
			y.mu.Lock()
			y.screen.Write(buffer[:n])
			y.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	l.t.Cleanup(func() {
		_ = y.cmd.Process.Kill()
		_ = master.Close()
		if l.t.Failed() {
			l.t.Log(y.shown())
		}
	})
	return y
}

func (y *terminal) shown() string {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.screen.String()
}

// await waits until the n-th such text is on the screen.
func (y *terminal) await(n int, text string) {
	y.t.Helper()
	eventually(y.t, patience, func() bool { return strings.Count(y.shown(), text) >= n })
}

func (y *terminal) types(text string) {
	y.t.Helper()
	_, err := io.WriteString(y.master, text)
	require.NoError(y.t, err)
}

func (y *terminal) ends(code int) {
	y.t.Helper()
	late := time.AfterFunc(patience, func() { _ = y.cmd.Process.Kill() })
	_ = y.cmd.Wait()
	late.Stop()
	<-y.off // its last words may still be on their way
	require.Equal(y.t, code, y.cmd.ProcessState.ExitCode(), y.shown())
}

func TestAPersonIsAskedInPlace(t *testing.T) {
	t.Parallel()
	l, args := fullLab(t, stubborn())
	y := l.onTerminal(append(append([]string{"run"}, args...), "--max-iters", "1", "Add Sum")...)
	y.await(1, "F1 needs a ruling")
	y.await(1, "Sum(3) is 3 and not 6")
	y.await(1, "your ruling: ")
	y.types("fix\n")
	y.await(1, "why: ")
	y.types("Sum(3) must be 6\n")
	y.await(1, "nothing is asked any more: the run goes on")
	y.await(1, "F1 needs a ruling, for the 2nd time")
	y.await(2, "your ruling: ")
	y.types("s\n")
	y.await(2, "why: ")
	y.types("n is never negative\n")
	y.ends(0)
	run := l.shown()
	require.Equal(t, runrecord.Ruled, run.Stop)
	require.Equal(t, "n is never negative", run.Rulings[len(run.Rulings)-1].Reason)
}

func TestAPersonLeavesARunWaitingAndAnswersWhileWatching(t *testing.T) {
	t.Parallel()
	l, args := fullLab(t, stubborn())
	y := l.onTerminal(append(append([]string{"run"}, args...), "--max-iters", "1", "Add Sum")...)
	y.await(1, "your ruling: ")
	y.types("q\n")
	y.ends(3)
	y = l.onTerminal("watch", "@last")
	y.await(1, "your ruling: ")
	y.types("\x03") // Ctrl-C
	y.ends(3)
	y = l.onTerminal("watch", "@last")
	y.await(1, "your ruling: ")
	y.types("stand\nlater\n")
	y.ends(0)
	require.Contains(t, y.shown(), "starter resume")
	require.Equal(t, runrecord.Ruled, l.resume(0).Stop)
}

// A question that another client answers is not asked on.
func TestAQuestionAtThePromptIsAnsweredElsewhere(t *testing.T) {
	t.Parallel()
	l, args := fullLab(t, stubborn())
	y := l.onTerminal(append(append([]string{"run"}, args...), "--max-iters", "1", "Add Sum")...)
	y.await(1, "your ruling: ")
	out := l.starter("rule", "@last", "F1", "--stand", "--reason", "from another terminal")
	require.Equal(t, 0, out.code, out.String())
	require.Contains(t, out.stdout, "the run goes on")
	y.await(1, "F1 was answered meanwhile")
	y.ends(0)
	require.Equal(t, runrecord.Ruled, l.shown().Stop)
}
