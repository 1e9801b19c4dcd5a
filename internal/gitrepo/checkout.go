package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
)

// checkoutWorkers is git's parallelism within one checkout. The writer's and the seats' checkouts run at the same time
// and fill a small machine by themselves; a worker process costs half as much again in processor time (measured).
func checkoutWorkers(processors int) int { return max(1, min(8, processors/4)) }

// CheckoutOptions say what a workspace gets beside its files.
type CheckoutOptions struct {
	// AgentGit puts a disposable .git into the directory, on branch "work" at the commit. We never read it.
	AgentGit bool
	// AgentRefs are more refs of that .git: name ("refs/heads/base") to commit.
	AgentRefs map[string]string
}

// Checkout fills an empty (or missing) directory with the files of a commit or tree. The private index of the directory
// lies in the run's repository, under a name made from the directory's path. What an interrupted checkout left is taken
// away by Discard before the next try. Errors: ErrNotEmpty, ErrMissingObject.
func (r *RunRepo) Checkout(ctx context.Context, commit, dir string, o CheckoutOptions) error {
	tree, err := r.TreeOf(ctx, commit)
	if err != nil {
		return fmt.Errorf("check out %s: %w", short(commit), err)
	}
	if err := emptyDirectory(dir); err != nil {
		return fmt.Errorf("check out %s: %w", short(commit), err)
	}
	w, err := r.workspace(dir)
	if err != nil {
		return err
	}
	unlock, err := w.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := w.fill(ctx, tree); err != nil {
		return fmt.Errorf("check out %s into %s: %w", short(commit), dir, missing(err))
	}
	if o.AgentGit {
		return r.plantAgentGit(ctx, w, commit, o.AgentRefs)
	}
	return nil
}

// fill writes the files of a tree into the empty directory with a fresh index.
func (w *workspace) fill(ctx context.Context, tree string) error {
	err := errors.Join(w.forget(), os.RemoveAll(w.indexFile()))
	if err != nil {
		return err
	}
	c := w.call()
	c.heavy = true
	c.config = append([]setting{{"checkout.workers", strconv.Itoa(checkoutWorkers(runtime.NumCPU()))}}, c.config...)
	if _, err := w.runner.run(ctx, c, "read-tree", "-m", "-u", tree); err != nil {
		return err
	}
	return w.settle(ctx, tree, true)
}

// missing types the errors that git gives for an object it does not have.
func missing(err error) error {
	if gitSays(err, "unable to read", "cannot read object", "missing", "bad object", "not a valid object", "invalid object", "could not fetch") {
		return fmt.Errorf("%w: it was pruned, or this is a partial clone that never fetched it (check it out once, or clone fully): %w", ErrMissingObject, err)
	}
	return err
}

// emptyDirectory makes the directory if need be.
func emptyDirectory(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("%w: %s holds %s", ErrNotEmpty, dir, entries[0].Name())
	}
	return nil
}
