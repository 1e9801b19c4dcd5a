package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"conclave/config"
	"conclave/internal/convergence"
	"conclave/internal/loop"
	"conclave/internal/store"
)

// yours is why a path is protected that only the configuration names.
const yours = "review.protected"

// policy is what the discipline asks of the run, with the texts of users in the store.
func (p *plan) policy(ctx context.Context, artifacts store.Store) (loop.Policy, error) {
	c := p.config
	policy := loop.Policy{
		SizeLimit: c.Review.SizeLimit, Generated: generatedGlobs(c), Protected: protectedGlobs(c),
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

// generatedGlobs are the paths that are listed and not counted.
func generatedGlobs(c config.Config) []string { return slices.Clone(c.Review.Generated) }

// protectedGlobs are the paths that a person has to allow a change of, each after its reason.
func protectedGlobs(c config.Config) []string {
	var all []string
	for _, glob := range c.Review.Protected {
		all = append(all, yours+"\t"+glob)
	}
	return all
}

// budget is what the run may consume; the zero value where nothing bounds it.
func (p *plan) budget() loop.Budget {
	b := p.config.Budget
	if !b.Bounds() {
		return loop.Budget{}
	}
	return loop.Budget{Tokens: b.MaxTokens, CostUSD: b.MaxCostUSD, Duration: b.MaxDuration, AssumeTokens: b.AssumeTokens}
}

// checkCalibration refuses voting seats that nobody measured, where findings decide: a run whose reviewers see nothing
// would end green. Nothing is asked of a plan or a dry run.
func (p *plan) checkCalibration(context.Context, *cobra.Command) error {
	if p.config.Discipline != string(convergence.Full) || p.flags.dryRun || p.config.Advisory {
		return nil
	}
	missing := p.notCalibrated()
	switch {
	case len(missing) == 0:
		return nil
	case p.config.TrustReviewers:
		p.uncalibrated = missing
		return nil
	}
	what := "discipline full without calibration: nobody has measured " + strings.Join(missing, ", ")
	if p.unrun {
		p.config.Warnings = append(p.config.Warnings, what+"; a run needs `starter calibrate`, --trust-reviewers or --advisory")
		return nil
	}
	advisory := "--advisory lets findings not stop the end"
	if p.flags.definition != "" {
		advisory = "--advisory (here data.advisory of the definition) lets findings not stop the end"
	}
	return usage("measure them with `starter calibrate`; or --trust-reviewers lets them gate as they are; or "+advisory, "%s", what)
}

// notCalibrated lists the voting seats whose engines, under their lenses, have no calibration that holds.
func (p *plan) notCalibrated() []string {
	var missing []string
	for _, s := range p.machine.Seats() {
		if s.Voting {
			missing = append(missing, s.ID)
		}
	}
	return missing
}
