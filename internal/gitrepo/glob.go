package gitrepo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"conclave/internal/glob"
)

// GlobTree gives a digest (sha256, hex) over the entries of a commit whose paths match one of the globs: mode, id and
// path of each. It changes exactly when a matching file appears, goes or changes. In a glob `*` and `?` stay within one
// folder, `**` crosses folders, `[...]` is a class, and a glob that names a folder (with or without a final slash) takes
// all below it.
func (r *RunRepo) GlobTree(ctx context.Context, commit string, globs []string) (string, error) {
	match, err := glob.Compile(globs)
	if err != nil {
		return "", err
	}
	tree, err := r.TreeOf(ctx, commit)
	if err != nil {
		return "", err
	}
	out, err := r.runner.run(ctx, r.call(), "ls-tree", "-r", "-z", "--full-tree", tree)
	if err != nil {
		return "", fmt.Errorf("list %s: %w", short(commit), err)
	}
	digest := sha256.New()
	for _, entry := range parseTree(out) {
		if match(entry.path) {
			_, _ = fmt.Fprintf(digest, "%s %s\t%s\x00", entry.mode, entry.id, entry.path)
		}
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}
