package process

import "syscall"

// commandAttributes: a group of its own, so that a signal to it does not reach the supervisor; not a session leader,
// so that it can never get a terminal; dead with the supervisor.
func commandAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// selfPath is this program, also after its file was replaced by an upgrade.
func selfPath() (string, error) { return "/proc/self/exe", nil }
