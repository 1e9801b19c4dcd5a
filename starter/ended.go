package main

import (
	"context"

	"conclave/internal/host"
	"conclave/internal/loop"
	"conclave/internal/view"
)

// ended shows the outcome of a run that has ended. What could not be done then,
// because nobody polled the source's queue, is done now: landing, and the last bundle.
func (c *carriage) ended(ctx context.Context, out output, showDiff bool) error {
	return c.endedIn(ctx, view.New(out.view), out, showDiff)
}

func (c *carriage) endedIn(ctx context.Context, v view.View, out output, showDiff bool) error {
	var result loop.Result
	end := host.End{Closed: true}
	if err := c.conn.GetWorkflow(ctx, c.entry.WorkflowID, "").Get(ctx, &result); err != nil {
		run, missing := readRecord(c.entry)
		if missing != nil || !run.Stop.Final() { // terminated, or failed: nothing says that it succeeded
			return &fault{code: exitStep, what: "run " + c.entry.RunID + " ended without a result: " + err.Error(),
				remedy: "what it left is in " + c.entry.Bundle + "; start a new run"}
		}
		result = loop.Result{RunID: run.RunID, Stop: run.Stop, ExitCode: run.ExitCode, Iterations: run.Iterations, Landed: run.Landed, Branch: run.Branch, Message: run.Message}
	} else if c.lock != nil {
		if err := c.completeLater(ctx, &result); err != nil {
			c.app.say("warning: the run cannot be completed now: %v", err)
		}
	}
	end.Result = result
	run, err := readRecord(c.entry)
	if err == nil {
		end.Run = run
	}
	return c.finish(v, end, nil, out, showDiff)
}

// completeLater lands what a finished run left in its repository, and writes
// the bundle anew where the last one is missing or older.
func (c *carriage) completeLater(ctx context.Context, result *loop.Result) error {
	run, err := readRecord(c.entry)
	stale := err != nil || run.Stop != result.Stop
	if result.Landed && !stale {
		return nil
	}
	past, err := host.ReadPast(ctx, c.conn.Client, c.entry.WorkflowID)
	if err != nil {
		return err
	}
	if !result.Landed && past.Land != nil {
		landed, err := c.acts.LandNow(ctx, past.Land)
		if err != nil {
			return err
		}
		stale = stale || landed.Branch != ""
		result.Landed, result.Branch = landed.Branch != "", landed.Branch
	}
	if !stale {
		return nil
	}
	status, err := c.status(ctx)
	if err != nil {
		return err
	}
	status.Run.Landed, status.Run.Branch = result.Landed, result.Branch
	return c.acts.BundleNow(ctx, &loop.BundleRequest{
		RunID: c.entry.RunID, Source: past.Input.Source, Requirement: past.Input.Requirement, Mark: "completed later",
	}, status)
}
