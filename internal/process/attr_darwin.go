package process

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// commandAttributes: a group of its own, so that a signal to it does not reach the supervisor.
func commandAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func selfPath() (string, error) { return os.Executable() }

// keepDescriptors lets the command inherit nothing but its three streams.
func keepDescriptors() {
	for fd := fdControl; fd < 1024; fd++ {
		unix.CloseOnExec(fd)
	}
}
