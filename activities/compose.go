package activities

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"conclave/internal/agent"
	"conclave/internal/gitrepo"
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
	settings, err := t.agents()
	if err != nil {
		return agent.Invocation{}, nil, err
	}
	adapter, err := settings.Lookup(name)
	if err != nil {
		return agent.Invocation{}, nil, err
	}
	spec := agent.TurnSpec{
		Role: t.req.Turn, Writing: t.req.Writing, Workspace: t.space.dir, Scratch: t.agentScratch(),
		PromptFile: filepath.Join(t.scratch, "prompt.md"), Target: target(t.req.Target), Timeout: t.req.Timeout,
	}
	if t.resumed != nil {
		spec.Resume, spec.Earlier = t.resumed.Session, earlier(t.resumed)
	}
	if t.holds(ctx) { // one sandbox per turn: theirs does not work inside ours
		settings.CLISandbox = agent.CLISandboxOff
	}
	invocation, err := adapter.Invocation(spec, settings)
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
	text = t.secrets.Redact(text)
	if err != nil {
		return agent.Invocation{}, nil, err
	}
	if len(text) > limit {
		return agent.Invocation{}, nil, agent.Unavailable(fmt.Sprintf("the prompt is %d bytes long even without the diff; at most %d can be given to %s", len(text), limit, name))
	}
	ours, err := invocation.WriteFiles(t.space.dir)
	if err != nil {
		return agent.Invocation{}, nil, err
	}
	t.space.ours = append(t.space.ours, ours...)
	return invocation, adapter.Parser(spec), os.WriteFile(spec.PromptFile, text, 0o600)
}

// longestPrompt bounds prompts in bytes, whatever an engine takes: they are made in memory.
const longestPrompt = 4 << 20

// fittingPrompt renders the prompt. A diff that does not fit into it becomes a
// file of the workspace that the prompt names.
func (t *turn) fittingPrompt(ctx context.Context, limit int) ([]byte, error) {
	if !t.reads() {
		return t.render(ctx, material{})
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
		if text, err := t.render(ctx, material{diff: content}); err != nil || len(text) <= limit {
			return text, err
		}
	}
	manifest, err := manifestOf(diff)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(t.space.dir, materialFile)
	if err := errors.Join(gitrepo.RemoveTree(path), os.Chmod(diff, 0o644), os.Rename(diff, path)); err != nil {
		return nil, err
	}
	t.space.ours = append(t.space.ours, materialFile)
	return t.render(ctx, material{file: materialFile, manifest: &manifest})
}

// manifestOf accounts for every part of a diff that stands in a file.
func manifestOf(diff string) (prompt.Manifest, error) {
	file, err := os.Open(diff)
	if err != nil {
		return prompt.Manifest{}, err
	}
	defer func() { _ = file.Close() }()
	return prompt.ReadManifest(file)
}

// material is the diff that a turn is about: its bytes, or the file of the workspace that holds it, with what that file
// accounts for.
type material struct {
	diff     []byte
	file     string
	manifest *prompt.Manifest
}

// reads reports whether the turn is about a diff.
func (t *turn) reads() bool {
	switch t.req.Turn {
	case record.TurnReview, record.TurnRecheck, record.TurnConfirm, record.TurnArbitrate:
		return true
	default:
		return false
	}
}

// since is the commit that the turn's diff starts from: a recheck reads what came after the tree that the seat judged
// last, everybody else the whole change, and so does a recheck after which nothing came.
func (t *turn) since() string {
	if t.req.Turn == record.TurnRecheck && t.req.Since.Commit != "" && t.req.Since.Tree != t.req.From.Tree {
		return t.req.Since.Commit
	}
	return t.req.Base.Commit
}

// writeDiff writes the diff that the turn is about to a file and returns its size.
func (t *turn) writeDiff(ctx context.Context, path string) (int64, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	err = t.hidden(file, func(w io.Writer) error { return t.space.repo.WriteDiff(ctx, w, t.since(), t.req.From.Commit) })
	size, sizeErr := file.Seek(0, io.SeekEnd)
	return size, errors.Join(err, sizeErr, file.Close())
}

// changed lists the paths of the turn's diff. It is asked for the prompt and for the answer.
func (t *turn) changed(ctx context.Context) (_ []gitrepo.Change, err error) {
	if t.since() == t.req.Base.Commit {
		return t.space.changed, nil
	}
	if t.changes == nil {
		t.changes, err = t.space.repo.Changes(ctx, t.since(), t.req.From.Commit)
	}
	return t.changes, err
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
