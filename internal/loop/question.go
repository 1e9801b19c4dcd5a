package loop

import (
	"fmt"
	"strings"
	"time"

	"conclave/internal/convergence"
)

// askAfterChange raises the questions that a writer's change poses.
func (p *Progress) askAfterChange(Call, TurnResult) {}

// beforeDispatch returns what comes before a batch that the machine decided, nil for nothing.
func (p *Progress) beforeDispatch([]convergence.Command, time.Time) []Call { return nil }

// ask waits for a person's ruling.
func (p *Progress) ask(command convergence.Command, _ time.Time) []Call {
	return p.wait(fmt.Sprintf("a ruling on %s: %s", strings.Join(command.Subjects, ", "), command.Reason))
}
