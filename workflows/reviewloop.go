package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"conclave/activities"
	"conclave/internal/loop"
	"conclave/internal/record"
)

// acts only names the activities; the worker has the real one.
var acts *activities.Activities

// ReviewLoop carries one requirement to its end. It completes with a Result
// whatever the end is; an error means that this code cannot run the input.
func ReviewLoop(ctx workflow.Context, in loop.Input) (loop.Result, error) {
	r, err := newReviewLoop(ctx, in)
	if err != nil {
		return loop.Result{}, refuse(err)
	}
	return r.run(ctx)
}

// reviewLoop is the control of one run; what survives continue-as-new is in progress.Carry.
type reviewLoop struct {
	in       loop.Input
	progress *loop.Progress
	// stopTurns cancels what runs now and may be interrupted; nil while nothing does.
	stopTurns workflow.CancelFunc
	// shown is the last state that was published as search attributes.
	shown string
}

func newReviewLoop(ctx workflow.Context, in loop.Input) (*reviewLoop, error) {
	progress, err := loop.New(in, workflow.GetInfo(ctx).WorkflowExecution.ID, workflow.Now(ctx))
	if err != nil {
		return nil, err
	}
	r := &reviewLoop{in: in, progress: progress}
	err = workflow.SetQueryHandlerWithOptions(ctx, QueryStatus, func() (record.Run, error) {
		return progress.Record(workflow.Now(ctx)), nil
	}, workflow.QueryHandlerOptions{Description: "the run record, as in run.json"})
	if err != nil {
		return nil, err
	}
	err = workflow.SetQueryHandlerWithOptions(ctx, QueryBundle, func() (record.Status, error) {
		return progress.Status(workflow.Now(ctx)), nil
	}, workflow.QueryHandlerOptions{Description: "the run record and its events"})
	if err != nil {
		return nil, err
	}
	err = workflow.SetQueryHandlerWithOptions(ctx, QueryFindings, func() ([]record.Finding, error) {
		return progress.Record(workflow.Now(ctx)).Findings, nil
	}, workflow.QueryHandlerOptions{Description: "all findings and what became of them"})
	if err != nil {
		return nil, err
	}
	if err := r.answer(ctx); err != nil {
		return nil, err
	}
	r.listen(ctx)
	return r, nil
}

func (r *reviewLoop) run(ctx workflow.Context) (loop.Result, error) {
	for {
		r.publish(ctx)
		calls := r.progress.Next(workflow.Now(ctx))
		switch calls[0].Kind {
		case loop.CallFinish:
			disconnected, _ := workflow.NewDisconnectedContext(ctx) // a cancelled run answers too
			_ = r.settleMessages(disconnected)
			r.publish(ctx)
			return r.progress.Result(), nil
		case loop.CallWait:
			r.wait(ctx)
		default:
			r.perform(ctx, calls)
		}
		if ctx.Err() != nil {
			r.progress.Cancelled()
		}
		if next := r.continueAsNew(ctx); next != nil {
			return loop.Result{}, next
		}
	}
}

// perform runs the calls in parallel and takes in each result as it comes.
func (r *reviewLoop) perform(ctx workflow.Context, calls []loop.Call) {
	scope, stop := r.scope(ctx, calls[0])
	group := workflow.NewWaitGroup(ctx)
	for _, call := range calls {
		group.Add(1)
		workflow.GoNamed(scope, call.Summary, func(ctx workflow.Context) {
			r.finish(ctx, call)
			group.Done() // not deferred: when a worker forgets a workflow its coroutines end one beside the other, with what they deferred
		})
	}
	// The group is awaited even when the run is cancelled: a cancelled activity
	// still reports how it ended.
	disconnected, _ := workflow.NewDisconnectedContext(ctx)
	group.Wait(disconnected)
	r.stopTurns = nil
	stop()
}

// scope is the context of a batch: landing and the bundle outlive a
// cancellation and an interruption, everything else can be stopped without
// ending the run.
func (r *reviewLoop) scope(ctx workflow.Context, call loop.Call) (workflow.Context, workflow.CancelFunc) {
	switch call.Kind {
	case loop.CallLand, loop.CallBundle:
		return workflow.NewDisconnectedContext(ctx)
	default:
		scope, stop := workflow.WithCancel(ctx)
		r.stopTurns = stop
		return scope, stop
	}
}

// finish runs one call to its end, with the pauses that its failures ask for.
func (r *reviewLoop) finish(ctx workflow.Context, call loop.Call) {
	for {
		outcome := r.execute(ctx, call)
		again := r.progress.Done(call, outcome, workflow.Now(ctx))
		r.publish(ctx)
		if again == nil {
			return
		}
		timer := workflow.NewTimerWithOptions(ctx, again.After, workflow.TimerOptions{Summary: "waits: " + again.Why})
		if err := timer.Get(ctx, nil); err != nil {
			r.progress.Done(again.Call, loop.Outcome{Failure: failure(ctx, err)}, workflow.Now(ctx))
			return
		}
		call = again.Call
	}
}

func (r *reviewLoop) execute(ctx workflow.Context, call loop.Call) loop.Outcome {
	ctx = workflow.WithActivityOptions(ctx, options(call, r.in.Queues))
	var out loop.Outcome
	var err error
	switch call.Kind {
	case loop.CallPrepare:
		err = workflow.ExecuteActivity(ctx, acts.PrepareRun, call.Prepare).Get(ctx, &out.Prepared)
	case loop.CallTurn:
		err = workflow.ExecuteActivity(ctx, acts.RunTurn, call.Turn).Get(ctx, &out.Turn)
	case loop.CallVerify:
		err = workflow.ExecuteActivity(ctx, acts.Verify, call.Verify).Get(ctx, &out.Verify)
	case loop.CallLand:
		err = workflow.ExecuteActivity(ctx, acts.Land, call.Land).Get(ctx, &out.Landed)
	case loop.CallBundle:
		err = workflow.ExecuteActivity(ctx, acts.WriteBundle, call.Bundle).Get(ctx, nil)
		out.Bundled = err == nil
	default:
		err = fmt.Errorf("no activity for a call of kind %q", call.Kind)
	}
	if err != nil {
		return loop.Outcome{Failure: failure(ctx, err)}
	}
	return out
}

// publish shows where the run stands in the Web UI.
func (r *reviewLoop) publish(ctx workflow.Context) {
	run := r.progress.Record(workflow.Now(ctx))
	workflow.SetCurrentDetails(ctx, run.Details())
	if shown := fmt.Sprint(run.State(), run.Iteration, run.OpenFindings()); shown != r.shown && !r.in.Unindexed {
		r.shown = shown
		if err := workflow.UpsertTypedSearchAttributes(ctx, attributes(run)...); err != nil {
			workflow.GetLogger(ctx).Warn("search attributes were not updated", "error", err)
		}
	}
}

func (r *reviewLoop) continueAsNew(ctx workflow.Context) error {
	if ctx.Err() != nil || !workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
		return nil //nolint:nilerr // a cancelled run ends as it is; it needs no fresh history
	}
	if err := r.settleMessages(ctx); err != nil {
		return nil //nolint:nilerr // cancelled meanwhile
	}
	if !r.progress.MayContinue() {
		return nil // it ends here and says why: a state that is refused would leave a task that fails for ever
	}
	next := r.in
	carry := r.progress.Carry
	next.Resume = &carry
	return workflow.NewContinueAsNewError(ctx, workflow.GetInfo(ctx).WorkflowType.Name, next)
}

// settleMessages lets updates be answered and takes in all signals: an
// execution that ends afterwards, without yielding, loses none. A signal that
// arrived with this very task may be in the hands of the listener already, where
// no channel shows it; so the listener has its turn before the channels are emptied.
func (r *reviewLoop) settleMessages(ctx workflow.Context) error {
	if err := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) }); err != nil {
		return err
	}
	listened := false
	workflow.GoNamed(ctx, "after the signals", func(workflow.Context) { listened = true }) // runs after those that began before
	err := workflow.Await(ctx, func() bool { return listened })
	r.drain(ctx)
	return err
}
