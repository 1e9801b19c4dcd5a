package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ProgramDigest tells what a configured program is from what it was: how it is called, the content of its binary, and
// that of the files which its arguments name by an absolute path, such as the script of an interpreter. What those read
// themselves is not looked at. "" is for an adapter of ours: what it runs is told by its lane.
func ProgramDigest(name string, s Settings) (string, error) {
	c, ok := s.Commands[name]
	if !ok {
		return "", nil
	}
	sum := sha256.New()
	described, err := json.Marshal(map[string]any{"command": c, "args": s.ExtraArgs[name], "env": s.ExtraEnv[name]})
	if err != nil {
		return "", err
	}
	_, _ = sum.Write(described)
	if path, err := ResolveBinary(name, s); err == nil { // one that is missing ends the command elsewhere
		if err := addFile(sum, path); err != nil {
			return "", err
		}
	}
	for _, arg := range slices.Concat(s.ExtraArgs[name], c.Argv[min(1, len(c.Argv)):]) {
		if _, value, ok := strings.Cut(arg, "="); ok {
			arg = value
		}
		if filepath.IsAbs(arg) {
			if err := addFile(sum, arg); err != nil {
				return "", err
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// addFile adds a path and its content; what is no file that can be read is its path alone.
func addFile(sum io.Writer, path string) error {
	_, _ = fmt.Fprintf(sum, "\x00%s\x00", path)
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil // a placeholder, or a word that only looks like a path
	}
	file, err := os.Open(path)
	if err != nil {
		return nil // who may only execute a program cannot read it
	}
	defer func() { _ = file.Close() }()
	_, err = io.Copy(sum, file)
	return err
}
