//go:build unix

package main

import "syscall"

// ownSession keeps a background starter from the terminal's signals.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
