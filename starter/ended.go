package main

import (
	"context"

	"conclave/internal/host"
	"conclave/internal/loop"
	"conclave/internal/record"
	"conclave/internal/view"
	"conclave/workflows"
)

// ended shows the outcome of a run that has ended. When its change could not be
// landed then, because nobody polled the source's queue, it is landed now.
func (c *carriage) ended(ctx context.Context, out output, showDiff bool) error {
	var result loop.Result
	end := host.End{Closed: true}
	if err := c.conn.GetWorkflow(ctx, c.entry.WorkflowID, "").Get(ctx, &result); err != nil {
		run, missing := readRecord(c.entry)
		if missing != nil || !run.Stop.Final() { // terminated, or failed: nothing says that it succeeded
			return &fault{code: exitStep, what: "run " + c.entry.RunID + " ended without a result: " + err.Error(),
				remedy: "what it left is in " + c.entry.Bundle + "; start a new run"}
		}
		result = loop.Result{RunID: run.RunID, Stop: run.Stop, ExitCode: run.ExitCode, Iterations: run.Iterations, Landed: run.Landed, Branch: run.Branch, Message: run.Message}
	} else if !result.Landed && c.lock != nil {
		if landed, err := c.landLater(ctx); err != nil {
			c.app.say("warning: the change cannot be landed now: %v", err)
		} else if landed != nil {
			result.Landed, result.Branch = true, landed.Branch
		}
	}
	end.Result = result
	run, err := readRecord(c.entry)
	if err == nil {
		end.Run = run
	}
	return c.finish(view.New(out.view), end, nil, out, showDiff)
}

// landLater lands what a finished run left in its repository, and writes the bundle anew. nil without an error means that there is nothing to land.
func (c *carriage) landLater(ctx context.Context) (*loop.Landed, error) {
	past, err := host.ReadPast(ctx, c.conn.Client, c.entry.WorkflowID)
	if err != nil || past.Land == nil {
		return nil, err
	}
	landed, err := c.acts.LandNow(ctx, past.Land)
	if err != nil || landed.Branch == "" {
		return nil, err
	}
	if c.entry.Local() {
		if err := c.work(host.WorkflowOnly); err != nil {
			return landed, err
		}
	}
	answer, err := c.conn.QueryWorkflow(ctx, c.entry.WorkflowID, "", workflows.QueryBundle)
	if err != nil {
		return landed, err
	}
	var status record.Status
	if err := answer.Get(&status); err != nil {
		return landed, err
	}
	status.Run.Landed, status.Run.Branch = true, landed.Branch
	return landed, c.acts.BundleNow(ctx, &loop.BundleRequest{
		RunID: c.entry.RunID, Source: past.Input.Source, Requirement: past.Input.Requirement, Mark: "landed later",
	}, status)
}
