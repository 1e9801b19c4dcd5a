package activities

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"conclave/internal/agent"
	"conclave/internal/artifact"
	"conclave/internal/gitrepo"
	"conclave/internal/loop"
	"conclave/internal/prompt"
	"conclave/internal/record"
)

// materialFile holds a diff that is larger than the engine's prompt may be.
const materialFile = "CONCLAVE_REVIEW.diff"

// compose writes the prompt and asks the adapter how to call its engine.
func (t *turn) compose(ctx context.Context) (agent.Invocation, agent.Parser, error) {
	name := t.req.Target.Adapter
	if t.req.DryRun {
		name = agent.StubName
	}
	adapter, err := t.Agents.Lookup(name)
	if err != nil {
		return agent.Invocation{}, nil, err
	}
	spec := agent.TurnSpec{
		Role: t.req.Turn, Writing: t.req.Writing, Workspace: t.space.dir, Scratch: t.scratch,
		PromptFile: filepath.Join(t.scratch, "prompt.md"), Target: target(t.req.Target), Timeout: t.req.Timeout,
	}
	invocation, err := adapter.Invocation(spec, t.Agents)
	if err != nil {
		return agent.Invocation{}, nil, err
	}
	// What an engine reports is its own identity, not what a lane calls it. The stub reports what it stands for.
	if own, err := agent.Effective(spec.Target, t.Agents); err == nil && name != agent.StubName {
		spec.Target = own
	}
	limit := invocation.PromptLimit
	if limit == 0 || limit > longestPrompt {
		limit = longestPrompt
	}
	text, err := t.fittingPrompt(ctx, limit)
	if err != nil {
		return agent.Invocation{}, nil, err
	}
	if len(text) > limit {
		return agent.Invocation{}, nil, agent.Unavailable(fmt.Sprintf("the prompt is %d bytes long even without the diff; at most %d can be given to %s", len(text), limit, name))
	}
	return invocation, adapter.Parser(spec), os.WriteFile(spec.PromptFile, text, 0o600)
}

// longestPrompt bounds prompts in bytes, whatever an engine takes: they are made in memory.
const longestPrompt = 4 << 20

// fittingPrompt renders the prompt. A diff that does not fit into it becomes a
// file of the workspace that the prompt names.
func (t *turn) fittingPrompt(ctx context.Context, limit int) ([]byte, error) {
	if t.req.Turn != "review" {
		return t.render(ctx, nil, "")
	}
	diff := filepath.Join(t.scratch, "diff")
	size, err := t.writeDiff(ctx, diff)
	if err != nil {
		return nil, err
	}
	if size <= int64(limit) {
		content, err := os.ReadFile(diff)
		if err != nil {
			return nil, err
		}
		if text, err := t.render(ctx, content, ""); err != nil || len(text) <= limit {
			return text, err
		}
	}
	path := filepath.Join(t.space.dir, materialFile)
	if err := errors.Join(gitrepo.RemoveTree(path), os.Chmod(diff, 0o644), os.Rename(diff, path)); err != nil {
		return nil, err
	}
	t.space.ours = append(t.space.ours, materialFile)
	return t.render(ctx, nil, materialFile)
}

// writeDiff writes the run's diff so far to a file and returns its size.
func (t *turn) writeDiff(ctx context.Context, path string) (int64, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	err = t.space.repo.WriteDiff(ctx, file, t.req.Base.Commit, t.req.From.Commit)
	size, sizeErr := file.Seek(0, io.SeekEnd)
	return size, errors.Join(err, sizeErr, file.Close())
}

// render fills in the template of the turn's role. A review shows the diff, or names its file.
func (t *turn) render(ctx context.Context, diff []byte, diffFile string) ([]byte, error) {
	header := prompt.Header{
		Role: t.req.Turn, Run: t.req.RunID, Round: t.req.Iteration - 1, Seat: t.req.Seat, Lens: t.req.Lens, Evidence: t.req.Evidence,
	}
	if t.req.Turn == "design" {
		header.Round = 0
	}
	texts := texts{ctx: ctx, a: t.Activities}
	requirement := string(texts.get(t.req.Requirement))
	constraints := texts.parts(t.req.Constraints)
	contract := texts.get(t.req.Contract)
	if texts.err != nil {
		return nil, texts.err
	}
	implement := prompt.Implement{
		Header: header, Requirement: requirement, Contract: contract, Constraints: constraints, VerifyCommand: t.req.VerifyCommand,
	}
	if slices.Contains(t.space.ours, contractFile) {
		implement.ContractPath = contractFile
	}
	switch t.req.Turn {
	case "design":
		return prompt.RenderDesign(prompt.Design{Header: header, Requirement: requirement, Constraints: constraints})
	case "implement":
		return prompt.RenderImplement(implement)
	case "repair":
		repair := prompt.Repair{
			Implement: implement, Iteration: t.req.Iteration,
			Blocks: texts.parts(t.req.Feedback.Blocks), Failure: string(texts.get(t.req.Feedback.Failure)),
		}
		if texts.err != nil {
			return nil, texts.err
		}
		return prompt.RenderRepair(repair)
	case "review":
		return t.renderReview(ctx, prompt.Review{
			Header: header, Requirement: requirement, Contract: contract, Constraints: constraints, Diff: diff, DiffFile: diffFile,
		})
	default:
		return nil, fmt.Errorf("no prompt for a %s turn", t.req.Turn)
	}
}

func (t *turn) renderReview(ctx context.Context, review prompt.Review) ([]byte, error) {
	changed, err := t.changed(ctx)
	if err != nil {
		return nil, err
	}
	texts := texts{ctx: ctx, a: t.Activities}
	review.Lint = texts.get(t.req.Lint)
	if texts.err != nil {
		return nil, texts.err
	}
	review.ChangedFiles, review.VerifySummary, review.Discipline, review.Reask = paths(changed), t.req.VerifySummary, t.req.Discipline, t.req.Reask
	review.RequireFindings = t.req.RequireFindings
	return prompt.RenderReview(review)
}

// changed lists what the run changed up to the turn's start. It is asked for the prompt and for the answer.
func (t *turn) changed(ctx context.Context) (_ []gitrepo.Change, err error) {
	if t.changes == nil {
		t.changes, err = t.space.repo.Changes(ctx, t.req.Base.Commit, t.req.From.Commit)
	}
	return t.changes, err
}

// texts reads artifacts and keeps the first error.
type texts struct {
	ctx context.Context
	a   *Activities
	err error
}

func (t *texts) get(ref artifact.Ref) []byte {
	if ref.IsZero() || t.err != nil {
		return nil
	}
	var content []byte
	content, t.err = t.a.Store.Get(t.ctx, ref)
	return content
}

func (t *texts) parts(refs []loop.NamedRef) []prompt.Part {
	parts := make([]prompt.Part, 0, len(refs))
	for _, named := range refs {
		parts = append(parts, prompt.Part{Name: named.Name, Text: t.get(named.Ref)})
	}
	return parts
}

func target(e record.Engine) agent.Target {
	return agent.Target{Adapter: e.Adapter, Provider: e.Provider, ModelFamily: e.ModelFamily, Model: e.Model}
}

func reported(o agent.Outcome) *record.Engine {
	if o.Reported == nil {
		return nil
	}
	r := o.Reported
	return &record.Engine{Adapter: r.Adapter, Provider: r.Provider, ModelFamily: r.ModelFamily, Model: r.Model, Source: r.Source}
}

func changes(in []gitrepo.Change) []record.Change {
	out := make([]record.Change, 0, len(in))
	for _, c := range in {
		out = append(out, record.Change{Path: c.Path, Added: max(c.Added, 0), Removed: max(c.Removed, 0), Status: c.Status, Binary: c.Binary})
	}
	return out
}

func paths(in []gitrepo.Change) []string {
	out := make([]string, 0, len(in))
	for _, c := range in {
		out = append(out, c.Path)
	}
	return out
}
