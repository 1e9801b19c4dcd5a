package runindex_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"conclave/internal/runindex"
)

func TestSlug(t *testing.T) {
	cases := map[string]string{
		"Add an endpoint":                "add-an-endpoint",
		"  Fix: the *bug*!\nsecond line": "fix-the-bug-second-line",
		"数据":                             "run",
		"":                               "run",
		"../../etc/passwd":               "etc-passwd",
		strings.Repeat("x", 90):          strings.Repeat("x", 40),
		"implement the very long requirement of everything": "implement-the-very-long",
		"one two three four five six seven":                 "one-two-three-four-five-six",
		"exactly thirty characters here":                    "exactly-thirty-characters-here",
		"a " + strings.Repeat("y", 35):                      "a-" + strings.Repeat("y", 35),
	}
	for text, want := range cases {
		require.Equal(t, want, runindex.Slug(text), text)
	}
}

func TestIDsFitBranchesAndFolders(t *testing.T) {
	form := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*-[a-z2-7]{5}$`)
	rapid.Check(t, func(t *rapid.T) {
		id := runindex.NewID(rapid.String().Draw(t, "requirement"))
		if !form.MatchString(id) || len(id) > 46 {
			t.Fatalf("id %q", id)
		}
	})
	require.NotEqual(t, runindex.NewID("a"), runindex.NewID("a"))
}

func TestFind(t *testing.T) {
	x := runindex.Open(t.TempDir())
	none, err := x.List()
	require.NoError(t, err)
	_, err = runindex.Find(none, "@last", "/src")
	require.ErrorContains(t, err, "no run yet")

	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i, id := range []string{"add-a-aaaaa", "add-b-bbbbb", "add-a-aaaaa-ccccc"} {
		require.NoError(t, x.Write(runindex.Entry{RunID: id, Created: start.Add(time.Duration(i) * time.Second), Bundle: "/b/" + id}))
	}
	require.NoError(t, os.MkdirAll(x.Dir("half"), 0o700))
	all, err := x.List()
	require.NoError(t, err)

	for name, want := range map[string]string{"@last": "add-a-aaaaa-ccccc", "bbb": "add-b-bbbbb", "add-a-aaaaa": "add-a-aaaaa", "ccc": "add-a-aaaaa-ccccc"} {
		got, err := runindex.Find(all, name, "/src")
		require.NoError(t, err, name)
		require.Equal(t, want, got.RunID)
		require.Equal(t, "/b/"+want, got.Bundle)
	}
	_, err = runindex.Find(all, "", "/src")
	require.ErrorContains(t, err, "name is empty")
	for name, fits := range map[string]int{"add": 3, "aaa": 2, "zzz": 0, "": 0} {
		_, err := runindex.Find(all, name, "/src")
		var missing *runindex.NotFoundError
		require.True(t, errors.As(err, &missing), name)
		require.Len(t, missing.Fits, fits, name)
		require.Len(t, missing.Have, 3)
		require.NotEmpty(t, missing.Remedy())
	}
}

func TestLastIsOfThisRepository(t *testing.T) {
	all := []runindex.Entry{{RunID: "c-ccccc", Source: "/c"}, {RunID: "b-bbbbb", Source: "/b"}, {RunID: "a-aaaaa", Source: "/b"}}
	for here, want := range map[string]string{"/b": "b-bbbbb", "/c": "c-ccccc", "/elsewhere": "c-ccccc", "": "c-ccccc"} {
		got, err := runindex.Find(all, "@last", here)
		require.NoError(t, err)
		require.Equal(t, want, got.RunID, here)
	}
}

func TestAReservedRunIsNoRun(t *testing.T) {
	x := runindex.Open(t.TempDir())
	require.NoError(t, x.Reserve("r-aaaaa"))
	require.NoError(t, x.WriteStart("r-aaaaa", map[string]int{"n": 1}))
	all, err := x.List()
	require.NoError(t, err)
	require.Empty(t, all)
	require.NoError(t, x.Write(runindex.Entry{RunID: "r-aaaaa"}))
	all, err = x.List()
	require.NoError(t, err)
	require.Len(t, all, 1)
	var start map[string]int
	require.NoError(t, x.ReadStart("r-aaaaa", &start))
	require.Equal(t, 1, start["n"])
	require.ErrorIs(t, x.ReadStart("other", &start), os.ErrNotExist)
	require.NoError(t, x.Forget("r-aaaaa"))
	require.NoDirExists(t, x.Dir("r-aaaaa"))
}

func TestBundlesOfARepository(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, ".conclave", "runs", "a-aaaaa")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "run.json"), []byte(`{"run_id":"a-aaaaa","started_at":"2026-01-02T03:04:05Z"}`), 0o644))
	require.NoError(t, os.MkdirAll(filepath.Join(root, ".conclave", "runs", "broken"), 0o755))
	all := runindex.Bundles(root)
	require.Len(t, all, 1)
	require.Equal(t, dir, all[0].Bundle)
	require.Empty(t, runindex.Bundles(t.TempDir()))
}

// TestMain lets the test binary hold a lock in a process of its own.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "hold" {
		lock, err := runindex.Open(os.Args[2]).TryLock(os.Args[3])
		if err != nil || lock == nil {
			os.Exit(1)
		}
		_, _ = os.Stdout.WriteString("held\n")
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestLockEndsWithItsProcess(t *testing.T) {
	x := runindex.Open(t.TempDir())
	require.NoError(t, x.Write(runindex.Entry{RunID: "r"}))
	require.False(t, x.Carried("r"))

	other := exec.Command(os.Args[0], "hold", x.StateDir(), "r")
	in, err := other.StdinPipe()
	require.NoError(t, err)
	out, err := other.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, other.Start())
	line := make([]byte, 5)
	_, err = out.Read(line)
	require.NoError(t, err)
	require.True(t, x.Carried("r"))
	lock, err := x.TryLock("r")
	require.NoError(t, err)
	require.Nil(t, lock)
	require.NoError(t, other.Process.Kill())
	_ = other.Wait()
	_ = in.Close()

	lock, err = x.TryLock("r")
	require.NoError(t, err)
	require.NotNil(t, lock)
	lock.Release()
	lock.Release()
	require.False(t, x.Carried("r"))
}
