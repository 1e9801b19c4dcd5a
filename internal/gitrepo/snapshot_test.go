package gitrepo

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSnapshotHoldsEveryKindOfChange(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{
		"keep.txt": "same\n", "edit.txt": "old\n", "gone.txt": "x", "tool.sh": "#!/bin/sh\n", "folder/a": "a", "file": "f",
		"crlf.txt": "a\r\nb\r\n", ".gitignore": "*.log\n", ".gitattributes": "* text=auto eol=crlf\n*.dat binary\n",
	})
	dir := f.checkout(t, "w", f.base.ID, CheckoutOptions{AgentGit: true})
	require.Equal(t, "", userGit(t, dir, "status", "--porcelain"), "the agent's own git sees a clean tree")

	write(t, dir, "edit.txt", "new\n")
	require.NoError(t, os.Remove(filepath.Join(dir, "gone.txt")))
	require.NoError(t, os.Chmod(filepath.Join(dir, "tool.sh"), 0o755))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "folder")))
	write(t, dir, "folder", "a file now")
	require.NoError(t, os.Remove(filepath.Join(dir, "file")))
	write(t, dir, "file/inner", "a folder now")
	for _, name := range []string{"with space", "new\nline", "ünïcode", "-dash", ":(glob)*", "bad\xff\xfeutf8", "tab\t\"quote\\", "empty"} {
		write(t, dir, name, name)
	}
	write(t, dir, "empty", "")
	write(t, dir, "win.txt", "x\r\ny\r\n")
	write(t, dir, "bin.dat", "\x00\x01\xff\n\r\n")
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "dangling")))
	require.NoError(t, os.Symlink("file", filepath.Join(dir, "to-folder")))
	write(t, dir, "ignored.log", "no")

	snap := f.snapshot(t, dir, f.base.ID)
	require.True(t, snap.Changed)
	want := listFiles(t, dir)
	delete(want, "ignored.log")
	require.Equal(t, want, listFiles(t, f.checkout(t, "again", snap.Commit, CheckoutOptions{})))

	changes, err := f.repo.Changes(t.Context(), f.base.ID, snap.Commit)
	require.NoError(t, err)
	statuses := map[string]string{}
	for _, change := range changes {
		statuses[change.Path] = change.Status
		if change.Path == "bin.dat" {
			require.True(t, change.Binary)
		}
		if change.Path == "edit.txt" {
			require.Equal(t, []int{1, 1}, []int{change.Added, change.Removed})
		}
	}
	require.Equal(t, "modified", statuses["edit.txt"])
	require.Equal(t, "deleted", statuses["gone.txt"])
	require.Equal(t, "mode-changed", statuses["tool.sh"])
	require.Equal(t, "added", statuses["folder"])
	require.Equal(t, "deleted", statuses["folder/a"])
	require.Equal(t, "added", statuses["bad\xff\xfeutf8"])
	require.NotContains(t, statuses, "crlf.txt")
	require.NotContains(t, statuses, "ignored.log")

	again := f.snapshot(t, dir, snap.Commit)
	require.False(t, again.Changed)
	require.Equal(t, snap.Tree, again.Tree)
	require.Equal(t, snap.Commit, f.snapshot(t, dir, f.base.ID).Commit, "the same again, from an index that holds another tree")
}

func TestSnapshotNeedsNoIndex(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a": "1", "b": "2", ".gitignore": "b\n"})
	userGit(t, f.dir, "add", "-f", "b")
	userGit(t, f.dir, "commit", "-q", "-m", "tracked though ignored")
	base, err := f.source.Resolve(t.Context(), "")
	require.NoError(t, err)
	dir := f.checkout(t, "w", base.ID, CheckoutOptions{})
	write(t, dir, "b", "changed")
	first := f.snapshot(t, dir, base.ID)
	require.Equal(t, map[string]string{".gitignore": "file b\n", "a": "file 1", "b": "file changed"},
		listFiles(t, f.checkout(t, "c", first.Commit, CheckoutOptions{})))

	require.NoError(t, os.RemoveAll(filepath.Join(f.repo.Dir(), "indexes")))
	require.Equal(t, first.Commit, f.snapshot(t, dir, base.ID).Commit)

	w, err := f.repo.workspace(dir)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(w.indexFile(), []byte("garbage"), 0o644))
	require.NoError(t, w.forget())
	require.NoError(t, os.WriteFile(w.indexFile()+".lock", nil, 0o644))
	require.Equal(t, first.Commit, f.snapshot(t, dir, base.ID).Commit, "after a kill in the middle")
}

func TestSnapshotExcludesOurFilesUnlessTracked(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a": "1"})
	dir := f.checkout(t, "w", f.base.ID, CheckoutOptions{})
	write(t, dir, "DESIGN_CONTRACT.md", "ours")
	write(t, dir, "b", "2")
	o := SnapshotOptions{Message: "m", When: when, ExcludePaths: []string{"DESIGN_CONTRACT.md"}, Ref: "refs/conclave/r/01"}
	snap, err := f.repo.Snapshot(t.Context(), dir, f.base.ID, o)
	require.NoError(t, err)
	_, found, err := f.repo.File(t.Context(), snap.Commit, "DESIGN_CONTRACT.md")
	require.NoError(t, err)
	require.False(t, found)
	at, err := f.repo.Ref(t.Context(), "refs/conclave/r/01")
	require.NoError(t, err)
	require.Equal(t, snap.Commit, at)

	tracked := newFixture(t, map[string]string{"DESIGN_CONTRACT.md": "theirs"})
	dir = tracked.checkout(t, "w", tracked.base.ID, CheckoutOptions{})
	write(t, dir, "DESIGN_CONTRACT.md", "ours")
	snap, err = tracked.repo.Snapshot(t.Context(), dir, tracked.base.ID, o)
	require.NoError(t, err)
	content, found, err := tracked.repo.File(t.Context(), snap.Commit, "DESIGN_CONTRACT.md")
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, "ours", string(content))
}

func TestSnapshotTakesFilesOfNestedRepositories(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a": "1", ".gitignore": "*.log\n"})
	dir := f.checkout(t, "w", f.base.ID, CheckoutOptions{AgentGit: true})
	for _, name := range []string{"unborn", "born", "deep/er"} {
		write(t, dir, name+"/file", name)
		write(t, dir, name+"/x.log", "outer rule")
		write(t, dir, name+"/x.tmp", "inner rule")
		write(t, dir, name+"/.gitignore", "*.tmp\n")
		userGit(t, filepath.Join(dir, name), "init", "-q")
	}
	userGit(t, filepath.Join(dir, "born"), "add", "-A")
	userGit(t, filepath.Join(dir, "born"), "commit", "-q", "-m", "x")
	write(t, dir, "born/inner/file", "inner")
	userGit(t, filepath.Join(dir, "born", "inner"), "init", "-q")

	snap := f.snapshot(t, dir, f.base.ID)
	require.Equal(t, []string{"born", "deep/er", "unborn", "born/inner"}, snap.Nested)
	want := map[string]string{
		".gitignore": "file *.log\n", "a": "file 1", "born/file": "file born", "born/.gitignore": "file *.tmp\n",
		"born/inner/file": "file inner", "deep/er/file": "file deep/er", "deep/er/.gitignore": "file *.tmp\n",
		"unborn/file": "file unborn", "unborn/.gitignore": "file *.tmp\n",
	}
	require.Equal(t, want, listFiles(t, f.checkout(t, "c", snap.Commit, CheckoutOptions{})))

	write(t, dir, "born/later", "more")
	later := f.snapshot(t, dir, snap.Commit)
	content, found, err := f.repo.File(t.Context(), later.Commit, "born/later")
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, "more", string(content))
}

func TestSnapshotKeepsSubmodules(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a": "1"})
	link := "160000," + f.base.ID + ",lib/sub"
	userGit(t, f.dir, "update-index", "--add", "--cacheinfo", link)
	userGit(t, f.dir, "commit", "-q", "-m", "submodule")
	base, err := f.source.Resolve(t.Context(), "HEAD")
	require.NoError(t, err)
	subs, err := f.source.Submodules(t.Context(), base.Tree)
	require.NoError(t, err)
	require.Equal(t, []string{"lib/sub"}, subs)

	dir := f.checkout(t, "w", base.ID, CheckoutOptions{AgentGit: true})
	require.False(t, f.snapshot(t, dir, base.ID).Changed)
	write(t, dir, "lib/sub/file", "x")
	snap := f.snapshot(t, dir, base.ID)
	require.False(t, snap.Changed)
	require.Equal(t, []string{"lib/sub"}, snap.Submodules, "said, not silently lost")
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "lib")))
	require.False(t, f.snapshot(t, dir, base.ID).Changed, "an emptied folder does not drop the submodule")
	write(t, dir, "lib/sub", "a file now")
	require.True(t, f.snapshot(t, dir, base.ID).Changed)
}

func TestSnapshotSkipsWhatGitCannotHold(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a": "1", "pipe": "was a file"})
	dir := f.checkout(t, "w", f.base.ID, CheckoutOptions{})
	require.NoError(t, os.Remove(filepath.Join(dir, "pipe")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644))
	write(t, dir, "sub/.GIT/hooks/x", "evil")
	write(t, dir, "git~1", "evil")
	write(t, dir, "b", "2")
	snap := f.snapshot(t, dir, f.base.ID)
	require.ElementsMatch(t, []string{"pipe", "sub/.GIT/hooks/x", "git~1"}, snap.Skipped)
	require.Equal(t, []string{"a", "b"}, sortedKeys(listFiles(t, f.checkout(t, "c", snap.Commit, CheckoutOptions{}))))
}

func TestRestorePutsBackAndKeepsCaches(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a": "1", "b/c": "2", "link": "x", ".gitignore": "cache/\n"})
	dir := f.checkout(t, "w", f.base.ID, CheckoutOptions{AgentGit: true})
	want := listFiles(t, dir)
	write(t, dir, "cache/x", "stays")
	write(t, dir, "CONTRACT", "stays")
	write(t, dir, "a", "changed")
	write(t, dir, "coverage.xml", "new")
	write(t, dir, "deep/er/new", "new")
	write(t, dir, "repo/f", "nested")
	userGit(t, filepath.Join(dir, "repo"), "init", "-q")
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "b")))
	outside := t.TempDir()
	write(t, outside, "c", "outside")
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "b")))
	require.NoError(t, os.Remove(filepath.Join(dir, "link")))
	write(t, dir, "link/now/a/folder", "x")

	diffs, err := f.repo.Differences(t.Context(), dir, f.base.ID, []string{"CONTRACT"})
	require.NoError(t, err)
	removed, err := f.repo.Restore(t.Context(), dir, f.base.ID, []string{"CONTRACT"})
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "b/c", "coverage.xml", "deep/er/new", "link", "link/now/a/folder", "repo"}, removed)
	require.Equal(t, removed, diffs)
	want["cache/x"], want["CONTRACT"] = "file stays", "file stays"
	require.Equal(t, want, listFiles(t, dir))
	require.Equal(t, "outside", read(t, outside, "c"))
	require.NoDirExists(t, filepath.Join(dir, "deep"))

	again, err := f.repo.Restore(t.Context(), dir, f.base.ID, []string{"CONTRACT"})
	require.NoError(t, err)
	require.Empty(t, again)
}

func TestATouchedFileIsNoDifference(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a": "1", "b": "2"})
	dir := f.checkout(t, "w", f.base.ID, CheckoutOptions{})
	require.NoError(t, os.Chtimes(filepath.Join(dir, "a"), when, when))
	diffs, err := f.repo.Differences(t.Context(), dir, f.base.ID, nil)
	require.NoError(t, err)
	require.Empty(t, diffs)
	removed, err := f.repo.Restore(t.Context(), dir, f.base.ID, nil)
	require.NoError(t, err)
	require.Empty(t, removed)
	info, err := os.Stat(filepath.Join(dir, "a"))
	require.NoError(t, err)
	require.True(t, info.ModTime().Equal(when), "not written again")
	require.NoError(t, os.Chmod(filepath.Join(dir, "b"), 0o755))
	diffs, err = f.repo.Differences(t.Context(), dir, f.base.ID, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, diffs)
}

func TestRestoreGoesByTheCommitsIgnoreRules(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a": "1", ".gitignore": "cache/\n"})
	dir := f.checkout(t, "w", f.base.ID, CheckoutOptions{})
	write(t, dir, "cache/x", "stays")
	write(t, dir, ".gitignore", "hidden\n")
	write(t, dir, "hidden", "by a rule of the verifier's")
	write(t, dir, "out/.gitignore", "*.bin\n")
	write(t, dir, "out/x.bin", "hidden by a rule that goes")
	removed, err := f.repo.Restore(t.Context(), dir, f.base.ID, nil)
	require.NoError(t, err)
	require.Equal(t, []string{".gitignore", "hidden", "out/.gitignore", "out/x.bin"}, removed)
	require.Equal(t, map[string]string{"a": "file 1", ".gitignore": "file cache/\n", "cache/x": "file stays"}, listFiles(t, dir))
}

func TestAChangeWithinOneClockTickIsSeen(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a": "0"})
	dir := f.checkout(t, "w", f.base.ID, CheckoutOptions{})
	at := f.base.ID
	for i := range 30 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), []byte{byte('A' + i)}, 0o644))
		snap := f.snapshot(t, dir, at)
		require.True(t, snap.Changed, "same size, same tick, other content")
		at = snap.Commit
	}
}

func TestAnIndexThatMovesToAnotherTreeKeepsItsFileTimes(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a": "1", "b": "2", "c/d": "3"})
	dir := f.checkout(t, "w", f.base.ID, CheckoutOptions{})
	write(t, dir, "a", "changed")
	write(t, dir, "new", "n")
	f.snapshot(t, dir, f.base.ID)
	write(t, dir, "new", "n again")
	w, unlock, err := f.repo.openAt(t.Context(), dir, f.base.ID)
	require.NoError(t, err)
	defer unlock()
	s, err := w.scanFiles(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, pathsOf(s.changed), "only what differs has to be read again")
	require.Equal(t, []string{"new"}, s.untracked)
}

func TestALinkToItselfInPlaceOfAFolder(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"d/a": "1", "x.log/b": "2", "c": "3"})
	dir := f.checkout(t, "w", f.base.ID, CheckoutOptions{})
	want := listFiles(t, dir)
	write(t, f.repo.Dir(), "info/exclude", "*.log\n")
	for _, name := range []string{"d", "x.log"} {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
		require.NoError(t, os.Symlink(name, filepath.Join(dir, name)))
	}
	diffs, err := f.repo.Differences(t.Context(), dir, f.base.ID, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"d", "d/a", "x.log/b"}, diffs)
	snap := f.snapshot(t, dir, f.base.ID)
	require.Equal(t, map[string]string{"c": "file 3", "d": "link d"}, listFiles(t, f.checkout(t, "c", snap.Commit, CheckoutOptions{})))
	_, err = f.repo.Restore(t.Context(), dir, f.base.ID, nil)
	require.NoError(t, err)
	require.Equal(t, want, listFiles(t, dir))
}
