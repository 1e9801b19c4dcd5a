package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"conclave/internal/host"
	"conclave/internal/view"
)

func (a *app) watchCommand() *cobra.Command {
	var f showFlags
	cmd := &cobra.Command{
		Use:   "watch [flags] RUN",
		Short: "Watch a run that goes on elsewhere",
		Long:  "Watches a run. Ctrl-C ends the watching, not the run.",
		Args:  exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := a.output(f)
			if err != nil {
				return err
			}
			stop := watchInterrupts()
			defer stop.stop()
			starting, ready := stop.until(cmd.Context())
			defer ready()
			c, err := a.attach(starting, cmd, args[0])
			if c != nil {
				defer c.close()
			}
			if err != nil {
				return interruptedOr(starting, err)
			}
			return c.watch(cmd.Context(), stop, out)
		},
	}
	f.add(cmd)
	addHostFlags(cmd)
	return cmd
}

// watch follows without carrying.
func (c *carriage) watch(ctx context.Context, stop *interrupts, out output) error {
	_, _, ended, err := c.stand(ctx)
	if err != nil {
		return err
	}
	if ended {
		return c.ended(ctx, out, false)
	}
	if c.entry.Local() && !c.index.Carried(c.entry.RunID) {
		c.app.say("nobody carries run %s: its agents wait for `starter resume %s`", c.entry.RunID, c.entry.RunID)
		if err := c.work(host.WorkflowOnly); err != nil {
			return err
		}
	}
	v := view.New(out.view)
	end, err := c.follow(ctx, stop, v, true)
	if errors.Is(err, errInterrupted) {
		v.Close(end.Run, []string{"watch again: starter watch " + c.entry.RunID})
		return silent(exitInterrupt)
	}
	return c.finish(v, end, err, out, false)
}
