//go:build unix

package gitrepo

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// termGrace is how long git may take to remove its lock files after TERM.
const termGrace = 300 * time.Millisecond

// ownedByUs says that a folder is this user's, or that of the user who became root by sudo.
func ownedByUs(path string) bool {
	owner, ok := ownerOf(path)
	return ok && (owner == os.Geteuid() || os.Geteuid() == 0 && strconv.Itoa(owner) == os.Getenv("SUDO_UID"))
}

// sameOwner says that two folders belong to one user.
func sameOwner(a, b string) bool {
	left, ok := ownerOf(a)
	right, also := ownerOf(b)
	return ok && also && left == right
}

func ownerOf(path string) (int, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}

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
