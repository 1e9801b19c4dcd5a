package loop

import (
	"cmp"
	"fmt"

	"conclave/internal/convergence"
	"conclave/internal/record"
)

// checkIdentity takes the answer of a reading turn for none whose model only
// the program's configuration vouches for, where review.identity is served.
func (p *Progress) checkIdentity(call Call, result *TurnResult) {
	if !p.in.Policy.ServedIdentity || p.in.DryRun || call.NodeID == "" || call.Turn.Writing || result.Class != record.ClassOK {
		return
	}
	source := "nothing"
	if result.Reported != nil {
		source = cmp.Or(result.Reported.Source, source)
	}
	if source == record.SourceServed {
		return
	}
	result.Class, result.Code = record.ClassMalformed, convergence.FailResultInvalid
	result.Message = fmt.Sprintf("the answer does not count: review.identity is served, and the model of %s is known by %s only; use an agent that reports its model, or set review.identity to any", call.Turn.Target.Adapter, source)
}
