//go:build !unix

package gitrepo

import (
	"context"
	"os"
	"os/exec"
	"time"
)

// ownGroup only bounds the wait: the product does not support this system yet.
func ownGroup(cmd *exec.Cmd) { cmd.WaitDelay = 5 * time.Second }

// lockFile opens the file and locks nothing: the product does not support this system yet.
func lockFile(_ context.Context, path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
}
