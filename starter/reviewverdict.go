package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"conclave/internal/host"
	"conclave/internal/loop"
	"conclave/internal/record"
	"conclave/internal/runindex"
	"conclave/internal/view"
	"conclave/workflows"
)

// standingGate says that the server knows a review of the same digest: one that is open, or, with a result, one whose
// verdict can be used again.
type standingGate struct {
	runID  string
	result *loop.Result
	ended  time.Time
}

// Error implements error.
func (s *standingGate) Error() string { return "the same review exists as run " + s.runID }

// knownVerdict uses the verdict again that the state folder holds for this change and plan, if it holds one.
func (a *app) knownVerdict(p *plan, out output, showDiff bool) (bool, error) {
	if p.gate.fresh {
		return false, nil
	}
	index := runindex.Open(p.config.Host.StateDir)
	known, ok, err := index.ReadGate(p.gate.digest)
	if err != nil || !ok || known.Verdict == nil {
		return false, nil //nolint:nilerr // a damaged entry is no verdict; the server is asked
	}
	var result loop.Result
	if err := json.Unmarshal(known.Verdict, &result); err != nil || !result.Reusable {
		return false, nil //nolint:nilerr // as above
	}
	return true, a.reuse(p, known.RunID, result, known.Ended, out, showDiff)
}

// reuse shows the outcome of an earlier review and ends with its code.
func (a *app) reuse(p *plan, runID string, result loop.Result, ended time.Time, out output, showDiff bool) error {
	index := runindex.Open(p.config.Host.StateDir)
	entry, err := index.Read(runID)
	if err != nil { // another machine's: there is no bundle here
		entry = newEntry(p, "")
		entry.RunID = runID
		entry.Bundle = ""
	}
	a.say("re-used verdict of %s (run %s): the same change under the same plan; --fresh reviews it again", timeWords(ended), runID)
	c := &carriage{app: a, index: index, entry: entry, started: true}
	run, err := readRecord(entry)
	if err != nil || run.Stop != result.Stop {
		run = record.Run{Kind: "review", Base: p.gate.base.ID, Head: p.gate.head.ID}
	}
	return c.finish(view.New(out.view), host.End{Closed: true, Result: result, Run: run}, nil, out, showDiff)
}

// seekStanding asks the server for a review of the same digest, which decides before anything is started.
func (c *carriage) seekStanding(ctx context.Context, g *gate) error {
	described, err := c.conn.DescribeWorkflow(ctx, c.entry.WorkflowID, "")
	var missing *serviceerror.NotFound
	if errors.As(err, &missing) {
		return nil
	}
	if err != nil {
		return &fault{code: exitStep, what: "the server does not say whether this change was reviewed: " + err.Error()}
	}
	info := described.RawResponse.GetWorkflowExecutionInfo()
	switch info.GetStatus() {
	case enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING:
		runID, err := c.standingRun(ctx)
		if err != nil {
			return err
		}
		if g.fresh && c.entry.Local() && !c.index.Carried(runID) {
			c.replaces = true // nobody carries it: it makes way
			return nil
		}
		return &standingGate{runID: runID}
	case enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		var result loop.Result
		if err := c.conn.GetWorkflow(ctx, c.entry.WorkflowID, "").Get(ctx, &result); err != nil || !result.Reusable || g.fresh {
			return nil //nolint:nilerr // what gave no result gives no verdict
		}
		ended := info.GetCloseTime().AsTime()
		_ = c.writeVerdict(result, ended) // only saves the next question
		return &standingGate{runID: result.RunID, result: &result, ended: ended}
	}
	return nil
}

// gateOptions let a review follow an ended one of the same id. One that is open is never doubled.
func (c *carriage) gateOptions(o *client.StartWorkflowOptions) {
	o.WorkflowIDReusePolicy = enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE
	o.WorkflowExecutionErrorWhenAlreadyStarted = true
	if c.replaces {
		o.WorkflowIDConflictPolicy = enumspb.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING
	}
}

// gateStarted takes in how the start of a review went: it is the newest of its digest now, or somebody else was faster,
// which is what it returns.
func (c *carriage) gateStarted(ctx context.Context, in loop.Input, err error) error {
	var started *serviceerror.WorkflowExecutionAlreadyStarted
	switch {
	case in.Source.Gate == nil:
		return nil
	case errors.As(err, &started):
		runID, err := c.standingRun(ctx)
		if err != nil {
			return err
		}
		if runID == in.RunID { // our own: the answer to the start was lost
			return nil
		}
		return &standingGate{runID: runID}
	case err == nil:
		if err := c.index.WriteGate(gateDigest(c.entry), runindex.Gate{RunID: in.RunID}); err != nil {
			c.app.say("warning: %v", err)
		}
	}
	return nil
}

// standingRun is the run of the open review.
func (c *carriage) standingRun(ctx context.Context) (string, error) {
	past, err := host.ReadPast(ctx, c.conn.Client, c.entry.WorkflowID)
	if err != nil {
		return "", &fault{code: exitStep, what: err.Error()}
	}
	return past.Input.RunID, nil
}

// keepVerdict writes down how the review ended, if it did. A verdict that is not kept is asked of the server again.
func (c *carriage) keepVerdict(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	described, err := c.conn.DescribeWorkflow(ctx, c.entry.WorkflowID, "")
	if err != nil || described.RawResponse.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED {
		return
	}
	var result loop.Result
	if err := c.conn.GetWorkflow(ctx, c.entry.WorkflowID, "").Get(ctx, &result); err != nil || result.RunID != c.entry.RunID {
		return
	}
	if err := c.writeVerdict(result, described.RawResponse.GetWorkflowExecutionInfo().GetCloseTime().AsTime()); err != nil {
		c.app.say("warning: the verdict cannot be kept: %v", err)
	}
}

func (c *carriage) writeVerdict(result loop.Result, ended time.Time) error {
	raw, err := json.Marshal(result)
	if err != nil {
		return err
	}
	return c.index.WriteGate(gateDigest(c.entry), runindex.Gate{RunID: result.RunID, Verdict: raw, Ended: ended})
}

// gateDigest is the digest in a review's workflow id; "" for a run.
func gateDigest(e runindex.Entry) string {
	digest, ok := strings.CutPrefix(e.WorkflowID, workflows.GateID(""))
	if !ok {
		return ""
	}
	return digest
}

// superseded refuses a review whose place another one of the same change took: its workflow's id names that one now.
func (c *carriage) superseded() error {
	digest := gateDigest(c.entry)
	if digest == "" {
		return nil
	}
	newest, ok, err := c.index.ReadGate(digest)
	if err != nil || !ok || newest.RunID == c.entry.RunID {
		return err
	}
	return usage("`starter show "+c.entry.RunID+"` shows how it ended; the newest is "+newest.RunID, "run %s is an earlier review of the same change, and has ended", c.entry.RunID)
}
