package gitrepo

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAnAgentsConfigurationRunsNothingOfOurs plants every way we know to make git run a program, into the .git of the
// workspace, a nested repository and the tree's attributes, then makes every call that we make on a workspace.
func TestAnAgentsConfigurationRunsNothingOfOurs(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.txt": "1\n", "b.txt": "2\n"})
	dir := f.checkout(t, "w", f.base.ID, CheckoutOptions{AgentGit: true})
	marker := filepath.Join(t.TempDir(), "ran")
	script := filepath.Join(t.TempDir(), "evil.sh")
	write(t, filepath.Dir(script), "evil.sh", "#!/bin/sh\necho \"$0 $*\" >> "+marker+"\ncat\n")
	require.NoError(t, os.Chmod(script, 0o755))
	plant := func(at string) {
		for key, value := range map[string]string{
			"filter.x.clean": script, "filter.x.smudge": script, "filter.x.process": script, "filter.x.required": "true",
			"diff.external": script, "diff.x.command": script, "diff.x.textconv": script, "core.fsmonitor": script,
			"core.hooksPath": filepath.Dir(script), "core.pager": script, "core.editor": script, "core.sshCommand": script,
			"core.alternateRefsCommand": script, "credential.helper": script, "gpg.program": script, "commit.gpgSign": "true",
			"core.worktree": filepath.Dir(script), "merge.x.driver": script, "uploadpack.packObjectsHook": script,
		} {
			userGit(t, dir, "config", "--file", filepath.Join(at, "config"), key, value)
		}
		for _, hook := range []string{"post-index-change", "reference-transaction", "pre-commit", "post-checkout", "fsmonitor-watchman"} {
			write(t, at, "hooks/"+hook, "#!/bin/sh\n"+script+"\n")
			require.NoError(t, os.Chmod(filepath.Join(at, "hooks", hook), 0o755))
		}
		write(t, at, "info/attributes", "* filter=x diff=x merge=x\n")
	}
	attributes := "[attr]text filter=x diff=x\n* filter=x diff=x merge=x text eol=crlf working-tree-encoding=UTF-16 ident export-subst\n"
	write(t, dir, ".gitattributes", attributes)
	write(t, dir, "sub/file", "$Id$\n")
	write(t, dir, "sub/.gitattributes", attributes)
	userGit(t, filepath.Join(dir, "sub"), "init", "-q")
	write(t, dir, "a.txt", "changed\r\n$Id$\n")
	plant(filepath.Join(dir, ".git"))
	plant(filepath.Join(dir, "sub", ".git"))
	write(t, dir, ".gitmodules", "[submodule \"sub\"]\n\tpath = sub\n\turl = ext::"+script+"\n\tupdate = !"+script+"\n")

	snap := f.snapshot(t, dir, f.base.ID)
	content, _, err := f.repo.File(t.Context(), snap.Commit, "a.txt")
	require.NoError(t, err)
	require.Equal(t, "changed\r\n$Id$\n", string(content), "bytes as they are")
	require.Equal(t, []string{"sub"}, snap.Nested)
	diff, err := f.repo.Diff(t.Context(), f.base.ID, snap.Commit)
	require.NoError(t, err)
	require.Contains(t, string(diff), "+changed\r\n")
	_, err = f.repo.Changes(t.Context(), f.base.ID, snap.Commit)
	require.NoError(t, err)
	write(t, dir, "b.txt", "verifier was here\n")
	write(t, dir, "more", "m")
	_, err = f.repo.Differences(t.Context(), dir, snap.Commit, nil)
	require.NoError(t, err)
	removed, err := f.repo.Restore(t.Context(), dir, snap.Commit, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"b.txt", "more"}, removed)
	other := f.checkout(t, "other", snap.Commit, CheckoutOptions{AgentGit: true})
	require.Equal(t, "changed\r\n$Id$\n", read(t, other, "a.txt"))
	require.Equal(t, "", userGit(t, other, "status", "--porcelain"))
	require.NoError(t, f.repo.RefreshAgentGit(t.Context(), dir, snap.Commit, nil))
	_, err = f.source.Land(t.Context(), f.repo, LandOptions{Base: f.base.ID, Tree: snap.Tree, Branch: "conclave/x", Message: "m", When: when})
	require.NoError(t, err)
	require.NoError(t, f.repo.Discard(dir))
	require.NoFileExists(t, marker)
}

func TestADiffThatAnAttributeWouldHide(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a.go": "one\n", ".gitattributes": "*.go binary -diff linguist-generated\n"})
	dir := f.checkout(t, "w", f.base.ID, CheckoutOptions{})
	write(t, dir, "a.go", "two\n")
	write(t, dir, "latin1", "\xe9t\xe9\n")
	write(t, dir, "bin", "\x00\x01")
	require.NoError(t, os.Rename(filepath.Join(dir, ".gitattributes"), filepath.Join(dir, "moved")))
	snap := f.snapshot(t, dir, f.base.ID)
	diff, err := f.repo.Diff(t.Context(), f.base.ID, snap.Commit)
	require.NoError(t, err)
	for _, part := range []string{"-one\n+two\n", "+\xe9t\xe9\n", "GIT binary patch", "rename from .gitattributes\nrename to moved\n", "diff --git a/a.go b/a.go\n"} {
		require.Contains(t, string(diff), part)
	}
	require.Len(t, snap.Commit, 40)

	target := filepath.Join(t.TempDir(), "clone")
	userGit(t, f.dir, "clone", "-q", f.dir, target)
	write(t, f.state, "patch", string(diff))
	userGit(t, target, "apply", filepath.Join(f.state, "patch"))
	require.Equal(t, listFiles(t, dir), listFiles(t, target))
}

func TestSeatsRefsAndRemoval(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a": "1"})
	dir := f.checkout(t, "w", f.base.ID, CheckoutOptions{})
	write(t, dir, "a", "2")
	snap := f.snapshot(t, dir, f.base.ID)
	seat := f.checkout(t, "seat", snap.Commit, CheckoutOptions{AgentGit: true, AgentRefs: map[string]string{"refs/heads/base": f.base.ID}})
	require.Equal(t, "M\ta", userGit(t, seat, "diff", "--name-status", "base", "work"))
	err := f.repo.Checkout(t.Context(), snap.Commit, seat, CheckoutOptions{})
	require.ErrorIs(t, err, ErrNotEmpty)
	err = f.repo.Checkout(t.Context(), snap.Commit, filepath.Join(f.state, "s2"), CheckoutOptions{AgentGit: true, AgentRefs: map[string]string{"refs/../../x": f.base.ID}})
	require.Error(t, err)
	require.NoError(t, os.Remove(filepath.Join(seat, ".git", "index")))
	require.NoError(t, RemoveTree(filepath.Join(seat, ".git")))
	diffs, err := f.repo.Differences(t.Context(), seat, snap.Commit, nil)
	require.NoError(t, err)
	require.Empty(t, diffs, "its .git is nothing of ours")
	require.NoError(t, f.repo.Discard(seat))
	require.NoDirExists(t, seat)
	require.NoError(t, f.repo.Discard(seat))
	err = f.repo.Checkout(t.Context(), "0123456789012345678901234567890123456789", filepath.Join(f.state, "s3"), CheckoutOptions{})
	require.ErrorIs(t, err, ErrMissingObject)
}
