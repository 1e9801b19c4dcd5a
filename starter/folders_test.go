package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRepositoriesThatCannotBeUsed(t *testing.T) {
	cases := []struct {
		name string
		make func(c *cli)
		want string
	}{
		{"no commit yet", func(c *cli) { c.reinit(); c.git("init", "-q") }, "git commit"},
		{"bare", func(c *cli) { c.reinit(); c.git("init", "-q", "--bare") }, "bare repository"},
		{"corrupt", func(c *cli) { require.NoError(c.t, os.Remove(filepath.Join(c.repo, ".git", "HEAD"))) }, "corrupt repository"},
		{"invalid policy", func(c *cli) { c.write("conclave.yaml", "max_iters: many\n"); c.commit() }, "conclave.yaml of "},
		{"policy that chooses programs", func(c *cli) { c.write("conclave.yaml", "agents: {claude: {bin: ./x}}\n"); c.commit() }, "agents may not be set by a repository"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c := newCLI(t)
			tc.make(c)
			got := c.run("", "run", "--dry-run", "r")
			require.Equal(t, exitUsage, got.code)
			require.Contains(t, got.err, tc.want)
			require.Empty(t, got.out)
		})
	}
}

func TestFoldersThatAreNoRepository(t *testing.T) {
	c := newCLI(t)
	c.reinit()
	c.write("a/b.txt", strings.Repeat("x", 3<<20))
	c.write("c.txt", "c")
	c.write(".conclave/old", "not counted")
	got := c.run("", "plan", "r")
	require.Equal(t, 0, got.code, got.err)
	require.Contains(t, got.err, c.repo+" is no git repository: all 2 files (3.0 MB) below it are copied")

	for _, dir := range []string{os.Getenv("HOME"), filepath.Dir(os.Getenv("HOME")), "/"} {
		for _, command := range []string{"run", "plan"} {
			got = c.run("", command, "--dry-run", "--workdir", dir, "r")
			require.Equal(t, exitUsage, got.code, dir)
			require.Contains(t, got.err, "home folder")
			require.Contains(t, got.err, "git init")
		}
	}
	require.False(t, holdsHome(os.Getenv("HOME")+"-other"))
	require.NoDirExists(t, filepath.Join(os.Getenv("HOME"), ".conclave"))
}

// reinit empties the repository's folder.
func (c *cli) reinit() {
	entries, err := os.ReadDir(c.repo)
	require.NoError(c.t, err)
	for _, e := range entries {
		require.NoError(c.t, os.RemoveAll(filepath.Join(c.repo, e.Name())))
	}
}

func TestBundleFolderThatCannotBeWritten(t *testing.T) {
	c := newCLI(t)
	c.write(".conclave", "in the way")
	got := c.run("", "run", "--dry-run", "r")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, "bundle folder cannot be written")
	runs, err := c.state().List()
	require.NoError(t, err)
	require.Empty(t, runs)
}

func TestBundleFolderThatLeadsElsewhere(t *testing.T) {
	c := newCLI(t)
	elsewhere := t.TempDir()
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(c.repo, ".conclave")))
	got := c.run("", "run", "--dry-run", "r")
	require.Equal(t, exitUsage, got.code)
	entries, err := os.ReadDir(elsewhere)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestStateFolderThatCannotBeWritten(t *testing.T) {
	c := newCLI(t)
	t.Setenv("CONCLAVE_STATE_DIR", filepath.Join(c.repo, "README", "state"))
	got := c.run("", "run", "--dry-run", "r")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, "CONCLAVE_STATE_DIR")
	require.NoDirExists(t, filepath.Join(c.repo, ".conclave", "runs", "r"))
}
