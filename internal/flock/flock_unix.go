//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package flock

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Whoever only looks has the lock for microseconds. One that was stopped just then is not waited for longer than this.
const (
	lookPause = time.Millisecond
	lookLimit = time.Second
)

// Try locks an open file without waiting for who holds it: false means that somebody else does. Who only looks whether
// it is held keeps nobody from getting it.
func Try(file *os.File) (bool, error) {
	for end := time.Now().Add(lookLimit); ; time.Sleep(lookPause) {
		free, err := lock(file, unix.LOCK_EX)
		if free || err != nil {
			return free, err
		}
		if held, err := Held(file); held || err != nil || time.Now().After(end) {
			return false, err
		}
	}
}

// Held reports whether somebody holds the lock of a file, by another opening of it. Those who look do not see each other.
func Held(file *os.File) (bool, error) {
	free, err := lock(file, unix.LOCK_SH)
	if err != nil || !free {
		return !free && err == nil, err
	}
	return false, unix.Flock(int(file.Fd()), unix.LOCK_UN)
}

// lock takes a lock of a kind; false means that it cannot be had now.
func lock(file *os.File, kind int) (bool, error) {
	for {
		err := unix.Flock(int(file.Fd()), kind|unix.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		default:
			return false, err
		}
	}
}
