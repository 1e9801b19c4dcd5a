package activities

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"conclave/internal/convergence"
)

// Error types that the workflow's retry policies and the record know.
const (
	// TypeWorkerLost is a started attempt whose worker is gone: it is repeated.
	TypeWorkerLost = "WorkerLost"
	// typeEffect is trouble of ours with git, the store or the disk.
	typeEffect = convergence.FailEffect
	// typeInput is a bad base, an empty diff: repeating it cannot help.
	typeInput = "INPUT_INVALID"
)

const messageLimit = 1024

// errStopped is the cause of a run context that ends because the worker stops.
var errStopped = errors.New("the worker is stopping")

// failed turns trouble of ours into an error that is not repeated.
func (a *Activities) failed(kind string, err error) error {
	return temporal.NewApplicationErrorWithOptions(a.bounded(err.Error()), kind, temporal.ApplicationErrorOptions{NonRetryable: true})
}

// retryable turns trouble of ours into an error of an activity that may be repeated.
func (a *Activities) retryable(err error) error {
	return temporal.NewApplicationErrorWithOptions(a.bounded(err.Error()), typeEffect, temporal.ApplicationErrorOptions{})
}

// interrupted is the answer of an attempt whose worker stops: another one takes it.
func interrupted() error {
	return temporal.NewApplicationErrorWithOptions("the worker stopped before the turn was done", TypeWorkerLost,
		temporal.ApplicationErrorOptions{Category: temporal.ApplicationErrorCategoryBenign})
}

// unfinished is the error of an attempt that came to no result: its worker
// stops, it was cancelled, or something of ours failed.
func (a *Activities) unfinished(ctx, run context.Context, err error) error {
	switch {
	case stopped(run):
		return interrupted()
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		return a.failed(typeEffect, err)
	}
}

// stopping derives a context that also ends when the worker begins to stop, so
// that agents get their grace before the worker's own time is over.
func stopping(ctx context.Context) (context.Context, context.CancelFunc) {
	run, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-activity.GetWorkerStopChannel(ctx):
			cancel(errStopped)
		case <-run.Done():
		}
	}()
	return run, func() { cancel(nil) }
}

// stopped reports whether a context ended because its worker stops or died.
func stopped(ctx context.Context) bool {
	cause := context.Cause(ctx)
	return errors.Is(cause, errStopped) || errors.Is(cause, worker.ErrWorkerShutdown) ||
		errors.Is(cause, activity.ErrActivityPaused) || errors.Is(cause, activity.ErrActivityReset)
}

// bounded is text that fits a history: valid UTF-8, at most 1 KiB.
func bounded(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= messageLimit {
		return text
	}
	cut := messageLimit - len("…")
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
