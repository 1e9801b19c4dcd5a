package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
)

// runFlags are the flags of run beside what it works on.
type runFlags struct {
	workFlags
	showFlags
	showDiff bool
	detach   bool
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [flags] REQUIREMENT | -",
		Short: "Carry a requirement to convergence",
		Long:  "Carries a requirement through implement, verify, review and repair until the verifier passes and the reviewers\naccept. The change becomes branch conclave/<run-id>; your files are not touched.",
		Example: `  starter run "Add an endpoint that lists users"
  starter run --preset dual-review --verify-cmd "make test" "Fix the flaky test"
  starter run --dry-run "Try it without agents"`,
		Args: oneRequirement,
		RunE: func(cmd *cobra.Command, args []string) error { return a.runRun(cmd.Context(), cmd, f, args) },
	}
	f.workFlags.add(cmd)
	f.showFlags.add(cmd)
	cmd.Flags().BoolVar(&f.showDiff, "show-diff", false, "print the whole change after the run")
	cmd.Flags().BoolVar(&f.detach, "detach", false, "leave the run to a background starter")
	return cmd
}

func (a *app) runRun(ctx context.Context, cmd *cobra.Command, f runFlags, args []string) error {
	output, err := a.output(f.showFlags)
	if err != nil {
		return err
	}
	requirement, err := a.readRequirement(args)
	if err != nil {
		return err
	}
	p := &plan{flags: f.workFlags, requirement: requirement}
	if err := prepare(ctx, cmd, p); err != nil {
		return err
	}
	if err := p.checkBinaries(); err != nil {
		return err
	}
	a.warn(p)
	stop := watchInterrupts()
	defer stop.stop()
	starting, ready := stop.until(ctx)
	defer ready()
	c, err := a.launch(starting, p, configFileFlag(cmd))
	if err != nil {
		return interruptedOr(starting, err)
	}
	defer c.close()
	if f.detach {
		return c.detach(starting, cmd, f.json)
	}
	return c.carry(ctx, stop, output, f.showDiff)
}

// interruptedOr is the error, unless Ctrl-C is what ended the context.
func interruptedOr(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errInterrupted) {
		return &fault{code: exitInterrupt, what: "interrupted before the run started"}
	}
	return err
}

func configFileFlag(cmd *cobra.Command) string {
	name, _ := cmd.Flags().GetString("config")
	return name
}

// warn says what the run will not do although somebody may expect it.
func (a *app) warn(p *plan) {
	for _, w := range p.config.Warnings {
		a.say("warning: %s", w)
	}
	if p.folder != "" {
		a.say("note: %s", p.folder)
	}
	left, err := p.dirty()
	if err != nil {
		a.say("warning: what is uncommitted cannot be listed: %v", err)
	} else if len(left) > 0 {
		a.say("uncommitted changes are left out (--include-dirty takes them in):")
		for i, path := range left {
			if i == leftOutShown {
				a.say("  ... and %d more", len(left)-i)
				break
			}
			a.say("  %s", printable(path))
		}
	}
}

// leftOutShown is how many uncommitted paths are listed.
const leftOutShown = 20
