package loop

import (
	"encoding/json"
	"fmt"

	"conclave/internal/convergence"
)

// Replay folds a run's recorded events again and checks that every dispatch was
// what the machine decides at that point. It returns the dispatches in order
// and what the machine decides at the end.
func Replay(machine *convergence.Machine, events []convergence.Event) (dispatched, final []convergence.Command, err error) {
	state := machine.Initial()
	var batch []convergence.Command
	for i, event := range events {
		if event.Type == convergence.EventDispatched {
			if len(batch) == 0 {
				batch = machine.Decide(state)
			}
			next, err := expected(batch, event)
			if err != nil {
				return nil, nil, fmt.Errorf("event %d: %w", i+1, err)
			}
			dispatched, batch = append(dispatched, next), batch[1:]
		} else if len(batch) > 0 {
			return nil, nil, fmt.Errorf("event %d: %s came before the batch was dispatched whole; %s is missing", i+1, event.Type, batch[0].Position)
		}
		state = machine.Reduce(state, event)
	}
	return dispatched, machine.Decide(state), nil
}

func expected(batch []convergence.Command, event convergence.Event) (convergence.Command, error) {
	var payload struct{ NodeID, Position string }
	if err := json.Unmarshal(event.Payload, &payload); err != nil {
		return convergence.Command{}, err
	}
	if len(batch) == 0 || batch[0].Position == "" {
		return convergence.Command{}, fmt.Errorf("%s was dispatched where the machine decides %v", payload.Position, batch)
	}
	if batch[0].NodeID != payload.NodeID || batch[0].Position != payload.Position {
		return convergence.Command{}, fmt.Errorf("%s was dispatched where the machine decides %s", payload.Position, batch[0].Position)
	}
	return batch[0], nil
}
