package gitrepo

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLandAddsOneBranchAndTouchesNothingElse(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a": "1", "b/c": "2"})
	marker := filepath.Join(t.TempDir(), "ran")
	for _, hook := range []string{"pre-commit", "post-commit", "reference-transaction", "post-update", "update", "post-checkout"} {
		write(t, f.dir, ".git/hooks/"+hook, "#!/bin/sh\ntouch "+marker+"\n")
		require.NoError(t, os.Chmod(filepath.Join(f.dir, ".git/hooks", hook), 0o755))
	}
	userGit(t, f.dir, "-c", "core.hooksPath=/dev/null", "branch", "other")
	write(t, f.dir, "stashed", "x")
	userGit(t, f.dir, "-c", "core.hooksPath=/dev/null", "stash", "-u", "-q")
	write(t, f.dir, "staged", "s")
	userGit(t, f.dir, "-c", "core.hooksPath=/dev/null", "add", "staged")
	write(t, f.dir, "a", "dirty")
	write(t, f.dir, "untracked", "u")
	before := frozen(t, f.dir)

	dir := f.checkout(t, "w", f.base.ID, CheckoutOptions{AgentGit: true})
	write(t, dir, "new", "n")
	require.NoError(t, os.Remove(filepath.Join(dir, "b/c")))
	snap := f.snapshot(t, dir, f.base.ID)
	_, err := f.source.Dirty(t.Context())
	require.NoError(t, err)
	_, err = f.repo.SnapshotSource(t.Context(), f.source)
	require.NoError(t, err)
	require.Equal(t, before, frozen(t, f.dir), "nothing is written before landing")

	o := LandOptions{Base: f.base.ID, Tree: snap.Tree, Branch: "conclave/add-k3f9q", Message: "Add\n\nrun: x\n", When: when}
	landed, err := f.source.Land(t.Context(), f.repo, o)
	require.NoError(t, err)
	after := frozen(t, f.dir)
	for _, name := range []string{".git/refs/heads/conclave", ".git/refs/heads/conclave/add-k3f9q"} {
		require.Contains(t, after, name)
		delete(after, name)
	}
	require.Equal(t, before, after)
	require.NoFileExists(t, marker)

	again, err := f.source.Land(t.Context(), f.repo, o)
	require.NoError(t, err)
	require.Equal(t, landed, again)
	require.NoError(t, RemoveTree(f.state), "the branch needs nothing of the run")
	require.Equal(t, "A\tnew\nD\tb/c", sortLines(userGit(t, f.dir, "diff", "--name-status", "main", "conclave/add-k3f9q")))
	require.Equal(t, f.base.ID, userGit(t, f.dir, "rev-parse", "conclave/add-k3f9q^"))
	require.Equal(t, "", userGit(t, f.dir, "fsck", "--strict"))
}

func sortLines(s string) string {
	set := map[string]bool{}
	for _, line := range strings.Split(s, "\n") {
		set[line] = true
	}
	return strings.Join(sortedKeys(set), "\n")
}

func TestLandOnTheDirtyState(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a": "1", "gone": "x", ".gitignore": "*.o\n"})
	write(t, f.dir, "a", "dirty")
	write(t, f.dir, "staged", "s")
	userGit(t, f.dir, "add", "staged")
	require.NoError(t, os.Remove(filepath.Join(f.dir, "gone")))
	write(t, f.dir, "un tracked", "u")
	write(t, f.dir, "x.o", "ignored")
	dirty, err := f.source.Dirty(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"a", "gone", "staged", "un tracked"}, dirty)

	tree, err := f.repo.SnapshotSource(t.Context(), f.source)
	require.NoError(t, err)
	start, err := f.repo.CommitTree(t.Context(), tree, []string{f.base.ID}, "uncommitted state", when)
	require.NoError(t, err)
	dir := f.checkout(t, "w", start, CheckoutOptions{})
	require.Equal(t, map[string]string{".gitignore": "file *.o\n", "a": "file dirty", "staged": "file s", "un tracked": "file u"}, listFiles(t, dir))
	write(t, dir, "new", "n")
	snap := f.snapshot(t, dir, start)
	landed, err := f.source.Land(t.Context(), f.repo, LandOptions{Base: start, Tree: snap.Tree, Branch: "conclave/x", Message: "m", When: when})
	require.NoError(t, err)
	require.Equal(t, "new", userGit(t, f.dir, "diff", "--name-only", landed.Commit+"^", landed.Commit))
	require.Equal(t, f.base.ID, userGit(t, f.dir, "rev-parse", landed.Commit+"~2"))
}

func TestLandRefusesAForeignBranch(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a": "1"})
	dir := f.checkout(t, "w", f.base.ID, CheckoutOptions{})
	write(t, dir, "new", "n")
	snap := f.snapshot(t, dir, f.base.ID)
	o := LandOptions{Base: f.base.ID, Tree: snap.Tree, Branch: "conclave/x", Message: "m", When: when}
	userGit(t, f.dir, "branch", "conclave/x")
	_, err := f.source.Land(t.Context(), f.repo, o)
	require.ErrorIs(t, err, ErrBranchExists)
	o.Replaces = f.base.ID
	_, err = f.source.Land(t.Context(), f.repo, o)
	require.NoError(t, err, "an earlier landing may be replaced")

	o.Branch, o.Replaces = "blocked/x", ""
	userGit(t, f.dir, "branch", "blocked")
	_, err = f.source.Land(t.Context(), f.repo, o)
	require.ErrorIs(t, err, ErrBranchExists)

	o.Branch, o.Replaces = "here", f.base.ID
	userGit(t, f.dir, "switch", "-q", "-c", "here")
	_, err = f.source.Land(t.Context(), f.repo, o)
	require.ErrorContains(t, err, "checked out at")
}

func TestLandByTheUsersIdentity(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "1"})
	t.Setenv("HOME", t.TempDir())
	name, email := f.source.Identity(t.Context())
	require.Equal(t, "conclave <conclave@localhost>", name+" <"+email+">")
	write(t, os.Getenv("HOME"), ".gitconfig", "[user]\n\tname = Änne\n\temail = a@example.org\n[commit]\n\tgpgSign = true\n")
	source, err := OpenSource(t.Context(), f.dir)
	require.NoError(t, err)
	landed, err := source.Land(t.Context(), f.repo, LandOptions{Base: f.base.ID, Tree: f.base.Tree, Branch: "conclave/x", Message: "m", When: when})
	require.NoError(t, err)
	require.Equal(t, "Änne <a@example.org> 1700000000", userGit(t, f.dir, "log", "-1", "--format=%an <%ae> %at", landed.Commit))
}

func TestPackCarriesARunToAnotherMachine(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a": "1", "b/c": "2"})
	base, err := f.repo.CommitTree(t.Context(), f.base.Tree, nil, "base", when)
	require.NoError(t, err)
	var first bytes.Buffer
	require.NoError(t, f.repo.Pack(t.Context(), &first, []string{base}, nil))

	worker, err := CreateRunRepo(t.Context(), RunRepoOptions{Dir: filepath.Join(t.TempDir(), "state", "repo.git")})
	require.NoError(t, err)
	require.NoError(t, worker.Import(t.Context(), bytes.NewReader(first.Bytes())))
	require.True(t, worker.Has(t.Context(), base))
	require.False(t, worker.Has(t.Context(), f.base.ID))
	dir := filepath.Join(t.TempDir(), "w")
	require.NoError(t, worker.Checkout(t.Context(), base, dir, CheckoutOptions{AgentGit: true}))
	require.Equal(t, "", userGit(t, dir, "status", "--porcelain"))
	write(t, dir, "new", "n")
	snap, err := worker.Snapshot(t.Context(), dir, base, SnapshotOptions{Message: "m", When: when})
	require.NoError(t, err)

	var second bytes.Buffer
	require.NoError(t, worker.Pack(t.Context(), &second, []string{snap.Commit}, []string{base, strings.Repeat("ab", 20)}))
	require.Error(t, f.repo.Import(t.Context(), bytes.NewReader(second.Bytes()[:second.Len()-10])), "cut")
	require.Error(t, f.repo.Import(t.Context(), strings.NewReader("")), "empty")
	require.NoError(t, f.repo.Import(t.Context(), &second))
	landed, err := f.source.Land(t.Context(), f.repo, LandOptions{Base: f.base.ID, Tree: snap.Tree, Branch: "conclave/x", Message: "m", When: when})
	require.NoError(t, err)
	require.Equal(t, "new", userGit(t, f.dir, "diff", "--name-only", f.base.ID, landed.Commit))
	require.ErrorIs(t, f.repo.Pack(t.Context(), &second, []string{strings.Repeat("ab", 20)}, nil), ErrMissingObject)
}
