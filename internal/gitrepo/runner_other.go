//go:build !unix

package gitrepo

import (
	"os/exec"
	"time"
)

// ownGroup only bounds the wait: the product does not support this system yet.
func ownGroup(cmd *exec.Cmd) { cmd.WaitDelay = 5 * time.Second }
