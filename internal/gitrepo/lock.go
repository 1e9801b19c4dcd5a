package gitrepo

import (
	"context"
	"fmt"
	"os"
	"time"

	"conclave/internal/flock"
)

// lockPause is how often a held lock is asked for again.
const lockPause = 10 * time.Millisecond

// lockFile takes an exclusive lock, waiting until the context ends. The lock lives as long as any process holds the
// open file, so a git child that inherits it and outlives us still keeps others out.
func lockFile(ctx context.Context, path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := flock.Wait(ctx, file, lockPause); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return file, nil
}
