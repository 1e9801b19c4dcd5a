package localserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// binaryVariable names the server binary in the environment.
const binaryVariable = "CONCLAVE_DEVSERVER_BIN"

// binary is a server program and what it knows of our protocol.
type binary struct {
	path string
	kind kind
}

// surroundings are where a server binary is looked for; tests replace them.
type surroundings struct {
	executable string                       // the running program, links resolved
	getenv     func(string) string          //
	lookPath   func(string) (string, error) //
	source     string                       // root of Conclave's source, if it is here
}

func realSurroundings() surroundings {
	s := surroundings{getenv: os.Getenv, lookPath: exec.LookPath}
	if exe, err := os.Executable(); err == nil {
		if resolved, err := filepath.EvalSymlinks(exe); err == nil {
			exe = resolved
		}
		s.executable = exe
	}
	s.source = findSource(filepath.Dir(s.executable), compiledFrom())
	return s
}

// errNoBinary says that there is nothing to start and nothing to build one from.
var errNoBinary = errors.New("no Temporal server to start: put the `devserver` of Conclave's release beside the starter, or install the `temporal` CLI on PATH, " +
	"or name a server binary in " + binaryVariable + ", or use a running server with --address")

// lookUp returns the server binary to start. explicit is Options.Binary. ok false means that it has to be built from source.
func (s surroundings) lookUp(explicit string, f files) (b binary, ok bool, err error) {
	for _, named := range []struct{ path, by string }{{explicit, "the configured server binary"}, {s.getenv(binaryVariable), binaryVariable}} {
		if named.path == "" {
			continue
		}
		path, err := s.lookPath(named.path)
		if err != nil {
			return b, false, fmt.Errorf("%s %s cannot be run: %w", named.by, named.path, err)
		}
		return binary{path, kindOf(path)}, true, nil
	}
	places := []string{filepath.Join(filepath.Dir(s.executable), "devserver"), f.built()}
	if s.source != "" {
		places = []string{places[0], filepath.Join(s.source, "bin", "devserver"), places[1]}
	}
	for _, path := range places {
		if isProgram(path) {
			return binary{path, kindDevserver}, true, nil
		}
	}
	if path, err := s.lookPath("temporal"); err == nil {
		return binary{path, kindTemporal}, true, nil
	}
	if s.source == "" {
		return b, false, errNoBinary
	}
	return b, false, nil
}

// kindOf goes by the name: the CLI is `temporal` wherever it is.
func kindOf(path string) kind {
	if strings.TrimSuffix(filepath.Base(path), ".exe") == "temporal" {
		return kindTemporal
	}
	return kindDevserver
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// compiledFrom is the folder that this package was compiled from, "" in a release (built with -trimpath).
func compiledFrom() string {
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) {
		return ""
	}
	return filepath.Dir(file)
}

// findSource returns the root of the first tree at or above one of the folders that is Conclave's source with the server's module in it.
//
// The working directory is none of these folders on purpose: people run Conclave inside repositories that they do not trust, and one that calls itself
// Conclave would have its own program started.
func findSource(folders ...string) string {
	for _, dir := range folders {
		for dir != "" {
			if isSource(dir) {
				return dir
			}
			parent := filepath.Dir(dir)
			if parent == dir {
				break
			}
			dir = parent
		}
	}
	return ""
}

func isSource(dir string) bool {
	return declaresModule(filepath.Join(dir, "go.mod"), "conclave") &&
		declaresModule(filepath.Join(dir, "tools", "devserver", "go.mod"), "conclave/tools/devserver")
}

// declaresModule reports whether the go.mod file declares the module, and nobody else can have written it.
func declaresModule(file, module string) bool {
	info, err := os.Stat(file)
	if err != nil || !trusted(info) {
		return false
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == "module" {
			return strings.Trim(fields[1], `"`) == module
		}
	}
	return false
}
