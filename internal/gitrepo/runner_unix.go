//go:build unix

package gitrepo

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// termGrace is how long git may take to remove its lock files after TERM.
const termGrace = 300 * time.Millisecond

// ownGroup puts the call into a process group of its own and ends the whole group with the context: git starts helpers
// that would outlive it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = 5 * time.Second
	cmd.Cancel = func() error {
		group := -cmd.Process.Pid
		err := syscall.Kill(group, syscall.SIGTERM)
		time.Sleep(termGrace)
		_ = syscall.Kill(group, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}
