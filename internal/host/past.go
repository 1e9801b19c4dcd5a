package host

import (
	"context"
	"encoding/json"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"

	"conclave/internal/loop"
)

// Past is what a run's history says about how it began and what it wanted to land.
type Past struct {
	Input loop.Input
	// Land is the last landing that was asked for; nil when there was nothing to land.
	Land *loop.LandRequest
}

// ReadPast reads the history of a run.
func ReadPast(ctx context.Context, c client.Client, workflowID string) (Past, error) {
	var past Past
	events := c.GetWorkflowHistory(ctx, workflowID, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return past, fmt.Errorf("the run's history: %w", err)
		}
		if err := past.read(event); err != nil {
			return past, fmt.Errorf("the run's history, event %d: %w", event.GetEventId(), err)
		}
	}
	return past, nil
}

func (p *Past) read(event *historypb.HistoryEvent) error {
	if started := event.GetWorkflowExecutionStartedEventAttributes(); started != nil {
		return decode(started.GetInput(), &p.Input)
	}
	scheduled := event.GetActivityTaskScheduledEventAttributes()
	if scheduled.GetActivityType().GetName() != "Land" || len(scheduled.GetInput().GetPayloads()) == 0 {
		return nil
	}
	p.Land = &loop.LandRequest{}
	return json.Unmarshal(scheduled.GetInput().GetPayloads()[0].GetData(), p.Land)
}
