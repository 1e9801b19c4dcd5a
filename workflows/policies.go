package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"conclave/internal/loop"
)

// Times of the activities, on one page (docs/architecture.md has the table).
const (
	heartbeat = 30 * time.Second
	// grace is what an activity may need beyond its turn's time-out: the
	// checkout, stopping the agent, the snapshot, storing artifacts. It is ample:
	// the agent's own time is kept by its supervisor, and a dead worker is missed
	// by its heartbeats.
	grace         = 15 * time.Minute
	prepareTime   = 10 * time.Minute
	finishTime    = 5 * time.Minute
	finishStart   = time.Minute
	lostWorker    = 100 * time.Millisecond
	sourceRetries = 5
	// commands lists setup, verify and lint: each may take the verify time-out.
	commands = 3
)

// TaskPatience is how long a workflow may compute without a pause before its worker takes it for stuck. The SDK's second
// is short where a machine is busy: the task fails, and what was stopped goes on beside the task's next try.
const TaskPatience = 20 * time.Second

// lostWorkersOnly repeats an attempt whose worker died or shut down. Everything
// else an activity of this policy reports as a result or as a non-retryable error;
// an attempt that used up all its time would use it up again, and one that
// panicked would panic again: each would be paid for ever.
var lostWorkersOnly = &temporal.RetryPolicy{
	InitialInterval: lostWorker, BackoffCoefficient: 1.5, MaximumInterval: 5 * time.Second,
	NonRetryableErrorTypes: []string{"TemporalTimeout:StartToClose", "PanicError"},
}

var fewRetries = &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumAttempts: sourceRetries}

// options are the activity options of a call.
func options(call loop.Call, queues loop.Queues) workflow.ActivityOptions {
	switch call.Kind {
	case loop.CallTurn:
		return workflow.ActivityOptions{
			TaskQueue: queues.Agents, Summary: call.Summary, HeartbeatTimeout: heartbeat, WaitForCancellation: true,
			StartToCloseTimeout: call.Turn.Timeout + call.Turn.SetupTimeout + grace, RetryPolicy: lostWorkersOnly,
		}
	case loop.CallVerify:
		return workflow.ActivityOptions{
			TaskQueue: queues.Agents, Summary: call.Summary, HeartbeatTimeout: heartbeat, WaitForCancellation: true,
			StartToCloseTimeout: commands*call.Verify.Timeout + grace, RetryPolicy: lostWorkersOnly,
		}
	case loop.CallPrepare:
		return workflow.ActivityOptions{
			TaskQueue: queues.Source, Summary: call.Summary, HeartbeatTimeout: heartbeat,
			StartToCloseTimeout: prepareTime, RetryPolicy: fewRetries,
		}
	default:
		o := workflow.ActivityOptions{
			TaskQueue: queues.Source, Summary: call.Summary, HeartbeatTimeout: heartbeat,
			StartToCloseTimeout: finishTime, RetryPolicy: fewRetries,
		}
		if queues.Shared { // a local run cannot end without its starter, which lands as soon as it is back
			o.ScheduleToStartTimeout = finishStart
		}
		return o
	}
}
