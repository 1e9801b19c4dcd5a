//go:build unix

package gitrepo

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fakeGit writes a script that stands for git.
func fakeGit(t *testing.T, script string) Runner {
	t.Helper()
	path := filepath.Join(t.TempDir(), "git")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755))
	return Runner{Binary: path}
}

func TestAHangingCallIsKilledWithItsChildren(t *testing.T) {
	t.Parallel()
	pidFile := filepath.Join(t.TempDir(), "pid")
	runner := fakeGit(t, "trap '' TERM\n(trap '' TERM; echo $$ > "+pidFile+"; exec sleep 600) &\nwait\nsleep 600\n")
	runner.Limit = 300 * time.Millisecond
	_, err := runner.run(t.Context(), call{}, "hang")
	require.ErrorIs(t, err, ErrTimeout)
	content, err := os.ReadFile(pidFile)
	require.NoError(t, err)
	group, err := strconv.Atoi(strings.TrimSpace(string(content)))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return errors.Is(syscall.Kill(-group, 0), syscall.ESRCH) }, 5*time.Second, 10*time.Millisecond)
}

func TestTheCausesOfFailuresAreSeen(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		"fatal: write error: No space left on device":                            syscall.ENOSPC,
		"error: unable to create temporary file: Disk quota exceeded":            syscall.EDQUOT,
		"fatal: Unable to create /x/index.lock: Read-only file system":           syscall.EROFS,
		"error: insufficient permission for adding an object: Permission denied": os.ErrPermission,
	} {
		_, err := fakeGit(t, "echo '"+text+"' >&2; exit 128\n").run(t.Context(), call{}, "write-tree")
		require.ErrorIs(t, err, want, text)
		require.ErrorContains(t, err, text)
	}
	_, err := fakeGit(t, "exit 3\n").run(t.Context(), call{gitDir: "/"}, "x")
	require.Equal(t, 3, exitOf(err))
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("the worker stops")
	time.AfterFunc(100*time.Millisecond, func() { cancel(stop) })
	_, err = fakeGit(t, "exec sleep 600\n").run(ctx, call{}, "x")
	require.ErrorIs(t, err, stop)
}

// TestADiskThatIsReallyFull needs a small file system of its own, which only root may mount.
func TestADiskThatIsReallyFull(t *testing.T) {
	t.Parallel()
	small := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", small).CombinedOutput(); err != nil {
		t.Skipf("cannot mount a small file system: %s", out)
	}
	t.Cleanup(func() { require.NoError(t, exec.Command("umount", small).Run()) })
	repo, err := CreateRunRepo(t.Context(), RunRepoOptions{Dir: filepath.Join(small, "repo.git")})
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "w")
	for i := range 40 {
		write(t, dir, "f"+strconv.Itoa(i), randomText(100_000))
	}
	_, err = repo.Snapshot(t.Context(), dir, "", SnapshotOptions{Message: "m", When: when, Ref: "refs/conclave/r/01"})
	require.ErrorIs(t, err, syscall.ENOSPC)
	at, err := repo.Ref(t.Context(), "refs/conclave/r/01")
	require.NoError(t, err)
	require.Empty(t, at, "nothing half-written")
}

func randomText(n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(randomName())
	}
	return b.String()
}

// TestWhatAnAgentMadeReadOnly runs itself again as a user without root's rights.
func TestWhatAnAgentMadeReadOnly(t *testing.T) {
	if os.Getenv("GITREPO_UNPRIVILEGED") == "" {
		runUnprivileged(t)
		return
	}
	f := newFixture(t, map[string]string{"locked/a": "1", "b": "2"})
	dir := f.checkout(t, "w", f.base.ID, CheckoutOptions{AgentGit: true})
	write(t, dir, "b", "changed")
	write(t, dir, "new/deep/x", "x")
	write(t, dir, "locked/a", "2")
	require.NoError(t, os.Chmod(filepath.Join(dir, "b"), 0))
	require.NoError(t, os.Chmod(filepath.Join(dir, "new/deep"), 0))
	require.NoError(t, os.Chmod(filepath.Join(dir, "locked"), 0o555))
	snap := f.snapshot(t, dir, f.base.ID)
	require.Equal(t, map[string]string{"b": "file changed", "locked/a": "file 2", "new/deep/x": "file x"},
		listFiles(t, f.checkout(t, "c", snap.Commit, CheckoutOptions{})))

	write(t, dir, "new/y", "y")
	require.NoError(t, os.Chmod(filepath.Join(dir, "new"), 0o555))
	require.NoError(t, os.Chmod(filepath.Join(dir, "locked"), 0o555))
	removed, err := f.repo.Restore(t.Context(), dir, f.base.ID, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"b", "locked/a", "new/deep/x", "new/y"}, removed)
	require.Equal(t, map[string]string{"b": "file 2", "locked/a": "file 1"}, listFiles(t, dir))
	require.NoError(t, os.Chmod(filepath.Join(dir, "locked"), 0o500))
	require.NoError(t, os.Chmod(dir, 0o555))
	require.NoError(t, f.repo.Discard(dir))
	require.NoDirExists(t, dir)

	write(t, f.dir, "c", "c")
	require.NoError(t, os.Chmod(filepath.Join(f.dir, "c"), 0))
	_, err = f.repo.SnapshotSource(t.Context(), f.source)
	require.ErrorIs(t, err, os.ErrPermission)
	require.ErrorContains(t, err, "\"c\"")
	info, err := os.Stat(filepath.Join(f.dir, "c"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0), info.Mode().Perm(), "the user's permissions are not ours to change")
}

func runUnprivileged(t *testing.T) {
	t.Helper()
	home, err := os.MkdirTemp("", "gitrepo-unprivileged-")
	require.NoError(t, err)
	defer func() { _ = RemoveTree(home) }()
	binary := filepath.Join(home, "test")
	require.NoError(t, copyFile(os.Args[0], binary))
	require.NoError(t, os.Chmod(binary, 0o755))
	cmd := exec.Command(binary, "-test.run=^TestWhatAnAgentMadeReadOnly$")
	cmd.Env = append(os.Environ(), "GITREPO_UNPRIVILEGED=1", "TMPDIR="+home, "HOME="+home)
	cmd.Dir = home
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(home, 65534, 65534))
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func TestTwoCallsOnOneWorkspaceWaitForEachOther(t *testing.T) {
	t.Parallel()
	f := newFixture(t, map[string]string{"a": "1"})
	dir := f.checkout(t, "w", f.base.ID, CheckoutOptions{})
	write(t, dir, "b", "2")
	results := make(chan string, 4)
	for range 4 {
		go func() {
			snap, err := f.repo.Snapshot(context.Background(), dir, f.base.ID, SnapshotOptions{Message: "m", When: when, Ref: "refs/conclave/r/01"})
			if err != nil {
				results <- err.Error()
				return
			}
			results <- snap.Commit
		}()
	}
	first := <-results
	require.Len(t, first, 40)
	for range 3 {
		require.Equal(t, first, <-results)
	}
}

func TestCreateRunRepoIsIdempotent(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "runs", "x", "repo.git")
	done := make(chan error, 3)
	for range 3 {
		go func() {
			_, err := CreateRunRepo(context.Background(), RunRepoOptions{Dir: dir, Excludes: []byte("*.x\n")})
			done <- err
		}()
	}
	for range 3 {
		require.NoError(t, <-done)
	}
	entries, err := os.ReadDir(filepath.Dir(dir))
	require.NoError(t, err)
	require.Len(t, entries, 1, "no leftovers")
	_, err = CreateRunRepo(t.Context(), RunRepoOptions{Dir: "relative"})
	require.Error(t, err)
	_, err = OpenRunRepo(t.Context(), t.TempDir())
	require.ErrorIs(t, err, os.ErrNotExist)
}
