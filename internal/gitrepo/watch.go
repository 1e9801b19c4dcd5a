package gitrepo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// Watch remembers what a turn must not change: the files of its workspace with their modes, ignored and untracked ones
// too, and the refs and the configuration of the run's repository. The workspace's disposable .git is nobody's.
type Watch struct {
	repo *RunRepo
	work *workspace
	// files are what lies in the workspace, by the path with slashes.
	files map[string]fs.FileMode
	// control are the files of the repository that say what it is, by their path in it.
	control map[string][]byte
}

// controlMost is how large a file of the repository may be to be kept whole, in bytes; of a larger one, and of an
// index, only the digest is.
const controlMost = 4 << 20

// Watch looks at a workspace, and at the repository, before a turn.
func (r *RunRepo) Watch(dir string) (*Watch, error) {
	work, err := r.workspace(dir)
	if err != nil {
		return nil, err
	}
	w := &Watch{repo: r, work: work}
	if w.files, _, err = survey(work.root); err != nil {
		return nil, fmt.Errorf("look at %s: %w", dir, err)
	}
	if w.control, err = w.controls(); err != nil {
		return nil, fmt.Errorf("look at %s: %w", r.dir, err)
	}
	return w, nil
}

// survey lists what lies below a root except its .git: modes by path. What cannot be looked into is named beside it.
func survey(root string) (files map[string]fs.FileMode, closed []string, err error) {
	files = map[string]fs.FileMode{}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		rel := filepath.ToSlash(strings.TrimPrefix(path[len(root):], string(filepath.Separator)))
		switch {
		case rel == "" && entry == nil: // it is gone
			return err
		case rel == "":
			rel = "."
		case rel == ".git":
			if entry != nil && entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if mode, known := modeOf(entry, err); known {
			files[rel] = mode
		} else {
			closed = append(closed, rel)
		}
		return nil
	})
	return files, closed, err
}

// modeOf is the mode of what a walk came to; false where it could not be looked at.
func modeOf(entry fs.DirEntry, err error) (fs.FileMode, bool) {
	if err != nil {
		return 0, false
	}
	info, err := entry.Info()
	if err != nil {
		return 0, false
	}
	return info.Mode(), true
}

// modeBits are those of a file that count: its kind, who may do what, and what it runs as. A folder may get its group's
// bit from its parent.
func modeBits(mode fs.FileMode) fs.FileMode {
	if mode.IsDir() {
		return mode & (fs.ModeType | fs.ModePerm | fs.ModeSticky)
	}
	if mode&fs.ModeSymlink != 0 {
		return fs.ModeSymlink // a link's own permissions are nothing
	}
	return mode & (fs.ModeType | fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
}

// Touched lists what a turn changed in its workspace, sorted: files with other contents than the commit's, new ones
// whether ignored or not, those that are gone, and what has another mode. ours are files that we put there; they and
// empty folders are left out.
func (w *Watch) Touched(ctx context.Context, commit string, ours []string) ([]string, error) {
	if err := w.checkIndex(); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(w.work.root); err != nil || !info.IsDir() {
		return []string{"."}, nil //nolint:nilerr // it is gone, which is all that can be said
	}
	now, closed, err := survey(w.work.root)
	if err != nil {
		return nil, fmt.Errorf("look at %s again: %w", w.work.root, err)
	}
	if slices.Contains(closed, ".") { // so much is certain; git could not look into it either
		return []string{"."}, nil
	}
	touched := append(w.moded(now), closed...)
	touched = without(touched, ours)
	different, err := w.repo.Differences(ctx, w.work.root, commit, ours)
	if err != nil && len(touched) == 0 { // else git only adds to what is known
		return nil, err
	}
	touched = append(touched, different...)
	sort.Strings(touched)
	return compact(touched), nil
}

// moded compares what lies there by name and mode.
func (w *Watch) moded(now map[string]fs.FileMode) []string {
	var touched []string
	for path, mode := range now {
		before, known := w.files[path]
		switch {
		case !known && !mode.IsDir(), known && modeBits(mode) != modeBits(before):
			touched = append(touched, path)
		}
	}
	for path, mode := range w.files {
		if _, there := now[path]; !there && !mode.IsDir() {
			touched = append(touched, path)
		}
	}
	return touched
}

// checkIndex drops the private index of a workspace where somebody changed it: it is a cache, and is made again.
func (w *Watch) checkIndex() error {
	for _, file := range []string{w.work.indexFile(), w.work.stateFile()} {
		rel, err := filepath.Rel(w.repo.dir, file)
		if err != nil {
			return err
		}
		content, err := readControl(file)
		before, known := w.control[filepath.ToSlash(rel)]
		if known == (err == nil) && bytes.Equal(before, content) {
			continue
		}
		if err := errors.Join(RemoveTree(w.work.stateFile()), RemoveTree(w.work.indexFile())); err != nil {
			return fmt.Errorf("private index of %s: %w", w.work.root, err)
		}
		return nil
	}
	return nil
}

// Tampered lists what of the run's repository is not as it was, and puts it back: refs that moved or went, new ones
// that are not ours, configuration, ignore rules, borrowed objects. What other turns of the run fetch meanwhile is no
// change.
func (w *Watch) Tampered() ([]string, error) {
	now, err := w.controls()
	if err != nil {
		return nil, fmt.Errorf("look at %s again: %w", w.repo.dir, err)
	}
	var changed []string
	for path, content := range w.control {
		if !bytes.Equal(content, now[path]) && !strings.HasPrefix(path, indexes) {
			changed = append(changed, path)
		}
	}
	for path, content := range now {
		if _, known := w.control[path]; !known && !fetched(path, content) && !strings.HasPrefix(path, indexes) {
			changed = append(changed, path)
		}
	}
	if len(changed) == 0 {
		return nil, nil
	}
	slices.Sort(changed)
	return changed, w.putBack(changed)
}

// indexes is the folder of private indexes, one for each workspace; those of other turns change all the time.
const indexes = "indexes/"

// fetched reports whether a new file of the repository is a mark of objects that another turn fetched, or is being
// written by git or by us.
func fetched(path string, content []byte) bool {
	dir, name := filepath.Split(path)
	if strings.HasPrefix(name, ".new-") || strings.HasSuffix(name, ".lock") {
		return true
	}
	return strings.HasPrefix(path, "refs/conclave/") && strings.HasSuffix(dir, "/held/") && strings.TrimSpace(string(content)) == name
}

// controls reads the repository's files without its objects and without the indexes of other workspaces.
func (w *Watch) controls() (map[string][]byte, error) {
	files := map[string][]byte{}
	own := filepath.ToSlash(indexes + filepath.Base(w.work.meta) + "/")
	err := filepath.WalkDir(w.repo.dir, func(path string, entry fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(w.repo.dir, path)
		if relErr != nil {
			return relErr
		}
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil && rel != "." && errors.Is(err, fs.ErrNotExist): // another turn's, gone meanwhile
			return nil
		case err != nil:
			return err
		case entry.IsDir():
			return descend(rel+"/", own)
		case strings.HasPrefix(rel, objects) && rel != objects+"info/alternates", filepath.Base(rel) == "guard":
			return nil
		}
		content, err := readControl(path)
		if err == nil {
			files[rel] = content
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return files, err
}

// objects is the folder of the repository's objects, whose names are their digests.
const objects = "objects/"

// descend says which folders of the repository are looked into; own is the index of the workspace.
func descend(dir, own string) error {
	skipped := strings.HasPrefix(dir, objects) && dir != objects && dir != objects+"info/" || strings.HasPrefix(dir, indexes) && dir != indexes && dir != own
	if skipped {
		return fs.SkipDir
	}
	return nil
}

// readControl reads a file of the repository. A link is not followed: it stands for its target's name.
func readControl(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		target, _ := os.Readlink(path)
		return []byte(info.Mode().Type().String() + " " + target), nil
	}
	if info.Size() <= controlMost && filepath.Base(path) != "index" {
		return os.ReadFile(path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	return sum.Sum(nil), err
}

// putBack writes files of the repository as they were. os.Root keeps every step within it.
func (w *Watch) putBack(paths []string) error {
	root, err := os.OpenRoot(w.repo.dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for _, path := range paths {
		err := root.RemoveAll(path)
		if content, known := w.control[path]; known && err == nil {
			if err = root.MkdirAll(filepath.Dir(path), 0o755); err == nil {
				err = root.WriteFile(path, content, 0o644)
			}
		}
		if err != nil {
			return fmt.Errorf("put %s of the run's repository %s back: %w", path, w.repo.dir, err)
		}
	}
	return nil
}
