package gitrepo

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func open(t *testing.T, dir string) *Source {
	t.Helper()
	s, err := OpenSource(t.Context(), dir)
	require.NoError(t, err)
	return s
}

func TestOpenSourceFindsTheRoot(t *testing.T) {
	t.Parallel()
	dir := userRepo(t, map[string]string{"deep/er/file": "x"})
	s := open(t, filepath.Join(dir, "deep", "er"))
	require.Equal(t, dir, s.Root())
	require.True(t, s.IsRepository())
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	require.Equal(t, dir, open(t, link).Root())
}

func TestOpenSourceRefusals(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, err := OpenSource(ctx, filepath.Join(t.TempDir(), "missing"))
	require.ErrorIs(t, err, ErrNotDirectory)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	_, err = OpenSource(ctx, file)
	require.ErrorIs(t, err, ErrNotDirectory)

	bare := filepath.Join(t.TempDir(), "bare.git")
	userGit(t, filepath.Dir(bare), "init", "-q", "--bare", bare)
	_, err = OpenSource(ctx, bare)
	require.ErrorIs(t, err, ErrBareRepository)
	inside := userRepo(t, nil)
	_, err = OpenSource(ctx, filepath.Join(inside, ".git", "refs"))
	require.ErrorIs(t, err, ErrBareRepository)

	corrupt := userRepo(t, nil)
	require.NoError(t, os.Remove(filepath.Join(corrupt, ".git", "HEAD")))
	_, err = OpenSource(ctx, corrupt)
	require.ErrorIs(t, err, ErrCorruptRepository)
	require.ErrorContains(t, err, corrupt)
	garbled := userRepo(t, nil)
	write(t, garbled, ".git/config", "[core\n")
	_, err = OpenSource(ctx, garbled)
	require.ErrorIs(t, err, ErrCorruptRepository)
	lost := t.TempDir()
	write(t, lost, ".git", "gitdir: /nowhere\n")
	_, err = OpenSource(ctx, lost)
	require.ErrorIs(t, err, ErrCorruptRepository)
}

func TestAnEmptyDotGitIsNoRepository(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, ".git"), 0o755))
	s := open(t, dir)
	require.False(t, s.IsRepository())
	_, err := s.Resolve(t.Context(), "HEAD")
	require.ErrorIs(t, err, ErrNoRepository)
	dirty, err := s.Dirty(t.Context())
	require.NoError(t, err)
	require.Empty(t, dirty)
}

func TestResolve(t *testing.T) {
	t.Parallel()
	dir := userRepo(t, map[string]string{"a": "1"})
	userGit(t, dir, "tag", "-a", "v1", "-m", "x")
	userGit(t, dir, "update-ref", "refs/remotes/origin/feature", "HEAD")
	s := open(t, dir)
	head, err := s.Resolve(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, userGit(t, dir, "rev-parse", "HEAD"), head.ID)
	require.Equal(t, userGit(t, dir, "rev-parse", "HEAD^{tree}"), head.Tree)
	tag, err := s.Resolve(t.Context(), "v1")
	require.NoError(t, err)
	require.Equal(t, head, tag)
	for _, ref := range []string{"nope", "-x", "HEAD~9", "a\nb", strings.Repeat("ab", 20), "HEAD^{tree}", "--all", "@{-1}"} {
		_, err := s.Resolve(t.Context(), ref)
		require.ErrorIs(t, err, ErrUnresolved, ref)
	}
	_, err = s.Resolve(t.Context(), "feature")
	require.ErrorContains(t, err, "did you mean origin/feature?")

	userGit(t, dir, "checkout", "-q", "--detach")
	userGit(t, dir, "switch", "-q", "--orphan", "other")
	userGit(t, dir, "commit", "-q", "--allow-empty", "-m", "unrelated")
	_, err = s.MergeBase(t.Context(), "main", "other")
	require.ErrorIs(t, err, ErrUnresolved)
	base, err := s.MergeBase(t.Context(), "main", "v1")
	require.NoError(t, err)
	require.Equal(t, head, base)
}

func TestUnbornAndDamagedRepositories(t *testing.T) {
	t.Parallel()
	unborn := t.TempDir()
	userGit(t, unborn, "init", "-q", "-b", "main")
	write(t, unborn, "a", "1")
	s := open(t, unborn)
	_, err := s.Resolve(t.Context(), "HEAD")
	require.ErrorIs(t, err, ErrNoCommit)
	dirty, err := s.Dirty(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, dirty)

	dir := userRepo(t, map[string]string{"a": "1"})
	head := userGit(t, dir, "rev-parse", "HEAD")
	require.NoError(t, os.Remove(filepath.Join(dir, ".git/objects", head[:2], head[2:])))
	_, err = open(t, dir).Resolve(t.Context(), "HEAD")
	require.ErrorIs(t, err, ErrCorruptRepository)
}

// roundTrip runs the whole way on a source: workspace, snapshot, landing.
func roundTrip(t *testing.T, dir string) {
	t.Helper()
	f := fixtureOf(t, dir)
	w := f.checkout(t, "w", f.base.ID, CheckoutOptions{AgentGit: true})
	require.Equal(t, "", userGit(t, w, "status", "--porcelain"))
	write(t, w, "new", "n")
	snap := f.snapshot(t, w, f.base.ID)
	before := userGit(t, dir, "status", "--porcelain")
	landed, err := f.source.Land(t.Context(), f.repo, LandOptions{Base: f.base.ID, Tree: snap.Tree, Branch: "conclave/x", Message: "m", When: when})
	require.NoError(t, err)
	require.Equal(t, "new", userGit(t, dir, "diff", "--name-only", f.base.ID, landed.Commit))
	require.Equal(t, before, userGit(t, dir, "status", "--porcelain"))
}

func TestKindsOfRepositories(t *testing.T) {
	t.Parallel()
	t.Run("linked worktree", func(t *testing.T) {
		dir := userRepo(t, map[string]string{"a": "1"})
		linked := filepath.Join(t.TempDir(), "linked")
		userGit(t, dir, "worktree", "add", "-q", "-b", "side", linked)
		write(t, linked, "b", "2")
		userGit(t, linked, "add", "-A")
		userGit(t, linked, "commit", "-q", "-m", "side")
		write(t, linked, "dirty", "x")
		s := open(t, linked)
		require.Equal(t, linked, s.Root())
		dirty, err := s.Dirty(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"dirty"}, dirty)
		roundTrip(t, linked)
	})
	t.Run("detached", func(t *testing.T) {
		dir := userRepo(t, map[string]string{"a": "1"})
		userGit(t, dir, "checkout", "-q", "--detach")
		roundTrip(t, dir)
	})
	t.Run("shallow", func(t *testing.T) {
		dir := userRepo(t, map[string]string{"a": "1"})
		for range 3 {
			userGit(t, dir, "commit", "-q", "--allow-empty", "-m", "more")
		}
		shallow := filepath.Join(t.TempDir(), "shallow")
		userGit(t, dir, "clone", "-q", "--depth", "1", "file://"+dir, shallow)
		s := open(t, shallow)
		require.True(t, s.IsShallow())
		_, err := s.Resolve(t.Context(), "HEAD~2")
		require.ErrorIs(t, err, ErrUnresolved)
		require.ErrorContains(t, err, "shallow")
		roundTrip(t, shallow)
	})
	t.Run("sha256", func(t *testing.T) {
		dir := t.TempDir()
		userGit(t, dir, "init", "-q", "--object-format=sha256")
		write(t, dir, "a", "1")
		userGit(t, dir, "add", "-A")
		userGit(t, dir, "commit", "-q", "-m", "x")
		roundTrip(t, dir)
	})
	t.Run("borrowing", func(t *testing.T) {
		dir := userRepo(t, map[string]string{"a": "1"})
		clone := filepath.Join(t.TempDir(), "shared \"clone\"")
		userGit(t, dir, "clone", "-q", "--shared", dir, clone)
		roundTrip(t, clone)
	})
	t.Run("packed", func(t *testing.T) {
		dir := userRepo(t, map[string]string{"a": "1"})
		userGit(t, dir, "gc", "-q")
		roundTrip(t, dir)
	})
	t.Run("sparse", func(t *testing.T) {
		dir := userRepo(t, map[string]string{"in/a": "1", "out/b": "2", "out/deep/c": "3"})
		userGit(t, dir, "sparse-checkout", "set", "--cone", "--sparse-index", "in")
		require.NoFileExists(t, filepath.Join(dir, "out/b"))
		write(t, dir, "in/new", "x")
		f := fixtureOf(t, dir)
		dirty, err := f.source.Dirty(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"in/new"}, dirty)
		tree, err := f.repo.SnapshotSource(t.Context(), f.source)
		require.NoError(t, err)
		require.Equal(t, "in/new", userGit(t, f.repo.Dir(), "diff-tree", "-r", "--name-only", f.base.Tree, tree))
		roundTrip(t, dir)
	})
	t.Run("split index", func(t *testing.T) {
		dir := userRepo(t, map[string]string{"a": "1", "b": "2"})
		userGit(t, dir, "update-index", "--split-index")
		write(t, dir, "b", "changed")
		before := frozen(t, dir)
		f := fixtureOf(t, dir)
		dirty, err := f.source.Dirty(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"b"}, dirty)
		tree, err := f.repo.SnapshotSource(t.Context(), f.source)
		require.NoError(t, err)
		require.Equal(t, "b", userGit(t, f.repo.Dir(), "diff-tree", "-r", "--name-only", f.base.Tree, tree))
		require.Equal(t, before, frozen(t, dir))
		roundTrip(t, dir)
	})
}

func TestExcludesOutsideTheTree(t *testing.T) {
	t.Parallel()
	dir := userRepo(t, map[string]string{"a": "1"})
	write(t, dir, ".git/own", "*.swp\n!keep.bak")
	write(t, dir, ".git/info/exclude", "*.bak\n")
	userGit(t, dir, "config", "core.excludesFile", ".git/own")
	for _, name := range []string{"x.swp", "x.bak", "keep.bak", "seen"} {
		write(t, dir, name, "x")
	}
	want := userGit(t, dir, "ls-files", "-o", "--exclude-standard")
	f := fixtureOf(t, dir)
	dirty, err := f.source.Dirty(t.Context())
	require.NoError(t, err)
	require.Equal(t, strings.Split(want, "\n"), dirty)
	w := f.checkout(t, "w", f.base.ID, CheckoutOptions{AgentGit: true})
	write(t, w, "y.swp", "x")
	write(t, w, "y.bak", "x")
	require.False(t, f.snapshot(t, w, f.base.ID).Changed)
	require.Equal(t, "", userGit(t, w, "status", "--porcelain"), "the agent's git ignores the same")
}

// Somebody else's .git above a work directory, in a place that all may write, must not decide what a run does.
func TestAnotherUsersRepositoryAroundOursIsRefused(t *testing.T) {
	dir := userRepo(t, map[string]string{"a": "1", "conclave.yaml": "verify_cmd: evil\n"})
	global := filepath.Join(t.TempDir(), "gitconfig")
	t.Setenv("GIT_CONFIG_GLOBAL", global)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	require.True(t, ownedByUs(dir))
	source, err := OpenSource(t.Context(), dir)
	require.NoError(t, err)

	// git's own switch for its tests makes every owner another one.
	git, err := exec.LookPath("git")
	require.NoError(t, err)
	source.runner.Binary = filepath.Join(t.TempDir(), "git")
	require.NoError(t, os.WriteFile(source.runner.Binary, []byte("#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec "+git+` "$@"`+"\n"), 0o755))
	require.ErrorIs(t, source.askGit(t.Context()), ErrForeign)
	require.NoError(t, os.WriteFile(global, []byte("[safe]\n\tdirectory = "+source.Root()+"\n"), 0o600))
	require.NoError(t, source.askGit(t.Context()))

	if os.Getuid() != 0 {
		return // an owner is only given away by root
	}
	require.NoError(t, os.Remove(global))
	require.NoError(t, os.Chown(filepath.Join(dir, ".git"), 65534, 65534))
	require.NoError(t, os.Chown(dir, 65534, 65534))
	mine, theirs := filepath.Join(dir, "mine"), filepath.Join(dir, "theirs")
	require.NoError(t, os.Mkdir(mine, 0o755))
	require.NoError(t, os.Mkdir(theirs, 0o755))
	require.NoError(t, os.Chown(theirs, 65534, 65534))
	_, err = OpenSource(t.Context(), mine)
	require.ErrorIs(t, err, ErrForeign, "a folder of ours below a repository of theirs")
	for _, whole := range []string{dir, theirs} {
		_, err = OpenSource(t.Context(), whole)
		require.NoError(t, err, "a checkout that is theirs as a whole")
	}
}

// A repository can come with a .git of somebody else's making. What a run takes from it, agents read.
func TestARepositoryNamesNoOtherFilesOfTheUser(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write(t, home, "id_ed25519", "top secret key\n")
	for name, plant := range map[string]func(dir string){
		"ignore rules by configuration":    func(dir string) { userGit(t, dir, "config", "core.excludesFile", filepath.Join(home, "id_ed25519")) },
		"attribute rules by configuration": func(dir string) { userGit(t, dir, "config", "core.attributesFile", filepath.Join(home, "id_ed25519")) },
		"ignore rules by a link": func(dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, ".git/info/exclude")))
			require.NoError(t, os.Symlink(filepath.Join(home, "id_ed25519"), filepath.Join(dir, ".git/info/exclude")))
		},
		"attribute rules by a link": func(dir string) {
			require.NoError(t, os.Symlink(filepath.Join(home, "id_ed25519"), filepath.Join(dir, ".git/info/attributes")))
		},
		"the list of a shallow clone by a link": func(dir string) {
			require.NoError(t, os.Symlink(filepath.Join(home, "id_ed25519"), filepath.Join(dir, ".git/shallow")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := userRepo(t, map[string]string{"a": "1"})
			write(t, dir, ".git/info/exclude", "")
			plant(dir)
			source, err := OpenSource(t.Context(), dir)
			if err != nil {
				return // refused as a whole
			}
			excludes, err := source.Excludes(t.Context())
			require.NoError(t, err)
			require.NotContains(t, string(excludes), "secret")
			config, err := source.userConfig(t.Context())
			require.NoError(t, err)
			global, own, err := source.attributes(config)
			require.NoError(t, err)
			require.NotContains(t, string(global)+string(own), "secret")
			shallow, err := source.ShallowFile()
			require.True(t, err != nil || !strings.Contains(string(shallow), "secret"))
		})
	}
}

func TestDirtyTakesTextConversionIntoAccount(t *testing.T) {
	t.Parallel()
	dir := userRepo(t, map[string]string{".gitattributes": "*.bat text eol=crlf\n*.big filter=lfs\n", "a.bat": "x\n", "b.bat": "y\n", "c.big": "pointer\n"})
	userGit(t, dir, "rm", "-q", "--cached", "-r", ".")
	userGit(t, dir, "reset", "-q", "--hard")
	require.Equal(t, "x\r\n", read(t, dir, "a.bat"))
	require.NoError(t, os.Chtimes(filepath.Join(dir, "a.bat"), when, when))
	write(t, dir, "b.bat", "z\r\n")
	marker := filepath.Join(t.TempDir(), "ran")
	userGit(t, dir, "config", "filter.lfs.clean", "touch "+marker+"; cat")
	write(t, dir, "c.big", "content\n")
	f := fixtureOf(t, dir)
	dirty, err := f.source.Dirty(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"b.bat", "c.big"}, dirty)
	tree, err := f.repo.SnapshotSource(t.Context(), f.source)
	require.NoError(t, err)
	content, _, err := f.repo.File(t.Context(), tree, "b.bat")
	require.NoError(t, err)
	require.Equal(t, "z\n", string(content))
	require.NoFileExists(t, marker, "no filter program of the user ran")
}

func TestTheEnvironmentOfACallerDoesNotMatter(t *testing.T) {
	dir := userRepo(t, map[string]string{"a": "1"})
	other := userRepo(t, map[string]string{"b": "1"})
	for name, value := range map[string]string{
		"GIT_DIR": filepath.Join(other, ".git"), "GIT_WORK_TREE": other, "GIT_INDEX_FILE": "/nowhere/index", "GIT_PREFIX": "x/",
		"GIT_OBJECT_DIRECTORY": "/nowhere", "GIT_EXTERNAL_DIFF": "false", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.bare",
		"GIT_CONFIG_VALUE_0": "true", "GIT_NAMESPACE": "x", "GIT_GLOB_PATHSPECS": "1", "GIT_CONFIG_PARAMETERS": "'core.bare=true'",
		"GIT_TRACE": "1", "GIT_AUTHOR_DATE": "yesterday",
	} {
		t.Setenv(name, value)
	}
	roundTrip(t, dir)
}

func TestCancelledAndMissingGit(t *testing.T) {
	t.Parallel()
	dir := userRepo(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := OpenSource(ctx, dir)
	require.ErrorIs(t, err, context.Canceled)
	_, err = Runner{Binary: "no-such-git"}.run(t.Context(), call{}, "version")
	require.ErrorIs(t, err, ErrNoGit)
}
