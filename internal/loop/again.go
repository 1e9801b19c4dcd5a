package loop

import (
	"fmt"
	"time"

	"conclave/internal/convergence"
	"conclave/internal/record"
)

// Network trouble is waited out a few times; a quota until its reset, within
// reason. Both are waits of the workflow, so that other seats go on.
var transientPauses = []time.Duration{5 * time.Second, 20 * time.Second, time.Minute}

const (
	quotaTries   = 5
	quotaDefault = 5 * time.Minute
	quotaLongest = 24 * time.Hour
)

// again decides nothing about the review: it only repeats a call that never
// reached an answer, or asks the next engine that the lane declares.
func (p *Progress) again(call Call, result TurnResult) *Again {
	request := *call.Turn
	request.Try++
	after, ok := pause(result, call.Turn.Try)
	if !ok {
		if request.Target, request.Substitution, ok = p.substitute(call, result); !ok {
			return nil
		}
		request.Resume = nil // another engine's session is none of its own
		p.Run.Notes = append(p.Run.Notes, fmt.Sprintf("step %s: %s was not available (%s); %s took its place",
			call.Step, call.Turn.Target.Adapter, result.Message, request.Target.Adapter))
		p.step(call.Step).Identity.Requested = &request.Target
	}
	call.Turn = &request
	return &Again{After: after, Call: call, Why: result.Message}
}

// substitute is the next engine that the lane declares for one that is not available.
func (p *Progress) substitute(call Call, result TurnResult) (target record.Engine, tried int, ok bool) {
	if codeOf(result) != convergence.FailEngineUnavailable || call.NodeID == "" {
		return record.Engine{}, 0, false
	}
	declared := p.machine.Lane(call.NodeID).KnownSubstitutions
	for next := call.Turn.Substitution; next < len(declared); next++ {
		if target := engine(declared[next]); target != call.Turn.Target { // an escalated repair asks one of these from the start
			return target, next + 1, true
		}
	}
	return record.Engine{}, 0, false
}

func pause(result TurnResult, try int) (time.Duration, bool) {
	switch result.Class {
	case record.ClassTransient:
		if try > len(transientPauses) {
			return 0, false
		}
		return max(transientPauses[try-1], min(result.RetryAfter, quotaLongest)), true
	case record.ClassQuota:
		if try >= quotaTries || result.RetryAfter > quotaLongest {
			return 0, false
		}
		return max(result.RetryAfter, time.Second, orDefault(result.RetryAfter)), true
	default:
		return 0, false
	}
}

func orDefault(d time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return quotaDefault
}

// impatient takes an engine whose limit is lifted later than a run waits for one that is not available: a declared
// substitution takes its place, a seat is skipped or waits for a person.
func impatient(call Call, result *TurnResult) {
	if result.Class != record.ClassQuota {
		return
	}
	if _, ok := pause(*result, call.Turn.Try); ok {
		return
	}
	result.Code = convergence.FailEngineUnavailable
	if result.RetryAfter > quotaLongest {
		result.Message = fmt.Sprintf("%s (lifted in %s; a run waits for at most %s)", result.Message, result.RetryAfter.Round(time.Minute), quotaLongest)
	} else {
		result.Message = fmt.Sprintf("%s (still so after %d tries)", result.Message, call.Turn.Try)
	}
}

func statusOf(class record.Class) record.StepStatus {
	switch class {
	case record.ClassOK:
		return record.OK
	case record.ClassMalformed, record.ClassViolation:
		return record.Invalid
	case record.ClassAborted:
		return record.Interrupted
	default:
		return record.Failed
	}
}

func classOf(code string) record.Class {
	switch code {
	case convergence.FailAborted:
		return record.ClassAborted
	case convergence.FailTimeout:
		return record.ClassTimeout
	default:
		return record.ClassPermanent
	}
}

// codeOf is the form's failure code of a turn that is not ok; never empty.
func codeOf(result TurnResult) string {
	if result.Code != "" {
		return result.Code
	}
	return convergence.FailEffect
}
