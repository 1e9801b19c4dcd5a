package gitrepo

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// undoMessage is the message of a commit that Undo makes.
const undoMessage = "conclave: files that the base has otherwise"

// Undo gives a commit on top of another one in which the given changes, as Changes lists them, are taken back: their
// paths are as they were before, or gone. Nothing else differs. Equal arguments give an equal id; without changes it is
// the commit itself.
func (r *RunRepo) Undo(ctx context.Context, commit string, undo []Change, when time.Time) (string, error) {
	if len(undo) == 0 {
		return commit, nil
	}
	tree, err := r.TreeOf(ctx, commit)
	if err != nil {
		return "", err
	}
	place, err := os.MkdirTemp(r.dir, "undo-")
	if err != nil {
		return "", fmt.Errorf("undo changes of %s: %w", short(commit), err)
	}
	defer func() { _ = os.RemoveAll(place) }()
	c := r.call()
	c.index, c.heavy = filepath.Join(place, "index"), true
	if _, err := r.runner.run(ctx, c, "read-tree", tree); err != nil {
		return "", fmt.Errorf("undo changes of %s: %w", short(commit), missing(err))
	}
	// What goes goes first: a file may have stood where a folder is now.
	var list bytes.Buffer
	for _, change := range undo {
		_, _ = fmt.Fprintf(&list, "0 %s\t%s\x00", change.OldID, change.Path)
	}
	for _, change := range undo {
		if change.OldMode != modeNone {
			_, _ = fmt.Fprintf(&list, "%s %s\t%s\x00", change.OldMode, change.OldID, change.Path)
		}
	}
	feed := c
	feed.stdin = &list
	if _, err := r.runner.run(ctx, feed, "update-index", "-z", "--replace", "--index-info"); err != nil {
		return "", fmt.Errorf("undo changes of %s: %w", short(commit), err)
	}
	if tree, err = r.runner.line(ctx, c, "write-tree"); err != nil {
		return "", fmt.Errorf("undo changes of %s: %w", short(commit), err)
	}
	return r.CommitTree(ctx, tree, []string{commit}, undoMessage, when)
}
