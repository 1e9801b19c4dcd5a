package gitrepo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// workspace is a directory of files seen through a private git directory and a private index. The index is only a
// cache of file times: it is rebuilt from the tree whenever it does not hold the tree that a call names.
type workspace struct {
	runner  Runner
	gitDir  string
	root    string // the files
	objects string // set where the objects lie elsewhere than in gitDir
	meta    string // the folder of the private index
	config  []setting
	format  string
	foreign bool // the user's files: no permission of theirs is ever changed
	guard   *os.File
	// gitlinks of the tree that the index holds
	gitlinks []string
}

// indexState stands beside an index and says what it holds. It is removed before the index changes.
type indexState struct {
	Tree     string   `json:"tree"`
	Gitlinks []string `json:"gitlinks,omitempty"`
}

// workspace gives the private view of dir. dir need not exist yet, its parent must.
func (r *RunRepo) workspace(dir string) (*workspace, error) {
	realDir, err := placeOf(dir)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256([]byte(realDir))
	return &workspace{
		runner: r.runner, gitDir: r.dir, root: realDir, format: r.format,
		meta: filepath.Join(r.dir, "indexes", hex.EncodeToString(digest[:12])),
	}, nil
}

// placeOf gives one name to a directory however its parents are reached.
func placeOf(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return "", fmt.Errorf("workspace %s: %w", dir, err)
	}
	return filepath.Join(parent, filepath.Base(abs)), nil
}

// lock makes the caller the only one that works on the directory, over processes too. Lock files that a killed git
// left in the private folder belong to nobody then.
func (w *workspace) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(w.meta, 0o755); err != nil {
		return nil, fmt.Errorf("workspace %s: %w", w.root, err)
	}
	guard, err := lockFile(ctx, filepath.Join(w.meta, "guard"))
	if err != nil {
		return nil, fmt.Errorf("workspace %s: %w", w.root, err)
	}
	w.guard = guard
	_ = os.Remove(w.indexFile() + ".lock")
	return func() { _ = guard.Close() }, nil
}

func (w *workspace) indexFile() string { return filepath.Join(w.meta, "index") }
func (w *workspace) stateFile() string { return filepath.Join(w.meta, "state.json") }

// call is a call on the files with the private index.
func (w *workspace) call() call {
	c := call{gitDir: w.gitDir, workTree: w.root, index: w.indexFile(), objects: w.objects, config: w.config}
	if w.guard != nil {
		c.inherit = []*os.File{w.guard}
	}
	return c
}

func (w *workspace) git(ctx context.Context, args ...string) ([]byte, error) {
	return w.runner.run(ctx, w.call(), args...)
}

// feed runs a call with a NUL-separated list on its input.
func (w *workspace) feed(ctx context.Context, paths []string, args ...string) ([]byte, error) {
	c := w.call()
	c.stdin = joinZ(paths)
	c.heavy = true
	return w.runner.run(ctx, c, args...)
}

// state reads what the index holds; the zero value where that is unknown.
func (w *workspace) state() indexState {
	var state indexState
	content, err := os.ReadFile(w.stateFile())
	if err != nil || json.Unmarshal(content, &state) != nil {
		return indexState{}
	}
	if _, err := os.Stat(w.indexFile()); err != nil {
		return indexState{}
	}
	return state
}

// forget is called before the index changes.
func (w *workspace) forget() error {
	err := os.Remove(w.stateFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

func (w *workspace) remember(state indexState) error {
	content, err := json.Marshal(state)
	if err != nil {
		return err
	}
	return writeAtomically(w.stateFile(), content)
}

// hold makes the index hold exactly tree, keeping the file times it knows, and touches no file.
func (w *workspace) hold(ctx context.Context, tree string) error {
	if state := w.state(); state.Tree == tree {
		w.gitlinks = state.Gitlinks
		return nil
	}
	if err := w.forget(); err != nil {
		return err
	}
	if _, err := w.git(ctx, "read-tree", "--reset", tree); err != nil {
		// A damaged index has nothing worth keeping.
		if removeErr := os.Remove(w.indexFile()); removeErr != nil && !errors.Is(removeErr, os.ErrNotExist) {
			return removeErr
		}
		if _, err := w.git(ctx, "read-tree", tree); err != nil {
			return fmt.Errorf("read tree %s: %w", short(tree), err)
		}
	}
	return w.settle(ctx, tree, true)
}

// settle records that the index holds tree. Nothing of ours adds a submodule to an index that has none.
func (w *workspace) settle(ctx context.Context, tree string, gitlinks bool) error {
	if !gitlinks {
		w.gitlinks = nil
		return w.remember(indexState{Tree: tree})
	}
	out, err := w.git(ctx, "ls-files", "-s", "-z")
	if err != nil {
		return err
	}
	w.gitlinks = stagedGitlinks(out)
	return w.remember(indexState{Tree: tree, Gitlinks: w.gitlinks})
}

// writeTree writes the index as a tree.
func (w *workspace) writeTree(ctx context.Context) (string, error) {
	return w.runner.line(ctx, w.call(), "write-tree")
}

// Discard removes a workspace and its private index.
func (r *RunRepo) Discard(dir string) error {
	w, err := r.workspace(dir)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return err
	}
	return errors.Join(RemoveTree(w.root), os.RemoveAll(w.meta))
}
