package gitrepo

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// applied is a run's result with a clone of its base to apply it to.
type applied struct {
	fixture
	commit string
	clone  string
}

func newApplied(t *testing.T, files map[string]string, edit func(dir string)) applied {
	t.Helper()
	f := newFixture(t, files)
	dir := f.checkout(t, "w", f.base.ID, CheckoutOptions{})
	edit(dir)
	snap := f.snapshot(t, dir, f.base.ID)
	clone := filepath.Join(t.TempDir(), "clone")
	userGit(t, f.dir, "clone", "-q", f.dir, clone)
	return applied{f, snap.Commit, clone}
}

func (a applied) apply(t *testing.T, deletions, force bool) (Applied, error) {
	t.Helper()
	return a.repo.Apply(t.Context(), ApplyOptions{Base: a.base.ID, Commit: a.commit, Target: a.clone, WithDeletions: deletions, Force: force})
}

func TestApplyCopiesAndNeverDeletesUnasked(t *testing.T) {
	t.Parallel()
	a := newApplied(t, map[string]string{"edit": "1", "gone": "x", "d/only": "y", "tool": "#!"}, func(dir string) {
		write(t, dir, "edit", "2")
		write(t, dir, "deep/new", "n")
		require.NoError(t, os.Chmod(filepath.Join(dir, "tool"), 0o755))
		require.NoError(t, os.Remove(filepath.Join(dir, "gone")))
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "d")))
	})
	require.NoError(t, os.Chmod(filepath.Join(a.clone, "edit"), 0o600))
	done, err := a.apply(t, false, false)
	require.NoError(t, err)
	require.Equal(t, Applied{Written: []string{"deep/new", "edit", "tool"}, SkippedDeletions: []string{"d/only", "gone"}}, done)
	require.Equal(t, map[string]string{"edit": "file 2", "gone": "file x", "d/only": "file y", "tool": "exec #!", "deep/new": "file n"}, listFiles(t, a.clone))
	info, err := os.Stat(filepath.Join(a.clone, "edit"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "the permissions of a file stay")

	done, err = a.apply(t, true, false)
	require.NoError(t, err)
	require.Equal(t, Applied{Deleted: []string{"d/only", "gone"}, Unchanged: []string{"deep/new", "edit", "tool"}}, done)
	require.NoDirExists(t, filepath.Join(a.clone, "d"))
	done, err = a.apply(t, true, false)
	require.NoError(t, err)
	require.Empty(t, append(done.Written, done.Deleted...))
}

func TestApplyRefusesWhatChanged(t *testing.T) {
	t.Parallel()
	a := newApplied(t, map[string]string{"edit": "1", "gone": "x", "kept": "k"}, func(dir string) {
		write(t, dir, "edit", "2")
		write(t, dir, "new", "n")
		write(t, dir, "kept", "changed")
		require.NoError(t, os.Remove(filepath.Join(dir, "gone")))
	})
	write(t, a.clone, "edit", "user's")
	write(t, a.clone, "new", "user's too")
	write(t, a.clone, "gone", "user's as well")
	require.NoError(t, os.Remove(filepath.Join(a.clone, "kept")))
	before := listFiles(t, a.clone)
	_, err := a.apply(t, true, false)
	var conflict *ConflictError
	require.ErrorAs(t, err, &conflict)
	require.Len(t, conflict.Conflicts, 4)
	require.ErrorContains(t, err, "--force")
	require.Equal(t, before, listFiles(t, a.clone), "nothing at all was written")

	done, err := a.apply(t, true, true)
	require.NoError(t, err)
	require.Equal(t, Applied{Written: []string{"edit", "kept", "new"}, Deleted: []string{"gone"}}, done)
	require.Equal(t, map[string]string{"edit": "file 2", "new": "file n", "kept": "file changed"}, listFiles(t, a.clone))
}

func TestApplyNeverFollowsALink(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	write(t, outside, "x", "outside")
	a := newApplied(t, map[string]string{"d/x": "1", "f": "1"}, func(dir string) {
		write(t, dir, "d/x", "2")
		write(t, dir, "f", "2")
	})
	require.NoError(t, os.RemoveAll(filepath.Join(a.clone, "d")))
	require.NoError(t, os.Symlink(outside, filepath.Join(a.clone, "d")))
	require.NoError(t, os.Remove(filepath.Join(a.clone, "f")))
	require.NoError(t, os.Symlink(filepath.Join(outside, "x"), filepath.Join(a.clone, "f")))
	_, err := a.apply(t, true, false)
	var conflict *ConflictError
	require.ErrorAs(t, err, &conflict)
	require.Len(t, conflict.Conflicts, 2)
	_, err = a.apply(t, true, true)
	require.ErrorAs(t, err, &conflict, "not even by force")
	require.Len(t, conflict.Conflicts, 1)
	require.NoError(t, os.Remove(filepath.Join(a.clone, "d")))
	_, err = a.apply(t, true, true)
	require.NoError(t, err)
	require.Equal(t, "outside", read(t, outside, "x"))
	require.Equal(t, map[string]string{"d/x": "file 2", "f": "file 2"}, listFiles(t, a.clone), "the link itself was replaced")
}

func TestApplyRefusesLinksThatLeaveTheTree(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"/etc/passwd", "../../x", "d/../../x"} {
		a := newApplied(t, map[string]string{"a": "1"}, func(dir string) {
			require.NoError(t, os.Symlink(target, filepath.Join(dir, "link")))
		})
		_, err := a.apply(t, true, true)
		var conflict *ConflictError
		require.ErrorAs(t, err, &conflict, target)
	}
	a := newApplied(t, map[string]string{"a": "1"}, func(dir string) {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "d"), 0o755))
		require.NoError(t, os.Symlink("../missing", filepath.Join(dir, "d", "link")))
	})
	_, err := a.apply(t, false, false)
	require.NoError(t, err)
}

func TestApplySwapsFilesAndFolders(t *testing.T) {
	t.Parallel()
	a := newApplied(t, map[string]string{"f": "1", "d/x": "2", "l": "3"}, func(dir string) {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "d")))
		write(t, dir, "d", "file now")
		require.NoError(t, os.Remove(filepath.Join(dir, "f")))
		write(t, dir, "f/y", "folder now")
		require.NoError(t, os.Remove(filepath.Join(dir, "l")))
		require.NoError(t, os.Symlink("d", filepath.Join(dir, "l")))
	})
	before := listFiles(t, a.clone)
	_, err := a.apply(t, false, false)
	require.ErrorContains(t, err, "--with-deletions")
	require.Equal(t, before, listFiles(t, a.clone))

	write(t, a.clone, "d/users", "own")
	before = listFiles(t, a.clone)
	_, err = a.apply(t, true, false)
	require.ErrorContains(t, err, "nothing was changed")
	require.Equal(t, before, listFiles(t, a.clone), "rolled back")
	require.NoError(t, os.Remove(filepath.Join(a.clone, "d/users")))
	done, err := a.apply(t, true, false)
	require.NoError(t, err)
	require.Equal(t, []string{"d", "f/y", "l"}, done.Written)
	require.Equal(t, map[string]string{"d": "file file now", "f/y": "file folder now", "l": "link d"}, listFiles(t, a.clone))
}

func TestApplyRollsBack(t *testing.T) {
	t.Parallel()
	a := newApplied(t, map[string]string{"a": "1", "b": "1", "gone/x": "1"}, func(dir string) {
		write(t, dir, "a", "2")
		write(t, dir, "b", "2")
		write(t, dir, "new/folder/c", "2")
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "gone")))
	})
	before := listFiles(t, a.clone)
	root, err := os.OpenRoot(a.clone)
	require.NoError(t, err)
	defer func() { _ = root.Close() }()
	changes, err := a.repo.Changes(t.Context(), a.base.ID, a.commit)
	require.NoError(t, err)
	p := &plan{repo: a.repo, root: root, target: a.clone, byPath: map[string]Change{}, options: ApplyOptions{WithDeletions: true}}
	require.NoError(t, p.make(t.Context(), changes))
	tx := &transaction{plan: p, staging: "staging"}
	require.NoError(t, root.Mkdir("staging", 0o700))
	require.NoError(t, tx.stage(t.Context()))
	require.NoError(t, os.Remove(filepath.Join(a.clone, tx.staged(len(p.writes)-1))), "the last move will fail")
	require.Error(t, tx.move())
	require.NoError(t, tx.rollBack())
	require.NoError(t, root.RemoveAll("staging"))
	require.Equal(t, before, listFiles(t, a.clone))
	require.NoDirExists(t, filepath.Join(a.clone, "new"))
}

func TestApplyKeepsLineEndsOfAConvertedClone(t *testing.T) {
	t.Parallel()
	a := newApplied(t, map[string]string{"t.txt": "a\nb\n", "u.txt": "a\n"}, func(dir string) {
		write(t, dir, "t.txt", "a\nc\n")
		write(t, dir, "u.txt", "b\n")
	})
	write(t, a.clone, "t.txt", "a\r\nb\r\n")
	write(t, a.clone, "u.txt", "x\r\n")
	_, err := a.apply(t, false, false)
	var conflict *ConflictError
	require.True(t, errors.As(err, &conflict) && len(conflict.Conflicts) == 1, "%v", err)
	write(t, a.clone, "u.txt", "a\n")
	_, err = a.apply(t, false, false)
	require.NoError(t, err)
	require.Equal(t, "a\r\nc\r\n", read(t, a.clone, "t.txt"))
	require.Equal(t, "b\n", read(t, a.clone, "u.txt"))
}

func TestApplyToAPlainDirectory(t *testing.T) {
	t.Parallel()
	plain := filepath.Join(t.TempDir(), "plain")
	write(t, plain, "a", "1")
	f := fixtureOf(t, plain)
	tree, err := f.repo.SnapshotSource(t.Context(), f.source)
	require.NoError(t, err)
	base, err := f.repo.CommitTree(t.Context(), tree, nil, "start", when)
	require.NoError(t, err)
	dir := f.checkout(t, "w", base, CheckoutOptions{AgentGit: true})
	write(t, dir, "a", "2")
	write(t, dir, "b", "new")
	snap := f.snapshot(t, dir, base)
	done, err := f.repo.Apply(t.Context(), ApplyOptions{Base: base, Commit: snap.Commit, Target: plain})
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, done.Written)
	require.Equal(t, map[string]string{"a": "file 2", "b": "file new"}, listFiles(t, plain))
	_, err = f.source.Land(t.Context(), f.repo, LandOptions{Base: base, Tree: snap.Tree, Branch: "x", Message: "m", When: when})
	require.ErrorIs(t, err, ErrNoRepository)
	_, err = f.repo.Apply(t.Context(), ApplyOptions{Base: base, Commit: snap.Commit, Target: filepath.Join(plain, "missing")})
	require.ErrorIs(t, err, ErrNotDirectory)
}
