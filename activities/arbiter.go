package activities

import (
	"encoding/json"

	"conclave/internal/loop"
	"conclave/internal/review"
)

// readArbitration reads the rulings. An answer that does not rule every finding rules none.
func (t *turn) readArbitration(result *loop.TurnResult) error {
	answer := review.ParseArbitration(t.outcome.Final, t.outcome.Structured, t.req.Findings)
	if len(answer.Problems) > 0 || len(answer.Rulings) == 0 {
		malformed(result, answer.Problems...)
		return nil
	}
	type ruling struct {
		Finding  string `json:"finding"`
		Decision string `json:"decision"`
	}
	var rulings []ruling
	room := share(2 * len(answer.Rulings))
	for _, r := range answer.Rulings {
		rulings = append(rulings, ruling{r.Finding, r.Decision})
		result.Said = append(result.Said, loop.Said{
			Finding: r.Finding, Decision: r.Decision, Reason: fit(r.Reason, room), Change: fit(r.Change, room),
		})
	}
	var err error
	result.Answer, err = json.Marshal(map[string][]ruling{"rulings": rulings})
	return err
}
