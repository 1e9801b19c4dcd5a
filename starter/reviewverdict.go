package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"conclave/activities"
	"conclave/internal/host"
	"conclave/internal/loop"
	"conclave/internal/record"
	"conclave/internal/runindex"
	"conclave/internal/view"
	"conclave/workflows"
)

// recordPatience is how long a cluster's workers may take to tell what an ended review found.
const recordPatience = 15 * time.Second

// standingGate says that the server knows a review of the same digest: one that is open, or, with a result, one whose
// verdict can be used again.
type standingGate struct {
	runID  string
	result *loop.Result
	ended  time.Time
	// run is what its workflow says of it, where one answered.
	run *record.Run
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
	return true, a.reuse(p, &standingGate{runID: known.RunID, result: &result, ended: known.Ended}, out, showDiff)
}

// reuse shows the outcome of an earlier review and ends with its code.
func (a *app) reuse(p *plan, s *standingGate, out output, showDiff bool) error {
	index := runindex.Open(p.config.Host.StateDir)
	entry, err := index.Read(s.runID)
	if err != nil {
		entry = elsewhere(p, s.runID)
	}
	a.say("re-used verdict of %s (run %s): the same change under the same plan; --fresh reviews it again", timeWords(s.ended), s.runID)
	c := &carriage{app: a, index: index, entry: entry, started: true, reused: timeWords(s.ended)}
	run, err := readRecord(entry)
	switch {
	case err == nil && run.Stop == s.result.Stop:
	case s.run != nil:
		run = *s.run
	default:
		run = emptyReview()
		run.WorkflowID, run.Base, run.Head = entry.WorkflowID, p.gate.base.ID, p.gate.head.ID
	}
	return c.finish(view.New(out.view), host.End{Closed: true, Result: *s.result, Run: run}, nil, out, showDiff)
}

// elsewhere is the entry of a review that another machine's starter began: its bundle is there.
func elsewhere(p *plan, runID string) runindex.Entry {
	entry := newEntry(p, "")
	entry.RunID, entry.Bundle = runID, activities.BundleDir(entry.Source, runID)
	return entry
}

// watchElsewhere follows a review that another machine's starter carries.
func (a *app) watchElsewhere(ctx context.Context, cmd *cobra.Command, p *plan, s *standingGate, out output) error {
	target, err := targetOf(p.config)
	if err != nil {
		return err
	}
	entry := elsewhere(p, s.runID)
	entry.Schema, entry.Address, entry.Namespace, entry.TaskQueue = 1, target.Address, target.Namespace, p.config.Host.TaskQueue
	index := runindex.Open(p.config.Host.StateDir)
	if err := index.Reserve(s.runID); err != nil {
		return err
	}
	defer func() { _ = index.Forget(s.runID) }()
	stop := watchInterrupts()
	defer stop.stop()
	c, err := a.attachTo(ctx, cmd, index, entry)
	defer c.close()
	if err != nil {
		return err
	}
	return c.watch(ctx, stop, out)
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
		return &standingGate{runID: result.RunID, result: &result, ended: ended, run: c.askRecord(ctx)}
	}
	return nil
}

// askRecord asks an ended review's workflow for its record. Only a cluster has workers that may answer.
func (c *carriage) askRecord(ctx context.Context) *record.Run {
	if c.entry.Local() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, recordPatience)
	defer cancel()
	answer, err := c.conn.QueryWorkflow(ctx, c.entry.WorkflowID, "", workflows.QueryStatus)
	var run record.Run
	if err != nil || answer.Get(&run) != nil {
		return nil
	}
	return &run
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
