package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"conclave/activities"
	"conclave/internal/host"
	"conclave/internal/record"
	"conclave/internal/report"
	"conclave/internal/runindex"
	"conclave/workflows"
)

// livePatience is how long show tries to get the newest state of a run that goes on.
const livePatience = 20 * time.Second

func (a *app) showCommand() *cobra.Command {
	var diff, asJSON bool
	cmd := &cobra.Command{
		Use:   "show [--diff | --json] RUN",
		Short: "Show a run's report",
		Long:  "Shows a run's report, its whole change (--diff) or its record (--json), also while the run goes on.",
		Args:  exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "report.md"
			switch {
			case diff && asJSON:
				return usage("use one of them", "--diff and --json exclude each other")
			case diff:
				name = "changes.diff"
			case asJSON:
				name = "run.json"
			}
			return a.show(cmd.Context(), cmd, args[0], name)
		},
	}
	addHostFlags(cmd)
	cmd.Flags().BoolVar(&diff, "diff", false, "print the whole change")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print run.json")
	return cmd
}

func (a *app) show(ctx context.Context, cmd *cobra.Command, run, name string) error {
	index, entry, err := findRun(cmd, run)
	if err != nil {
		return err
	}
	known, missing := readRecord(entry)
	bundle := entry.Bundle
	if (missing != nil || known.Stop == "") && entry.Schema > 0 {
		dead := name == "report.md" && entry.Local() && !index.Carried(entry.RunID)
		live, clean, err := a.liveBundle(ctx, cmd, index, entry, dead)
		defer clean()
		switch {
		case err == nil:
			bundle = live
		case missing == nil:
			a.say("note: this is the bundle as it was last written; the run itself does not answer: %v", err)
		default:
			return &fault{code: exitStep, what: "run " + entry.RunID + " has no bundle in " + entry.Bundle + ", and does not answer: " + err.Error()}
		}
		if dead {
			a.print("stopped: no starter carries it; `starter resume %s` goes on\n", entry.RunID)
		}
	}
	return a.printFile(bundle, name)
}

func (a *app) printFile(bundle, name string) error {
	file, err := os.Open(filepath.Join(bundle, name))
	if errors.Is(err, fs.ErrNotExist) {
		return &fault{code: exitStep, what: "the bundle " + bundle + " has no " + name, remedy: "it was removed or never written; `starter runs` lists the runs"}
	}
	if err != nil {
		return &fault{code: exitStep, what: err.Error()}
	}
	defer func() { _ = file.Close() }()
	_, err = io.Copy(onScreen(a.out), file)
	return err
}

// liveBundle renders the present state of a run that goes on, into a folder of its own: the run's bundle is its
// starter's. A run whose starter is dead is shown as one that can be resumed.
func (a *app) liveBundle(ctx context.Context, cmd *cobra.Command, index runindex.Index, entry runindex.Entry, dead bool) (string, func(), error) {
	ctx, cancel := context.WithTimeout(ctx, livePatience)
	defer cancel()
	none := func() {}
	c, err := a.attachTo(ctx, cmd, index, entry)
	defer c.close()
	if err != nil {
		return "", none, err
	}
	status, err := c.status(ctx)
	if err != nil {
		return "", none, err
	}
	if dead && status.Run.Stop == "" {
		status.Run.Stop, status.Run.ExitCode = record.StopInterrupted, exitInterrupt
	}
	past, err := host.ReadPast(ctx, c.conn.Client, entry.WorkflowID)
	if err != nil {
		return "", none, err
	}
	if err := c.acts.Complete(ctx, &status); err != nil {
		return "", none, err
	}
	requirement, err := c.acts.Store.Get(ctx, past.Input.Requirement)
	if err != nil {
		return "", none, err
	}
	root, err := os.MkdirTemp("", "conclave-show-")
	if err != nil {
		return "", none, err
	}
	bundle := activities.BundleDir(root, entry.RunID)
	return bundle, func() { _ = os.RemoveAll(root) }, report.Write(ctx, bundle, status, c.acts.Store.Get, requirement, report.WithCopy(c.acts.CopyArtifact))
}

// status asks the run for its record and events. Where nobody carries a local run, a worker that only answers is started.
func (c *carriage) status(ctx context.Context) (record.Status, error) {
	var status record.Status
	if c.entry.Local() && (c.lock != nil || !c.index.Carried(c.entry.RunID)) {
		if err := c.work(host.WorkflowOnly); err != nil {
			return status, err
		}
	}
	answer, err := c.conn.QueryWorkflow(ctx, c.entry.WorkflowID, "", workflows.QueryBundle)
	if err != nil {
		return status, err
	}
	return status, answer.Get(&status)
}
