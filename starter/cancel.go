package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"conclave/internal/host"
	"conclave/internal/record"
	"conclave/internal/report"
)

// cancelPatience is how long a cancelled run may take to end its agents, land and write its bundle.
const cancelPatience = time.Minute

func (a *app) cancelCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cancel RUN",
		Short: "End a run for good",
		Long:  "Ends a run for good: its agents are ended, what it changed so far becomes its branch, the bundle is kept.",
		Args:  exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withRun(cmd.Context(), cmd, args[0], func(ctx context.Context, _ *interrupts, c *carriage) error { return c.cancel(ctx) })
		},
	}
	addHostFlags(cmd)
	return cmd
}

func (c *carriage) cancel(ctx context.Context) error {
	standing, run, ended, err := c.stand(ctx)
	if err != nil {
		return err
	}
	if ended {
		c.app.print("run %s has ended already: %s", c.entry.RunID, report.Outcome(run))
		return nil
	}
	if c.lock, err = c.index.TryLock(c.entry.RunID); err != nil {
		return err
	}
	if c.lock != nil { // nobody carries it: what its last starter left is in the way
		if err := c.revive(ctx, standing); err != nil {
			return err
		}
	}
	if err := c.conn.CancelWorkflow(ctx, c.entry.WorkflowID, ""); err != nil {
		return &fault{code: exitStep, what: "run " + c.entry.RunID + " cannot be cancelled: " + err.Error()}
	}
	return c.awaitCancelled(ctx)
}

// workToEnd does what a run needs to end: no turns.
func (c *carriage) workToEnd() error {
	if c.entry.Local() {
		return c.work(host.Ending)
	}
	return c.work(host.SourceOnly)
}

// takeOver sees to the end of a run whose carrier has gone meanwhile.
func (c *carriage) takeOver(ctx context.Context) (err error) {
	if c.lock != nil {
		return nil
	}
	if c.lock, err = c.index.TryLock(c.entry.RunID); err != nil || c.lock == nil {
		return err
	}
	standing, err := c.conn.Stand(ctx, c.entry.WorkflowID)
	if err != nil || !standing.Open {
		return err
	}
	if err := c.revive(ctx, standing); err != nil {
		return err
	}
	return c.workToEnd()
}

func (c *carriage) awaitCancelled(ctx context.Context) error {
	if c.lock != nil {
		if err := c.workToEnd(); err != nil {
			return err
		}
	}
	ctx, done := context.WithTimeoutCause(ctx, cancelPatience, errSlow)
	defer done()
	end, err := host.Follow(ctx, c.conn.Client, c.entry.WorkflowID, true, func(host.Look) {
		if problem := c.takeOver(ctx); problem != nil {
			c.app.say("warning: %v", problem)
		}
	})
	if err != nil {
		return &fault{code: exitStep, what: "the end of run " + c.entry.RunID + " was asked for, but it has not ended yet: " + err.Error(),
			remedy: "`starter watch " + c.entry.RunID + "` shows it"}
	}
	run := c.finalRecord(end)
	c.app.print("run %s: %s", c.entry.RunID, report.Outcome(run))
	for _, line := range report.NextSteps(run) {
		c.app.print("  %s", line)
	}
	c.app.print("  bundle: %s", c.entry.Bundle)
	if run.Stop != record.Cancelled {
		c.app.say("it ended before the cancellation reached it")
	}
	return nil
}
