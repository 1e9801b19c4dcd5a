package gitrepo

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// watched is a fresh workspace of a seat, and a watch over it.
type watched struct {
	t      *testing.T
	repo   *RunRepo
	dir    string
	commit string
	watch  *Watch
}

func newWatched(t *testing.T) *watched {
	t.Helper()
	user := userRepo(t, map[string]string{
		"a.txt": "aaaa\n", "bin/run.sh": "#!/bin/sh\n", "sub/deep/b.txt": "b\n", ".gitignore": "cache/\n*.log\n", "tracked.log": "t\n",
	})
	userGit(t, user, "add", "-f", "tracked.log")
	require.NoError(t, os.Chmod(filepath.Join(user, "bin/run.sh"), 0o755))
	require.NoError(t, os.Symlink("a.txt", filepath.Join(user, "link")))
	userGit(t, user, "add", "-A")
	userGit(t, user, "commit", "-qm", "all")
	source, err := OpenSource(t.Context(), user)
	require.NoError(t, err)
	repo, err := CreateRunRepo(t.Context(), RunRepoOptions{Dir: filepath.Join(t.TempDir(), "run.git"), Alternates: []string{source.ObjectsDir()}, Excludes: []byte("*.private\n")})
	require.NoError(t, err)
	w := &watched{t: t, repo: repo, dir: filepath.Join(t.TempDir(), "seat"), commit: userGit(t, user, "rev-parse", "HEAD")}
	require.NoError(t, repo.SetRef(t.Context(), "refs/conclave/r/01", w.commit))
	require.NoError(t, repo.Checkout(t.Context(), w.commit, w.dir, CheckoutOptions{AgentGit: true}))
	write(t, w.dir, "OURS.md", "ours\n")
	w.watch, err = repo.Watch(w.dir)
	require.NoError(t, err)
	return w
}

func (w *watched) touched() []string {
	w.t.Helper()
	touched, err := w.watch.Touched(context.Background(), w.commit, []string{"OURS.md"})
	require.NoError(w.t, err)
	return touched
}

func (w *watched) tampered() []string {
	w.t.Helper()
	tampered, err := w.watch.Tampered()
	require.NoError(w.t, err)
	return tampered
}

func (w *watched) sh(script string) {
	w.t.Helper()
	cmd := exec.Command("/bin/sh", "-ec", script)
	cmd.Dir = w.dir
	cmd.Env = append(cleanEnv(), "REPO="+w.repo.Dir())
	out, err := cmd.CombinedOutput()
	require.NoError(w.t, err, string(out))
}

func TestAReaderThatOnlyReadsTouchesNothing(t *testing.T) {
	w := newWatched(t)
	w.sh("cat a.txt > /dev/null; touch a.txt; git status > /dev/null; git log > /dev/null; git gc -q; git config x.y z; mkdir empty; echo other > OURS.md; rm -rf .git/logs")
	require.Empty(t, w.touched(), "its .git is nobody's, a time is no change, and our files are left out")
	require.Empty(t, w.tampered())
}

func TestEverythingThatAReaderTouchesIsSeen(t *testing.T) {
	for script, want := range map[string][]string{
		"echo x >> a.txt": {"a.txt"},
		"touch -r a.txt /tmp/$$; printf bbbb\\\\n > a.txt; touch -r /tmp/$$ a.txt; rm /tmp/$$": {"a.txt"},
		"chmod 600 a.txt":                                 {"a.txt"},
		"truncate -s 500G a.txt":                          {"a.txt"}, // nobody reads all of it
		"chmod -x bin/run.sh":                             {"bin/run.sh"},
		"chmod u+s bin/run.sh":                            {"bin/run.sh"},
		"chmod 700 sub":                                   {"sub"},
		"chmod 000 sub/deep":                              {"sub/deep"},
		"mkdir cache; echo x > cache/x":                   {"cache/x"},
		"echo x > new.log":                                {"new.log"},
		"echo x > a.private":                              {"a.private"},
		"echo x > new.txt; echo y > sub/new.txt":          {"new.txt", "sub/new.txt"},
		"echo x > tracked.log":                            {"tracked.log"},
		"rm a.txt":                                        {"a.txt"},
		"rm -r sub":                                       {"sub/deep/b.txt"},
		"rm a.txt; ln -s bin/run.sh a.txt":                {"a.txt"},
		"ln -sf bin/run.sh link":                          {"link"},
		"rm a.txt; mkdir a.txt; echo x > a.txt/y":         {"a.txt", "a.txt/y"},
		"mkfifo pipe":                                     {"pipe"},
		"mkdir -p inner/.git; echo x > inner/.git/config": {"inner/.git/config"},
		"mv a.txt c.txt":                                  {"a.txt", "c.txt"},
		"echo '*' > .gitignore; echo x > hidden":          {".gitignore", "hidden"},
		"echo '*' >> .git/info/exclude; echo x > hidden":  {"hidden"},
		"git checkout -q -b other; git rm -q a.txt; git commit -qm x; echo x > a.txt": {"a.txt"},
	} {
		t.Run(script, func(t *testing.T) {
			w := newWatched(t)
			w.sh(script)
			require.Equal(t, want, w.touched())
			require.Empty(t, w.tampered())
		})
	}
}

// A file can be mapped and written without anybody calling write.
func TestAChangeThroughAMappingIsSeen(t *testing.T) {
	w := newWatched(t)
	file, err := os.OpenFile(filepath.Join(w.dir, "a.txt"), os.O_RDWR, 0)
	require.NoError(t, err)
	before, err := file.Stat()
	require.NoError(t, err)
	page, err := syscall.Mmap(int(file.Fd()), 0, 5, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	require.NoError(t, err)
	page[0] = 'X'
	require.NoError(t, syscall.Munmap(page))
	require.NoError(t, file.Close())
	require.NoError(t, os.Chtimes(filepath.Join(w.dir, "a.txt"), time.Now(), before.ModTime()))
	require.Equal(t, []string{"a.txt"}, w.touched())
}

// Who changes our private index to hide a change only makes us look again.
func TestAForgedIndexHidesNothing(t *testing.T) {
	w := newWatched(t)
	private, err := w.repo.workspace(w.dir)
	require.NoError(t, err)
	w.sh(fmt.Sprintf("echo x > a.txt; GIT_DIR=%s GIT_WORK_TREE=. GIT_INDEX_FILE=%s git update-index a.txt", w.repo.Dir(), private.indexFile()))
	different, err := w.repo.Differences(t.Context(), w.dir, w.commit, []string{"OURS.md"})
	require.NoError(t, err)
	require.Empty(t, different, "the index alone would be believed")
	require.Equal(t, []string{"a.txt"}, w.touched())
}

func TestTheRunsRepositoryIsPutBack(t *testing.T) {
	for script, want := range map[string][]string{
		"git --git-dir=$REPO update-ref refs/conclave/r/01 $(git --git-dir=$REPO commit-tree -m x HEAD^{tree} 2>/dev/null || git --git-dir=$REPO commit-tree -m x $(git --git-dir=$REPO rev-parse refs/conclave/r/01^{tree}))": {"refs/conclave/r/01"},
		"git --git-dir=$REPO update-ref -d refs/conclave/r/01":                 {"refs/conclave/r/01"},
		"git --git-dir=$REPO update-ref refs/conclave/r/07 refs/conclave/r/01": {"refs/conclave/r/07"},
		"git --git-dir=$REPO config core.hooksPath /tmp/evil":                  {"config"},
		"echo '*' >> $REPO/info/exclude; rm $REPO/info/attributes":             {"info/attributes", "info/exclude"},
		"echo /elsewhere > $REPO/objects/info/alternates":                      {"objects/info/alternates"},
		"mkdir -p $REPO/hooks; echo evil > $REPO/hooks/post-checkout":          {"hooks/post-checkout"},
		"rm $REPO/config; ln -s /dev/null $REPO/config":                        {"config"},
		"echo ref: refs/heads/x > $REPO/HEAD":                                  {"HEAD"},
	} {
		t.Run(script, func(t *testing.T) {
			w := newWatched(t)
			before, err := w.watch.controls()
			require.NoError(t, err)
			w.sh("export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@localhost GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@localhost; " + script)
			require.Equal(t, want, w.tampered())
			after, err := w.watch.controls()
			require.NoError(t, err)
			require.Equal(t, before, after)
			require.Empty(t, w.tampered())
			id, err := w.repo.Ref(t.Context(), "refs/conclave/r/01")
			require.NoError(t, err)
			require.Equal(t, w.commit, id)
			require.Empty(t, w.touched())
		})
	}
}

// Seats work at the same time: what one fetches, checks out or drops is no change of another one's.
func TestOtherTurnsMayWorkMeanwhile(t *testing.T) {
	w := newWatched(t)
	require.NoError(t, w.repo.SetRef(t.Context(), "refs/conclave/r/held/"+w.commit, w.commit))
	other := filepath.Join(t.TempDir(), "other")
	require.NoError(t, w.repo.Checkout(t.Context(), w.commit, other, CheckoutOptions{AgentGit: true}))
	require.Empty(t, w.tampered())
	require.NoError(t, w.repo.Discard(other))
	require.Empty(t, w.tampered())
	require.Empty(t, w.touched())
}

func TestALinkInPlaceOfAFolderIsNotFollowed(t *testing.T) {
	w := newWatched(t)
	before, err := w.watch.controls()
	require.NoError(t, err)
	outside := t.TempDir()
	w.sh("mv $REPO/info $REPO/moved; ln -s " + outside + " $REPO/info")
	require.Contains(t, w.tampered(), "info/attributes")
	left, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Empty(t, left, "no link leads us out")
	after, err := w.watch.controls()
	require.NoError(t, err)
	require.Equal(t, before, after)
}
