package activities

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"conclave/internal/flock"
)

// lockPause is how often a held lock is asked for again.
const lockPause = 20 * time.Millisecond

// lockWriter gives the run's kept workspace on this machine to one activity at
// a time. An attempt that the server gave up because its heartbeats were lost
// may still be at work: the next one waits for its end. The lock ends with the
// process that holds it.
func (a *Activities) lockWriter(ctx context.Context, runID string) (unlock func(), err error) {
	dir := RunDir(a.StateDir, runID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(dir, "writer.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := flock.Wait(ctx, file, lockPause); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("the writer's workspace of run %s: %w", runID, err)
	}
	return func() { _ = file.Close() }, nil
}
