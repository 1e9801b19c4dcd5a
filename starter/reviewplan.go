package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"conclave/activities"
	"conclave/internal/agent"
	"conclave/internal/gitrepo"
	"conclave/internal/loop"
	"conclave/internal/runindex"
	"conclave/workflows"
)

// gate is what `starter review` reviews, resolved to commits.
type gate struct {
	base, head, mergeBase gitrepo.Commit
	// baseName says which ref the base is, for people.
	baseName string
	// fromCommits says that the requirement is the commit messages.
	fromCommits bool
	subject     string
	fresh       bool
	// digest identifies the change and the plan: the workflow's id is made of it.
	digest string
}

// prepareGate checks everything that can be checked before anything starts.
func (p *plan) prepareGate(ctx context.Context, cmd *cobra.Command, f reviewFlags) error {
	steps := []func(context.Context, *cobra.Command) error{
		func(ctx context.Context, _ *cobra.Command) error { return p.openChange(ctx, f.head) },
		p.load, p.readPrompts, p.compile, p.checkCalibration, p.readConstraints,
		func(ctx context.Context, cmd *cobra.Command) error {
			return p.gateRequirement(ctx, f.requirement, cmd.Flags().Changed("requirement"))
		},
		p.digestGate,
	}
	for _, step := range steps {
		if err := step(ctx, cmd); err != nil {
			return err
		}
	}
	return nil
}

// openChange resolves base, head and merge base to commits, and refuses an empty change.
func (p *plan) openChange(ctx context.Context, head string) error {
	source, err := gitrepo.OpenSource(ctx, p.flags.workdir)
	if err != nil {
		return sourceFault(err)
	}
	if !source.IsRepository() {
		return usage("go to the repository or name it with --workdir", "%s is no git repository: a review is of commits", source.Root())
	}
	p.source = source
	p.dirty = func() ([]string, error) { return nil, nil }
	g := p.gate
	if g.head, err = source.Resolve(ctx, head); err != nil {
		return unresolved(source, "--head", err)
	}
	if err := p.chooseBase(ctx, head); err != nil {
		return err
	}
	if g.mergeBase, err = source.MergeBase(ctx, g.base.ID, g.head.ID); err != nil {
		return unresolved(source, "--base", err)
	}
	p.base = g.base
	if g.mergeBase.Tree == g.head.Tree {
		why := "the files of head are those of the merge base"
		if g.mergeBase.ID == g.head.ID {
			why = "head is part of the base already (merged, or the branch itself)"
		}
		return noReview("name another --base or --head, or commit first", "nothing to review: %s..%s is empty: %s (base %s)",
			short(g.base.ID), short(g.head.ID), why, g.baseName)
	}
	if head == "" {
		p.lookForDirt(ctx)
	}
	return nil
}

// defaultBases are the names under which the default branch is looked for, the published one first.
var defaultBases = []string{"refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main", "refs/heads/master"}

// chooseBase resolves --base, else the default branch, else the upstream of what is checked out.
func (p *plan) chooseBase(ctx context.Context, head string) error {
	g := p.gate
	if p.flags.base != "" {
		base, err := p.source.Resolve(ctx, p.flags.base)
		if err != nil {
			return unresolved(p.source, "--base", err)
		}
		g.base, g.baseName = base, p.flags.base
		return nil
	}
	names := defaultBases
	if head == "" {
		names = append(names[:len(names):len(names)], "@{upstream}")
	}
	for _, name := range names {
		base, err := p.source.Resolve(ctx, name)
		if err == nil {
			g.base, g.baseName = base, "the default: "+strings.TrimPrefix(strings.TrimPrefix(name, "refs/remotes/"), "refs/heads/")
			return nil
		}
		if !errors.Is(err, gitrepo.ErrUnresolved) {
			return unresolved(p.source, "--base", err)
		}
	}
	remedy := "name it with --base"
	if p.source.IsShallow() {
		remedy = "this is a shallow clone that may lack it: `git fetch origin main:refs/remotes/origin/main`, or name another --base"
	}
	return noReview(remedy, "no base to compare with in %s: there is no origin/HEAD, no main, no master and no upstream", p.source.Root())
}

// unresolved explains a commit that is not there. A shallow clone is a clone that may only lack it.
func unresolved(source *gitrepo.Source, flag string, err error) error {
	switch {
	case !errors.Is(err, gitrepo.ErrUnresolved) && !errors.Is(err, gitrepo.ErrNoCommit):
		return sourceFault(err)
	case source.IsShallow():
		return noReview("fetch more of the history: `git fetch --deepen=100`, or all of it: `git fetch --unshallow` (in CI: a checkout of full depth)",
			"no review: this is a shallow clone, and %v", err)
	}
	return noReview("name a commit, branch or tag that exists with "+flag, "no review: %v", err)
}

// longestMessage bounds one commit message and longestMessages all of those that stand for a requirement, in bytes.
const longestMessage, longestMessages = 8 << 10, 32 << 10

// gateRequirement takes --requirement, else the commit messages, which are the author's words and nobody's order.
func (p *plan) gateRequirement(ctx context.Context, text string, given bool) error {
	g := p.gate
	messages, err := p.source.Messages(ctx, g.base.ID, g.head.ID)
	if err != nil {
		return sourceFault(err)
	}
	if len(messages) > 0 {
		g.subject = messages[len(messages)-1].Subject()
	}
	if !given {
		g.fromCommits = true
		p.requirement = messagesText(messages)
		return nil
	}
	p.requirement = []byte(text)
	if name, ok := strings.CutPrefix(text, "@"); ok {
		if p.requirement, err = os.ReadFile(name); err != nil {
			return usage("name a readable file after the @", "--requirement: %v", err)
		}
	}
	if len(bytes.TrimSpace(p.requirement)) == 0 {
		return usage("say what the change was to do, or leave --requirement out: then the commit messages count", "the requirement is empty")
	}
	return nil
}

func messagesText(messages []gitrepo.Message) []byte {
	var b bytes.Buffer
	for i, m := range messages {
		text := m.Text
		if text == "" {
			text = "(no message)"
		}
		if len(text) > longestMessage {
			text = text[:longestMessage] + "\n(cut)"
		}
		if b.Len()+len(text) > longestMessages {
			fmt.Fprintf(&b, "(%d more commits are left out)\n", len(messages)-i)
			break
		}
		fmt.Fprintf(&b, "commit %s\n%s\n\n", short(m.ID), text)
	}
	return bytes.ToValidUTF8(b.Bytes(), []byte("\uFFFD")) // git keeps whatever bytes there were
}

// digestGate identifies the change and everything that its verdict depends on.
func (p *plan) digestGate(ctx context.Context, _ *cobra.Command) error {
	g := p.gate
	diff, err := p.diffDigest(ctx)
	if err != nil {
		return &fault{code: exitStep, what: "the change cannot be read: " + err.Error(), remedy: "`git fsck` may tell more; a partial clone has to fetch what it lacks"}
	}
	constraints := []string{}
	for _, c := range p.constraints {
		constraints = append(constraints, c.name+" "+hashed(c.text))
	}
	programs, err := p.programs()
	if err != nil {
		return err
	}
	raw, err := json.Marshal(map[string]any{
		"schema": 1, "programs": programs, "base": g.base, "head": g.head, "merge_base": g.mergeBase, "diff": diff, "plan": p.resolved.Digest,
		"requirement": hashed(p.requirement), "from_commits": g.fromCommits, "constraints": constraints,
		"commands": []string{p.config.SetupCmd, p.config.LintCmd, p.config.VerifyCmd}, "verdict_mode": p.config.VerdictMode,
		"rules": p.machine.Rules().Name, "uncalibrated": p.uncalibrated, "dry_run": p.flags.dryRun,
	})
	if err != nil {
		return err
	}
	g.digest = hashed(raw)
	return nil
}

// programs identify the configured programs of the plan's lanes. On a cluster they are the workers', and nobody here
// knows them.
func (p *plan) programs() (map[string]string, error) {
	found := map[string]string{}
	target, err := targetOf(p.config)
	if err != nil || p.flags.dryRun || !target.Local() {
		return found, err
	}
	for _, name := range p.laneAdapters() {
		digest, err := agent.ProgramDigest(name, p.agents)
		if err != nil {
			return nil, &fault{code: exitStep, what: fmt.Sprintf("the program of agents.%s cannot be read: %v", name, err)}
		}
		if digest != "" {
			found[name] = digest
		}
	}
	return found, nil
}

// laneAdapters are the adapters that any lane may run on, also as a substitution.
func (p *plan) laneAdapters() []string {
	var names []string
	for _, lane := range p.machine.Describe().ExecutionLanes {
		names = append(names, lane.Requested.Adapter)
		for _, other := range lane.KnownSubstitutions {
			names = append(names, other.Adapter)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func hashed(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// diffDigest is over the change as reviewers will read it.
func (p *plan) diffDigest(ctx context.Context) (string, error) {
	dir, err := os.MkdirTemp("", "conclave-review-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	shallow, err := p.source.ShallowFile()
	if err != nil {
		return "", err
	}
	repo, err := gitrepo.CreateRunRepo(ctx, gitrepo.RunRepoOptions{
		Dir: filepath.Join(dir, "repo.git"), Alternates: []string{p.source.ObjectsDir()}, ObjectFormat: p.source.ObjectFormat(), Shallow: shallow,
	})
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	if err := repo.WriteDiff(ctx, sum, p.gate.mergeBase.ID, p.gate.head.ID); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// entry makes a run's entry a review's.
func (g *gate) entry(e *runindex.Entry, requirement string) {
	what := title(requirement)
	if g.fromCommits {
		what = title(g.subject)
	}
	e.Title = "review: " + what
	e.RunID = runindex.NewID("review " + what)
	e.Bundle = activities.BundleDir(e.Source, e.RunID)
	e.WorkflowID = workflows.GateID(g.digest)
}

// input makes a run's input a review's: size and protected paths are asked in every discipline.
func (g *gate) input(in *loop.Input) {
	in.Source.Base, in.Source.IncludeDirty = g.base.ID, false
	in.Source.Gate = &loop.Gate{Base: g.base.ID, Head: g.head.ID, FromCommits: g.fromCommits}
	in.Designer, in.Policy.Ask = nil, true
}

// short abbreviates a commit for people.
func short(id string) string { return id[:min(len(id), 12)] }
