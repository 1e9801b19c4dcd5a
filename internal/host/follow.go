package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"

	"conclave/activities"
	"conclave/internal/loop"
	"conclave/internal/record"
	"conclave/workflows"
)

const (
	// lookEvery is how often a followed run is asked where it stands.
	lookEvery = 250 * time.Millisecond
	// lookTimeout bounds one question; a server that restarts is asked again.
	lookTimeout = 3 * time.Second
)

// Look is a run as it stands.
type Look struct {
	// Known says that the workflow answered; without it only the server did.
	Known bool
	Run   record.Run
	// Actions is what each running step's agent did last, by step id.
	Actions map[string]string
	// Busy says that activities are scheduled or running.
	Busy bool
	// Deciding says that the workflow has something to take in: what it answers may already hold activities that are not listed.
	Deciding bool
	// Unpolled says that everything waits for a worker.
	Unpolled bool
}

// End is how following ended.
type End struct {
	// Result is the workflow's result when it is Closed.
	Result loop.Result
	Closed bool
	// Waiting says that the run waits for a person or a resume; Run holds the record.
	Waiting bool
	Run     record.Run
}

// Follow shows a run until it ends, or until it waits and its bundle is
// written. stayWaiting goes on following a run that waits.
func Follow(ctx context.Context, c client.Client, workflowID string, stayWaiting bool, show func(Look)) (End, error) {
	ended := make(chan error, 1)
	var result loop.Result
	go func() { ended <- c.GetWorkflow(ctx, workflowID, "").Get(ctx, &result) }()
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	var last record.Run
	for {
		select {
		case err := <-ended:
			if err != nil {
				return End{Run: last}, explain(workflowID, err)
			}
			return End{Result: result, Closed: true, Run: last}, nil
		case <-ctx.Done():
			return End{Run: last}, context.Cause(ctx)
		case <-ticker.C:
			look, err := LookAt(ctx, c, workflowID)
			if err != nil {
				continue // the server restarts, or no worker answers yet
			}
			if look.Known {
				last = look.Run
			}
			show(look)
			if look.Waits() && !stayWaiting {
				return End{Waiting: true, Run: look.Run}, nil
			}
		}
	}
}

// Waits says that the run waits for a person or for a resume, and that everything else is done.
func (l Look) Waits() bool {
	return l.Known && l.Run.Waiting != "" && l.Run.Stop != "" && !l.Run.Stop.Final() && !l.Busy && !l.Deciding
}

// answerPatience is how long a run may take to answer after its workers started.
const answerPatience = 30 * time.Second

// AwaitLook is LookAt for a run whose workers are just starting.
func AwaitLook(ctx context.Context, c client.Client, workflowID string) (Look, error) {
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	for {
		look, err := LookAt(ctx, c, workflowID)
		if err == nil && look.Known {
			return look, nil
		}
		select {
		case <-ctx.Done():
			return look, errors.Join(ctx.Err(), err)
		case <-time.After(lookEvery / 5):
		}
	}
}

// AwaitTaken waits until the workflow has taken in what was sent to it before, such as a signal.
func AwaitTaken(ctx context.Context, c client.Client, workflowID string) error {
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	for {
		described, err := c.DescribeWorkflow(ctx, workflowID, "")
		if err == nil && described.RawResponse.GetPendingWorkflowTask() == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(lookEvery / 5):
		}
	}
}

// LookAt asks a run where it stands.
func LookAt(ctx context.Context, c client.Client, workflowID string) (Look, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	var look Look
	// The description first: activities that it no longer lists are in the record.
	answered, err := c.DescribeWorkflow(ctx, workflowID, "")
	if err != nil {
		return look, err
	}
	described := answered.RawResponse
	pending := described.GetPendingActivities()
	look.Busy, look.Deciding = len(pending) > 0, described.GetPendingWorkflowTask() != nil
	look.Unpolled = unpolled(pending, described.GetPendingWorkflowTask())
	look.Actions = actions(pending)
	if task := described.GetPendingWorkflowTask(); task != nil && task.GetStartedTime() == nil && len(pending) == 0 {
		return look, nil // nobody has taken the run's next task yet; nobody would answer
	}
	answer, err := c.QueryWorkflow(ctx, workflowID, "", workflows.QueryStatus)
	if err != nil {
		return look, nil // no worker answers now
	}
	if err := answer.Get(&look.Run); err != nil {
		return look, fmt.Errorf("the run's record: %w", err)
	}
	look.Known = true
	return look, nil
}

func actions(pending []*workflowpb.PendingActivityInfo) map[string]string {
	found := map[string]string{}
	for _, a := range pending {
		var beat activities.Beat
		if decode(a.GetHeartbeatDetails(), &beat) == nil && beat.Action != "" {
			found[beat.Step] = beat.Action
		}
	}
	return found
}

func decode(payloads *commonpb.Payloads, into any) error {
	if len(payloads.GetPayloads()) == 0 {
		return errors.New("no payload")
	}
	return json.Unmarshal(payloads.GetPayloads()[0].GetData(), into)
}

// unpolled says that everything waits for a worker: a workflow task or activities that nobody began.
func unpolled(pending []*workflowpb.PendingActivityInfo, task *workflowpb.PendingWorkflowTaskInfo) bool {
	if task != nil && task.GetStartedTime() != nil {
		return false
	}
	for _, a := range pending {
		if a.GetLastStartedTime() != nil {
			return false
		}
	}
	return len(pending) > 0 || task != nil
}

// UnknownRunError says that the server does not know the run's workflow.
type UnknownRunError struct{ WorkflowID string }

// Error implements error.
func (e *UnknownRunError) Error() string {
	return fmt.Sprintf("the Temporal server does not know run %s", strings.TrimPrefix(e.WorkflowID, "run-"))
}

func explain(workflowID string, err error) error {
	var missing *serviceerror.NotFound
	if errors.As(err, &missing) {
		return &UnknownRunError{workflowID}
	}
	return err
}
