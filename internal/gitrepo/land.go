package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// LandOptions say what becomes a branch of the user's repository.
type LandOptions struct {
	Base    string // the commit it builds on: the user's, or one of the run's repository (the dirty state)
	Tree    string // the run's result, a tree (or commit) of the run's repository
	Branch  string // "conclave/<run-id>"
	Message string
	When    time.Time // dates of the commit; a repeated landing has the same id
	// AuthorName and AuthorEmail; empty = Source.Identity.
	AuthorName, AuthorEmail string
	// Replaces is the commit that an earlier landing of the same run left on the branch, "" if there was none. A branch
	// that holds anything else is never moved.
	Replaces string
}

// Landed is a branch of the user's repository.
type Landed struct {
	Branch string
	Commit string
}

// Land makes one commit of a tree on base and points a new branch of the user's repository to it. It copies the objects
// and writes that one ref; index, files, stash, configuration, hooks, reflogs and other refs are not touched. A second
// landing of the same is success. Errors: ErrNoRepository, ErrBranchExists, ErrMissingObject.
func (s *Source) Land(ctx context.Context, r *RunRepo, o LandOptions) (Landed, error) {
	if err := s.needRepository(); err != nil {
		return Landed{}, fmt.Errorf("land %s: %w", o.Branch, err)
	}
	landed, err := s.land(ctx, r, o)
	if err != nil {
		return Landed{}, fmt.Errorf("land %s in %s: %w", o.Branch, s.root, err)
	}
	return landed, nil
}

func (s *Source) land(ctx context.Context, r *RunRepo, o LandOptions) (Landed, error) {
	commit, err := s.landingCommit(ctx, r, o)
	if err != nil {
		return Landed{}, err
	}
	ref := "refs/heads/" + o.Branch
	current, err := s.branch(ctx, ref)
	if err != nil {
		return Landed{}, err
	}
	if current == commit {
		return Landed{Branch: o.Branch, Commit: commit}, nil
	}
	if current != "" && current != o.Replaces {
		return Landed{}, fmt.Errorf("%w: it is at %s; rename or delete it (git branch -m, git branch -D %s)", ErrBranchExists, short(current), o.Branch)
	}
	if at := s.checkedOutAt(ctx, ref); at != "" {
		return Landed{}, fmt.Errorf("%w and is checked out at %s; switch to another branch there", ErrBranchExists, at)
	}
	if err := s.takeObjects(ctx, r, commit); err != nil {
		return Landed{}, err
	}
	return Landed{Branch: o.Branch, Commit: commit}, s.setBranch(ctx, ref, commit, current)
}

// landingCommit makes the commit in the run's repository.
func (s *Source) landingCommit(ctx context.Context, r *RunRepo, o LandOptions) (string, error) {
	tree, err := r.TreeOf(ctx, o.Tree)
	if err != nil {
		return "", err
	}
	base, err := r.parse(ctx, o.Base, "commit")
	if err != nil {
		return "", err
	}
	by := author{o.AuthorName, o.AuthorEmail}
	if by.name == "" || by.email == "" {
		name, email := s.Identity(ctx)
		by = author{firstOf(by.name, name), firstOf(by.email, email)}
	}
	return r.commitAs(ctx, by, tree, []string{base}, o.Message, o.When)
}

// branch gives the commit of a branch, "" where there is none.
func (s *Source) branch(ctx context.Context, ref string) (string, error) {
	out, err := s.git(ctx, "rev-parse", "--verify", "-q", ref)
	if exitOf(err) == 1 {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}

// checkedOutAt gives the work tree that has a branch checked out, "" if none: moving it would turn that tree's files
// into changes.
func (s *Source) checkedOutAt(ctx context.Context, ref string) string {
	out, err := s.git(ctx, "for-each-ref", "--format=%(worktreepath)", ref)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// takeObjects copies what the user's repository lacks of a commit, by one pack.
func (s *Source) takeObjects(ctx context.Context, r *RunRepo, commit string) error {
	have, err := s.frontier(ctx, r, commit)
	if err != nil {
		return err
	}
	reader, writer := io.Pipe()
	packed := make(chan error, 1)
	go func() {
		err := r.Pack(ctx, writer, []string{commit}, have)
		_ = writer.CloseWithError(err)
		packed <- err
	}()
	err = importPack(ctx, s.runner, call{gitDir: s.gitDir}, reader)
	_ = reader.CloseWithError(err)
	if packErr := <-packed; packErr != nil && err == nil {
		err = packErr
	}
	if err != nil {
		return fmt.Errorf("copy objects: %w", err)
	}
	return nil
}

// frontier gives the nearest ancestors of a commit that the user's repository has.
func (s *Source) frontier(ctx context.Context, r *RunRepo, commit string) ([]string, error) {
	var have []string
	seen := map[string]bool{commit: true}
	for queue := []string{commit}; len(queue) > 0; queue = queue[1:] {
		parents, err := r.parents(ctx, queue[0])
		if err != nil {
			return nil, err
		}
		for _, parent := range parents {
			switch {
			case seen[parent]:
			case hasObject(ctx, s.runner, call{gitDir: s.gitDir}, parent+"^{commit}"):
				have = append(have, parent)
			default:
				queue = append(queue, parent)
			}
			seen[parent] = true
		}
	}
	return have, nil
}

// parents reads the parents that a commit names.
func (r *RunRepo) parents(ctx context.Context, commit string) ([]string, error) {
	out, err := r.runner.run(ctx, r.call(), "cat-file", "commit", commit)
	if err != nil {
		return nil, missing(err)
	}
	var parents []string
	for _, line := range strings.Split(string(out), "\n") {
		if line == "" {
			break
		}
		if id, ok := strings.CutPrefix(line, "parent "); ok {
			parents = append(parents, id)
		}
	}
	return parents, nil
}

// setBranch creates the branch, or moves it from the earlier landing. No reflog is written and no hook runs.
func (s *Source) setBranch(ctx context.Context, ref, commit, old string) error {
	if old == "" {
		old = strings.Repeat("0", len(commit))
	}
	c := call{gitDir: s.gitDir, config: []setting{{"core.logAllRefUpdates", "false"}}}
	_, err := s.runner.run(ctx, c, "update-ref", "--no-deref", ref, commit, old)
	if err == nil {
		return nil
	}
	if gitSays(err, "exists; cannot create", "there are still refs under", "non-empty directory", "Not a directory") {
		return fmt.Errorf("%w: another branch stands in the way of its name (like a branch called %q); rename that one: %w",
			ErrBranchExists, firstPart(ref), err)
	}
	if current, readErr := s.branch(ctx, ref); readErr == nil && current == commit {
		return nil
	} else if current != "" {
		return errors.Join(ErrBranchExists, err)
	}
	return err
}

func firstPart(ref string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(ref, "refs/heads/"), "/")
	return name
}
