//go:build linux

package process

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// deafTree ignores every polite signal, with a tool in a session of its own and a daemon.
const deafTree = `trap '' TERM INT HUP
setsid sh -c 'echo ready; sleep 300' &
(setsid sh -c 'echo ready; sleep 300' &)
echo ready
sleep 300
sleep 300`

func TestATreeThatIgnoresSignalsIsGone(t *testing.T) {
	for _, c := range []struct {
		name string
		with func(*Spec)
		want Cause
	}{
		{"timeout", func(s *Spec) { s.Timeout = 100 * time.Millisecond }, CauseTimeout},
		{"idle", func(s *Spec) { s.IdleTimeout = 100 * time.Millisecond }, CauseIdle},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := shell(t, deafTree)
			res, lines := runLimited(t, s, said(s, "ready\n", 3), c.with)
			require.Equal(t, c.want, res.Cause)
			require.Equal(t, "SIGKILL", res.Signal)
			require.Equal(t, -1, res.ExitCode)
			require.Len(t, lines, 3)
		})
	}
}

// The command gets three descriptors and nothing of ours: not the control pipe, not another turn's files.
func TestInheritedDescriptors(t *testing.T) {
	_, lines := run(t, context.Background(), shell(t, "ls /proc/$$/fd"))
	require.Equal(t, []string{"0", "1", "2"}, lines)
}

// libraryOwn are the signals 32 to 34: the C library keeps them to itself and no Go program can reset what it inherited.
const libraryOwn = uint64(7) << 31

// Signals that the worker ignores (nohup, a shell's background job) are not ignored in the command.
func TestSignalsAreDefaultInTheCommand(t *testing.T) {
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM)
	defer signal.Reset()
	_, lines := run(t, context.Background(), shell(t, "grep -E '^Sig(Blk|Ign)' /proc/self/status"))
	require.Len(t, lines, 2)
	for _, line := range lines {
		_, mask, _ := strings.Cut(line, ":")
		bits, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
		require.NoError(t, err)
		require.Zero(t, bits&^libraryOwn, line)
	}
}

func TestProcessGroupAndSession(t *testing.T) {
	if contained == "bubblewrap" {
		t.Skip("its numbers are those of its own namespace")
	}
	_, lines := run(t, context.Background(), shell(t, "cut -d' ' -f1,4,5,6,7 /proc/$$/stat"))
	var pid, parent, group, session, terminal int
	_, err := fmt.Sscan(lines[0], &pid, &parent, &group, &session, &terminal)
	require.NoError(t, err)
	require.Equal(t, pid, group, "a group of its own")
	require.Equal(t, parent, session, "in the supervisor's session")
	require.Zero(t, terminal)
	self, _ := lookProcess(os.Getpid())
	require.NotEqual(t, self.group, session)
}

func TestTurnsInParallelDoNotMix(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 8 {
		s := shell(t, fmt.Sprintf("(setsid sleep 300 &) ; for i in 1 2 3; do echo turn %d; done; echo err %d >&2; exit %d", i, i, i))
		wg.Go(func() {
			var lines []string
			res, err := Run(context.Background(), contain(s), func(line []byte) error { lines = append(lines, string(line)); return nil })
			if err != nil || res.ExitCode != i || strings.Join(lines, ",") != strings.Repeat(fmt.Sprintf("turn %d,", i), 2)+fmt.Sprintf("turn %d", i) {
				t.Errorf("turn %d: %+v %v %q", i, res, err, lines)
			}
			if left := processesIn(s.Dir); len(left) > 0 {
				t.Errorf("turn %d left %q", i, left)
			}
			if tail := StderrTail(s.Stderr, 100); tail != fmt.Sprintf("err %d\n", i) {
				t.Errorf("turn %d: %q", i, tail)
			}
		})
	}
	wg.Wait()
}

func TestAStoppedCommandCanStillBeKilled(t *testing.T) {
	s := shell(t, "kill -STOP $$")
	res, _ := runLimited(t, s, func() bool { return anyStopped(s.Dir) }, func(s *Spec) { s.IdleTimeout = 100 * time.Millisecond })
	require.Equal(t, CauseIdle, res.Cause)
	require.Equal(t, "SIGKILL", res.Signal)
}

// anyStopped says whether a process that works in a folder is stopped.
func anyStopped(dir string) bool {
	for _, p := range processesIn(dir) {
		pid, _, _ := strings.Cut(p, " ")
		stat, _ := os.ReadFile("/proc/" + pid + "/stat")
		if i := bytes.LastIndexByte(stat, ')'); i >= 0 && bytes.HasPrefix(stat[i:], []byte(") T")) {
			return true
		}
	}
	return false
}
