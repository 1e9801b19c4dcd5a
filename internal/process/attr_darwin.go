package process

import (
	"os"
	"syscall"
)

// commandAttributes: a group of its own, so that a signal to it does not reach the supervisor.
func commandAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func selfPath() (string, error) { return os.Executable() }
