package localserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"conclave/internal/flock"
)

// fileLock is an exclusive lock on an open file. It ends with close, or with the process.
type fileLock struct{ file *os.File }

// close gives the lock back and leaves the file.
func (l *fileLock) close() { l.file.Close() }

// release removes the file and gives the lock back.
func (l *fileLock) release() {
	_ = os.Remove(l.file.Name())
	l.file.Close()
}

// openLock opens (and makes) the file and tries to lock it; nil without an error means that somebody else holds it.
func openLock(path string) (*fileLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	free, err := flock.Try(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if !free {
		f.Close()
		return nil, nil
	}
	return &fileLock{f}, nil
}

// waitForLock locks the file as soon as it is free.
func waitForLock(ctx context.Context, path string) (*fileLock, error) {
	for {
		l, err := openLock(path)
		if l != nil || err != nil {
			return l, err
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}

// locked reports whether somebody holds the lock on the file.
func locked(path string) (bool, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("lock: %w", err)
	}
	defer f.Close()
	held, err := flock.Held(f)
	if err != nil {
		return false, fmt.Errorf("lock %s: %w", path, err)
	}
	return held, nil
}

func waitUntilFree(ctx context.Context, path string) error {
	for {
		held, err := locked(path)
		if err != nil || !held {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context) error {
	t := time.NewTimer(pollInterval)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// registerClient makes and locks a file of our own among the clients. The server removes files that nobody holds, so one that it removed between our
// making and locking it is made again.
func registerClient(ctx context.Context, dir string) (*fileLock, error) {
	for {
		f, err := os.CreateTemp(dir, strconv.Itoa(os.Getpid())+"-*"+lockSuffix)
		if err != nil {
			return nil, fmt.Errorf("register as client of the local server: %w", err)
		}
		free, err := flock.Try(f)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("register as client of the local server: lock %s: %w", f.Name(), err)
		}
		if free && stillNamed(f) {
			return &fileLock{f}, nil
		}
		f.Close()
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}

// stillNamed reports whether the name of f still leads to it.
func stillNamed(f *os.File) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(f.Name())
	return err == nil && os.SameFile(opened, named)
}

// anyClient reports whether any client holds its lock.
func anyClient(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return true // not known: rather let the server stay
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), lockSuffix) {
			continue
		}
		if held, err := locked(filepath.Join(dir, e.Name())); held || err != nil {
			return true
		}
	}
	return false
}
