package activities

import (
	"context"
	"errors"
	"fmt"

	"conclave/internal/gitrepo"
	"conclave/internal/loop"
)

// leftOutBytes bounds the list of uncommitted paths in the history: a forgotten
// ignore rule makes it endless.
const leftOutBytes = 4 << 10

const baseMessage = "conclave: the state that the run started from"

// PrepareRun resolves where the run starts: the base commit, or the user's
// uncommitted state, as a commit of the run's own repository. It runs on the
// starter, and is safe to repeat: the same source gives the same commits.
func (a *Activities) PrepareRun(ctx context.Context, req *loop.PrepareRequest) (_ *loop.Prepared, err error) {
	defer a.hide(&err)
	if err := a.admitSource(req.RunID, req.Source); err != nil {
		return nil, err
	}
	beat := startPulse(ctx, "", a.secrets)
	defer beat.stop()
	out, err := a.prepare(ctx, req)
	if err != nil {
		if notWorthRepeating(err) {
			return nil, a.failed(typeInput, err)
		}
		return nil, a.retryable(err)
	}
	return spotless(a, out)
}

func (a *Activities) prepare(ctx context.Context, req *loop.PrepareRequest) (*loop.Prepared, error) {
	source, err := gitrepo.OpenSource(ctx, req.Source.Dir)
	if err != nil {
		return nil, err
	}
	excludes, err := source.Excludes(ctx)
	if err != nil {
		return nil, err
	}
	options := gitrepo.RunRepoOptions{Dir: RepoDir(a.StateDir, req.RunID), Excludes: excludes, ObjectFormat: source.ObjectFormat()}
	if source.IsRepository() {
		options.Alternates = []string{source.ObjectsDir()}
		if options.Shallow, err = source.ShallowFile(); err != nil {
			return nil, err
		}
	}
	repo, err := gitrepo.CreateRunRepo(ctx, options)
	if err != nil {
		return nil, err
	}
	out := &loop.Prepared{ObjectFormat: options.ObjectFormat}
	if out.Excludes, err = a.Store.Put(ctx, excludes); err != nil {
		return nil, err
	}
	if req.Source.Gate != nil {
		return out, a.resolveGiven(ctx, req, source, repo, out)
	}
	out.AuthorName, out.AuthorEmail = source.Identity(ctx)
	if err := a.resolveBase(ctx, req, source, repo, out); err != nil {
		return nil, err
	}
	if req.Shared {
		return out, a.publish(ctx, repo, req.RunID, "00", out.Base.Commit, nil)
	}
	return out, nil
}

// noteSubmodules says what the workspace of a run or a review lacks.
func (a *Activities) noteSubmodules(ctx context.Context, source *gitrepo.Source, head gitrepo.Commit, whose string, out *loop.Prepared) error {
	submodules, err := source.Submodules(ctx, head.Tree)
	if err == nil && len(submodules) > 0 {
		out.Notes = append(out.Notes, a.bounded(fmt.Sprintf("submodules are not part of the %s's workspace: %q", whose, submodules)))
	}
	return err
}

// resolveBase fills in base, head and what is left out.
func (a *Activities) resolveBase(ctx context.Context, req *loop.PrepareRequest, source *gitrepo.Source, repo *gitrepo.RunRepo, out *loop.Prepared) error {
	var parents []string
	if source.IsRepository() {
		ref := req.Source.Base
		if ref == "" {
			ref = "HEAD"
		}
		head, err := source.Resolve(ctx, ref)
		if err != nil {
			return err
		}
		if err := a.noteSubmodules(ctx, source, head, "run", out); err != nil {
			return err
		}
		out.Head, out.Base = head.ID, loop.Snapshot{Commit: head.ID, Tree: head.Tree}
		if !req.Source.IncludeDirty {
			dirty, err := source.Dirty(ctx)
			if err != nil {
				return err
			}
			out.LeftOut = fitting(dirty, leftOutBytes)
			if more := len(dirty) - len(out.LeftOut); more > 0 {
				out.Notes = append(out.Notes, fmt.Sprintf("%d more uncommitted paths are left out than are listed", more))
			}
			if !req.Shared {
				return repo.SetRef(ctx, stepRef(req.RunID, "00"), head.ID)
			}
		}
		if !req.Shared {
			parents = []string{head.ID}
		}
	}
	if req.Source.IncludeDirty || !source.IsRepository() {
		tree, err := repo.SnapshotSource(ctx, source)
		if err != nil {
			return err
		}
		out.Base.Tree = tree
	}
	// Other machines get the tree without its history: one commit of our own.
	commit, err := repo.CommitTree(ctx, out.Base.Tree, parents, baseMessage, req.At)
	if err != nil {
		return err
	}
	out.Base.Commit = commit
	return repo.SetRef(ctx, stepRef(req.RunID, "00"), commit)
}

// notWorthRepeating reports whether the source itself is the trouble.
func notWorthRepeating(err error) bool {
	for _, input := range []error{
		gitrepo.ErrNotDirectory, gitrepo.ErrBareRepository, gitrepo.ErrCorruptRepository, gitrepo.ErrForeign, gitrepo.ErrNoCommit,
		gitrepo.ErrUnresolved, gitrepo.ErrNoGit,
	} {
		if errors.Is(err, input) {
			return true
		}
	}
	return false
}

func stepRef(runID, step string) string { return "refs/conclave/" + runID + "/" + step }
