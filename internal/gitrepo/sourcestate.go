package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// sourceAttributes end the attribute rules under which the user's files are read: text conversion stays as the user has
// it, because the files were written by it, but no filter program runs.
const sourceAttributes = "* !filter !diff !merge\n"

// copiedSettings are the user's settings that decide how files of theirs compare with the index.
var copiedSettings = []string{
	"core.autocrlf", "core.eol", "core.filemode", "core.symlinks", "core.ignorecase", "core.precomposeunicode", "core.checkstat", "core.trustctime",
}

// ShallowFile is the list of commits where a shallow clone's history ends, for RunRepoOptions.Shallow; nil otherwise.
func (s *Source) ShallowFile() ([]byte, error) {
	if !s.shallow {
		return nil, nil
	}
	path := filepath.Join(s.commonDir, "shallow")
	if !s.ownFile(path) {
		return nil, fmt.Errorf("%w: %s leads out of the repository", ErrCorruptRepository, path)
	}
	return os.ReadFile(path)
}

// Dirty lists what a run from HEAD leaves out: staged, changed, deleted and new files that no ignore rule covers, and
// nested repositories, sorted. It is nil for a directory without repository, which has no other state than its files.
func (s *Source) Dirty(ctx context.Context) ([]string, error) {
	if !s.IsRepository() {
		return nil, nil
	}
	place, err := os.MkdirTemp("", "conclave-dirty-")
	if err != nil {
		return nil, fmt.Errorf("list uncommitted files: %w", err)
	}
	defer func() { _ = RemoveTree(place) }()
	w, err := s.view(ctx, place, "")
	if err != nil {
		return nil, fmt.Errorf("list uncommitted files of %s: %w", s.root, err)
	}
	paths, err := s.dirtyPaths(ctx, w)
	if err != nil {
		return nil, fmt.Errorf("list uncommitted files of %s: %w", s.root, err)
	}
	sort.Strings(paths)
	return compact(paths), nil
}

func (s *Source) dirtyPaths(ctx context.Context, w *workspace) ([]string, error) {
	head, err := s.Resolve(ctx, "HEAD")
	if errors.Is(err, ErrNoCommit) {
		head.Tree, err = w.runner.line(ctx, w.call(), "mktree")
	}
	if err != nil {
		return nil, err
	}
	staged, err := w.git(ctx, "diff-index", "--cached", "--raw", "-z", "--no-renames", "--ignore-submodules=none", head.Tree)
	if err != nil {
		return nil, err
	}
	changes, _ := parseRaw(staged)
	found, err := w.scanFiles(ctx)
	if err != nil {
		return nil, err
	}
	paths := append(pathsOf(changes), found.removed...)
	for _, nested := range found.nested {
		paths = append(paths, nested+"/")
	}
	paths = append(paths, without(found.untracked, found.nested)...)
	different, err := w.convertedDifferent(ctx, found.changed)
	return append(paths, different...), err
}

// convertedDifferent keeps the changed paths whose content really differs, text conversion taken into account: the index
// is a copy of ours, so it may be refreshed.
func (w *workspace) convertedDifferent(ctx context.Context, changes []rawChange) ([]string, error) {
	if len(changes) == 0 {
		return nil, nil
	}
	if _, err := w.git(ctx, "update-index", "-q", "--refresh"); err != nil && exitOf(err) != 1 {
		return nil, err
	}
	out, err := w.git(ctx, "diff-files", "--raw", "-z", "--ignore-submodules=all")
	if err != nil {
		return nil, err
	}
	after, _ := parseRaw(out)
	return compact(pathsOf(after)), nil
}

// view makes a private git directory in place through which the user's files are seen with a copy of the user's index.
// New objects go to objects; "" = into place, borrowing the user's.
func (s *Source) view(ctx context.Context, place, objects string) (*workspace, error) {
	w := &workspace{runner: s.runner, gitDir: place, root: s.root, objects: objects, meta: place, format: s.format, foreign: true}
	if err := s.writeView(ctx, w); err != nil {
		return nil, err
	}
	if !s.IsRepository() {
		return w, nil
	}
	return w, s.copyIndex(place)
}

func (s *Source) writeView(ctx context.Context, w *workspace) error {
	config, err := s.userConfig(ctx)
	if err != nil {
		return err
	}
	for _, key := range copiedSettings {
		if value, ok := config[key]; ok {
			w.config = append(w.config, setting{key, value})
		}
	}
	excludes, err := s.Excludes(ctx)
	if err != nil {
		return err
	}
	global, repository, err := s.attributes(config)
	if err != nil {
		return err
	}
	globalFile := filepath.Join(w.gitDir, "global-attributes")
	w.config = append(w.config, setting{"core.attributesFile", globalFile})
	alternates, err := alternatesFile([]string{s.ObjectsDir()})
	if err != nil {
		return err
	}
	files := map[string][]byte{
		"HEAD":              []byte("ref: refs/heads/none\n"),
		"config":            []byte(viewConfig(s.format)),
		"info/attributes":   append(repository, sourceAttributes...),
		"info/exclude":      excludes,
		"global-attributes": global,
	}
	if w.objects == "" {
		files["objects/info/alternates"] = alternates
	}
	for _, dir := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(w.gitDir, dir), 0o755); err != nil {
			return err
		}
	}
	for name, content := range files {
		if err := writeNew(filepath.Join(w.gitDir, name), content); err != nil {
			return err
		}
	}
	return nil
}

func viewConfig(format string) string {
	if format == "sha1" {
		return "[core]\n\trepositoryFormatVersion = 0\n\tbare = true\n"
	}
	return "[core]\n\trepositoryFormatVersion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = " + format + "\n"
}

// copyIndex copies the user's index, with the shared part of a split one.
func (s *Source) copyIndex(place string) error {
	err := copyFile(filepath.Join(s.gitDir, "index"), filepath.Join(place, "index"))
	if errors.Is(err, os.ErrNotExist) {
		return nil // nothing was ever added
	}
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(s.gitDir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "sharedindex.") {
			err := copyFile(filepath.Join(s.gitDir, entry.Name()), filepath.Join(place, entry.Name()))
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// SnapshotSource writes the user's files as they are now, ignored ones left out, as a tree of the run's repository. It
// works on a copy of the user's index; for a directory without repository everything that no rule ignores is taken.
// Nested repositories give their files, submodules stay the gitlinks that the index has.
func (r *RunRepo) SnapshotSource(ctx context.Context, s *Source) (tree string, err error) {
	place, err := os.MkdirTemp(r.dir, "source-")
	if err != nil {
		return "", fmt.Errorf("snapshot of %s: %w", s.root, err)
	}
	defer func() { _ = RemoveTree(place) }()
	if r.format != s.format {
		return "", fmt.Errorf("snapshot of %s: the run's repository uses %s, the source %s", s.root, r.format, s.format)
	}
	w, err := s.view(ctx, place, r.ObjectsDir())
	if err != nil {
		return "", fmt.Errorf("snapshot of %s: %w", s.root, err)
	}
	found, err := w.scanFiles(ctx)
	if err != nil {
		return "", fmt.Errorf("snapshot of %s: %w", s.root, err)
	}
	if err := w.stage(ctx, found); err != nil {
		return "", fmt.Errorf("snapshot of %s: %w", s.root, err)
	}
	tree, err = w.writeTree(ctx)
	if err != nil {
		return "", fmt.Errorf("snapshot of %s: %w", s.root, missing(err))
	}
	return tree, nil
}

// writeNew writes a file with its folders; no content means no file.
func writeNew(path string, content []byte) error {
	if len(content) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}
