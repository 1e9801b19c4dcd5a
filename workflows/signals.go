package workflows

import (
	"errors"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"conclave/internal/convergence"
	"conclave/internal/loop"
)

// message is what the run does with one kind of signal. Signals are read as raw
// bytes: the SDK drops what does not fit a type, and the sender would never know.
type message struct {
	name string
	take func(ctx workflow.Context, payload []byte)
}

func (r *reviewLoop) messages() []message {
	return []message{
		{SignalInterrupt, func(workflow.Context, []byte) { r.interrupt() }},
		{SignalResume, func(_ workflow.Context, payload []byte) { r.progress.AskResume(loop.ReadResume(payload)) }},
		{SignalRuling, func(ctx workflow.Context, payload []byte) {
			r.progress.Signalled(payload, workflow.Now(ctx))
			r.publish(ctx)
		}},
	}
}

// listen receives signals for the life of the run, from before its first activity.
func (r *reviewLoop) listen(ctx workflow.Context) {
	workflow.GoNamed(ctx, "signals", func(ctx workflow.Context) {
		selector := workflow.NewSelector(ctx)
		for _, m := range r.messages() {
			selector.AddReceive(workflow.GetSignalChannel(ctx, m.name), func(c workflow.ReceiveChannel, _ bool) {
				var raw converter.RawValue
				c.Receive(ctx, &raw)
				m.take(ctx, raw.Payload().GetData())
			})
		}
		for {
			selector.Select(ctx)
		}
	})
}

// drain takes in the signals that wait, before the run continues as new or ends.
func (r *reviewLoop) drain(ctx workflow.Context) {
	for _, m := range r.messages() {
		for {
			var raw converter.RawValue
			if !workflow.GetSignalChannel(ctx, m.name).ReceiveAsync(&raw) {
				break
			}
			m.take(ctx, raw.Payload().GetData())
		}
	}
}

// interrupt stops what may be interrupted, and pauses a run that does not wait anyway.
func (r *reviewLoop) interrupt() {
	r.progress.InterruptWork("interrupted")
	if r.stopTurns != nil {
		r.stopTurns()
	}
}

// answer registers the update that brings a ruling and answers it at once. Only
// what is no ruling at all is refused before it is part of the history; every
// other refusal is the update's result, and is listed in the record.
func (r *reviewLoop) answer(ctx workflow.Context) error {
	return workflow.SetUpdateHandlerWithOptions(ctx, UpdateRule, func(ctx workflow.Context, raw converter.RawValue) (loop.RulingAnswer, error) {
		request, err := loop.ReadRuling(raw.Payload().GetData())
		if err != nil {
			return loop.RulingAnswer{}, noRuling(err)
		}
		answer := r.progress.Rule(request, workflow.Now(ctx))
		r.publish(ctx)
		return answer, nil
	}, workflow.UpdateHandlerOptions{
		Description: "a person's ruling on a finding, or on SIZE, PROTECTED, BUDGET",
		Validator: func(_ workflow.Context, raw converter.RawValue) error {
			if _, err := loop.ReadRuling(raw.Payload().GetData()); err != nil {
				return noRuling(err)
			}
			return nil
		},
	})
}

func noRuling(err error) error {
	return temporal.NewNonRetryableApplicationError("this is no ruling: "+err.Error(), "INVALID_RULING", nil)
}

// wait sleeps until somebody rules, resumes the run or cancels it. It wakes to
// remind, for a deadline, and when the history is long enough to begin a new one.
func (r *reviewLoop) wait(ctx workflow.Context) {
	now := workflow.Now(ctx)
	r.progress.BeginWait(now)
	options := workflow.AwaitOptions{Timeout: r.progress.Alarm(now), TimerOptions: workflow.TimerOptions{Summary: "waits for a person: reminder or deadline"}}
	awake := func() bool {
		return r.progress.Awake() || workflow.GetInfo(ctx).GetContinueAsNewSuggested()
	}
	woken, err := sleep(ctx, options, awake)
	switch {
	case err != nil: // cancelled
	case !woken:
		r.progress.Ring(workflow.Now(ctx))
		workflow.GetLogger(ctx).Info("the run waits for a person", "for", r.progress.Run.Waiting, "reminders", r.progress.Run.Reminders)
	default:
		r.progress.Woken(workflow.Now(ctx))
	}
}

// sleep waits for a condition, for ever without a timeout. It leaves no timer
// behind that would go off later for nothing.
func sleep(ctx workflow.Context, options workflow.AwaitOptions, awake func() bool) (woken bool, err error) {
	if options.Timeout <= 0 {
		return true, workflow.Await(ctx, awake)
	}
	waiting, enough := workflow.WithCancel(ctx)
	woken, err = workflow.AwaitWithOptions(waiting, options, awake)
	enough() // not deferred, as nothing in a coroutine is: see perform
	return woken, err
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
		return &loop.Failure{Code: convergence.FailAborted, Message: "interrupted"}
	case errors.As(err, &timeout):
		return &loop.Failure{Code: convergence.FailTimeout, Message: "timed out: " + timeout.Message()}
	case errors.As(err, &application):
		return &loop.Failure{Code: application.Type(), Message: application.Message()}
	default:
		return &loop.Failure{Code: convergence.FailEffect, Message: err.Error()}
	}
}

// refuse fails the workflow for good: this code cannot run the input.
func refuse(err error) error {
	var mismatch *loop.MismatchError
	kind := convergence.CodeInvalidDefinition
	if errors.As(err, &mismatch) {
		kind = loop.CodeMismatch
	}
	return temporal.NewNonRetryableApplicationError(err.Error(), kind, err)
}
