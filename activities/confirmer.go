package activities

import (
	"encoding/json"
	"fmt"

	"conclave/internal/loop"
	"conclave/internal/review"
)

// The words of a Said for a confirmer.
const (
	saidConfirmed = "confirmed"
	saidRefuted   = "refuted"
)

// readConfirm reads whether the finding holds. Whatever is not a valid refutation never refutes.
func (t *turn) readConfirm(result *loop.TurnResult) error {
	if len(t.req.Findings) != 1 {
		return fmt.Errorf("a confirm turn is about one finding and not about %q", t.req.Findings)
	}
	id := t.req.Findings[0]
	answer := review.ParseConfirm(t.outcome.Final, t.outcome.Structured, id, t.req.Evidence)
	if len(answer.Problems) > 0 {
		malformed(result, answer.Problems...)
		return nil
	}
	said := loop.Said{Finding: id, Decision: saidConfirmed, Reason: fit(answer.Reason, share(1))}
	if answer.Refuted() {
		said.Decision = saidRefuted
	}
	result.Said = []loop.Said{said}
	var err error
	result.Answer, err = json.Marshal(map[string]bool{"confirmed": !answer.Refuted()})
	return err
}
