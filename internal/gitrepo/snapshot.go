package gitrepo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// SnapshotOptions describe the commit of a snapshot.
type SnapshotOptions struct {
	Ref     string    // set to the commit; "" = none
	Message string    // of the commit
	When    time.Time // its dates, in whole seconds: a repeated snapshot has the same id
	// ExcludePaths are files or folders that we put into the workspace. They stay out unless the parent tracks them.
	ExcludePaths []string
}

// Snapshot is the state of a workspace as a commit.
type Snapshot struct {
	Commit  string
	Tree    string
	Changed bool // the tree differs from the parent's
	// Nested are repositories that were found inside: their files are in the snapshot, their .git folders are not.
	Nested []string
	// Submodules are gitlinks of the base whose folders hold files now: the gitlink stays, those files are not in.
	Submodules []string
	// Skipped are paths git cannot hold: sockets, pipes, devices, names that stand for .git.
	Skipped []string
}

// Snapshot commits everything in dir that no ignore rule covers on parent ("" = no parent): new, changed and deleted
// files, modes, links, bytes as they are. A file that the parent tracks stays tracked even if a rule covers it.
func (r *RunRepo) Snapshot(ctx context.Context, dir, parent string, o SnapshotOptions) (Snapshot, error) {
	parentTree, err := r.TreeOf(ctx, parent)
	if err != nil {
		return Snapshot{}, fmt.Errorf("snapshot of %s: %w", dir, err)
	}
	w, err := r.workspace(dir)
	if err != nil {
		return Snapshot{}, err
	}
	unlock, err := w.lock(ctx)
	if err != nil {
		return Snapshot{}, err
	}
	defer unlock()
	snapshot, err := w.snapshot(ctx, parentTree, o.ExcludePaths)
	if err != nil {
		return Snapshot{}, fmt.Errorf("snapshot of %s: %w", dir, err)
	}
	var parents []string
	if parent != "" {
		parents = []string{parent}
	}
	if snapshot.Commit, err = r.CommitTree(ctx, snapshot.Tree, parents, o.Message, o.When); err != nil {
		return Snapshot{}, err
	}
	if o.Ref == "" {
		return snapshot, nil
	}
	return snapshot, r.SetRef(ctx, o.Ref, snapshot.Commit)
}

// snapshot brings the index from the parent's tree to the files and writes it.
func (w *workspace) snapshot(ctx context.Context, parentTree string, exclude []string) (Snapshot, error) {
	if err := w.hold(ctx, parentTree); err != nil {
		return Snapshot{}, err
	}
	s, err := w.scanFiles(ctx)
	if err != nil {
		return Snapshot{}, err
	}
	s.exclude(exclude)
	result := Snapshot{Tree: parentTree, Nested: s.nested, Skipped: s.skipped, Submodules: w.inhabited()}
	if len(s.changed)+len(s.removed)+len(s.untracked) == 0 {
		return result, nil
	}
	if err := w.forget(); err != nil {
		return Snapshot{}, err
	}
	if err := w.stage(ctx, s); err != nil {
		return Snapshot{}, err
	}
	if result.Tree, err = w.writeTree(ctx); err != nil {
		return Snapshot{}, err
	}
	result.Changed = result.Tree != parentTree
	return result, w.settle(ctx, result.Tree, len(w.gitlinks) > 0)
}

// stage puts a scan's findings into the index: removals first, because a file may stand where a folder was.
func (w *workspace) stage(ctx context.Context, s scan) error {
	if len(s.removed) > 0 {
		if _, err := w.feed(ctx, s.removed, "update-index", "-z", "--force-remove", "--stdin"); err != nil {
			return fmt.Errorf("record deletions: %w", err)
		}
	}
	added := append([]string{}, s.untracked...)
	for _, change := range s.changed {
		added = append(added, change.path)
	}
	return w.add(ctx, added)
}

// add records the content of files; one that went meanwhile is recorded as gone.
func (w *workspace) add(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	if err := w.makeAllReadable(paths); err != nil {
		return err
	}
	if _, err := w.feed(ctx, paths, "update-index", "-z", "--add", "--remove", "--replace", "--stdin"); err != nil {
		return fmt.Errorf("record files: %w", err)
	}
	return nil
}

// makeAllReadable lets git read what an agent made unreadable.
func (w *workspace) makeAllReadable(paths []string) error {
	if w.foreign {
		return nil
	}
	for _, path := range paths {
		full := w.root + "/" + path
		info, err := os.Lstat(full)
		if err != nil {
			continue // git says it better
		}
		if err := makeReadable(full, info); err != nil {
			return err
		}
	}
	return nil
}

// exclude drops untracked paths that are ours.
func (s *scan) exclude(ours []string) {
	s.untracked = without(s.untracked, ours)
	s.skipped = without(s.skipped, ours)
	s.nested = without(s.nested, ours)
}

// without drops the paths that are, or lie below, one of the given ones.
func without(paths, dropped []string) []string {
	if len(dropped) == 0 {
		return paths
	}
	var kept []string
	for _, path := range paths {
		if !covered(path, dropped) {
			kept = append(kept, path)
		}
	}
	return kept
}

func covered(path string, tops []string) bool {
	for _, top := range tops {
		top = filepath.ToSlash(filepath.Clean(top))
		if path == top || strings.HasPrefix(path, top+"/") {
			return true
		}
	}
	return false
}

// inhabited gives the gitlinks whose folders hold something.
func (w *workspace) inhabited() []string {
	var found []string
	for _, path := range w.gitlinks {
		entries, err := os.ReadDir(filepath.Join(w.root, path))
		if err == nil && len(entries) > 0 {
			found = append(found, path)
		}
	}
	return found
}
