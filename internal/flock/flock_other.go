//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package flock

import (
	"errors"
	"os"
)

var errUnsupported = errors.New("locks are not supported yet on this system: use Linux or macOS")

// Try is not supported.
func Try(*os.File) (bool, error) { return false, errUnsupported }

// Held is not supported.
func Held(*os.File) (bool, error) { return false, errUnsupported }
