//go:build unix

package localserver

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// writeFile makes a file with its folders.
func writeFile(t *testing.T, mode os.FileMode, content string, elem ...string) string {
	path := filepath.Join(elem...)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), mode))
	return path
}

func TestLookUpOrder(t *testing.T) {
	dir := t.TempDir()
	f := files{filepath.Join(dir, "state")}
	source := filepath.Join(dir, "source")
	program := func(elem ...string) string {
		return writeFile(t, 0o755, "", append([]string{dir}, elem...)...)
	}
	env := map[string]string{}
	onPath := map[string]string{}
	around := surroundings{
		executable: filepath.Join(dir, "app", "starter"),
		getenv:     func(k string) string { return env[k] },
		lookPath: func(name string) (string, error) {
			if filepath.IsAbs(name) {
				return exec.LookPath(name)
			}
			if p, ok := onPath[name]; ok {
				return p, nil
			}
			return "", exec.ErrNotFound
		},
	}
	explicit := ""
	look := func() (binary, bool, error) { return around.lookUp(explicit, f) }

	_, _, err := look()
	require.ErrorIs(t, err, errNoBinary)
	require.ErrorContains(t, err, binaryVariable)

	around.source = source
	_, found, err := look()
	require.NoError(t, err)
	require.False(t, found, "it has to be built")

	// From the last resort to the first: each wins over the ones before it.
	onPath["temporal"] = "/somewhere/temporal"
	steps := []struct {
		name   string
		want   binary
		change func() string
	}{
		{"on PATH", binary{"/somewhere/temporal", kindTemporal}, func() string { return "" }},
		{"built before", binary{f.built(), kindDevserver}, func() string { return program("state", "bin", "devserver-"+ServerVersion+builtSuffix) }},
		{"built by make", binary{filepath.Join(source, "bin", "devserver"), kindDevserver}, func() string { return program("source", "bin", "devserver") }},
		{"beside the program", binary{filepath.Join(dir, "app", "devserver"), kindDevserver}, func() string { return program("app", "devserver") }},
		{"environment", binary{filepath.Join(dir, "mine", "temporal"), kindTemporal}, func() string {
			env[binaryVariable] = program("mine", "temporal")
			return ""
		}},
		{"option", binary{filepath.Join(dir, "mine", "devserver"), kindDevserver}, func() string {
			explicit = program("mine", "devserver")
			return ""
		}},
	}
	for _, s := range steps {
		s.change()
		got, found, err := look()
		require.NoError(t, err, s.name)
		require.True(t, found, s.name)
		require.Equal(t, s.want, got, s.name)
	}
	require.NoError(t, os.Chmod(filepath.Join(dir, "app", "devserver"), 0o644))
	explicit, env = "", map[string]string{}
	got, _, err := look()
	require.NoError(t, err)
	require.Equal(t, filepath.Join(source, "bin", "devserver"), got.path, "what cannot be run is no program")
}

func TestNamedBinaryThatIsMissingIsAnErrorAndNotReplaced(t *testing.T) {
	around := surroundings{executable: "/nowhere/starter", getenv: func(string) string { return "/nowhere/devserver" }, lookPath: exec.LookPath}
	_, _, err := around.lookUp("", files{t.TempDir()})
	require.ErrorContains(t, err, binaryVariable+" /nowhere/devserver")
	_, _, err = around.lookUp("/nowhere/other", files{t.TempDir()})
	require.ErrorContains(t, err, "/nowhere/other")
}

// sourceTree makes what looks like Conclave's source around the given server program.
func sourceTree(t *testing.T, program string) string {
	root := filepath.Join(t.TempDir(), "conclave")
	writeFile(t, 0o644, "// Conclave\nmodule conclave\n\ngo 1.26\n", root, "go.mod")
	writeFile(t, 0o644, "module conclave/tools/devserver\n\ngo 1.26\n", root, "tools", "devserver", "go.mod")
	writeFile(t, 0o644, program, root, "tools", "devserver", "main.go")
	return root
}

func TestFindSource(t *testing.T) {
	root := sourceTree(t, "")
	below := filepath.Join(root, "a", "b")
	require.NoError(t, os.MkdirAll(below, 0o755))
	require.Equal(t, root, findSource(below))
	require.Equal(t, root, findSource("", "/nowhere", below))
	require.Empty(t, findSource(filepath.Dir(root)), "it looks upwards only")

	require.NoError(t, os.Chmod(filepath.Join(root, "go.mod"), 0o666))
	require.Empty(t, findSource(below), "others may have written it")
	require.NoError(t, os.Chmod(filepath.Join(root, "go.mod"), 0o644))
	writeFile(t, 0o644, "module conclavelike\n", root, "go.mod")
	require.Empty(t, findSource(below), "another module")
}

func TestWorkingDirectoryIsNoSource(t *testing.T) {
	t.Chdir(sourceTree(t, "package main"))
	require.NotEqual(t, mustGetwd(t), realSurroundings().source)
}

func mustGetwd(t *testing.T) string {
	dir, err := os.Getwd()
	require.NoError(t, err)
	return dir
}

func TestServerVersionIsThatOfTheModule(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "tools", "devserver", "go.mod"))
	require.NoError(t, err)
	require.Contains(t, string(data), "go.temporal.io/server v"+ServerVersion+"\n")
}

func TestBuildMakesAProgramThatIsFoundNextTime(t *testing.T) {
	root := sourceTree(t, "package main\n\nfunc main() {}\n")
	f := files{t.TempDir()}
	var said []string
	b, err := build(testContext(t), root, f, exec.LookPath, func(s string) { said = append(said, s) })
	require.NoError(t, err)
	require.NoError(t, exec.Command(b.path).Run())
	require.Contains(t, said[0], "several minutes")
	require.Contains(t, said[0], filepath.Join(root, "tools", "devserver"))

	around := surroundings{executable: "/nowhere/starter", getenv: func(string) string { return "" }, lookPath: func(string) (string, error) { return "", errors.New("none") }, source: root}
	again, found, err := around.lookUp("", f)
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, b, again)
	entries, err := os.ReadDir(filepath.Dir(b.path))
	require.NoError(t, err)
	require.Len(t, entries, 1, "no temporary file stays")
}

func TestBuildThatFailsSaysWhatTheCompilerSaid(t *testing.T) {
	root := sourceTree(t, "package main\n\nfunc main() { undefinedName() }\n")
	f := files{t.TempDir()}
	_, err := build(testContext(t), root, f, exec.LookPath, func(string) {})
	require.ErrorContains(t, err, "undefinedName")
	require.NoFileExists(t, f.built())
}

func TestBuildWithoutAToolchainNamesTheRemedies(t *testing.T) {
	none := func(string) (string, error) { return "", exec.ErrNotFound }
	_, err := build(testContext(t), sourceTree(t, ""), files{t.TempDir()}, none, func(string) {})
	require.ErrorContains(t, err, "no Go toolchain on PATH")
	require.ErrorIs(t, err, errNoBinary)
}

func TestCompileMeterTellsPackagesFromMessages(t *testing.T) {
	out := "go.temporal.io/server/common\ngo: downloading example v1\n# conclave/tools/devserver\n./main.go:3:2: broken\nfmt\n"
	said := compileMeter{}.follow(strings.NewReader(out), nil)
	require.Equal(t, []string{"go: downloading example v1", "# conclave/tools/devserver", "./main.go:3:2: broken"}, said)
}

func TestCompileMeterReportsAlsoWhileNothingIsSaid(t *testing.T) {
	r, w := io.Pipe()
	tick, reports := make(chan time.Time), make(chan string, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		compileMeter{total: 9, report: func(s string) { reports <- s }}.follow(r, tick)
	}()
	tick <- time.Now()
	require.Equal(t, "compiled 0 of at most 9 packages of the Temporal server", <-reports)
	_, err := io.WriteString(w, "fmt\nos\n# sync\n")
	require.NoError(t, err)
	require.NoError(t, w.Close())
	<-done
	require.Equal(t, "compiled 3 packages of the Temporal server", compileMeter{}.line(3))
}
