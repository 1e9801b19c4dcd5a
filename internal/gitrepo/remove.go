package gitrepo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// RemoveTree removes a directory of ours with all it holds, folders that an agent made read-only included. Links are
// removed, never followed. A missing directory is success.
func RemoveTree(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	openFolders(dir)
	return os.RemoveAll(dir)
}

// openFolders gives the owner read, write and search permission on every folder below dir (dir included). What it
// cannot change is left: the operation that needs it reports the error. os.Root keeps a folder that turns into a link
// meanwhile from leading elsewhere.
func openFolders(dir string) {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return
	}
	_ = os.Chmod(dir, info.Mode().Perm()|0o700)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer func() { _ = root.Close() }()
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return nil //nolint:nilerr // the operation that needs what cannot be read reports it
		}
		rel, relErr := filepath.Rel(dir, path)
		info, infoErr := entry.Info()
		if relErr == nil && infoErr == nil && info.Mode().Perm()&0o700 != 0o700 {
			_ = root.Chmod(rel, info.Mode().Perm()|0o700)
		}
		return nil
	})
}
