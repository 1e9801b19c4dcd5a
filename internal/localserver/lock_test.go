//go:build unix

package localserver

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"conclave/internal/flock"

	"github.com/stretchr/testify/require"
)

func TestLockIsExclusiveAndEndsWithItsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	held, err := locked(path)
	require.NoError(t, err)
	require.False(t, held, "no file")

	first, err := openLock(path)
	require.NoError(t, err)
	require.NotNil(t, first)
	second, err := openLock(path)
	require.NoError(t, err)
	require.Nil(t, second)
	held, err = locked(path)
	require.NoError(t, err)
	require.True(t, held)

	first.close()
	held, err = locked(path)
	require.NoError(t, err)
	require.False(t, held)
}

// A server sweeps the files of clients that are gone. A client that registers at the same time must end up with a file that has its name.
func TestRegisteredClientIsSeenWhateverIsSwept(t *testing.T) {
	dir := t.TempDir()
	stop := make(chan struct{})
	var sweeper sync.WaitGroup
	sweeper.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				sweep(dir)
			}
		}
	})
	defer sweeper.Wait()
	defer close(stop)
	for range 500 {
		client, err := registerClient(testContext(t), dir)
		require.NoError(t, err)
		require.FileExists(t, client.file.Name())
		require.True(t, anyClient(dir))
		client.release()
	}
}

// sweep does to files that nobody holds what devserver does.
func sweep(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if l, err := openExisting(filepath.Join(dir, e.Name())); err == nil && l != nil {
			l.release()
		}
	}
}

func openExisting(path string) (*fileLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if free, err := flock.Try(f); err != nil || !free {
		f.Close()
		return nil, err
	}
	return &fileLock{f}, nil
}
