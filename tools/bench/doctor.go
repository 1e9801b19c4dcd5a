package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// doctorWithoutAgents measures `starter doctor` for a user who has installed no agent yet.
func doctorWithoutAgents(s settings) ([]row, error) {
	l, err := newLab(s, nil)
	if err != nil {
		return nil, err
	}
	defer l.close()
	path, err := l.toolsAlone()
	if err != nil {
		return nil, err
	}
	l.Env = append(slices.DeleteFunc(l.Env, func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return name == "PATH" || strings.HasPrefix(name, "CONCLAVE_") && strings.HasSuffix(name, "_BIN")
	}), "PATH="+path)
	took, err := repeat(10, func(int) (time.Duration, error) {
		said, took, err := l.starter("doctor")
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(said, "npm install") {
			return 0, fmt.Errorf("doctor without an agent did not end with 1 and what to install: %w\n%s", err, said)
		}
		return took, nil
	})
	return []row{{"doctor, no agent installed", took, seconds, 2}}, err
}

// toolsAlone is a folder with what Conclave itself starts, and no agent: this machine's PATH may hold some.
func (l *lab) toolsAlone() (string, error) {
	dir := filepath.Join(l.Dir, "tools")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	for _, name := range []string{"git", "sh", "bwrap"} {
		program, err := exec.LookPath(name)
		if err != nil {
			continue // doctor tells
		}
		if err := os.Symlink(program, filepath.Join(dir, name)); err != nil {
			return "", err
		}
	}
	return dir, nil
}
