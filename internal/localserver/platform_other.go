//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package localserver

import (
	"errors"
	"io/fs"
	"os/exec"
)

func supported() error {
	return errors.New("a local Temporal server is not supported on this system yet: give the address of a running one with --address")
}

func detach(*exec.Cmd)         {}
func terminate(int) error      { return supported() }
func trusted(fs.FileInfo) bool { return false }
