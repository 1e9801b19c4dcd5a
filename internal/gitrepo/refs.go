package gitrepo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// staleRefLock is the age at which a ref's lock file belongs to a git that was killed: git holds one for milliseconds.
const staleRefLock = 5 * time.Second

// SetRef points a ref of the run's repository to a commit, whatever it held. It gets over the lock file of a git that
// was killed.
func (r *RunRepo) SetRef(ctx context.Context, ref, commit string) error {
	if !strings.HasPrefix(ref, "refs/") {
		return fmt.Errorf("ref %q: it must begin with refs/", ref)
	}
	deadline := time.Now().Add(staleRefLock + time.Second)
	for {
		_, err := r.runner.run(ctx, r.call(), "update-ref", "--no-deref", ref, commit)
		if err == nil {
			return nil
		}
		if !gitSays(err, ".lock': File exists") || time.Now().After(deadline) || ctx.Err() != nil {
			return fmt.Errorf("set %s: %w", ref, err)
		}
		r.dropStaleLock(ref)
		time.Sleep(100 * time.Millisecond)
	}
}

// dropStaleLock removes a ref's lock file once it is old enough to be nobody's.
func (r *RunRepo) dropStaleLock(ref string) {
	path := filepath.Join(r.dir, filepath.FromSlash(ref)+".lock")
	info, err := os.Lstat(path)
	if err == nil && time.Since(info.ModTime()) > staleRefLock {
		_ = os.Remove(path)
	}
}

// Ref gives the commit a ref points to, "" where it does not exist.
func (r *RunRepo) Ref(ctx context.Context, ref string) (string, error) {
	id, err := r.runner.line(ctx, r.call(), "rev-parse", "--verify", "-q", ref+"^{commit}")
	if exitOf(err) == 1 {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read %s: %w", ref, err)
	}
	return id, nil
}

// Refs gives all refs under a prefix ("refs/conclave/") with their commits.
func (r *RunRepo) Refs(ctx context.Context, prefix string) (map[string]string, error) {
	out, err := r.runner.run(ctx, r.call(), "for-each-ref", "--format=%(objectname) %(refname)", prefix)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", prefix, err)
	}
	refs := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		if id, name, ok := strings.Cut(line, " "); ok {
			refs[name] = id
		}
	}
	return refs, nil
}
