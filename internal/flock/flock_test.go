package flock

import (
	"context"
	"errors"
	"os"
	"path/filepath"
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

func TestAClosedFileIsNoLock(t *testing.T) {
	file := open(t, filepath.Join(t.TempDir(), "lock"))
	require.NoError(t, file.Close())
	require.Error(t, Wait(t.Context(), file, time.Millisecond))
}
