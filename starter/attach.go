package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"conclave/internal/host"
	"conclave/internal/record"
	"conclave/internal/runindex"
	"conclave/internal/store"
)

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

// stand looks where the workflow stands. A run whose workflow the server has
// forgotten is answered from its bundle: ended is true then, with its record.
func (c *carriage) stand(ctx context.Context) (s host.Standing, run record.Run, ended bool, err error) {
	s, err = c.conn.Stand(ctx, c.entry.RunID)
	var unknown *host.UnknownRunError
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
