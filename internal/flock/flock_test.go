package flock

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func open(t *testing.T, path string) *os.File {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	require.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	return file
}

func TestALockIsExclusiveAndEndsWithItsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, second := open(t, path), open(t, path)
	free, err := Try(first)
	require.NoError(t, err)
	require.True(t, free)
	free, err = Try(second)
	require.NoError(t, err)
	require.False(t, free)

	why := errors.New("no longer wanted")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	require.ErrorIs(t, Wait(ctx, second, time.Millisecond), why)

	waited := make(chan error)
	go func() { waited <- Wait(t.Context(), second, time.Millisecond) }()
	require.NoError(t, first.Close())
	require.NoError(t, <-waited)
	free, err = Try(open(t, path))
	require.NoError(t, err)
	require.False(t, free)
}

// Whoever looked used to hold the lock for that moment: a starter that wanted it just then was told that another one has
// it, and of two who looked each took the other for its holder.
func TestWhoLooksKeepsNobodyOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	busy, looker := open(t, path), open(t, path)
	stop := make(chan struct{})
	var looking sync.WaitGroup
	defer looking.Wait()
	defer close(stop)
	looking.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				_, _ = Held(busy)
			}
		}
	})
	for range 1000 {
		held, err := Held(looker)
		require.NoError(t, err)
		require.False(t, held, "nobody but another one who looks has it")

		wanted := open(t, path)
		free, err := Try(wanted)
		require.NoError(t, err)
		require.True(t, free)
		held, err = Held(looker)
		require.NoError(t, err)
		require.True(t, held)
		require.NoError(t, wanted.Close())
	}
}

func TestAClosedFileIsNoLock(t *testing.T) {
	file := open(t, filepath.Join(t.TempDir(), "lock"))
	require.NoError(t, file.Close())
	require.Error(t, Wait(t.Context(), file, time.Millisecond))
}
