//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package flock

import (
	"errors"
	"os"
)

// Try is not supported.
func Try(*os.File) (bool, error) {
	return false, errors.New("locks are not supported yet on this system: use Linux or macOS")
}
