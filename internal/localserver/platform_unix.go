//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package localserver

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

func supported() error { return nil }

// detach gives cmd a session of its own: neither Ctrl-C at our terminal nor its closing reaches the server.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// terminate asks a process to end; one that is gone already is no error.
func terminate(pid int) error {
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// trusted reports whether only we or the administrator can have put the file there.
func trusted(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && (st.Uid == 0 || int(st.Uid) == os.Getuid()) && info.Mode().Perm()&0o002 == 0
}
