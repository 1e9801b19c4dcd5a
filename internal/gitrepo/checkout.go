package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// CheckoutOptions say what a workspace gets beside its files.
type CheckoutOptions struct {
	// AgentGit puts a disposable .git into the directory, on branch "work" at the commit. We never read it.
	AgentGit bool
	// AgentRefs are more refs of that .git: name ("refs/heads/base") to commit.
	AgentRefs map[string]string
}

// Checkout fills an empty (or missing) directory with the files of a commit or tree. The private index of the directory
// lies in the run's repository, under a name made from the directory's path. Errors: ErrNotEmpty, ErrMissingObject.
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
	c.config = append([]setting{{"checkout.workers", "0"}}, c.config...)
	if _, err := w.runner.run(ctx, c, "read-tree", "-m", "-u", tree); err != nil {
		return err
	}
	return w.settle(ctx, tree)
}

// missing types the errors that git gives for an object it does not have.
func missing(err error) error {
	if gitSays(err, "unable to read", "missing", "bad object", "not a valid object", "invalid object", "could not fetch") {
		return fmt.Errorf("%w (pruned, or a partial clone that never fetched it): %w", ErrMissingObject, err)
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

// RefreshAgentGit replaces the disposable .git of a workspace by a new one at a commit whose files the workspace holds
// (its last snapshot), so that the agent of the next turn sees that state as clean.
func (r *RunRepo) RefreshAgentGit(ctx context.Context, dir, commit string, refs map[string]string) error {
	w, err := r.workspace(dir)
	if err != nil {
		return err
	}
	unlock, err := w.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	tree, err := r.TreeOf(ctx, commit)
	if err != nil {
		return err
	}
	if err := w.hold(ctx, tree); err != nil {
		return err
	}
	return r.plantAgentGit(ctx, w, commit, refs)
}

// plantAgentGit writes the .git that an agent sees: a shared clone that borrows our objects. It carries our attribute
// rules, so that a checkout or stash of the agent converts no bytes either. Whatever lies at its place is removed unread.
func (r *RunRepo) plantAgentGit(ctx context.Context, w *workspace, commit string, refs map[string]string) error {
	id, err := r.parse(ctx, commit, "commit")
	if err != nil {
		return fmt.Errorf("make .git of %s: %w", w.root, err)
	}
	dotGit := filepath.Join(w.root, ".git")
	if err := RemoveTree(dotGit); err != nil {
		return fmt.Errorf("replace %s: %w", dotGit, err)
	}
	all := map[string]string{"refs/heads/work": id}
	for name, commit := range refs {
		all[name] = commit
	}
	if err := r.writeAgentGit(dotGit, all); err != nil {
		return fmt.Errorf("make %s: %w", dotGit, err)
	}
	if err := copyFile(w.indexFile(), filepath.Join(dotGit, "index")); err != nil {
		return fmt.Errorf("make %s: %w", dotGit, err)
	}
	return nil
}

func (r *RunRepo) writeAgentGit(dotGit string, refs map[string]string) error {
	alternates, err := alternatesFile([]string{r.ObjectsDir()})
	if err != nil {
		return err
	}
	excludes, err := concatenate([]string{filepath.Join(r.dir, "info", "exclude")})
	if err != nil {
		return err
	}
	shallow, err := concatenate([]string{filepath.Join(r.dir, "shallow")})
	if err != nil {
		return err
	}
	files := map[string][]byte{
		"HEAD":                    []byte("ref: refs/heads/work\n"),
		"config":                  []byte(agentConfig(r.format)),
		"info/attributes":         []byte(attributeRules),
		"info/exclude":            excludes,
		"objects/info/alternates": alternates,
		"shallow":                 shallow,
	}
	for name, commit := range refs {
		if err := safeRefName(name); err != nil {
			return err
		}
		files[name] = []byte(commit + "\n")
	}
	for _, dir := range []string{"objects/pack", "refs/heads", "refs/tags"} {
		if err := os.MkdirAll(filepath.Join(dotGit, dir), 0o755); err != nil {
			return err
		}
	}
	for name, content := range files {
		if err := writeNew(filepath.Join(dotGit, filepath.FromSlash(name)), content); err != nil {
			return err
		}
	}
	return nil
}

// safeRefName keeps a ref name from leaving the .git it is written into.
func safeRefName(name string) error {
	if !strings.HasPrefix(name, "refs/") || !filepath.IsLocal(name) || filepath.Clean(name) != name {
		return fmt.Errorf("ref %q: no name of a ref", name)
	}
	return nil
}

func writeNew(path string, content []byte) error {
	if len(content) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}

// agentConfig gives agents an identity, so that a commit of theirs does not stop at "please tell me who you are".
func agentConfig(format string) string {
	version, extension := "0", ""
	if format != "sha1" {
		version, extension = "1", "[extensions]\n\tobjectFormat = "+format+"\n"
	}
	return "[core]\n\trepositoryFormatVersion = " + version + "\n\tfileMode = true\n\tbare = false\n\tlogAllRefUpdates = true\n" +
		extension + "[user]\n\tname = conclave agent\n\temail = agent@localhost\n[commit]\n\tgpgSign = false\n[gc]\n\tauto = 0\n"
}
