package activities

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/sdk/activity"

	"conclave/internal/gitrepo"
	"conclave/internal/loop"
	"conclave/internal/record"
)

// Land puts the run's change on a branch of the user's repository. Nothing else
// of the repository is touched, and repeating it gives the same commit.
func (a *Activities) Land(ctx context.Context, req *loop.LandRequest) (*loop.Landed, error) {
	if err := a.admitBranch(req); err != nil {
		return nil, err
	}
	beat := startPulse(ctx, "", a.secrets)
	defer beat.stop()
	landed, err := a.LandNow(ctx, req)
	switch {
	case errors.Is(err, gitrepo.ErrBranchExists): // somebody else's branch of that name stays
		return nil, a.failed(typeInput, err)
	case err != nil:
		return nil, a.retryable(err)
	}
	return landed, nil
}

// LandNow is Land without Temporal: `resume` and `show` use it for a run that
// ended while nobody could reach the user's repository.
func (a *Activities) LandNow(ctx context.Context, req *loop.LandRequest) (*loop.Landed, error) {
	if err := a.admitBranch(req); err != nil {
		return nil, err
	}
	source, err := gitrepo.OpenSource(ctx, req.Source.Dir)
	if err != nil {
		return nil, err
	}
	if !source.IsRepository() {
		return &loop.Landed{Note: "the work directory is no git repository, so there is no branch: take the change with `starter apply`"}, nil
	}
	repo, err := a.repository(ctx, loop.Workspace{
		RunID: req.RunID, Base: req.Prepared.Base, From: req.Final, Excludes: req.Prepared.Excludes,
		ObjectFormat: req.Prepared.ObjectFormat, Shared: req.Shared,
	})
	if err != nil {
		return nil, err
	}
	base := req.Prepared.Head
	if req.Source.IncludeDirty {
		// The run started from uncommitted work: the branch shows it as a commit of its own.
		if base, err = repo.CommitTree(ctx, req.Prepared.Base.Tree, []string{base}, baseMessage, req.At); err != nil {
			return nil, err
		}
	}
	out, err := source.Land(ctx, repo, gitrepo.LandOptions{
		Base: base, Tree: req.Final.Tree, Branch: req.Branch, Message: landMessage(req), When: req.At,
		AuthorName: req.Prepared.AuthorName, AuthorEmail: req.Prepared.AuthorEmail,
	})
	if err != nil {
		return nil, err
	}
	return &loop.Landed{Branch: out.Branch, Commit: out.Commit}, nil
}

func landMessage(req *loop.LandRequest) string {
	return fmt.Sprintf("%s\n\nConclave-Run: %s\nConclave-Outcome: %s\n", req.Title, req.RunID, req.Outcome)
}

// WriteBundle rebuilds the bundle from the run's own record: it asks the
// workflow for it, so that no history carries the record again and again.
func (a *Activities) WriteBundle(ctx context.Context, req *loop.BundleRequest) error {
	if err := a.admitSource(req.RunID, req.Source); err != nil {
		return err
	}
	beat := startPulse(ctx, "", a.secrets)
	defer beat.stop()
	info := activity.GetInfo(ctx)
	answer, err := a.Client.QueryWorkflow(ctx, info.WorkflowExecution.ID, info.WorkflowExecution.RunID, loop.QueryBundle)
	if err != nil {
		return a.retryable(fmt.Errorf("the workflow did not give its record: %w", err))
	}
	var status record.Status
	if err := answer.Get(&status); err != nil {
		return a.retryable(fmt.Errorf("the workflow's record: %w", err))
	}
	if err := a.BundleNow(ctx, req, status); err != nil {
		return a.retryable(err)
	}
	return nil
}
