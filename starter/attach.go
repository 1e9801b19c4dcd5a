package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"conclave/internal/host"
	"conclave/internal/loop"
	"conclave/internal/record"
	"conclave/internal/runindex"
	"conclave/internal/store"
)

// withRun does something with a run. ctx of do ends by the first Ctrl-C, which leaves while the run is sought.
func (a *app) withRun(ctx context.Context, cmd *cobra.Command, name string, do func(ctx context.Context, stop *interrupts, c *carriage) error) error {
	stop := watchInterrupts()
	defer stop.stop()
	ctx, ready := stop.until(ctx)
	defer ready()
	c, err := a.attach(ctx, cmd, name)
	if c != nil {
		defer c.close()
	}
	if err != nil {
		return interruptedOr(ctx, err)
	}
	return do(ctx, stop, c)
}

// attach finds a run and connects to the server that holds its workflow. The
// local server is brought up when it does not run. out is told nothing yet.
func (a *app) attach(ctx context.Context, cmd *cobra.Command, name string) (*carriage, error) {
	index, entry, err := findRun(cmd, name)
	if err != nil {
		return nil, err
	}
	return a.attachTo(ctx, cmd, index, entry)
}

func (a *app) attachTo(ctx context.Context, cmd *cobra.Command, index runindex.Index, entry runindex.Entry) (*carriage, error) {
	c := &carriage{app: a, index: index, entry: entry, started: true}
	if entry.Schema == 0 {
		return c, usage("use the machine and the state folder (CONCLAVE_STATE_DIR) that started it",
			"run %s is known by its bundle only: no state folder here says which server holds it", entry.RunID)
	}
	if err := c.superseded(); err != nil {
		return c, err
	}
	settings, err := hostSettings(cmd, entry)
	if err != nil {
		return c, err
	}
	if !cmd.Flags().Changed("store") && entry.Store != "" {
		settings.Host.Store = entry.Store
	}
	target, err := host.Resolve(entry.Address, entry.Namespace, "the run's entry in the state folder")
	if err != nil {
		return c, usage("correct the Temporal environment", "%v", err)
	}
	if entry.Local() {
		target = host.Target{Namespace: entry.Namespace}
	}
	artifacts, err := store.OpenFolder(settings.Host.Store)
	if err != nil {
		return c, usage("", "%v", err)
	}
	return c, c.connect(ctx, settings, target, artifacts)
}

// stand looks where the workflow stands. A run that was never started is
// started now. One that the server has forgotten is answered from its bundle:
// ended is true then.
func (c *carriage) stand(ctx context.Context) (s host.Standing, run record.Run, ended bool, err error) {
	s, err = c.conn.Stand(ctx, c.entry.WorkflowID)
	var unknown *host.UnknownRunError
	if errors.As(err, &unknown) && c.neverStarted() {
		if c.lock == nil {
			return s, run, false, usage("`starter resume "+c.entry.RunID+"` starts it", "run %s was written down but not started: its starter was killed, or is just starting", c.entry.RunID)
		}
		if err := c.startNow(ctx); err != nil {
			return s, run, false, err
		}
		s, err = c.conn.Stand(ctx, c.entry.WorkflowID)
	}
	if err == nil && s.Open {
		return s, run, false, nil
	}
	if err != nil && !errors.As(err, &unknown) {
		return s, run, false, &fault{code: exitStep, what: err.Error()}
	}
	run, missing := readRecord(c.entry)
	if err != nil && (missing != nil || !run.Stop.Final()) {
		return s, run, false, &fault{code: exitUsage, what: err.Error() + ", and its bundle does not say how it ended",
			remedy: "its server's database is another one (CONCLAVE_STATE_DIR), or was removed; start the run anew"}
	}
	return s, run, true, nil
}

// neverStarted says that the run was written down and its starter died before it started the workflow: the first bundle is missing.
func (c *carriage) neverStarted() bool {
	_, err := os.Lstat(filepath.Join(c.entry.Bundle, "run.json"))
	return errors.Is(err, os.ErrNotExist)
}

func (c *carriage) startNow(ctx context.Context) error {
	var in loop.Input
	if err := c.index.ReadStart(c.entry.RunID, &in); err != nil {
		return usage("start it anew", "run %s was never started, and what it would start with is lost: %v", c.entry.RunID, err)
	}
	if err := makeBundle(c.entry); err != nil {
		return err
	}
	return c.startWorkflow(ctx, in)
}
