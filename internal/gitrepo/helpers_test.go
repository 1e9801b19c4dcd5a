package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var when = time.Unix(1_700_000_000, 0)

// tester is what tests and properties have in common.
type tester interface {
	require.TestingT
	Helper()
	Fatalf(format string, args ...any)
}

// userGit runs git as the user would, with a home of the test's.
func userGit(t tester, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(cleanEnv(), "GIT_AUTHOR_NAME=User", "GIT_AUTHOR_EMAIL=user@example.org", "GIT_COMMITTER_NAME=User",
		"GIT_COMMITTER_EMAIL=user@example.org", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v in %s: %v\n%s", args, dir, err, stderr.String())
	}
	return strings.TrimSuffix(string(out), "\n")
}

func cleanEnv() []string {
	var env []string
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "GIT_") {
			env = append(env, entry)
		}
	}
	return env
}

// write makes a file with its folders.
func write(t tester, root, name, content string) {
	t.Helper()
	path := filepath.Join(root, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}

func read(t tester, root, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	return string(content)
}

// userRepo makes a repository with one commit of the given files.
func userRepo(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "user")
	require.NoError(t, os.Mkdir(dir, 0o755))
	userGit(t, dir, "init", "-q", "-b", "main")
	for name, content := range files {
		write(t, dir, name, content)
	}
	userGit(t, dir, "add", "-A")
	userGit(t, dir, "commit", "-q", "--allow-empty", "-m", "first")
	return dir
}

// fixture is a source with its run repository.
type fixture struct {
	dir    string
	source *Source
	repo   *RunRepo
	base   Commit
	state  string // the state folder of the run
}

func newFixture(t *testing.T, files map[string]string) fixture {
	t.Helper()
	return fixtureOf(t, userRepo(t, files))
}

func fixtureOf(t *testing.T, dir string) fixture {
	t.Helper()
	f, err := tryFixture(dir, t.TempDir())
	require.NoError(t, err)
	return f
}

func tryFixture(dir, state string) (fixture, error) {
	ctx := context.Background()
	source, err := OpenSource(ctx, dir)
	if err != nil {
		return fixture{}, err
	}
	f := fixture{dir: dir, source: source, state: state}
	excludes, excludesErr := source.Excludes(ctx)
	shallow, shallowErr := source.ShallowFile()
	if err := errors.Join(excludesErr, shallowErr); err != nil {
		return fixture{}, err
	}
	f.repo, err = CreateRunRepo(ctx, RunRepoOptions{
		Dir: filepath.Join(f.state, "repo.git"), Alternates: []string{source.ObjectsDir()}, Excludes: excludes,
		ObjectFormat: source.ObjectFormat(), Shallow: shallow,
	})
	if err == nil && source.IsRepository() {
		f.base, err = source.Resolve(ctx, "HEAD")
	}
	return f, err
}

// checkout makes a workspace at a commit.
func (f fixture) checkout(t *testing.T, name, commit string, o CheckoutOptions) string {
	t.Helper()
	dir := filepath.Join(f.state, name)
	require.NoError(t, f.repo.Checkout(t.Context(), commit, dir, o))
	return dir
}

func (f fixture) snapshot(t tester, dir, parent string) Snapshot {
	t.Helper()
	s, err := f.repo.Snapshot(context.Background(), dir, parent, SnapshotOptions{Message: "snapshot", When: when})
	require.NoError(t, err)
	return s
}

// listing gives every file and link of a folder, .git folders left out, as path -> "mode content".
func listFiles(t tester, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.Name() == ".git" && path != root {
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if entry.IsDir() {
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		files[rel], err = describe(path, info)
		return err
	})
	require.NoError(t, err)
	return files
}

func describe(path string, info fs.FileInfo) (string, error) {
	if info.Mode()&os.ModeSymlink != 0 {
		target, err := os.Readlink(path)
		return "link " + target, err
	}
	if !info.Mode().IsRegular() {
		return "other", nil
	}
	content, err := os.ReadFile(path)
	if info.Mode().Perm()&0o100 != 0 {
		return "exec " + string(content), err
	}
	return "file " + string(content), err
}

// frozen digests everything of a user's repository that must stay as it is: all files of the work tree and of .git with
// their bytes, modes and times, except new objects.
func frozen(t tester, dir string) map[string]string {
	t.Helper()
	state := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if rel == filepath.Join(".git", "objects") {
			return filepath.SkipDir
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if entry.IsDir() {
			state[rel] = "dir " + info.Mode().String()
			return nil
		}
		content, err := describe(path, info)
		state[rel] = info.Mode().String() + " " + info.ModTime().String() + " " + content
		return err
	})
	require.NoError(t, err)
	return state
}

// sortedKeys helps to compare with expected names.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
