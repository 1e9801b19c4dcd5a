package activities

import (
	"context"
	"fmt"
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
	if t.prompt, err = t.render(ctx, ""); err != nil {
		return agent.Invocation{}, nil, err
	}
	if limit := invocation.PromptLimit; limit > 0 && len(t.prompt) > limit {
		if err := t.moveMaterial(ctx); err != nil {
			return agent.Invocation{}, nil, err
		}
		if len(t.prompt) > limit {
			return agent.Invocation{}, nil, agent.Unavailable(fmt.Sprintf("the prompt is %d bytes long even without the diff; %s takes %d", len(t.prompt), name, limit))
		}
	}
	return invocation, adapter.Parser(spec), os.WriteFile(spec.PromptFile, t.prompt, 0o600)
}

// moveMaterial puts the diff into a file of the workspace that the prompt names.
func (t *turn) moveMaterial(ctx context.Context) error {
	diff, err := t.space.repo.Diff(ctx, t.req.Base.Commit, t.req.From.Commit)
	if err != nil {
		return err
	}
	path := filepath.Join(t.space.dir, materialFile)
	if err := gitrepo.RemoveTree(path); err != nil {
		return err
	}
	if err := os.WriteFile(path, diff, 0o644); err != nil {
		return err
	}
	t.space.ours = append(t.space.ours, materialFile)
	t.prompt, err = t.render(ctx, materialFile)
	return err
}

// render fills in the template of the turn's role.
func (t *turn) render(ctx context.Context, diffFile string) ([]byte, error) {
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
		return t.renderReview(ctx, header, requirement, contract, constraints, diffFile)
	default:
		return nil, fmt.Errorf("no prompt for a %s turn", t.req.Turn)
	}
}

func (t *turn) renderReview(ctx context.Context, header prompt.Header, requirement string, contract []byte, constraints []prompt.Part, diffFile string) ([]byte, error) {
	repo, base, from := t.space.repo, t.req.Base.Commit, t.req.From.Commit
	changed, err := repo.Changes(ctx, base, from)
	if err != nil {
		return nil, err
	}
	diff, err := repo.Diff(ctx, base, from)
	if err != nil {
		return nil, err
	}
	texts := texts{ctx: ctx, a: t.Activities}
	lint := texts.get(t.req.Lint)
	if texts.err != nil {
		return nil, texts.err
	}
	review := prompt.Review{
		Header: header, Requirement: requirement, Contract: contract, Constraints: constraints, Diff: diff,
		ChangedFiles: paths(changed), Lint: lint, VerifySummary: t.req.VerifySummary, Discipline: t.req.Discipline,
		DiffFile: diffFile, Reask: t.req.Reask,
	}
	if diffFile != "" {
		review.Diff = nil
	}
	return prompt.RenderReview(review)
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
