package gitrepo

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // git's object name, no security property is drawn from it
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// scan is how the files differ from the index.
type scan struct {
	changed   []rawChange // tracked, there as a file or link, perhaps with the same content
	removed   []string    // tracked, not there as a file or link
	untracked []string    // not tracked, not ignored; files of nested repositories included
	nested    []string    // nested repositories found among the untracked, with their slash cut off
	skipped   []string    // what git cannot hold: sockets, devices, names like .git
}

// scanFiles compares the files with the index. It runs no process inside the files and reads no configuration there.
func (w *workspace) scanFiles(ctx context.Context) (scan, error) {
	s, denied, err := w.scanOnce(ctx)
	if err != nil || !denied || w.foreign {
		return s, err
	}
	// A folder without permissions hides what is in it. It belongs to the run, so it is opened and read again.
	openFolders(w.root)
	s, _, err = w.scanOnce(ctx)
	return s, err
}

func (w *workspace) scanOnce(ctx context.Context) (s scan, denied bool, err error) {
	others := make(chan listing, 1)
	go func() { others <- w.listOthers(ctx, true) }()
	diff, warnings, err := w.runner.runBoth(ctx, w.call(), "diff-files", "--raw", "-z", "--ignore-submodules=all")
	other := <-others
	if err != nil {
		return s, false, fmt.Errorf("compare files of %s: %w", w.root, err)
	}
	if other.err != nil {
		return s, false, fmt.Errorf("list files of %s: %w", w.root, other.err)
	}
	changes, _ := parseRaw(diff)
	lost, err := w.behindLoops(ctx, warnings)
	if err != nil {
		return s, false, err
	}
	s.tracked(w.root, append(append(changes, w.buriedGitlinks()...), lost...))
	if err := w.untracked(ctx, &s, other.paths); err != nil {
		return s, false, err
	}
	return s, saysDenied(warnings) || saysDenied(other.warnings), nil
}

func saysDenied(warnings []byte) bool { return bytes.Contains(warnings, []byte("Permission denied")) }

// listing is the answer of one ls-files.
type listing struct {
	paths    []string
	warnings []byte
	err      error
}

// listOthers lists untracked files, without the ignored ones where standard is set.
func (w *workspace) listOthers(ctx context.Context, standard bool) listing {
	args := []string{"ls-files", "-o", "-z"}
	if standard {
		args = append(args, "--exclude-standard")
	}
	out, warnings, err := w.runner.runBoth(ctx, w.call(), args...)
	return listing{splitZ(out), warnings, err}
}

// tracked sorts changes of tracked files by what lies there now.
func (s *scan) tracked(root string, changes []rawChange) {
	seen := map[string]bool{}
	for _, change := range changes {
		if seen[change.path] { // an unmerged path comes more than once
			continue
		}
		seen[change.path] = true
		switch kind := kindAt(root, change.path); {
		case change.status != 'D' && kind == kindFile:
			s.changed = append(s.changed, change)
		case change.status != 'D' && kind == kindOther:
			s.skipped = append(s.skipped, change.path)
			s.removed = append(s.removed, change.path)
		default:
			s.removed = append(s.removed, change.path)
		}
	}
}

// buriedGitlinks are submodules in whose place a file or link lies: git's comparison, which must not look into
// submodules, does not report them.
func (w *workspace) buriedGitlinks() []rawChange {
	var changes []rawChange
	for _, path := range w.gitlinks {
		if kindAt(w.root, path) == kindFile {
			changes = append(changes, rawChange{oldMode: modeGitlink, newMode: modeFile, status: 'T', path: path})
		}
	}
	return changes
}

// behindLoops finds the tracked files in whose folder's place a link to itself lies. Git's comparison only warns of
// them and takes them for unchanged.
func (w *workspace) behindLoops(ctx context.Context, warnings []byte) ([]rawChange, error) {
	if w.foreign || !bytes.Contains(warnings, []byte("Too many levels of symbolic links")) {
		return nil, nil // of the user's files only those git names are taken: others may be left out by choice (sparse)
	}
	out, err := w.git(ctx, "ls-files", "-z")
	if err != nil {
		return nil, err
	}
	var changes []rawChange
	for _, path := range splitZ(out) {
		if kindAt(w.root, path) == kindNothing && !slices.Contains(w.gitlinks, path) {
			changes = append(changes, rawChange{status: 'D', path: path})
		}
	}
	return changes, nil
}

// untracked sorts untracked names, and walks nested repositories for their files.
func (w *workspace) untracked(ctx context.Context, s *scan, paths []string) error {
	for len(paths) > 0 {
		path := paths[0]
		paths = paths[1:]
		if name, isNested := strings.CutSuffix(path, "/"); isNested {
			s.nested = append(s.nested, name)
			inner, err := w.nestedFiles(ctx, name)
			if err != nil {
				return err
			}
			paths = append(paths, inner...)
			continue
		}
		if unaddable(path) || kindAt(w.root, path) != kindFile {
			s.skipped = append(s.skipped, path)
			continue
		}
		s.untracked = append(s.untracked, path)
	}
	sort.Strings(s.untracked)
	return nil
}

// nestedFiles lists the files of a repository inside the files that no ignore rule covers: its own .gitignore files
// count, and the outer ones. Its .git is skipped like any other.
func (w *workspace) nestedFiles(ctx context.Context, name string) ([]string, error) {
	inner := *w
	inner.root = filepath.Join(w.root, name)
	c := inner.call()
	c.index = filepath.Join(w.meta, "no-index")
	out, err := w.runner.run(ctx, c, "ls-files", "-o", "-z", "--exclude-standard")
	if err != nil {
		return nil, fmt.Errorf("list files of the nested repository %s: %w", name, err)
	}
	var paths []string
	for _, path := range splitZ(out) {
		paths = append(paths, name+"/"+path)
	}
	return w.notIgnored(ctx, paths)
}

// notIgnored drops the paths that an ignore rule covers.
func (w *workspace) notIgnored(ctx context.Context, paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	// check-ignore refuses literal pathspecs; a leading "./" keeps a name like ":(top)x" from meaning something.
	c := w.call()
	c.env, c.heavy = []string{"GIT_LITERAL_PATHSPECS=0"}, true
	c.stdin = joinZ(prefixed("./", paths))
	out, err := w.runner.run(ctx, c, "check-ignore", "-z", "--stdin", "--no-index")
	if err != nil && exitOf(err) != 1 {
		return nil, fmt.Errorf("apply ignore rules: %w", err)
	}
	ignored := map[string]bool{}
	for _, path := range splitZ(out) {
		ignored[strings.TrimPrefix(path, "./")] = true
	}
	var kept []string
	for _, path := range paths {
		if !ignored[path] {
			kept = append(kept, path)
		}
	}
	return kept, nil
}

func prefixed(prefix string, paths []string) []string {
	all := make([]string, len(paths))
	for i, path := range paths {
		all[i] = prefix + path
	}
	return all
}

// kind is what lies at a path, without following a link at its end.
type kind int

const (
	kindNothing kind = iota
	kindFile         // a regular file or a link: what git can hold
	kindFolder
	kindOther // socket, pipe, device: what git cannot hold
)

// kindAt looks at a path below root. A path behind a link counts as nothing: git does not look there either.
func kindAt(root, path string) kind {
	for i, c := range path {
		if c == '/' {
			if info, err := os.Lstat(filepath.Join(root, path[:i])); err != nil || !info.IsDir() {
				return kindNothing
			}
		}
	}
	info, err := os.Lstat(root + "/" + path)
	switch {
	case err != nil:
		return kindNothing
	case info.IsDir():
		return kindFolder
	case info.Mode()&os.ModeSymlink != 0 && strings.EqualFold(info.Name(), ".gitmodules"):
		return kindOther // git refuses it as a link
	case info.Mode().IsRegular() || info.Mode()&os.ModeSymlink != 0:
		return kindFile
	}
	return kindOther
}

// unaddable tells names that git refuses in a tree because some file system would take them for .git.
func unaddable(path string) bool {
	for _, part := range strings.FieldsFunc(path, func(c rune) bool { return c == '/' || c == '\\' }) {
		name, _, _ := strings.Cut(part, ":")
		name = strings.TrimRight(name, " .")
		if strings.EqualFold(name, ".git") || strings.EqualFold(name, "git~1") {
			return true
		}
	}
	return false
}

// really keeps the changes whose content or mode differs from the index: a file that was only touched is none.
func (w *workspace) really(ctx context.Context, changes []rawChange) (different, touched []rawChange, err error) {
	for _, change := range changes {
		same := change.status == 'M' && change.oldMode == change.newMode
		if same {
			if same, err = w.same(ctx, change); err != nil {
				return nil, nil, err
			}
		}
		if same {
			touched = append(touched, change)
		} else {
			different = append(different, change)
		}
	}
	return different, touched, nil
}

// largeFile is how large a file is, in bytes, for its size to be compared before it is read: with one command an agent
// makes a file of many terabytes that holds nothing, and hashing it takes hours.
const largeFile = 64 << 20

// same reports whether a file has the content that the index says.
func (w *workspace) same(ctx context.Context, change rawChange) (bool, error) {
	if info, err := os.Lstat(w.root + "/" + change.path); err == nil && info.Mode().IsRegular() && info.Size() > largeFile {
		size, err := w.git(ctx, "cat-file", "-s", change.oldID)
		if err != nil || strings.TrimSpace(string(size)) != strconv.FormatInt(info.Size(), 10) {
			return false, err
		}
	}
	id, err := w.fileID(change.path)
	return id == change.oldID, err
}

// fileID names the content at a path as git would, without conversion.
func (w *workspace) fileID(path string) (string, error) {
	full := w.root + "/" + path
	info, err := os.Lstat(full)
	if err != nil {
		return "", err
	}
	if info.Mode()&os.ModeSymlink != 0 {
		target, err := os.Readlink(full)
		if err != nil {
			return "", err
		}
		return blobID(w.format, int64(len(target)), strings.NewReader(target))
	}
	if err := makeReadable(full, info); err != nil {
		return "", err
	}
	file, err := os.Open(full)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	return blobID(w.format, info.Size(), file)
}

// makeReadable gives the owner read permission on a file of a workspace; git records no such bit.
func makeReadable(path string, info os.FileInfo) error {
	if info.Mode().IsRegular() && info.Mode().Perm()&0o400 == 0 {
		return os.Chmod(path, info.Mode().Perm()|0o400)
	}
	return nil
}

// blobID computes git's name of a content.
func blobID(format string, size int64, content io.Reader) (string, error) {
	h := sha1.New() //nolint:gosec // see the import
	if format == "sha256" {
		h = sha256.New()
	}
	_, _ = fmt.Fprintf(h, "blob %d\x00", size)
	if _, err := io.Copy(h, content); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
