package workflows

import (
	"go.temporal.io/sdk/workflow"

	"conclave/internal/loop"
)

// ReviewGate reviews a change that exists already, and repairs nothing. It is
// the loop of ReviewLoop with a definition that leaves no repair.
func ReviewGate(ctx workflow.Context, in loop.Input) (loop.Result, error) {
	return ReviewLoop(ctx, in)
}
