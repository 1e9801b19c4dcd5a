package gitrepo

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"conclave/internal/glob"
)

var (
	names    = []string{"a", "b", "with space", "new\nline", "ünï", "bad\xff", "-rf", ":(top)x", "*", "d", "tab\tq\"", ".hidden", "x.log", "\\back", "trailing "}
	contents = []string{"", "text\n", "no newline", "cr\r\nlf\r\n", "\x00\x01\xff\xfe", "$Id$\n", "version https://git-lfs.github.com/spec/v1\n", "\xef\xbb\xbfbom\n"}
)

// editor draws edits of a folder. It keeps to files and links inside the tree, which both Apply and Checkout take.
type editor struct {
	t    *rapid.T
	root string
}

func (e editor) path() string {
	depth := rapid.IntRange(1, 3).Draw(e.t, "depth")
	parts := make([]string, depth)
	for i := range parts {
		parts[i] = rapid.SampledFrom(names).Draw(e.t, "name")
	}
	return strings.Join(parts, "/")
}

// clear makes room for a file: what stands on its path goes, as an agent would do it.
func (e editor) clear(path string) {
	parts := strings.Split(path, "/")
	for i := range parts {
		at := filepath.Join(e.root, strings.Join(parts[:i+1], "/"))
		info, err := os.Lstat(at)
		if err == nil && (!info.IsDir() || i == len(parts)-1) {
			require.NoError(e.t, os.RemoveAll(at))
		}
	}
	require.NoError(e.t, os.MkdirAll(filepath.Dir(filepath.Join(e.root, path)), 0o755))
}

func (e editor) edit() {
	path := e.path()
	full := filepath.Join(e.root, path)
	switch rapid.IntRange(0, 6).Draw(e.t, "kind") {
	case 0, 1, 2:
		e.clear(path)
		mode := rapid.SampledFrom([]os.FileMode{0o644, 0o755, 0o600}).Draw(e.t, "mode")
		require.NoError(e.t, os.WriteFile(full, []byte(rapid.SampledFrom(contents).Draw(e.t, "content")), mode))
	case 3:
		e.clear(path)
		target := rapid.SampledFrom([]string{"a", "missing", "d", ".", "new\nline", "bad\xff"}).Draw(e.t, "target")
		require.NoError(e.t, os.Symlink(target, full))
	case 4:
		if existing := e.existing(); existing != "" {
			require.NoError(e.t, os.RemoveAll(filepath.Join(e.root, existing)))
		}
	case 5:
		if existing := e.existing(); existing != "" {
			at := filepath.Join(e.root, existing)
			if info, err := os.Lstat(at); err == nil && info.Mode().IsRegular() {
				require.NoError(e.t, os.Chmod(at, info.Mode().Perm()^0o111))
			}
		}
	case 6:
		e.clear(path)
		require.NoError(e.t, os.Mkdir(full, 0o755))
	}
}

func (e editor) existing() string {
	files := listFiles(e.t, e.root)
	delete(files, ".gitignore") // the rules stay, so that the test knows them
	all := sortedKeys(files)
	if len(all) == 0 {
		return ""
	}
	return rapid.SampledFrom(all).Draw(e.t, "existing")
}

// TestAnyEditReachesEveryCopy: random edits in a workspace, over several snapshots, give the same bytes, modes and links
// in a fresh checkout, in another clone after Apply, and on the landed branch; Restore takes the workspace back.
func TestAnyEditReachesEveryCopy(t *testing.T) {
	t.Parallel()
	dir := userRepo(t, map[string]string{
		"a": "1\n", "b/a": "2\n", "d/d/d": "3", "with space/new\nline": "4", "bad\xff/x": "5\r\n", ".gitignore": "*.log\n", ".gitattributes": "* text=auto\n",
	})
	f := fixtureOf(t, dir)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		place := filepath.Join(f.state, fmt.Sprint("case", n))
		require.NoError(rt, os.Mkdir(place, 0o755))
		defer func() { _ = RemoveTree(place) }()
		work := filepath.Join(place, "w")
		require.NoError(rt, f.repo.Checkout(t.Context(), f.base.ID, work, CheckoutOptions{AgentGit: rapid.Bool().Draw(rt, "git")}))
		at := f.base.ID
		var tree string
		for range rapid.IntRange(1, 2).Draw(rt, "turns") {
			e := editor{rt, work}
			for range rapid.IntRange(1, 8).Draw(rt, "edits") {
				e.edit()
			}
			snap := f.snapshot(rt, work, at)
			at, tree = snap.Commit, snap.Tree
		}
		want := notIgnored(listFiles(rt, work))
		fresh := filepath.Join(place, "fresh")
		require.NoError(rt, f.repo.Checkout(t.Context(), at, fresh, CheckoutOptions{}))
		require.Equal(rt, want, listFiles(rt, fresh))

		clone := filepath.Join(place, "clone")
		require.NoError(rt, f.repo.Checkout(t.Context(), f.base.ID, clone, CheckoutOptions{}))
		_, err := f.repo.Apply(t.Context(), ApplyOptions{Base: f.base.ID, Commit: at, Target: clone, WithDeletions: true})
		require.NoError(rt, err)
		require.Equal(rt, want, listFiles(rt, clone))

		diffs, err := f.repo.Differences(t.Context(), work, at, nil)
		require.NoError(rt, err)
		require.Empty(rt, diffs)
		_, err = f.repo.Restore(t.Context(), work, f.base.ID, nil)
		require.NoError(rt, err)
		base, err := f.repo.Snapshot(t.Context(), work, f.base.ID, SnapshotOptions{Message: "m", When: when})
		require.NoError(rt, err)
		require.False(rt, base.Changed)
		require.NotEmpty(rt, tree)
	})
}

// TestTheUsersFilesAreTakenAsTheyAre: random edits, some of them staged, in the user's own tree give exactly its files
// as a snapshot, Dirty names exactly what differs from HEAD, and the user's repository is not written to.
func TestTheUsersFilesAreTakenAsTheyAre(t *testing.T) {
	t.Parallel()
	n := 0
	places := t.TempDir()
	origin := userRepo(t, map[string]string{"a": "1\n", "b/a": "2\n", "d/d/d": "3", "with space/new\nline": "4", ".gitignore": "*.log\n"})
	rapid.Check(t, func(rt *rapid.T) {
		n++
		dir := filepath.Join(places, fmt.Sprint("case", n))
		defer func() { _ = RemoveTree(dir) }()
		userGit(rt, origin, "clone", "-q", origin, dir+"/user")
		f, err := tryFixture(dir+"/user", dir+"/state")
		require.NoError(rt, err)
		e := editor{rt, f.dir}
		for range rapid.IntRange(0, 5).Draw(rt, "edits") {
			e.edit()
			if rapid.Bool().Draw(rt, "stage") {
				userGit(rt, f.dir, "add", "-A")
			}
		}
		before := frozen(rt, f.dir)
		tree, err := f.repo.SnapshotSource(t.Context(), f.source)
		require.NoError(rt, err)
		dirty, err := f.source.Dirty(t.Context())
		require.NoError(rt, err)
		require.Equal(rt, before, frozen(rt, f.dir))

		changes, err := f.repo.Changes(t.Context(), f.base.ID, tree)
		require.NoError(rt, err)
		for _, change := range changes {
			require.Contains(rt, dirty, change.Path)
		}
		require.Equal(rt, len(dirty) == 0, len(changes) == 0 && userGit(rt, f.dir, "status", "--porcelain") == "")
		fresh := dir + "/fresh"
		require.NoError(rt, f.repo.Checkout(t.Context(), tree, fresh, CheckoutOptions{}))
		require.Equal(rt, notIgnored(listFiles(rt, f.dir)), listFiles(rt, fresh))
	})
}

// notIgnored drops what the fixture's ignore rule covers.
func notIgnored(files map[string]string) map[string]string {
	kept := map[string]string{}
	for name, content := range files {
		if !ignoredByRule(name) {
			kept[name] = content
		}
	}
	return kept
}

func ignoredByRule(name string) bool {
	for _, part := range strings.Split(name, "/") {
		if strings.HasSuffix(part, ".log") {
			return true
		}
	}
	return false
}

func TestGlobs(t *testing.T) {
	t.Parallel()
	for pattern, paths := range map[string]map[string]bool{
		"*.go":           {"a.go": true, "d/a.go": false, "a.go.x": false},
		"**/*.go":        {"a.go": true, "d/a.go": true, "d/e/a.go": true},
		"src":            {"src/a": true, "src": true, "srcs/a": false},
		"src/":           {"src/a/b": true},
		"src/**":         {"src/a/b": true, "src": false},
		"a/**/z":         {"a/z": true, "a/b/z": true, "a/b/c/z": true, "az": false},
		"/[!a-c]?.t[xy]": {"dd.tx": true, "ad.tx": false, "d.tx": false},
		`\*x`:            {"*x": true, "ax": false},
		"*":              {"bad\xff": true, "new\nline": true, "d/x": true},
		"a.b":            {"a.b": true, "axb": false},
	} {
		match, err := glob.Compile([]string{pattern})
		require.NoError(t, err, pattern)
		for path, want := range paths {
			require.Equal(t, want, match(path), "%s on %q", pattern, path)
		}
	}
	for _, bad := range []string{"", "/", "[a"} {
		_, err := glob.Compile([]string{bad})
		require.Error(t, err, bad)
	}
}

func TestGlobTreeChangesWithMatchingFilesOnly(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"src/a.go": "1", "doc/x.md": "2"})
	dir := f.checkout(t, "w", f.base.ID, CheckoutOptions{})
	digest := func(commit string) string {
		d, err := f.repo.GlobTree(t.Context(), commit, []string{"src/**/*.go"})
		require.NoError(t, err)
		return d
	}
	before := digest(f.base.ID)
	write(t, dir, "doc/x.md", "3")
	snap := f.snapshot(t, dir, f.base.ID)
	require.Equal(t, before, digest(snap.Commit))
	require.NoError(t, os.Chmod(filepath.Join(dir, "src/a.go"), 0o755))
	snap = f.snapshot(t, dir, snap.Commit)
	require.NotEqual(t, before, digest(snap.Commit))
}

func TestRefs(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a": "1"})
	ctx := t.Context()
	other, err := f.repo.CommitTree(ctx, f.base.Tree, []string{f.base.ID}, "x", when)
	require.NoError(t, err)
	again, err := f.repo.CommitTree(ctx, f.base.Tree, []string{f.base.ID}, "x", when)
	require.NoError(t, err)
	require.Equal(t, other, again)
	require.NoError(t, f.repo.SetRef(ctx, "refs/conclave/r/01", f.base.ID))
	require.NoError(t, f.repo.SetRef(ctx, "refs/conclave/r/01", other))
	require.NoError(t, f.repo.SetRef(ctx, "refs/conclave/r/02", f.base.ID))
	require.Error(t, f.repo.SetRef(ctx, "HEAD", f.base.ID))
	refs, err := f.repo.Refs(ctx, "refs/conclave/")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"refs/conclave/r/01": other, "refs/conclave/r/02": f.base.ID}, refs)
	none, err := f.repo.Ref(ctx, "refs/conclave/r/03")
	require.NoError(t, err)
	require.Empty(t, none)

	lock := filepath.Join(f.repo.Dir(), "refs/conclave/r/02.lock")
	require.NoError(t, os.WriteFile(lock, nil, 0o644))
	require.NoError(t, os.Chtimes(lock, when, when))
	require.NoError(t, f.repo.SetRef(ctx, "refs/conclave/r/02", other), "the lock of a git that was killed long ago")
}
