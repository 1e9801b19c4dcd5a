package runindex

import (
	"fmt"
	"os"
	"path/filepath"

	"conclave/internal/flock"
)

// Lock is the right to carry a run. It ends with Release or with the process.
type Lock struct{ file *os.File }

// TryLock takes a run's lock. nil without an error means that another starter
// carries the run.
func (x Index) TryLock(runID string) (*Lock, error) {
	path := filepath.Join(x.Dir(runID), "lock")
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock of run %s: %w", runID, err)
	}
	free, err := flock.Try(file)
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("lock of run %s: %w", runID, err)
	}
	if !free {
		_ = file.Close()
		return nil, nil
	}
	return &Lock{file}, nil
}

// Carried reports whether a starter holds the run's lock.
func (x Index) Carried(runID string) bool {
	file, err := os.OpenFile(filepath.Join(x.Dir(runID), "lock"), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	held, err := flock.Held(file)
	return err == nil && held
}

// Release gives the lock back. It is safe on nil and to call twice.
func (l *Lock) Release() {
	if l != nil {
		_ = l.file.Close()
	}
}
