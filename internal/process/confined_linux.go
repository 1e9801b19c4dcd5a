package process

import (
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"conclave/internal/sandbox"
)

// startFailed is why a confined command did not start; it is the number where the command itself is to blame.
type startFailed struct{ sandbox.Failure }

func (e startFailed) Error() string { return e.Text }

func (e startFailed) Unwrap() error {
	if e.Errno == 0 {
		return nil
	}
	return syscall.Errno(e.Errno)
}

// startConfined forks the step that confines itself and becomes the command, or bubblewrap with the command inside.
func (s *supervisor) startConfined(env []string) (int, error) {
	c := s.job.Sandbox
	var files opened
	defer files.close()
	failure, failing := files.pipe()
	status, telling := files.pipe()
	if files.err != nil {
		return 0, files.err
	}
	orders, err := c.Orders()
	if err != nil {
		return 0, err
	}
	defer func() { _ = orders.Close() }()
	inherit := []uintptr{fdStdin, fdStdout, fdStderr, orders.Fd(), failing.Fd()}
	if c.Kind == sandbox.Bubblewrap {
		inherit = append(inherit, telling.Fd())
	}
	self, err := selfPath()
	if err != nil {
		return 0, err
	}
	// The group is made by the fork, so that a kill reaches bubblewrap as well.
	pid, err := syscall.ForkExec(self, c.Argv(string(s.job.Path), texts(s.job.Args)), &syscall.ProcAttr{
		Dir: string(s.job.Dir), Env: env, Files: inherit, Sys: commandAttributes(),
	})
	if err != nil {
		return 0, err
	}
	files.keep(failure, status)
	files.close()
	files.files = nil
	failed := sandbox.ReadFailure(failure)
	_ = failure.Close()
	if failed != nil {
		_ = status.Close()
		_, _ = syscall.Wait4(pid, nil, 0, nil)
		return 0, startFailed{*failed}
	}
	s.status = status
	return pid, nil
}

// neverRan says that bubblewrap ended without having started the command.
func (s *supervisor) neverRan() bool {
	if s.status == nil {
		return false
	}
	defer func() { _ = s.status.Close(); s.status = nil }()
	fd := int(s.status.Fd())
	said := make([]byte, 4<<10)
	if unix.SetNonblock(fd, true) != nil {
		return false
	}
	n, _ := unix.Read(fd, said)
	return n < 0 || !strings.Contains(string(said[:max(n, 0)]), `"exit-code"`)
}

// crashes are the signals that no program sends itself an exit code for: bubblewrap's code 128+n stands for them. Those of
// limits (XCPU, XFSZ) are not among them: gemini ends with the low byte of an HTTP status, and theirs are those of 408 and 409.
var crashes = []syscall.Signal{
	syscall.SIGKILL, syscall.SIGSEGV, syscall.SIGABRT, syscall.SIGBUS, syscall.SIGILL, syscall.SIGFPE, syscall.SIGTRAP, syscall.SIGSYS,
}

// translated is what bubblewrap's exit code says of its command.
func translated(end report) report {
	for _, signal := range crashes {
		if end.Code == 128+int(signal) {
			end.Code, end.Signal = -1, unix.SignalName(signal)
		}
	}
	return end
}

// confinedGroup is the process group of the command inside bubblewrap: bubblewrap's first process there leads a session,
// and takes no signal itself. False while the command is not started.
func (s *supervisor) confinedGroup() (int, bool) {
	all := listProcesses()
	for _, first := range all {
		if first.parent != s.pid {
			continue
		}
		for _, command := range all {
			if command.parent == first.pid {
				return first.group, first.group == first.pid
			}
		}
	}
	return 0, false
}
