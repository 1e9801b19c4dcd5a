//go:build linux || darwin

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// animal is a specification that runs one of the zoo.
func animal(t *testing.T, name string) Spec {
	t.Helper()
	dir := t.TempDir()
	return Spec{
		Name: "zoo", Path: os.Args[0], Env: append([]string{zooVariable + "=" + name}, OwnVariables...), Dir: dir,
		Stdout: filepath.Join(dir, "stdout"), Stderr: filepath.Join(dir, "stderr"),
		Grace: 200 * time.Millisecond, Timeout: 5 * time.Minute,
	}
}

// shell is a specification that runs a shell script.
func shell(t *testing.T, script string) Spec {
	t.Helper()
	s := animal(t, "")
	s.Path, s.Args, s.Env = "/bin/sh", []string{"-c", script}, []string{"PATH=/usr/bin:/bin"}
	return s
}

// run collects the lines and demands that nothing is left.
func run(t *testing.T, ctx context.Context, s Spec) (Result, []string) {
	t.Helper()
	var lines []string
	res, err := Run(ctx, contain(s), func(line []byte) error {
		lines = append(lines, string(line))
		return nil
	})
	require.NoError(t, err)
	requireNothingIn(t, s.Dir)
	return res, lines
}

// runLimited is run for a turn whose limits begin when it stands: until then a busy machine takes its time.
func runLimited(t *testing.T, s Spec, stands func() bool, limit func(*Spec)) (Result, []string) {
	t.Helper()
	s, err := contain(s).withDefaults().absolute()
	require.NoError(t, err)
	var lines []string
	turn, err := launch(s, func(line []byte) error {
		lines = append(lines, string(line))
		return nil
	})
	require.NoError(t, err)
	require.Eventually(t, stands, 5*time.Minute, 10*time.Millisecond)
	limit(&turn.spec)
	res, err := turn.wait(context.Background())
	require.NoError(t, err)
	requireNothingIn(t, s.Dir)
	return res, lines
}

// said says whether a turn has printed a word so often.
func said(s Spec, word string, n int) func() bool {
	return func() bool {
		b, _ := os.ReadFile(s.Stdout)
		return strings.Count(string(b), word) >= n
	}
}

// requireNothingIn demands that no process works in the folder: every animal of a turn inherits it.
func requireNothingIn(t *testing.T, dir string) {
	t.Helper()
	require.Empty(t, processesIn(dir))
}

func processesIn(dir string) []string {
	if runtime.GOOS != "linux" {
		return nil
	}
	dir, _ = filepath.EvalSymlinks(dir)
	var found []string
	for _, p := range listProcesses() {
		cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", p.pid))
		if err == nil && strings.HasPrefix(cwd, dir) {
			cmd, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
			if len(cmd) == 0 {
				continue // it was killed: without memory it runs nothing any more, and is about to let its folder go
			}
			found = append(found, fmt.Sprintf("%d %q", p.pid, cmd))
		}
	}
	return found
}

func TestExit(t *testing.T) {
	for _, c := range []struct {
		animal string
		code   int
		signal string
	}{{"exit:0", 0, ""}, {"exit:3", 3, ""}, {"exit:255", 255, ""}, {"die", -1, "SIGKILL"}} {
		t.Run(c.animal, func(t *testing.T) {
			res, lines := run(t, context.Background(), animal(t, c.animal))
			require.Equal(t, CauseExited, res.Cause, res.Message)
			require.Equal(t, c.code, res.ExitCode)
			require.Equal(t, c.signal, res.Signal)
			require.Empty(t, lines)
			require.Positive(t, res.Duration)
		})
	}
}

func TestLinesAreSplitAtNewlineOnlyAndBytesKept(t *testing.T) {
	s := animal(t, "lines")
	_, lines := run(t, context.Background(), s)
	require.Equal(t, []string{"one", "two\r", "\u2028three\u0085", "", "last without end"}, lines)

	s = animal(t, "binary")
	res, lines := run(t, context.Background(), s)
	require.Equal(t, []string{"\x00\xff\xfe", "\x1b[31mred\xc3"}, lines)
	disk, err := os.ReadFile(s.Stdout)
	require.NoError(t, err)
	require.Equal(t, "\x00\xff\xfe\n\x1b[31mred\xc3\n", string(disk))
	require.EqualValues(t, len(disk), res.StdoutBytes)
}

func TestStandardError(t *testing.T) {
	s := animal(t, "stderr")
	res, _ := run(t, context.Background(), s)
	require.Equal(t, "bad thing\n", StderrTail(s.Stderr, 100))
	require.EqualValues(t, 19, res.StderrBytes)
}

func TestInputComesFromAFileAndEnds(t *testing.T) {
	s := animal(t, "echo")
	s.Stdin = filepath.Join(s.Dir, "prompt")
	require.NoError(t, os.WriteFile(s.Stdin, []byte("hello\nworld\n"), 0o600))
	_, lines := run(t, context.Background(), s)
	require.Equal(t, []string{"hello", "world"}, lines)

	_, lines = run(t, context.Background(), animal(t, "read-ever"))
	require.Equal(t, []string{"reading", "end of input"}, lines)
}

func TestEnvironmentIsExactlyTheGivenOne(t *testing.T) {
	s := animal(t, "environment")
	s.Env = append(s.Env, "NAME=v\xffalue")
	_, lines := run(t, context.Background(), s)
	lines = slices.DeleteFunc(lines, func(line string) bool { // a sandbox names its own folders
		return contained != "" && (strings.HasPrefix(line, "TMPDIR=") || strings.HasPrefix(line, "PWD="))
	})
	require.Len(t, lines, len(s.Env)+1)
	require.Equal(t, s.Env, lines[:len(s.Env)])
	require.Regexp(t, "^"+MarkVariable+"=[0-9a-f]{24}$", lines[len(s.Env)])
}

func TestNoTerminal(t *testing.T) {
	_, lines := run(t, context.Background(), animal(t, "terminal"))
	require.Equal(t, []string{"false true"}, lines)
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := animal(t, "tree")
	ready := 0
	res, err := Run(ctx, contain(s), func(line []byte) error {
		if ready++; ready == 3 {
			cancel()
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, CauseStopped, res.Cause)
	requireNothingIn(t, s.Dir)

	res, err = Run(ctx, contain(animal(t, "exit:0")), nil)
	require.NoError(t, err)
	require.Equal(t, CauseStopped, res.Cause, "a cancelled context starts nothing")
}

func TestStopSignalComesFirst(t *testing.T) {
	s := animal(t, "polite")
	s.StopSignal, s.Grace = syscall.SIGINT, time.Minute
	var lines []string
	res, err := Run(context.Background(), contain(s), func(line []byte) error {
		lines = append(lines, string(line))
		return fmt.Errorf("unexpected status 401: %w", ErrStop)
	})
	require.NoError(t, err)
	require.Equal(t, CauseFatal, res.Cause)
	require.Equal(t, 1, res.ExitCode)
	require.Equal(t, "unexpected status 401: stop this turn", res.Message)
	require.Equal(t, []string{"ready", "interrupted"}, lines, "lines after the stop are still handed on")
}

func TestAPanicInTheReaderStopsOneTurnOnly(t *testing.T) {
	s := shell(t, "echo one; sleep 300")
	res, err := Run(context.Background(), contain(s), func([]byte) error { panic("boom") })
	require.NoError(t, err)
	require.Equal(t, CauseFatal, res.Cause)
	require.Contains(t, res.Message, "boom")
	requireNothingIn(t, s.Dir)
}

func TestGrandchildrenThatHoldTheOutput(t *testing.T) {
	s := animal(t, "hold")
	res, lines := run(t, context.Background(), s)
	require.Equal(t, CauseExited, res.Cause)
	require.Zero(t, res.ExitCode)
	require.Equal(t, []string{"leader leaves"}, lines)

	res, _ = run(t, context.Background(), animal(t, "daemon"))
	require.Equal(t, CauseExited, res.Cause)

	res, _ = run(t, context.Background(), animal(t, "chain"))
	require.Equal(t, CauseExited, res.Cause)
	require.Empty(t, res.Message)
}

func TestClosedOutputIsNotTheEnd(t *testing.T) {
	res, _ := run(t, context.Background(), animal(t, "silent-close"))
	require.Equal(t, CauseExited, res.Cause)
	require.Equal(t, 7, res.ExitCode)
}

func TestLinesKeepTheTurnAlive(t *testing.T) {
	s := shell(t, "while :; do echo line; sleep 0.1; done")
	res, lines := runLimited(t, s, said(s, "line", 1), func(s *Spec) { s.IdleTimeout, s.Timeout = 5*time.Second, 7*time.Second })
	require.Equal(t, CauseTimeout, res.Cause)
	require.NotEmpty(t, lines)
}

// An endless printer fills a disk long before its time is over, and with it ends every other run of the worker.
func TestAFloodIsStopped(t *testing.T) {
	for name, script := range map[string]string{
		"stdout": "exec yes", // we read it, at our pace; what goes to a file by itself fills gigabytes until we look
		"stderr": "while :; do head -c 65536 /dev/zero; sleep 0.01; done >&2",
	} {
		t.Run(name, func(t *testing.T) {
			s := shell(t, script)
			s.MaxOutput = 1 << 20
			res, _ := run(t, context.Background(), s)
			require.Equal(t, CauseFlood, res.Cause)
			require.Equal(t, "printed more than 1 MiB, and was stopped", res.Message)
		})
	}
}

func TestRefusedBeforeTheStart(t *testing.T) {
	long := strings.Repeat("a", 128<<10)
	for name, c := range map[string]struct {
		with func(*Spec)
		want []string
	}{
		"argument":    {func(s *Spec) { s.Args = []string{"-p", long} }, []string{"argument 2", "131072", "standard input"}},
		"environment": {func(s *Spec) { s.Env = append(s.Env, "BIG_ONE="+long) }, []string{"BIG_ONE", "too long|bytes long"}},
		"total":       {func(s *Spec) { s.Args = repeat(long[:128<<10-1], 50) }, []string{"together"}},
		"zero":        {func(s *Spec) { s.Args = []string{"a\x00b"} }, []string{"zero byte"}},
		"missing":     {func(s *Spec) { s.Path = filepath.Join(s.Dir, "no-such") }, []string{"no program", "no-such", "install"}},
		"folder":      {func(s *Spec) { s.Path = s.Dir }, []string{"folder"}},
		"mode":        {func(s *Spec) { s.Path = write(t, s.Dir, "plain", "#!/bin/sh\n", 0o600) }, []string{"permission", "chmod"}},
		"interpreter": {func(s *Spec) { s.Path = write(t, s.Dir, "x", "#!/no/such\n", 0o700) }, []string{"interpreter"}},
		"format":      {func(s *Spec) { s.Path = write(t, s.Dir, "x", "hello", 0o700) }, []string{"#!"}},
		"workdir":     {func(s *Spec) { s.Dir = filepath.Join(s.Dir, "gone") }, []string{"working folder", "gone"}},
		"unresolved":  {func(s *Spec) { s.Path = "claude" }, []string{"resolve"}},
		"no-files":    {func(s *Spec) { s.Stdout = "" }, []string{"missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "format" && contained == "bubblewrap" {
				t.Skip("bubblewrap gives a program without a first line to the shell")
			}
			s := animal(t, "exit:0")
			c.with(&s)
			res, err := Run(context.Background(), contain(s), nil)
			require.NoError(t, err)
			require.Equal(t, CauseStartFailed, res.Cause)
			require.Equal(t, -1, res.ExitCode)
			for _, w := range c.want {
				require.Regexp(t, w, res.Message)
			}
			require.Less(t, len(res.Message), 1024)
		})
	}
}

func repeat(s string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = s
	}
	return out
}

func write(t *testing.T, dir, name, text string, mode os.FileMode) string {
	t.Helper()
	p := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(p, []byte(text), mode))
	return p
}

func TestOutputThatCannotBeKept(t *testing.T) {
	s := animal(t, "exit:0")
	s.Stdout = filepath.Join(s.Dir, "no", "such", "folder")
	res, err := Run(context.Background(), contain(s), nil)
	require.Error(t, err)
	require.Equal(t, CauseLost, res.Cause)

	s = animal(t, "exit:0")
	s.Stdin = filepath.Join(s.Dir, "no-prompt")
	_, err = Run(context.Background(), contain(s), nil)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestFreshFilesDoNotFollowLinksNorKeepOldText(t *testing.T) {
	s := animal(t, "lines")
	victim := write(t, t.TempDir(), "victim", "precious", 0o600)
	require.NoError(t, os.Symlink(victim, s.Stdout))
	run(t, context.Background(), s)
	b, err := os.ReadFile(victim)
	require.NoError(t, err)
	require.Equal(t, "precious", string(b))
}

func TestALostSupervisorLeavesNothing(t *testing.T) {
	if runtime.GOOS != "linux" || contained != "" {
		t.Skip("needs /proc, and a command that can reach its supervisor")
	}
	s := animal(t, "parricide")
	s.RegistryDir = t.TempDir()
	res, err := Run(context.Background(), contain(s), nil)
	require.Error(t, err)
	require.Equal(t, CauseLost, res.Cause)
	requireNothingIn(t, s.Dir)
	left, err := os.ReadDir(s.RegistryDir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestStartedByAnybodyElseTheSupervisorRefuses(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Args = []string{supervisorName}
	cmd.Env = append([]string{supervisorVariable + "=" + supervisorProtocol}, OwnVariables...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	require.True(t, errors.As(err, &exit))
	require.Equal(t, 2, exit.ExitCode())
	require.Contains(t, string(out), "only started by conclave itself")

	cmd = exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append([]string{supervisorVariable + "=" + supervisorProtocol}, OwnVariables...)
	require.NoError(t, cmd.Run(), "the variable alone changes nothing")
}
