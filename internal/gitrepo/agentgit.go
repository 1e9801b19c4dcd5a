package gitrepo

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

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
	all := map[string]string{"refs/heads/work": id}
	for name, commit := range refs {
		all[name] = commit
	}
	// os.Root: a process of the agent that is still alive must not lead us elsewhere by a link.
	root, err := os.OpenRoot(w.root)
	if err != nil {
		return fmt.Errorf("make .git of %s: %w", w.root, err)
	}
	defer func() { _ = root.Close() }()
	if err := RemoveTree(filepath.Join(w.root, ".git")); err != nil {
		return fmt.Errorf("replace .git of %s: %w", w.root, err)
	}
	if err := r.writeAgentGit(root, all, w.indexFile()); err != nil {
		return fmt.Errorf("make .git of %s: %w", w.root, err)
	}
	return nil
}

func (r *RunRepo) writeAgentGit(root *os.Root, refs map[string]string, index string) error {
	files, err := r.agentFiles(refs)
	if err != nil {
		return err
	}
	for _, dir := range []string{".git/objects/pack", ".git/refs/heads", ".git/refs/tags"} {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	for name, content := range files {
		if len(content) == 0 {
			continue
		}
		full := path.Join(".git", name)
		if err := root.MkdirAll(path.Dir(full), 0o755); err != nil {
			return err
		}
		if err := root.WriteFile(full, content, 0o644); err != nil {
			return err
		}
	}
	return copyIndexInto(root, index)
}

// copyIndexInto copies the private index with its time, by which git tells what may have changed unnoticed.
func copyIndexInto(root *os.Root, index string) error {
	info, err := os.Stat(index)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(index)
	if err != nil {
		return err
	}
	if err := root.WriteFile(".git/index", content, 0o644); err != nil {
		return err
	}
	return root.Chtimes(".git/index", info.ModTime(), info.ModTime())
}

// agentFiles is the content of the disposable .git.
func (r *RunRepo) agentFiles(refs map[string]string) (map[string][]byte, error) {
	alternates, err := alternatesFile([]string{r.ObjectsDir()})
	if err != nil {
		return nil, err
	}
	excludes, err := concatenate([]string{filepath.Join(r.dir, "info", "exclude")})
	if err != nil {
		return nil, err
	}
	shallow, err := concatenate([]string{filepath.Join(r.dir, "shallow")})
	if err != nil {
		return nil, err
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
			return nil, err
		}
		files[name] = []byte(commit + "\n")
	}
	return files, nil
}

// safeRefName keeps a ref name from leaving the .git it is written into.
func safeRefName(name string) error {
	if !strings.HasPrefix(name, "refs/") || !filepath.IsLocal(name) || filepath.Clean(name) != name {
		return fmt.Errorf("ref %q: no name of a ref", name)
	}
	return nil
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
