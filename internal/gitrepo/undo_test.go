package gitrepo

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUndoTakesBackSomeChangesAndNoOthers(t *testing.T) {
	ctx := t.Context()
	t.Parallel()
	f := newFixture(t, map[string]string{"keep": "1", "edit": "1", "gone": "1", "was-file": "1", "was-dir/x": "1", "sp ace\n": "1", "mode": "1"})
	dir := f.checkout(t, "w", f.base.ID, CheckoutOptions{})
	write(t, dir, "keep", "2")
	write(t, dir, "edit", "2")
	write(t, dir, "sp ace\n", "2")
	write(t, dir, "new/deep", "2")
	require.NoError(t, os.Chmod(filepath.Join(dir, "mode"), 0o755))
	require.NoError(t, os.Remove(filepath.Join(dir, "gone")))
	require.NoError(t, os.Remove(filepath.Join(dir, "was-file")))
	write(t, dir, "was-file/y", "2")
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "was-dir")))
	write(t, dir, "was-dir", "2")
	snapshot, err := f.repo.Snapshot(ctx, dir, f.base.ID, SnapshotOptions{When: when})
	require.NoError(t, err)

	all, err := f.repo.Changes(ctx, f.base.ID, snapshot.Commit)
	require.NoError(t, err)
	undone, err := f.repo.Undo(ctx, snapshot.Commit, slices.DeleteFunc(slices.Clone(all), func(c Change) bool { return c.Path == "keep" }), when)
	require.NoError(t, err)
	left, err := f.repo.Changes(ctx, f.base.ID, undone)
	require.NoError(t, err)
	require.Len(t, left, 1)
	require.Equal(t, "keep", left[0].Path)

	again, err := f.repo.Undo(ctx, snapshot.Commit, slices.DeleteFunc(slices.Clone(all), func(c Change) bool { return c.Path == "keep" }), when)
	require.NoError(t, err)
	require.Equal(t, undone, again)
	same, err := f.repo.Undo(ctx, snapshot.Commit, nil, when)
	require.NoError(t, err)
	require.Equal(t, snapshot.Commit, same)
	places, err := filepath.Glob(filepath.Join(f.repo.Dir(), "undo-*"))
	require.NoError(t, err)
	require.Empty(t, places)
}
