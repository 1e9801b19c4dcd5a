package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func lockClient(t *testing.T, dir, name string) *os.File {
	f, err := os.Create(filepath.Join(dir, name))
	require.NoError(t, err)
	free, err := tryLock(f)
	require.NoError(t, err)
	require.True(t, free)
	return f
}

func TestClientsAreToldByTheirLocks(t *testing.T) {
	w := clientWatch{dir: t.TempDir()}
	require.False(t, w.anyClient())
	require.False(t, clientWatch{dir: filepath.Join(w.dir, "none")}.anyClient())

	client := lockClient(t, w.dir, "1.lock")
	gone := lockClient(t, w.dir, "2.lock")
	gone.Close()
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "notes.txt"), nil, 0o600))
	require.True(t, w.anyClient())
	require.FileExists(t, client.Name())
	require.NoFileExists(t, gone.Name(), "it is swept")
	client.Close()
	require.False(t, w.anyClient())
	require.FileExists(t, filepath.Join(w.dir, "notes.txt"))
}

func TestIdleOnlyWhenNoClientIsLeft(t *testing.T) {
	w := clientWatch{dir: t.TempDir(), grace: 20 * time.Millisecond}
	client := lockClient(t, w.dir, "1.lock")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	require.False(t, w.awaitIdle(ctx), "a client holds it up")
	client.Close()
	require.True(t, w.awaitIdle(t.Context()))
}

func TestReadyFileIsReplacedAndWithdrawnByItsOwnerOnly(t *testing.T) {
	file := filepath.Join(t.TempDir(), "server.json")
	require.NoError(t, writeReadyFile(readyInfo{Address: "a", PID: os.Getpid() + 1}, file))
	withdraw(file)
	require.FileExists(t, file, "another server's")
	require.NoError(t, writeReadyFile(readyInfo{Address: "b", PID: os.Getpid()}, file))
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(content), `"address":"b"`)
	withdraw(file)
	entries, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	require.Empty(t, entries)
	require.NoError(t, writeReadyFile(readyInfo{}, ""), "none is wanted")
	withdraw("")
}
