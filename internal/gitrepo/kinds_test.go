//go:build unix

package gitrepo

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWorktreesOfABareRepository(t *testing.T) {
	t.Parallel()
	dir := userRepo(t, map[string]string{"a": "1"})
	place := t.TempDir()
	userGit(t, dir, "clone", "-q", "--bare", dir, filepath.Join(place, ".bare"))
	write(t, place, ".git", "gitdir: ./.bare\n")
	_, err := OpenSource(t.Context(), place)
	require.ErrorIs(t, err, ErrBareRepository)
	userGit(t, place, "worktree", "add", "-q", "-b", "side", filepath.Join(place, "side"), "main")
	roundTrip(t, filepath.Join(place, "side"))
}

func TestASubmoduleAsSource(t *testing.T) {
	t.Parallel()
	lib := userRepo(t, map[string]string{"lib": "1"})
	outer := userRepo(t, map[string]string{"a": "1"})
	userGit(t, outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, "vendor/lib")
	userGit(t, outer, "commit", "-q", "-m", "submodule")
	write(t, outer, "vendor/lib/dirty", "x")
	write(t, outer, "new", "x")
	f := fixtureOf(t, outer)
	dirty, err := f.source.Dirty(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"new"}, dirty)
	tree, err := f.repo.SnapshotSource(t.Context(), f.source)
	require.NoError(t, err)
	require.Equal(t, "new", userGit(t, f.repo.Dir(), "diff-tree", "-r", "--name-only", f.base.Tree, tree))
	roundTrip(t, filepath.Join(outer, "vendor", "lib"))
	roundTrip(t, outer)
}

func TestARepositoryOfAnotherOwner(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a repository away")
	}
	dir := userRepo(t, map[string]string{"a": "1"})
	require.NoError(t, exec.Command("chown", "-R", "65534", dir).Run())
	f := fixtureOf(t, dir)
	_, err := f.source.Dirty(t.Context())
	require.NoError(t, err)
	w := f.checkout(t, "w", f.base.ID, CheckoutOptions{AgentGit: true})
	write(t, w, "new", "n")
	snap := f.snapshot(t, w, f.base.ID)
	_, err = f.source.Land(t.Context(), f.repo, LandOptions{Base: f.base.ID, Tree: snap.Tree, Branch: "conclave/x", Message: "m", When: when})
	require.NoError(t, err)
}

func TestAPartialCloneSaysWhatItLacks(t *testing.T) {
	t.Parallel()
	dir := userRepo(t, map[string]string{"a": "1"})
	write(t, dir, "a", "2")
	userGit(t, dir, "commit", "-q", "-a", "-m", "second")
	userGit(t, dir, "config", "uploadpack.allowFilter", "true")
	partial := filepath.Join(t.TempDir(), "partial")
	userGit(t, dir, "clone", "-q", "--filter=blob:none", "file://"+dir, partial)
	roundTrip(t, partial)
	f := fixtureOf(t, partial)
	old, err := f.source.Resolve(t.Context(), "HEAD~1")
	require.NoError(t, err)
	err = f.repo.Checkout(t.Context(), old.ID, filepath.Join(f.state, "old"), CheckoutOptions{})
	require.ErrorIs(t, err, ErrMissingObject)
}

func TestFilesOfACommit(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"conclave.yaml": "preset: x\n", "d/f": "1"})
	content, found, err := f.source.File(t.Context(), f.base.ID, "conclave.yaml")
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, "preset: x\n", string(content))
	for _, name := range []string{"missing", "d", "d/", "d/g"} {
		_, found, err = f.source.File(t.Context(), f.base.ID, name)
		require.NoError(t, err, name)
		require.False(t, found, name)
	}
}

func TestAgentsGitIsReplacedWhateverItBecame(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a": "1"})
	dir := f.checkout(t, "w", f.base.ID, CheckoutOptions{AgentGit: true})
	outside := t.TempDir()
	write(t, outside, "config", "mine")
	require.NoError(t, RemoveTree(filepath.Join(dir, ".git")))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, ".git")))
	require.NoError(t, os.Symlink("a", filepath.Join(dir, ".gitmodules")))
	write(t, dir, "b", "2")
	snap := f.snapshot(t, dir, f.base.ID)
	require.Equal(t, []string{".gitmodules"}, snap.Skipped)
	require.NoError(t, f.repo.RefreshAgentGit(t.Context(), dir, snap.Commit, nil))
	require.Equal(t, "mine", read(t, outside, "config"))
	require.NoError(t, os.Remove(filepath.Join(dir, ".gitmodules")))
	require.Equal(t, "", userGit(t, dir, "status", "--porcelain"))
	require.Equal(t, snap.Commit, userGit(t, dir, "rev-parse", "work"))
}

// TestApplyAcrossFileSystems needs a mount inside the target, which only root may make.
func TestApplyAcrossFileSystems(t *testing.T) {
	t.Parallel()
	a := newApplied(t, map[string]string{"m/edit": "1", "m/gone": "2", "m/l": "3"}, func(dir string) {
		write(t, dir, "m/edit", "2")
		write(t, dir, "m/deep/new", "n")
		require.NoError(t, os.Remove(filepath.Join(dir, "m/gone")))
		require.NoError(t, os.Remove(filepath.Join(dir, "m/l")))
		require.NoError(t, os.Symlink("edit", filepath.Join(dir, "m/l")))
	})
	mount := filepath.Join(a.clone, "m")
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", mount).CombinedOutput(); err != nil {
		t.Skipf("cannot mount: %s", out)
	}
	t.Cleanup(func() { require.NoError(t, exec.Command("umount", mount).Run()) })
	for name, content := range map[string]string{"edit": "1", "gone": "2", "l": "3"} {
		write(t, mount, name, content)
	}
	done, err := a.apply(t, true, false)
	require.NoError(t, err)
	require.Equal(t, []string{"m/deep/new", "m/edit", "m/l"}, done.Written)
	require.Equal(t, map[string]string{"m/edit": "file 2", "m/deep/new": "file n", "m/l": "link edit"}, listFiles(t, a.clone))
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for out, ok := range map[string]bool{
		"git version 2.39.5": true, "git version 2.34.1": true, "git version 2.33.0": false, "git version 3.0": true,
		"git version 2.50.1 (Apple Git-155)": true, "git version 1.8.3.1": false, "nonsense": false,
	} {
		_, err := checkVersion(out)
		require.Equal(t, ok, err == nil, out)
	}
	_, err := CheckGit(t.Context())
	require.NoError(t, err)
}
