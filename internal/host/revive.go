package host

import (
	"context"
	"errors"
	"fmt"
	"slices"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"
)

// Standing says whether a run's workflow is open.
type Standing struct {
	Open bool
	// Cancelling says that somebody asked for its end.
	Cancelling bool
	// Started lists activity attempts that some worker began.
	Started []Attempt
	runID   string
}

// Attempt is one try of an activity, by the activity's id and type.
type Attempt struct{ ID, Type string }

// Only keeps the attempts of some activity types.
func (s Standing) Only(types ...string) Standing {
	kept := s
	kept.Started = nil
	for _, a := range s.Started {
		if slices.Contains(types, a.Type) {
			kept.Started = append(kept.Started, a)
		}
	}
	return kept
}

// Stand looks where a run's workflow stands. The error is UnknownRunError
// where the server has no such workflow.
func (c *Connection) Stand(ctx context.Context, workflowID string) (Standing, error) {
	answered, err := c.DescribeWorkflow(ctx, workflowID, "")
	if err != nil {
		return Standing{}, explain(workflowID, err)
	}
	described := answered.RawResponse
	info := described.GetWorkflowExecutionInfo()
	s := Standing{
		Open:       info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING,
		Cancelling: described.GetWorkflowExtendedInfo().GetCancelRequested(),
		runID:      info.GetExecution().GetRunId(),
	}
	for _, a := range described.GetPendingActivities() {
		switch a.GetState() {
		case enumspb.PENDING_ACTIVITY_STATE_STARTED, enumspb.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED:
			s.Started = append(s.Started, Attempt{a.GetActivityId(), a.GetActivityType().GetName()})
		}
	}
	return s, nil
}

// GiveUpLost ends the attempts of a worker that is known to be dead, so that
// the server hands them out again at once and not after the heartbeat time-out.
func (c *Connection) GiveUpLost(ctx context.Context, workflowID string, s Standing) error {
	var problems []error
	for _, a := range s.Started {
		lost := temporal.NewApplicationError("worker lost", "WorkerLost")
		err := c.CompleteActivityByID(ctx, c.Target.Namespace, workflowID, s.runID, a.ID, nil, lost)
		var gone *serviceerror.NotFound
		if err != nil && !errors.As(err, &gone) {
			problems = append(problems, fmt.Errorf("activity %s of %s cannot be given up: %w", a.Type, workflowID, err))
		}
	}
	return errors.Join(problems...)
}
