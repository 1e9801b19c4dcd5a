package main

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"conclave/activities"
	"conclave/internal/host"
	"conclave/internal/process"
	"conclave/internal/record"
	"conclave/internal/view"
	"conclave/workflows"
)

func (a *app) resumeCommand() *cobra.Command {
	var f showFlags
	var showDiff bool
	cmd := &cobra.Command{
		Use:   "resume [flags] RUN",
		Short: "Go on with a run that was killed, interrupted or waits",
		Long:  "Goes on with a run that was killed, interrupted or waits. RUN is any unique part of its id, or @last.\nA run that has ended prints its outcome and exits with its code; a run that another starter carries is watched.",
		Args:  exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, name := range []string{"reopen", "waive", "reason"} {
				if cmd.Flags().Changed(name) {
					return usage("leave it out", "--%s is not yet supported", name)
				}
			}
			return a.resume(cmd.Context(), cmd, args[0], f, showDiff)
		},
	}
	f.add(cmd)
	addHostFlags(cmd)
	cmd.Flags().BoolVar(&showDiff, "show-diff", false, "print the whole change after the run")
	cmd.Flags().String("reopen", "", "ask a `SEAT` again (not yet supported)")
	cmd.Flags().String("waive", "", "do without a `SEAT` (not yet supported)")
	cmd.Flags().String("reason", "", "`TEXT` of a waiver (not yet supported)")
	return cmd
}

func (a *app) resume(ctx context.Context, cmd *cobra.Command, name string, f showFlags, showDiff bool) error {
	out, err := a.output(f)
	if err != nil {
		return err
	}
	stop := watchInterrupts()
	defer stop.stop()
	starting, ready := stop.until(ctx)
	defer ready()
	c, err := a.attach(starting, cmd, name)
	if c != nil {
		defer c.close()
	}
	if err != nil {
		return interruptedOr(starting, err)
	}
	if c.lock, err = c.index.TryLock(c.entry.RunID); err != nil {
		return err
	}
	if c.lock == nil {
		a.say("another starter carries run %s; watching it", c.entry.RunID)
		return c.watch(ctx, stop, out)
	}
	return c.resume(ctx, stop, out, showDiff)
}

// resume is for the holder of the run's lock.
func (c *carriage) resume(ctx context.Context, stop *interrupts, out output, showDiff bool) error {
	standing, _, ended, err := c.stand(ctx)
	if err != nil {
		return err
	}
	if ended {
		return c.ended(ctx, out, showDiff)
	}
	c.app.say("resuming run %s", c.entry.RunID)
	if err := c.revive(ctx, standing); err != nil {
		return err
	}
	if err := c.work(c.share()); err != nil {
		return err
	}
	v := view.New(out.view)
	asked, err := c.goOn(ctx)
	if err != nil {
		return err
	}
	end, err := c.follow(ctx, stop, v, false)
	if err == nil && end.Waiting && !asked && end.Run.Stop == record.StopInterrupted && !stop.asked() {
		// The last starter was killed between its interruption and the wait.
		if err := c.signalResume(ctx); err != nil {
			return err
		}
		end, err = c.follow(ctx, stop, v, false)
	}
	return c.finish(v, end, err, out, showDiff)
}

// revive ends what the dead starter left: its agents, and its claim on activities.
func (c *carriage) revive(ctx context.Context, standing host.Standing) error {
	if _, err := process.KillRegistered(activities.RegistryDir(c.index.StateDir(), c.entry.RunID)); err != nil {
		return &fault{code: exitStep, what: "agents of the dead starter cannot be ended: " + err.Error()}
	}
	if !c.entry.Local() {
		standing = standing.Only("PrepareRun", "Land", "WriteBundle") // turns belong to the cluster's workers
	}
	if err := c.conn.GiveUpLost(ctx, c.entry.RunID, standing); err != nil {
		return &fault{code: exitStep, what: err.Error()}
	}
	return nil
}

// goOn resumes a run that waits, and says whether it did. A run that is at work is left alone.
func (c *carriage) goOn(ctx context.Context) (bool, error) {
	look, err := host.AwaitLook(ctx, c.conn.Client, c.entry.RunID)
	if err != nil {
		return false, &fault{code: exitStep, what: "run " + c.entry.RunID + " does not answer: " + err.Error(),
			remedy: "its log is " + filepath.Join(c.index.Dir(c.entry.RunID), "starter.log")}
	}
	if look.Run.Waiting == "" || look.Busy || look.Run.Stop.Final() {
		return false, nil
	}
	return true, c.signalResume(ctx)
}

// signalResume returns when the run has taken the signal in: before, it would still be seen waiting.
func (c *carriage) signalResume(ctx context.Context) error {
	err := c.conn.SignalWorkflow(ctx, c.entry.WorkflowID, "", workflows.SignalResume, "starter resume")
	if err == nil {
		err = host.AwaitTaken(ctx, c.conn.Client, c.entry.RunID)
	}
	if err != nil {
		return &fault{code: exitStep, what: "run " + c.entry.RunID + " cannot be resumed: " + err.Error()}
	}
	return nil
}
