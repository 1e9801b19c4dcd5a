package store_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/artifact"
	"conclave/internal/store"
)

func TestArtifactsComeBackAsTheyWere(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	s, err := store.OpenFolder(dir)
	require.NoError(t, err)
	for _, content := range [][]byte{nil, []byte("a\x00\xff\n"), make([]byte, 1<<20)} {
		ref, err := s.Put(ctx, content)
		require.NoError(t, err)
		got, err := s.Get(ctx, ref)
		require.NoError(t, err)
		require.Equal(t, len(content), len(got))
		file := filepath.Join(t.TempDir(), "f")
		require.NoError(t, os.WriteFile(file, content, 0o600))
		again, err := s.PutFile(ctx, file)
		require.NoError(t, err)
		require.Equal(t, ref, again)
		stream, err := s.Open(ctx, ref)
		require.NoError(t, err)
		parts, err := io.ReadAll(stream)
		require.NoError(t, errors.Join(err, stream.Close()))
		require.Equal(t, got, parts)
	}
	left, err := os.ReadDir(filepath.Join(dir, "tmp"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestDamageIsNoticed(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	s, err := store.OpenFolder(dir)
	require.NoError(t, err)
	ref, err := s.Put(ctx, []byte("truth"))
	require.NoError(t, err)
	digits, err := ref.Hex()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sha256", digits[:2], digits), []byte("false"), 0o600))
	_, err = s.Get(ctx, ref)
	require.ErrorContains(t, err, "damaged")
}

func TestKeys(t *testing.T) {
	ctx := context.Background()
	s, err := store.OpenFolder(t.TempDir())
	require.NoError(t, err)
	_, err = s.Key(ctx, "runs/a/turns/01/result.json")
	require.True(t, store.IsNotFound(err))
	require.NoError(t, s.SetKey(ctx, "runs/a/turns/02/result.json", []byte("2")))
	require.NoError(t, s.SetKey(ctx, "runs/a/turns/01/result.json", []byte("1")))
	keys, err := s.Keys(ctx, "runs/a")
	require.NoError(t, err)
	require.Equal(t, []string{"runs/a/turns/01/result.json", "runs/a/turns/02/result.json"}, keys)
	none, err := s.Keys(ctx, "runs/b")
	require.NoError(t, err)
	require.Empty(t, none)
}

func TestNoNameLeavesTheFolder(t *testing.T) {
	ctx := context.Background()
	s, err := store.OpenFolder(t.TempDir())
	require.NoError(t, err)
	for _, key := range []string{"../x", "/x", "a/../../x", "", `a\b`} {
		require.Error(t, s.SetKey(ctx, key, nil), key)
	}
	for _, digest := range []string{"", "sha256:..", "sha256:" + string(make([]byte, 64)), "md5:00"} {
		_, err := s.Get(ctx, artifact.Ref{Digest: digest})
		require.Error(t, err, digest)
	}
}
