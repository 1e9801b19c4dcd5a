//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package main

import (
	"errors"
	"os"
)

func tryLock(*os.File) (bool, error) {
	return false, errors.New("file locks are not supported on this system yet: run without --db-filename and --clients-dir")
}

func restrictFileMode() {}
