package gitrepo

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Commit is a commit and its tree, as full object ids.
type Commit struct {
	ID   string `json:"id"`
	Tree string `json:"tree"`
}

// Source is the user's directory. Nothing of it is ever written, except by Land.
type Source struct {
	runner    Runner
	root      string
	gitDir    string // "" where the directory is no repository
	commonDir string
	format    string // sha1 or sha256
	shallow   bool

	configOnce sync.Once
	config     map[string]string
	configErr  error
}

// OpenSource finds the repository that holds dir. A directory without one is a Source too (IsRepository is false).
// Errors: ErrNotDirectory, ErrBareRepository, ErrCorruptRepository, ErrForeign, ErrNoGit.
func OpenSource(ctx context.Context, dir string) (*Source, error) {
	place, err := discover(dir)
	if err != nil {
		return nil, err
	}
	s := &Source{root: place.root, gitDir: place.gitDir, commonDir: place.gitDir, format: "sha1"}
	if !s.IsRepository() {
		return s, nil
	}
	if err := s.refuseForeign(ctx, dir); err != nil {
		return nil, err
	}
	facts, err := s.git(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir", "--show-object-format", "--is-shallow-repository")
	if err != nil {
		return nil, s.broken(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(facts), "\n"), "\n")
	if len(lines) != 3 {
		return nil, fmt.Errorf("%w: %s: unexpected answer of git rev-parse: %q", ErrCorruptRepository, s.gitDir, facts)
	}
	s.commonDir, s.format, s.shallow = lines[0], lines[1], lines[2] == "true"
	return s, s.refuseBare(ctx)
}

// refuseForeign refuses a repository that lies around the work directory and belongs to somebody else than both us and
// that directory. Whoever makes a folder above it a repository, in a place that all may write, would otherwise decide what
// a run does: its conclave.yaml names commands. A checkout that is another user's as a whole, as in containers, is taken.
func (s *Source) refuseForeign(ctx context.Context, dir string) error {
	start, err := realDirectory(dir)
	if err != nil {
		return err
	}
	for _, place := range []string{s.root, s.gitDir} {
		if !ownedByUs(place) && !sameOwner(place, start) {
			return s.askGit(ctx)
		}
	}
	return nil
}

// askGit refuses a repository unless git's own check, with the user's safe.directory, takes it.
func (s *Source) askGit(ctx context.Context) error {
	_, err := s.runner.run(ctx, call{user: true}, "-C", s.root, "rev-parse", "--git-dir")
	if gitSays(err, "dubious ownership", "unsafe repository") {
		return fmt.Errorf("%w: %s", ErrForeign, s.gitDir)
	}
	return nil // whatever else is wrong, the next call says better
}

// refuseBare finds the bare repository that a .git file or folder stands for: git sees no work tree there.
func (s *Source) refuseBare(ctx context.Context) error {
	config, err := s.userConfig(ctx)
	if err != nil {
		return err
	}
	if config["core.bare"] != "true" || !sameFile(s.gitDir, s.commonDir) { // a linked worktree of a bare one is fine
		return nil
	}
	return fmt.Errorf("%w: %s has no work tree; name a clone of it or a worktree (git worktree add)", ErrBareRepository, s.gitDir)
}

func sameFile(a, b string) bool {
	left, leftErr := os.Stat(a)
	right, rightErr := os.Stat(b)
	return leftErr == nil && rightErr == nil && os.SameFile(left, right)
}

// broken types an error of the first calls on a repository.
func (s *Source) broken(err error) error {
	var failed *GitError
	if errors.As(err, &failed) && failed.Cause == nil {
		return fmt.Errorf("%w: %s: %w; `git fsck` may tell more", ErrCorruptRepository, s.gitDir, err)
	}
	return err
}

// Root is the top of the work tree, absolute and without links.
func (s *Source) Root() string { return s.root }

// IsRepository is false for a plain directory.
func (s *Source) IsRepository() bool { return s.gitDir != "" }

// IsShallow tells a clone without its whole history.
func (s *Source) IsShallow() bool { return s.shallow }

// ObjectFormat is sha1 or sha256; the run's repository must have the same.
func (s *Source) ObjectFormat() string { return s.format }

// ObjectsDir is the object store for RunRepoOptions.Alternates, "" where there is no repository.
func (s *Source) ObjectsDir() string {
	if !s.IsRepository() {
		return ""
	}
	return filepath.Join(s.commonDir, "objects")
}

// git runs one reading call on the user's repository.
func (s *Source) git(ctx context.Context, args ...string) ([]byte, error) {
	return s.runner.run(ctx, call{gitDir: s.gitDir, workTree: s.root}, args...)
}

// needRepository refuses calls that make no sense on a plain directory.
func (s *Source) needRepository() error {
	if s.IsRepository() {
		return nil
	}
	return fmt.Errorf("%w: %s; `git init` there and commit once, or work on its files as they are", ErrNoRepository, s.root)
}

// Resolve gives the commit that ref names ("" = HEAD; tags are followed). Errors: ErrNoRepository, ErrNoCommit,
// ErrUnresolved, ErrCorruptRepository.
func (s *Source) Resolve(ctx context.Context, ref string) (Commit, error) {
	if err := s.needRepository(); err != nil {
		return Commit{}, err
	}
	if ref == "" {
		ref = "HEAD"
	}
	id, err := s.revision(ctx, ref)
	if err != nil {
		return Commit{}, err
	}
	tree, err := s.git(ctx, "rev-parse", "--verify", id+"^{tree}")
	if err != nil {
		return Commit{}, s.broken(err)
	}
	return Commit{ID: id, Tree: strings.TrimSpace(string(tree))}, nil
}

// revision resolves one name to a commit id that is really there.
func (s *Source) revision(ctx context.Context, ref string) (string, error) {
	if strings.HasPrefix(ref, "-") || strings.ContainsAny(ref, "\x00\n") {
		return "", fmt.Errorf("%w: %q is no name of a commit", ErrUnresolved, ref)
	}
	out, err := s.git(ctx, "rev-parse", "--verify", "-q", ref+"^{commit}")
	if err == nil {
		return strings.TrimSpace(string(out)), nil
	}
	if exitOf(err) < 0 {
		return "", err
	}
	return "", s.whyUnresolved(ctx, ref, err)
}

// whyUnresolved explains a name that gave no commit.
func (s *Source) whyUnresolved(ctx context.Context, ref string, err error) error {
	if _, headErr := s.git(ctx, "rev-parse", "--verify", "-q", "HEAD"); headErr != nil && !s.hasRefs(ctx) {
		return fmt.Errorf("%w in %s: make a first commit (git commit), then run again", ErrNoCommit, s.root)
	}
	if gitSays(err, "bad object", "unable to read", "corrupt", "loose object", "missing") {
		return fmt.Errorf("%w: %s: %w; `git fsck` may tell more", ErrCorruptRepository, s.gitDir, err)
	}
	if _, parsed := s.git(ctx, "rev-parse", "--verify", "-q", ref); parsed == nil && s.isLost(ctx, ref) {
		return fmt.Errorf("%w: %s: %q names an object that is missing or unreadable; `git fsck` may tell more", ErrCorruptRepository, s.gitDir, ref)
	}
	hint := "`git branch -a` and `git tag` list what there is"
	if _, remote := s.git(ctx, "rev-parse", "--verify", "-q", "refs/remotes/origin/"+ref+"^{commit}"); remote == nil {
		hint = fmt.Sprintf("did you mean origin/%s?", ref)
	} else if s.shallow {
		hint = "this is a shallow clone and may lack it: `git fetch --unshallow`, or fetch the ref"
	}
	return fmt.Errorf("%w %q in %s: %s", ErrUnresolved, ref, s.root, hint)
}

// isLost reports a name that resolves to an id whose object cannot be read.
// A full id that someone typed resolves to itself and proves nothing.
func (s *Source) isLost(ctx context.Context, ref string) bool {
	if _, err := hex.DecodeString(ref); err == nil && len(ref) >= 40 {
		return false
	}
	_, err := s.git(ctx, "cat-file", "-t", ref)
	return err != nil
}

// hasRefs tells a repository with commits on another branch than the unborn one.
func (s *Source) hasRefs(ctx context.Context) bool {
	out, err := s.git(ctx, "for-each-ref", "--count=1")
	return err == nil && len(out) > 0
}

// MergeBase gives the best common ancestor of two refs. Without one the error is ErrUnresolved and says so of shallow clones.
func (s *Source) MergeBase(ctx context.Context, a, b string) (Commit, error) {
	left, err := s.Resolve(ctx, a)
	if err != nil {
		return Commit{}, err
	}
	right, err := s.Resolve(ctx, b)
	if err != nil {
		return Commit{}, err
	}
	out, err := s.git(ctx, "merge-base", left.ID, right.ID)
	if err == nil {
		return s.Resolve(ctx, strings.TrimSpace(string(out)))
	}
	if exitOf(err) != 1 {
		return Commit{}, err
	}
	hint := "their histories are unrelated"
	if s.shallow {
		hint = "this is a shallow clone that may not reach it: `git fetch --unshallow`"
	}
	return Commit{}, fmt.Errorf("%w: %q and %q have no merge base in %s: %s", ErrUnresolved, a, b, s.root, hint)
}

// Submodules lists the gitlinks of a commit or tree. Their contents are never part of a run.
func (s *Source) Submodules(ctx context.Context, tree string) ([]string, error) {
	if !s.IsRepository() {
		return nil, nil
	}
	out, err := s.git(ctx, "ls-tree", "-r", "-z", "--full-tree", tree)
	if err != nil {
		return nil, err
	}
	return gitlinksOf(parseTree(out)), nil
}

// File gives the content of a path in a commit; false where there is no such file.
func (s *Source) File(ctx context.Context, commit, path string) ([]byte, bool, error) {
	if err := s.needRepository(); err != nil {
		return nil, false, err
	}
	return fileOf(ctx, s.runner, call{gitDir: s.gitDir}, commit, path)
}

// short abbreviates an id for people.
func short(id string) string {
	if len(id) > 12 {
		return id[:12]
	}
	return id
}
