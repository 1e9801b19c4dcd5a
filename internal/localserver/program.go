package localserver

import (
	"fmt"
	"runtime"
)

// Program says which program Ensure would start for the state folder, without starting it. An empty path without an
// error means that Ensure would build one from source first. The error names the remedy.
func Program(stateDir string) (path string, err error) {
	if err := supported(); err != nil {
		return "", err
	}
	around := realSurroundings()
	b, ok, err := around.lookUp("", files{stateDir})
	if err != nil || ok {
		return b.path, err
	}
	if _, err := around.lookPath("go"); err != nil {
		return "", fmt.Errorf("no Go toolchain on PATH to build the Temporal server with: %w", errNoBinary)
	}
	return "", nil
}

// Guarded says whether the server that a program is keeps other users, and agents, out.
func Guarded(program string) bool { return runtime.GOOS == "linux" && kindOf(program) == kindDevserver }
