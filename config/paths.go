package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// RepositoryFile is the name of the policy file at a repository's root.
const RepositoryFile = "conclave.yaml"

// DefaultStateDir is the state folder where nobody names another.
func DefaultStateDir() (string, error) { return xdg("XDG_STATE_HOME", ".local", "state") }

// UserFile is the place of the user's configuration file.
func UserFile() (string, error) {
	dir, err := xdg("XDG_CONFIG_HOME", ".config")
	return filepath.Join(dir, "config.yaml"), err
}

// xdg is our folder below a base folder; a relative value of the variable does not count, as its specification says.
func xdg(variable string, otherwise ...string) (string, error) {
	if dir := os.Getenv(variable); filepath.IsAbs(dir) {
		return filepath.Join(dir, "conclave"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("the home folder is unknown (set HOME or %s): %w", variable, err)
	}
	return filepath.Join(append(append([]string{home}, otherwise...), "conclave")...), nil
}

// ReadFiles reads the user's file, and the one that --config or CONCLAVE_CONFIG
// names. Only the latter has to exist. It replaces the former.
func ReadFiles(named string) (user, explicit File, err error) {
	if named = cmp.Or(named, os.Getenv("CONCLAVE_CONFIG")); named != "" {
		content, err := os.ReadFile(named)
		if err != nil {
			return File{}, File{}, unreadable(named, err)
		}
		return File{}, File{Name: named, Content: content}, nil
	}
	path, err := UserFile()
	if err != nil {
		return File{}, File{}, nil //nolint:nilerr // no home folder: no file there
	}
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, File{}, nil
	}
	if err != nil {
		return File{}, File{}, unreadable(path, err)
	}
	return File{Name: path, Content: content}, File{}, nil
}

func unreadable(path string, err error) error {
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	return Problem{What: fmt.Sprintf("the configuration file %s cannot be read: %v", path, err), Remedy: "check the path and its permissions, or name another with --config"}
}
