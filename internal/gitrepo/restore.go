package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"sort"
	"strings"
)

// Restore puts the workspace back to a commit: files that no ignore rule covers are made equal to it, new ones removed.
// Ignored files stay (they are caches), and so do the paths in keep, files that we put there. It returns the paths that
// differed, sorted; a nested repository is one path.
func (r *RunRepo) Restore(ctx context.Context, dir, commit string, keep []string) (removed []string, err error) {
	w, unlock, err := r.openAt(ctx, dir, commit)
	if err != nil {
		return nil, fmt.Errorf("restore %s: %w", dir, err)
	}
	defer unlock()
	removed, err = w.restore(ctx, keep)
	if err != nil {
		return removed, fmt.Errorf("restore %s to %s: %w", dir, short(commit), missing(err))
	}
	return removed, nil
}

// openAt locks a workspace and makes its index hold a commit's tree.
func (r *RunRepo) openAt(ctx context.Context, dir, commit string) (*workspace, func(), error) {
	tree, err := r.TreeOf(ctx, commit)
	if err != nil {
		return nil, nil, err
	}
	w, err := r.workspace(dir)
	if err != nil {
		return nil, nil, err
	}
	unlock, err := w.lock(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := w.hold(ctx, tree); err != nil {
		unlock()
		return nil, nil, err
	}
	return w, unlock, nil
}

// restore goes on until nothing differs: an ignore file that comes back, or goes, changes what the rules cover.
func (w *workspace) restore(ctx context.Context, keep []string) ([]string, error) {
	var all []string
	for range maxPasses {
		paths, rulesChanged, err := w.restoreOnce(ctx, keep)
		all = append(all, paths...)
		if err != nil {
			return all, err
		}
		if !rulesChanged {
			break
		}
	}
	sort.Strings(all)
	return compact(all), nil
}

// maxPasses bounds restore; nested ignore files of an agent need one pass per level at most.
const maxPasses = 16

// restoreOnce takes the commit's ignore files back first, alone: until then the rules are the agent's.
func (w *workspace) restoreOnce(ctx context.Context, keep []string) (paths []string, rulesChanged bool, err error) {
	s, err := w.scanFiles(ctx)
	if err != nil {
		return nil, false, err
	}
	different, touched, err := w.really(ctx, s.changed)
	if err != nil {
		return nil, false, err
	}
	if err := w.add(ctx, pathsOf(touched)); err != nil { // the same content: only the file times in the index change
		return nil, false, err
	}
	back := append(pathsOf(different), s.removed...)
	if rules := ignoreFiles(back); len(rules) > 0 {
		return rules, true, w.bringBack(ctx, rules)
	}
	s.exclude(keep)
	surplus := s.surplus()
	if err := w.removeFiles(surplus); err != nil {
		return surplus, false, err
	}
	return append(surplus, back...), len(ignoreFiles(surplus)) > 0, w.bringBack(ctx, back)
}

// ignoreFiles picks the .gitignore files.
func ignoreFiles(paths []string) []string {
	var rules []string
	for _, name := range paths {
		if path.Base(name) == ".gitignore" {
			rules = append(rules, name)
		}
	}
	return rules
}

// surplus is what has to go: nested repositories as a whole, then files outside them.
func (s *scan) surplus() []string {
	outside := append(without(s.untracked, s.nested), without(s.skipped, s.nested)...)
	return append(append([]string{}, s.nested...), outside...)
}

func pathsOf(changes []rawChange) []string {
	paths := make([]string, 0, len(changes))
	for _, change := range changes {
		paths = append(paths, change.path)
	}
	return paths
}

// compact drops neighbours that are equal.
func compact(sorted []string) []string {
	var out []string
	for i, s := range sorted {
		if i == 0 || s != sorted[i-1] {
			out = append(out, s)
		}
	}
	return out
}

// removeFiles removes files and folders of the workspace, and the parent folders that it empties. os.Root keeps every
// step inside the workspace whatever links an agent left.
func (w *workspace) removeFiles(paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	root, err := os.OpenRoot(w.root)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for _, name := range paths {
		err := root.RemoveAll(name)
		if errors.Is(err, os.ErrPermission) {
			openFolders(w.root)
			err = root.RemoveAll(name)
		}
		if err != nil {
			return fmt.Errorf("remove %q: %w", name, err)
		}
		for parent := path.Dir(name); parent != "."; parent = path.Dir(parent) {
			if root.Remove(parent) != nil { // not empty
				break
			}
		}
	}
	return nil
}

// bringBack writes files again as the index has them.
func (w *workspace) bringBack(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	_, err := w.feed(ctx, paths, "checkout-index", "-f", "-u", "-q", "-z", "--stdin")
	if gitSays(err, "Permission denied") {
		openFolders(w.root)
		_, err = w.feed(ctx, paths, "checkout-index", "-f", "-u", "-q", "-z", "--stdin")
	}
	return err
}

// Differences lists the paths of dir that differ from a commit in content, mode or type, and the new ones that no ignore
// rule covers, sorted, without those in exclude. A file that was only touched is no difference. Nothing is written.
// A nested repository is one path.
func (r *RunRepo) Differences(ctx context.Context, dir, commit string, exclude []string) ([]string, error) {
	w, unlock, err := r.openAt(ctx, dir, commit)
	if err != nil {
		return nil, fmt.Errorf("compare %s: %w", dir, err)
	}
	defer unlock()
	s, err := w.scanFiles(ctx)
	if err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", dir, short(commit), err)
	}
	different, _, err := w.really(ctx, s.changed)
	if err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", dir, short(commit), err)
	}
	all := append(append(s.surplus(), s.removed...), pathsOf(different)...)
	sort.Strings(all)
	return without(compact(all), exclude), nil
}

// IgnoredBeside lists the files of dir that an ignore rule covers and the commit does not track, without what stands in
// folders that hold nothing else: caches and installed packages. It is cheap, whatever those hold.
func (r *RunRepo) IgnoredBeside(ctx context.Context, dir, commit string) ([]string, error) {
	w, unlock, err := r.openAt(ctx, dir, commit)
	if err != nil {
		return nil, fmt.Errorf("list ignored files of %s: %w", dir, err)
	}
	defer unlock()
	out, err := w.git(ctx, "ls-files", "-o", "-i", "-z", "--directory", "--exclude-standard")
	if err != nil {
		return nil, fmt.Errorf("list ignored files of %s: %w", dir, err)
	}
	return slices.DeleteFunc(splitZ(out), func(path string) bool { return strings.HasSuffix(path, "/") }), nil
}
