package main

import (
	"context"
	"slices"
	"strings"

	"conclave/config"
	"conclave/internal/convergence"
	"conclave/internal/guard"
	"conclave/internal/loop"
	"conclave/internal/store"
)

// policy is what the discipline asks of the run, with the texts of users in the store.
func (p *plan) policy(ctx context.Context, artifacts store.Store) (loop.Policy, error) {
	c := p.config
	policy := loop.Policy{
		SizeLimit: c.Review.SizeLimit, Generated: generatedGlobs(c), Protected: protectedGlobs(c), AllowSecrets: slices.Clone(c.Review.AllowSecrets),
		Ask: c.Discipline == string(convergence.Full), AllowProtected: c.AllowProtected,
		MaxFindings: c.Review.MaxFindings, ServedIdentity: c.Review.ServedIdentity, Uncalibrated: p.uncalibrated,
		Reminder: c.Rulings.Reminder,
	}
	if c.Rulings.Deadline > 0 {
		policy.Deadline, policy.DeadlineRuling = c.Rulings.Deadline, c.Rulings.DeadlineDecision
	}
	var err error
	if policy.Lenses, err = stored(ctx, artifacts, p.usedLenses()); err != nil {
		return policy, err
	}
	policy.Prompts, err = stored(ctx, artifacts, p.templates)
	return policy, err
}

func stored(ctx context.Context, artifacts store.Store, texts []promptText) ([]loop.NamedRef, error) {
	var refs []loop.NamedRef
	for _, t := range texts {
		ref, err := artifacts.Put(ctx, t.text)
		if err != nil {
			return nil, err
		}
		refs = append(refs, loop.NamedRef{Name: t.name, Ref: ref})
	}
	return refs, nil
}

// usedLenses are the users' lenses that a seat of this run has.
func (p *plan) usedLenses() []promptText {
	var used []promptText
	for _, t := range p.lenses {
		if slices.ContainsFunc(p.config.Seats, func(s config.Seat) bool { return s.Lens == t.name }) {
			used = append(used, t)
		}
	}
	return used
}

// generatedGlobs are the paths that are listed and not counted; package guard adds its own.
func generatedGlobs(c config.Config) []string { return slices.Clone(c.Review.Generated) }

// protectedGlobs are the paths that a person has to allow a change of, each after its reason: the repository's own
// lenses and templates, and what the configuration lists. Package guard adds its own.
func protectedGlobs(c config.Config) []string {
	var all []string
	for _, f := range slices.Concat(c.LensFiles, c.PromptFiles) {
		if f.Repository {
			all = append(all, guard.Reviewer+"\t"+literal.Replace(f.Path))
		}
	}
	for _, glob := range c.Review.Protected {
		all = append(all, guard.Listed+"\t"+glob)
	}
	return all
}

// literal makes a glob of a path.
var literal = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)

// budget is what the run may consume; the zero value where nothing bounds it.
func (p *plan) budget() loop.Budget {
	b := p.config.Budget
	if !b.Bounds() {
		return loop.Budget{}
	}
	return loop.Budget{Tokens: b.MaxTokens, CostUSD: b.MaxCostUSD, Duration: b.MaxDuration, AssumeTokens: b.AssumeTokens}
}
