package loop

import (
	"encoding/json"
	"fmt"

	"conclave/internal/convergence"
)

// Resume is the payload of the signal that lets a waiting run go on. At most
// one of Reopen and Waive names a seat.
type Resume struct {
	// Reason is a person's word; waiving a seat needs one.
	Reason string `json:"reason"`
	// Reopen asks a seat again with a fresh count of attempts.
	Reopen string `json:"reopen,omitempty"`
	// Waive lets the run end without the seat.
	Waive string `json:"waive,omitempty"`
}

// ReadResume reads a signal's payload. Anything that is no such object, as
// another client may send it, only lets the run go on.
func ReadResume(payload []byte) Resume {
	var r Resume
	if json.Unmarshal(payload, &r) != nil {
		return Resume{}
	}
	return r
}

// AskResume notes that somebody wants a waiting run to go on. A run that does
// not wait was asked for nothing. One that was asked twice before it woke takes
// in both answers.
func (p *Progress) AskResume(r Resume) {
	if p.Run.Waiting == "" {
		return
	}
	if p.ResumeAsked != nil {
		p.answerSeat(*p.ResumeAsked)
	}
	p.ResumeAsked = &r
}

// Resumed lets a waiting run go on as it was asked to.
func (p *Progress) Resumed() {
	asked := *p.ResumeAsked
	p.Waits++
	p.Interrupted, p.ResumeAsked = false, nil
	p.Run.Stop, p.Run.Waiting, p.Run.ExitCode, p.Run.Unresolved = "", "", 0, nil
	p.answerSeat(asked)
	p.event(convergence.EventRunResumed, map[string]any{"reason": asked.Reason})
	p.Run.Findings = p.recorded()
}

// answerSeat takes in what a person says of a seat.
func (p *Progress) answerSeat(asked Resume) {
	before := p.standings()
	if asked.Reopen != "" {
		p.event(convergence.EventSeatReopened, map[string]any{"seatId": asked.Reopen})
	}
	if asked.Waive != "" {
		already := p.doesWithout(asked.Waive)
		p.event(convergence.EventSeatWaived, map[string]any{"seatId": asked.Waive, "reason": asked.Reason})
		if already || !p.doesWithout(asked.Waive) {
			p.Run.Notes = append(p.Run.Notes, fmt.Sprintf("seat %s was not waived: it is no seat that waits for an answer, or no reason was given", clip(asked.Waive, nameBytes)))
		} else {
			p.Run.Notes = append(p.Run.Notes, "seat "+asked.Waive+" was waived: "+asked.Reason)
		}
	}
	p.tellSettled(before, "after the pause")
}

// doesWithout says that the run ends without a seat's answer.
func (p *Progress) doesWithout(seat string) bool {
	if seat == convergence.FinalSeat {
		return p.State.Review.Final.Done
	}
	rec, _ := p.State.Seats.Get(seat)
	return rec.Outcome == convergence.OutcomeWaived
}
