package workflows

import (
	"errors"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"conclave/internal/loop"
)

// listen receives signals for the life of the run, from before its first activity.
func (r *reviewLoop) listen(ctx workflow.Context) {
	interrupt := workflow.GetSignalChannel(ctx, SignalInterrupt)
	resume := workflow.GetSignalChannel(ctx, SignalResume)
	workflow.GoNamed(ctx, "signals", func(ctx workflow.Context) {
		for {
			selector := workflow.NewSelector(ctx)
			selector.AddReceive(interrupt, func(c workflow.ReceiveChannel, _ bool) {
				c.Receive(ctx, nil)
				r.interrupt()
			})
			selector.AddReceive(resume, func(c workflow.ReceiveChannel, _ bool) {
				var raw converter.RawValue // whatever a client sends
				c.Receive(ctx, &raw)
				r.progress.AskResume(loop.ReadResume(raw.Payload().GetData()))
			})
			selector.Select(ctx)
		}
	})
}

// drain takes in the signals that wait, before the run continues as new.
func (r *reviewLoop) drain(ctx workflow.Context) {
	for workflow.GetSignalChannel(ctx, SignalInterrupt).ReceiveAsync(nil) {
		r.interrupt()
	}
	for {
		var raw converter.RawValue
		if !workflow.GetSignalChannel(ctx, SignalResume).ReceiveAsync(&raw) {
			return
		}
		r.progress.AskResume(loop.ReadResume(raw.Payload().GetData()))
	}
}

// interrupt pauses the run and stops what may be interrupted.
func (r *reviewLoop) interrupt() {
	r.progress.Interrupt("interrupted")
	if r.stopTurns != nil {
		r.stopTurns()
	}
}

// wait sleeps until somebody resumes the run or cancels it.
func (r *reviewLoop) wait(ctx workflow.Context) {
	if err := workflow.Await(ctx, func() bool { return r.progress.ResumeAsked != nil }); err == nil {
		r.progress.Resumed()
	}
}

// failure translates an activity's error into the form's words. What was asked
// to stop was interrupted, whatever it ended with: the server does not repeat
// an attempt then whose worker is lost.
func failure(ctx workflow.Context, err error) *loop.Failure {
	var canceled *temporal.CanceledError
	var timeout *temporal.TimeoutError
	var application *temporal.ApplicationError
	switch {
	case ctx.Err() != nil, errors.As(err, &canceled):
		return &loop.Failure{Code: "ABORTED", Message: "interrupted"}
	case errors.As(err, &timeout):
		return &loop.Failure{Code: "TIMEOUT", Message: "timed out: " + timeout.Message()}
	case errors.As(err, &application):
		return &loop.Failure{Code: application.Type(), Message: application.Message()}
	default:
		return &loop.Failure{Code: "EFFECT_FAILED", Message: err.Error()}
	}
}

// refuse fails the workflow for good: this code cannot run the input.
func refuse(err error) error {
	var mismatch *loop.MismatchError
	kind := "INVALID_DEFINITION"
	if errors.As(err, &mismatch) {
		kind = "STORED_GRAPH_MISMATCH"
	}
	return temporal.NewNonRetryableApplicationError(err.Error(), kind, err)
}
