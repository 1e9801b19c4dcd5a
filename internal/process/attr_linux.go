package process

import (
	"math"
	"syscall"

	"golang.org/x/sys/unix"
)

// commandAttributes: a group of its own, so that a signal to it does not reach the supervisor; not a session leader,
// so that it can never get a terminal; dead with the supervisor.
func commandAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// selfPath is this program, also after its file was replaced by an upgrade.
func selfPath() (string, error) { return "/proc/self/exe", nil }

// keepDescriptors lets the command inherit nothing but its three streams: not our pipes, and not what the worker itself
// inherited from whoever started it.
func keepDescriptors() {
	if unix.CloseRange(fdControl, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	for fd := fdControl; fd < 1024; fd++ {
		unix.CloseOnExec(fd)
	}
}
