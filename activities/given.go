package activities

import (
	"context"
	"fmt"

	"conclave/internal/gitrepo"
	"conclave/internal/loop"
	"conclave/internal/record"
)

const headMessage = "conclave: the change under review"

// headStep names the reviewed head beside the steps of the run's repository.
const headStep = "head"

// resolveGiven fills in the change that a gate reviews: the merge base, the head, and what lies between them. Names
// were resolved before; nothing here depends on what is checked out.
func (a *Activities) resolveGiven(ctx context.Context, req *loop.PrepareRequest, source *gitrepo.Source, repo *gitrepo.RunRepo, out *loop.Prepared) error {
	gate := req.Source.Gate
	base, err := source.MergeBase(ctx, gate.Base, gate.Head)
	if err != nil {
		return err
	}
	head, err := source.Resolve(ctx, gate.Head)
	if err != nil {
		return err
	}
	if err := a.noteSubmodules(ctx, source, head, "review", out); err != nil {
		return err
	}
	if base.ID != gate.Base {
		out.Notes = append(out.Notes, fmt.Sprintf("the review is against the merge base %s: what the base has beyond it is no part of the change", base.ID))
	}
	out.Head = gate.Base
	out.Base = loop.Snapshot{Commit: base.ID, Tree: base.Tree}
	given := &loop.Given{Head: loop.Snapshot{Commit: head.ID, Tree: head.Tree}}
	if req.Shared { // other machines get the trees without their history
		if out.Base.Commit, err = repo.CommitTree(ctx, base.Tree, nil, baseMessage, req.At); err != nil {
			return err
		}
		if given.Head.Commit, err = repo.CommitTree(ctx, head.Tree, []string{out.Base.Commit}, headMessage, req.At); err != nil {
			return err
		}
	}
	for step, commit := range map[string]string{"00": out.Base.Commit, headStep: given.Head.Commit} {
		if err := repo.SetRef(ctx, stepRef(req.RunID, step), commit); err != nil {
			return err
		}
	}
	if err := a.describeGiven(ctx, req, repo, out, given); err != nil {
		return err
	}
	out.Given = given
	if !req.Shared {
		return nil
	}
	if err := a.publish(ctx, repo, req.RunID, "00", out.Base.Commit, nil); err != nil {
		return err
	}
	return a.publish(ctx, repo, req.RunID, headStep, given.Head.Commit, []string{out.Base.Commit})
}

// describeGiven stores and scans the whole change, as a writing turn's is.
func (a *Activities) describeGiven(ctx context.Context, req *loop.PrepareRequest, repo *gitrepo.RunRepo, out *loop.Prepared, given *loop.Given) error {
	rules, err := guardRules(ctx, repo, out.Base.Commit, req.Policy.Protected, req.Policy.Generated, req.VerifyCommand)
	if err != nil {
		return err
	}
	all, err := a.describe(ctx, repo, req.RunID, out.Base.Commit, given.Head.Commit, rules, req.Policy.AllowSecrets)
	if err != nil {
		return err
	}
	given.Stats, given.Scan, given.Total, given.TotalDiff = record.Total(changes(all.changes)), all.scan, all.total, all.diff
	out.Notes = append(out.Notes, all.notes...)
	return nil
}
