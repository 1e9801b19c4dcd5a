//go:build unix

package gitrepo

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// bigRepo generates a repository of 80,000 files in 2,000 folders through fast-import.
func bigRepo(b *testing.B) string {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "big")
	require.NoError(b, os.Mkdir(dir, 0o755))
	userGit(b, dir, "init", "-q", "-b", "main")
	var stream strings.Builder
	stream.WriteString("commit refs/heads/main\ncommitter U <u@example.org> 1700000000 +0000\ndata 1\nx\n")
	for i := range 80_000 {
		body := strings.Repeat(fmt.Sprintf("line %d of a file of middle size\n", i), 40)
		fmt.Fprintf(&stream, "M 100644 inline d%d/e%d/f%d.go\ndata %d\n%s\n", i/4000, i/40, i, len(body), body)
	}
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stream.String())
	out, err := cmd.CombinedOutput()
	require.NoError(b, err, "%s", out)
	userGit(b, dir, "reset", "-q", "--hard")
	return dir
}

// BenchmarkPrepare compares what the design bounds: a run repository with a writer's workspace and two seats, all with
// the agent's .git, against one `git worktree add`, on 80,000 files.
func BenchmarkPrepare(b *testing.B) {
	dir := bigRepo(b)
	b.Run("worktree-add", func(b *testing.B) {
		defer reportCPU(b)()
		for i := range b.N {
			at := filepath.Join(b.TempDir(), fmt.Sprint("wt", i))
			userGit(b, dir, "worktree", "add", "-q", "--detach", at)
			b.StopTimer()
			require.NoError(b, RemoveTree(at))
			userGit(b, dir, "worktree", "prune")
			b.StartTimer()
		}
	})
	b.Run("run-and-two-seats", func(b *testing.B) {
		defer reportCPU(b)()
		for range b.N {
			state := b.TempDir()
			prepare(b, dir, state)
			b.StopTimer()
			require.NoError(b, RemoveTree(state))
			b.StartTimer()
		}
	})
	b.Run("snapshot-of-one-change", func(b *testing.B) {
		state := b.TempDir()
		repo, base := prepare(b, dir, state)
		work := filepath.Join(state, "w0")
		at := base.ID
		b.ResetTimer()
		defer reportCPU(b)()
		for i := range b.N {
			write(b, work, "d1/new.go", fmt.Sprint(i))
			snap, err := repo.Snapshot(b.Context(), work, at, SnapshotOptions{Message: "m", When: when})
			require.NoError(b, err)
			at = snap.Commit
		}
	})
}

// prepare makes the run repository and three workspaces at once.
func prepare(b *testing.B, dir, state string) (*RunRepo, Commit) {
	b.Helper()
	source, err := OpenSource(b.Context(), dir)
	require.NoError(b, err)
	base, err := source.Resolve(b.Context(), "HEAD")
	require.NoError(b, err)
	repo, err := CreateRunRepo(b.Context(), RunRepoOptions{Dir: filepath.Join(state, "repo.git"), Alternates: []string{source.ObjectsDir()}})
	require.NoError(b, err)
	var wait sync.WaitGroup
	failures := make([]error, 3)
	for i := range failures {
		wait.Go(func() {
			failures[i] = repo.Checkout(b.Context(), base.ID, filepath.Join(state, fmt.Sprint("w", i)), CheckoutOptions{AgentGit: true})
		})
	}
	wait.Wait()
	for _, err := range failures {
		require.NoError(b, err)
	}
	return repo, base
}

// reportCPU adds the processor time of the children, which a busy machine changes less than the wall time.
func reportCPU(b *testing.B) func() {
	before := childTime()
	return func() { b.ReportMetric((childTime()-before)/float64(b.N), "cpu-s/op") }
}

func childTime() float64 {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage)
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}
