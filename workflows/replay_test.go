package workflows

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"

	"conclave/internal/loop"
	"conclave/internal/record"
)

// recorded lists the situations whose histories this code must be able to
// replay, with the stop reason that each ended with. `make fixtures` records
// them anew: needed after a deliberate change of the workflow's commands, and
// then open runs of older releases cannot go on either.
var recorded = map[string]record.Stop{
	"converged-first-time":              record.Converged,
	"converged-in-the-second-iteration": record.Converged,
	"converged-after-a-failed-verifier": record.Converged,
	"converged-with-a-design":           record.Converged,
	"max-iters":                         record.MaxIters,
	"stalled":                           record.Stalled,
	"step-failed":                       record.StepFailed,
	"seat-without-an-answer":            record.StepFailed,
	"waited-for-a-quota":                record.Converged,
	"cancelled":                         record.Cancelled,
	"cancelled-in-the-verifier":         record.Cancelled,
	"interrupted-and-waiting":           open,
	"interrupted-and-resumed":           record.Converged,
	"resumed-after-kill":                record.Converged,
	"continued-as-new-1":                continued,
	"continued-as-new-2":                continued,
	"continued-as-new-3":                record.Converged,
	"full-confirmed-and-repaired":       record.Converged,
	"full-escalated-and-waiting":        open,
	"full-ruled-by-signal":              record.Ruled,
	"full-fixed-by-update":              record.Converged,
	"full-size-and-budget-asked":        record.Converged,
	"full-cancelled-while-waiting":      record.Cancelled,
	"full-ruled-after-a-failed-fix":     record.Ruled,
	"full-ruled-by-a-deadline":          record.Ruled,
	"review-that-blocks":                record.MaxIters,
}

// Histories without a result of the workflow.
const (
	open      record.Stop = "(open)"
	continued record.Stop = "(continued as new)"
)

// readHistories reads the corpus, by situation.
func readHistories(t *testing.T) map[string]*historypb.History {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "histories", "*"))
	require.NoError(t, err)
	found := map[string]*historypb.History{}
	for _, file := range files {
		packed, err := os.Open(file)
		require.NoError(t, err)
		defer packed.Close()
		reader, err := gzip.NewReader(packed)
		require.NoError(t, err, file)
		history, err := client.HistoryFromJSON(reader, client.HistoryJSONOptions{})
		require.NoError(t, err, file)
		found[strings.TrimSuffix(filepath.Base(file), ".json.gz")] = history
	}
	require.NotEmpty(t, found, "record histories with `make fixtures`")
	return found
}

// replay runs a workflow over a history; the result is empty where it did not complete.
func replay(t *testing.T, history *historypb.History, register func(worker.WorkflowReplayer)) (loop.Result, error) {
	t.Helper()
	replayer, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DisableDeadlockDetection: true})
	require.NoError(t, err)
	register(replayer)
	id := history.Events[0].GetWorkflowExecutionStartedEventAttributes().GetWorkflowId()
	err = replayer.ReplayWorkflowHistoryWithOptions(silent{}, history, worker.ReplayWorkflowHistoryOptions{
		OriginalExecution: workflow.Execution{ID: id},
	})
	if err != nil || completion(history) == nil {
		return loop.Result{}, err
	}
	var result loop.Result
	answer, ok := replayer.(interface{ GetWorkflowResult(string, any) error }) // the SDK's interface leaves it out
	require.True(t, ok)
	require.NoError(t, answer.GetWorkflowResult(id, &result))
	return result, nil
}

func completion(history *historypb.History) *historypb.WorkflowExecutionCompletedEventAttributes {
	return history.Events[len(history.Events)-1].GetWorkflowExecutionCompletedEventAttributes()
}

func ours(r worker.WorkflowReplayer) { Register(r) }

// silent keeps the replayer's own messages out of the output: its errors are returned.
type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}

func TestRecordedHistoriesReplay(t *testing.T) {
	found := readHistories(t)
	for name, stop := range recorded {
		require.Contains(t, found, name, "record it with `make fixtures`")
		t.Run(name, func(t *testing.T) {
			history := found[name]
			result, err := replay(t, history, ours)
			require.NoError(t, err)
			require.Equal(t, stop, stopOf(history, result))
			if done := completion(history); done != nil {
				var before loop.Result
				require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(done.GetResult(), &before))
				require.Equal(t, before, result)
			}
		})
	}
	require.Equal(t, len(recorded), len(found), "a recorded history is on no list")
}

func stopOf(history *historypb.History, result loop.Result) record.Stop {
	switch history.Events[len(history.Events)-1].GetEventType() {
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED:
		return result.Stop
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW:
		return continued
	default:
		return open
	}
}

// The corpus is worth something only if it covers what a workflow can do.
func TestRecordedHistoriesCoverTheCommands(t *testing.T) {
	seen := map[string]bool{}
	for _, history := range readHistories(t) {
		for _, event := range history.Events {
			seen[event.GetEventType().String()] = true
			if name := event.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName(); name != "" {
				seen[name] = true
			}
		}
	}
	for _, want := range []string{
		"PrepareRun", "RunTurn", "Verify", "Land", "WriteBundle",
		"ActivityTaskCompleted", "ActivityTaskCancelRequested", "TimerStarted", "TimerFired", "TimerCanceled",
		"WorkflowExecutionSignaled", "WorkflowExecutionCancelRequested", "UpsertWorkflowSearchAttributes",
		"WorkflowExecutionContinuedAsNew", "WorkflowExecutionCompleted", "WorkflowExecutionUpdateAccepted", "WorkflowExecutionUpdateCompleted",
	} {
		require.True(t, seen[want], want)
	}
}

// A replay that could not fail would prove nothing: each change of a history
// stands for the opposite change of the code.
func TestReplayFindsChangedCode(t *testing.T) {
	for name, history := range readHistories(t) {
		t.Run(name, func(t *testing.T) {
			_, err := replay(t, renamed(history), ours)
			require.Error(t, err, "another activity in place of the last one")
			_, err = replay(t, swapped(history), ours)
			require.Error(t, err, "the first activity under another id")
			_, err = replay(t, history, func(r worker.WorkflowReplayer) {
				r.RegisterWorkflowWithOptions(idle, workflow.RegisterOptions{Name: ReviewLoopName})
			})
			require.Error(t, err, "a workflow that does nothing")
		})
	}
}

func idle(workflow.Context, loop.Input) (loop.Result, error) { return loop.Result{}, nil }

// renamed gives the last activity of a history another type.
func renamed(history *historypb.History) *historypb.History {
	changed := proto.Clone(history).(*historypb.History)
	activities := scheduled(changed)
	activities[len(activities)-1].ActivityType.Name = "Deploy"
	return changed
}

// swapped gives the first activity of a history another id, as if something had been scheduled before it.
func swapped(history *historypb.History) *historypb.History {
	changed := proto.Clone(history).(*historypb.History)
	scheduled(changed)[0].ActivityId += "0"
	return changed
}

func scheduled(history *historypb.History) []*historypb.ActivityTaskScheduledEventAttributes {
	var found []*historypb.ActivityTaskScheduledEventAttributes
	for _, event := range history.Events {
		if attributes := event.GetActivityTaskScheduledEventAttributes(); attributes != nil {
			found = append(found, attributes)
		}
	}
	return found
}
