package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"conclave/config"
	"conclave/internal/loop"
	"conclave/internal/record"
	"conclave/internal/runindex"
)

// exitNoReview is for what makes a review impossible before it starts.
const exitNoReview = 6

// reviewFlags are the flags of review.
type reviewFlags struct {
	workFlags
	showFlags
	head, requirement string
	fresh             bool
	showDiff          bool
	detach            bool
}

func (f *reviewFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	config.GateFlags(fs)
	addHostFlags(cmd)
	f.showFlags.add(cmd)
	fs.StringVar(&f.workdir, "workdir", ".", "the repository: `DIR`")
	fs.StringVar(&f.base, "base", "", "what the change is compared with: `REF` (default: the default branch)")
	fs.StringVar(&f.head, "head", "", "the change's last commit: `REF` (default HEAD)")
	fs.StringVar(&f.requirement, "requirement", "", "what the change was to do: `TEXT` or @FILE (default: the commit messages)")
	fs.StringArrayVar(&f.constraints, "constraint", nil, "a file with binding constraints: `FILE` (repeatable)")
	fs.BoolVar(&f.fresh, "fresh", false, "review again, also where a verdict of the same change and plan could be used again")
	fs.BoolVar(&f.dryRun, "dry-run", false, "let the stub stand for every agent: no agent binary, no network")
	fs.BoolVar(&f.showDiff, "show-diff", false, "print the whole change after the review")
	fs.BoolVar(&f.detach, "detach", false, "leave the review to a background starter")
}

func (a *app) reviewCommand() *cobra.Command {
	var f reviewFlags
	cmd := &cobra.Command{
		Use:   "review [flags]",
		Short: "Review a change that exists already",
		Long: "Lets the seats review what head changed since its merge base with base, and repairs nothing. Only commits count:\n" +
			"what is uncommitted is no part of it. A verdict holds for this change under this plan and is used again.\n" +
			"Exit codes: 0 clean, 1 blocking findings, 3 waits for a ruling on SIZE or PROTECTED, 4 the verifier or git failed,\n" +
			"5 budget, 6 no review took place.",
		Example: `  starter review
  starter review --base origin/main --head feature --verify-cmd "make test"
  starter review --preset panel --trust-reviewers --requirement @ticket.md`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := a.review(cmd.Context(), cmd, f)
			a.noReviewDocument(err, f)
			return err
		},
	}
	f.add(cmd)
	return cmd
}

func (a *app) review(ctx context.Context, cmd *cobra.Command, f reviewFlags) error {
	out, err := a.output(f.showFlags)
	if err != nil {
		return err
	}
	p := &plan{flags: f.workFlags, gate: &gate{fresh: f.fresh}}
	if err := p.prepareGate(ctx, cmd, f); err != nil {
		return err
	}
	a.describeGate(p)
	if reused, err := a.knownVerdict(p, out, f.showDiff); reused {
		return err
	}
	if err := p.checkBinaries(); err != nil {
		return err
	}
	standing, err := a.reviewNow(ctx, cmd, p, out, f)
	if standing == nil {
		return err
	}
	return a.join(ctx, cmd, p, standing, out, f)
}

// reviewNow starts the review and carries it, unless the server knows the same one already.
func (a *app) reviewNow(ctx context.Context, cmd *cobra.Command, p *plan, out output, f reviewFlags) (*standingGate, error) {
	stop := watchInterrupts()
	defer stop.stop()
	starting, ready := stop.until(ctx)
	defer ready()
	c, err := a.launch(starting, p, configFileFlag(cmd))
	var standing *standingGate
	if errors.As(err, &standing) {
		return standing, nil
	}
	if err != nil {
		return nil, interruptedOr(starting, err)
	}
	defer c.close()
	if f.detach {
		return nil, c.detach(starting, cmd, f.json)
	}
	err = c.carry(ctx, stop, out, f.showDiff)
	c.keepVerdict(ctx)
	return nil, err
}

// describeGate says what is reviewed, and what is left out of it.
func (a *app) describeGate(p *plan) {
	g := p.gate
	a.say("review of %s..%s: base %s (%s)", short(g.base.ID), short(g.head.ID), g.baseName, short(g.base.ID))
	if g.mergeBase.ID != g.base.ID {
		a.say("the change is what head has beyond the merge base %s", short(g.mergeBase.ID))
	}
	for _, w := range p.config.Warnings {
		a.say("warning: %s", w)
	}
	left, err := p.dirty()
	if err == nil && len(left) > 0 {
		a.say("note: %d uncommitted path(s) are no part of the review: only commits are", len(left))
	}
}

// noReviewDocument prints a record for a review that never started, where --json promises one.
func (a *app) noReviewDocument(err error, f reviewFlags) {
	var fault *fault
	if !f.json || !errors.As(err, &fault) || fault.code != exitNoReview || fault.what == "" {
		return
	}
	run := emptyReview()
	run.Stop, run.ExitCode, run.Message = record.NoReview, exitNoReview, fault.what
	if err := a.printJSON(run); err != nil {
		a.say("warning: %v", err)
	}
}

// emptyReview is the record of a review of which nothing is known.
func emptyReview() record.Run {
	return record.Run{
		Schema: record.Schema, Kind: record.KindReview, Steps: []record.Step{}, Findings: []record.Finding{}, Rulings: []record.Ruling{},
		Refused: []record.RefusedRuling{}, Changed: []record.Change{},
	}
}

// noReview ends the program because there is nothing that could be reviewed.
func noReview(remedy, format string, args ...any) error {
	err := usage(remedy, format, args...)
	var f *fault
	if errors.As(err, &f) {
		f.code = exitNoReview
	}
	return err
}

// join goes on with a review of the same change and plan that the server knows.
func (a *app) join(ctx context.Context, cmd *cobra.Command, p *plan, s *standingGate, out output, f reviewFlags) error {
	if s.result != nil {
		return a.reuse(p, s, out, f.showDiff)
	}
	a.say("the same review is at work already: run %s", s.runID)
	index := runindex.Open(p.config.Host.StateDir)
	if _, err := index.Read(s.runID); err != nil {
		return a.watchElsewhere(ctx, cmd, p, s, out)
	}
	if known, ok, err := index.ReadGate(p.gate.digest); err != nil || !ok || known.RunID != s.runID { // its starter died before it wrote that down
		if err := index.WriteGate(p.gate.digest, runindex.Gate{RunID: s.runID}); err != nil {
			return err
		}
	}
	return a.resume(ctx, cmd, s.runID, resuming{f.showFlags, f.showDiff, loop.Resume{Reason: "starter review"}})
}

// timeWords is a time for people, to the second.
func timeWords(t time.Time) string { return t.UTC().Format(time.RFC3339) }
