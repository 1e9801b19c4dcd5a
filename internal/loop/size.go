package loop

import (
	"encoding/json"
	"fmt"

	"conclave/internal/convergence"
)

// mostCarried is how large a run's state may be, in bytes of JSON. Temporal takes 2 MiB in one payload, as which
// continue-as-new carries the state and a query answers with the record; what one batch of turns adds must still fit.
const mostCarried = 3 << 19

// tooLarge says why the run cannot go on: what is known of it would not fit into what Temporal carries. "" where it can.
func (p *Progress) tooLarge() string {
	size, err := p.carried()
	switch {
	case err != nil:
		return fmt.Sprintf("the run's state cannot be written: %v", err)
	case size <= mostCarried:
		return ""
	}
	return fmt.Sprintf("the run has become too large to go on: its state with %d findings and %d steps takes %d KiB, of which at most %d can be carried; "+
		"start anew with fewer seats, a smaller task, or a lower review.max_findings", max(len(p.Ledger.Entries), len(p.Run.Findings)), len(p.Run.Steps), size>>10, mostCarried>>10)
}

func (p *Progress) carried() (int, error) {
	raw, err := json.Marshal(p.Carry)
	return len(raw), err
}

// MayContinue reports whether the state fits into a new history. One that does not is ended by Next, in this one.
func (p *Progress) MayContinue() bool { return p.tooLarge() == "" }

// goesOn reports whether a command asks for more than the end.
func goesOn(c convergence.Command) bool {
	return c.Kind != convergence.KindComplete && c.Kind != convergence.KindFail
}
