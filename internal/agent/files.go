package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// WriteFiles writes the files that the program needs, and returns those that are in the workspace, relative to it: they
// are ours, whatever stood there before. No link in a workspace leads them out of it.
func (i Invocation) WriteFiles(workspace string) (ours []string, err error) {
	for _, f := range i.Files {
		rel, err := filepath.Rel(workspace, f.Path)
		if err != nil || !filepath.IsLocal(rel) {
			if err := os.WriteFile(f.Path, f.Content, 0o600); err != nil {
				return ours, err
			}
			continue
		}
		if err := writeInside(workspace, rel, f.Content); err != nil {
			return ours, fmt.Errorf("write %s into the workspace: %w", rel, err)
		}
		ours = append(ours, filepath.ToSlash(rel))
	}
	return ours, nil
}

// writeInside replaces a file beneath a folder. A parent that is no folder (a link, a file) is replaced too.
func writeInside(dir, name string, content []byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for i, c := range name {
		if c != filepath.Separator {
			continue
		}
		parent := name[:i]
		if info, err := root.Lstat(parent); err == nil && !info.IsDir() {
			if err := root.Remove(parent); err != nil {
				return err
			}
		}
		if err := root.Mkdir(parent, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	if err := root.RemoveAll(name); err != nil || content == nil {
		return err
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}
