package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"conclave/internal/host"
	"conclave/internal/record"
	"conclave/internal/view"
)

func (a *app) watchCommand() *cobra.Command {
	var f showFlags
	cmd := &cobra.Command{
		Use:   "watch [flags] RUN",
		Short: "Watch a run that goes on elsewhere",
		Long:  "Watches a run until it ends, waits or stops. Ctrl-C ends the watching, not the run.",
		Args:  exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := a.output(f)
			if err != nil {
				return err
			}
			return a.withRun(cmd.Context(), cmd, args[0], func(_ context.Context, stop *interrupts, c *carriage) error {
				return c.watch(cmd.Context(), stop, out)
			})
		},
	}
	f.add(cmd)
	addHostFlags(cmd)
	return cmd
}

// Why watching ends before the run does.
var (
	errWaits     = errors.New("the run waits")
	errUncarried = errors.New("nobody carries the run")
)

const (
	// carriedLook is how often a watched run is asked who carries it, uncarriedPatience how long nobody may: a resume,
	// or the end of the workflow, may be on its way.
	carriedLook       = 250 * time.Millisecond
	uncarriedPatience = 2 * time.Second
	// stoppedPatience is how long a run that nobody carries may take to say where it stands.
	stoppedPatience = 10 * time.Second
)

// watch follows without carrying. It leaves when the run waits, or when nobody carries it: nothing would change then.
func (c *carriage) watch(ctx context.Context, stop *interrupts, out output) error {
	_, _, ended, err := c.stand(ctx)
	if err != nil {
		return err
	}
	if ended {
		return c.ended(ctx, out, false)
	}
	out.view.Watching = true
	v := view.New(out.view)
	if c.entry.Local() && !c.index.Carried(c.entry.RunID) {
		return c.stopped(ctx, stop, v, host.End{}, out)
	}
	end, err := c.watching(ctx, stop, v)
	switch {
	case errors.Is(err, errInterrupted):
		v.Close(end.Run, []string{"watch again: starter watch " + c.entry.RunID})
		return silent(exitInterrupt)
	case errors.Is(err, errWaits):
		end.Waiting = true
		return c.watchedWait(ctx, stop, v, end, out)
	case errors.Is(err, errUncarried):
		return c.stopped(ctx, stop, v, end, out)
	}
	return c.finish(v, end, err, out, false)
}

// watching is follow, until there is nothing more to see.
func (c *carriage) watching(ctx context.Context, stop *interrupts, v view.View) (host.End, error) {
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	if c.entry.Local() {
		go c.awaitUncarried(ctx, leave)
	}
	return c.follow(ctx, stop, v, func(look host.Look) {
		if look.Waits() && !c.index.Carried(c.entry.RunID) {
			leave(errWaits)
		}
	})
}

// awaitUncarried notices that the run's starter is gone.
func (c *carriage) awaitUncarried(ctx context.Context, leave context.CancelCauseFunc) {
	ticker := time.NewTicker(carriedLook)
	defer ticker.Stop()
	alone := time.Duration(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if alone += carriedLook; c.index.Carried(c.entry.RunID) {
			alone = 0
		}
		if alone >= uncarriedPatience {
			leave(errUncarried)
			return
		}
	}
}

// stopped shows a run that nobody carries as it stands, and how it goes on. last is what was seen of it.
func (c *carriage) stopped(ctx context.Context, stop *interrupts, v view.View, last host.End, out output) error {
	defer v.Close(last.Run, nil) // where an error comes first
	unhurried := ctx
	ctx, ready := stop.until(ctx)
	defer ready()
	ctx, done := context.WithTimeoutCause(ctx, stoppedPatience, errSlow)
	defer done()
	if _, _, ended, err := c.stand(ctx); err == nil && ended {
		return c.endedIn(ctx, v, out, false)
	}
	if look, err := c.lookAlone(ctx); err == nil {
		last.Run, last.Waiting = look.Run, look.Waits()
	}
	if last.Waiting {
		return c.watchedWait(unhurried, stop, v, last, out)
	}
	if last.Run.RunID == "" {
		last.Run, _ = readRecord(c.entry)
	}
	v.Message("run " + c.entry.RunID + " stopped: its starter died")
	shown := last.Run
	shown.RunID, shown.Stop, shown.ExitCode = c.entry.RunID, record.StopInterrupted, exitInterrupt
	v.Close(shown, []string{"bundle: " + c.entry.Bundle})
	c.results(last.Run, out, false)
	return silent(exitInterrupt)
}

// watchedWait ends the watching of a run that waits and that nobody carries here. A person may answer it first.
func (c *carriage) watchedWait(ctx context.Context, stop *interrupts, v view.View, end host.End, out output) error {
	if len(end.Run.Questions) == 0 || stop.asked() || !c.app.interactive(out) {
		return c.finish(v, end, nil, out, false)
	}
	if err := c.answerer(); err != nil {
		return err
	}
	answered, err := c.askAll(ctx, stop, v, end.Run, out)
	if err != nil {
		return err
	}
	end.Run = c.afterAsking(ctx, end.Run)
	if !answered {
		return c.finish(v, end, nil, out, false)
	}
	v.Close(end.Run, []string{"go on: starter resume " + c.entry.RunID})
	return nil
}

// lookAlone asks a run that nobody carries, with a worker that only answers.
func (c *carriage) lookAlone(ctx context.Context) (host.Look, error) {
	if err := c.work(host.WorkflowOnly); err != nil {
		return host.Look{}, err
	}
	return host.AwaitLook(ctx, c.conn.Client, c.entry.WorkflowID)
}
