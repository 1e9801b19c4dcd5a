package convergence

// resumableEvent folds the events that let a pause end.
func (f *fold) resumableEvent(typ string, p value) {
	switch typ {
	case EventRunResumed:
		f.runResumed()
	case EventSeatReopened:
		f.seatReopened(p.get("seatId").text())
	case EventSeatWaived:
		f.seatWaived(p.get("seatId").text(), p.get("reason").text())
	case EventQuestion:
		f.questionRaised(p.get("subject").text())
	case EventBudget:
		f.answered(SubjectBudget)
	case EventRuling:
		f.rulingRecorded(p)
	}
}

// runResumed clears the pause and puts interrupted attempts back without
// counting them. Seats that lost their engine get another attempt: whoever
// resumes has repaired it or means to find out.
func (f *fold) runResumed() {
	f.s.PauseReason, f.s.PauseCode = "", ""
	f.finalReopened()
	for _, n := range f.m.order {
		st, ok := f.s.Nodes.Get(n.id)
		if !ok || st.Status != StatusFailed {
			continue
		}
		switch {
		case st.Code == FailAborted:
			st.RoundAttempts = max(0, st.RoundAttempts-1)
		case st.Code == FailEngineUnavailable && n.seat != nil && f.seat(n).Outcome == OutcomeNonVerdict && f.m.full():
			f.setSeat(n, f.seat(n).forgotten(OutcomeNone))
			st.RoundAttempts = 0
		default:
			continue
		}
		st.Code = ""
		f.finish(n, st, StatusPending)
	}
}

// idleSeat returns a seat that is not being asked and has no valid answer.
func (f *fold) idleSeat(seatID string) (*node, NodeState, bool) {
	n, st, ok := f.node(seatID)
	if !ok || n.seat == nil || st.Status == StatusInFlight || st.Status == StatusPaused {
		return nil, NodeState{}, false
	}
	return n, st, !f.seat(n).Answered
}

// seatReopened gives a seat that failed, was skipped or was waived a fresh count
// of attempts.
func (f *fold) seatReopened(seatID string) {
	if seatID == FinalSeat {
		f.finalReopened()
		return
	}
	n, st, ok := f.idleSeat(seatID)
	if !ok {
		return
	}
	if f.seat(n).Outcome == OutcomeWaived && n.seat.voting {
		f.s.Waived--
	}
	st.RoundAttempts, st.Code = 0, ""
	f.setSeat(n, f.seat(n).forgotten(OutcomeNone))
	f.finish(n, st, StatusPending)
}

// seatWaived records that a person lets the run end without the seat. It needs a
// reason, and never overrides a valid answer.
func (f *fold) seatWaived(seatID, reason string) {
	if seatID == FinalSeat && reason != "" && f.finalSpent() {
		f.s.Review.Final.Done = true
		return
	}
	n, st, ok := f.idleSeat(seatID)
	if !ok || reason == "" || f.seat(n).Outcome == OutcomeWaived {
		return
	}
	if n.seat.voting {
		f.s.Waived++
	}
	f.setSeat(n, SeatState{Outcome: OutcomeWaived, Reason: reason})
	f.finish(n, st, StatusPassed)
	f.settleRechecks()
}

// finalSpent reports whether the final review used up its attempts.
func (f *fold) finalSpent() bool {
	final := f.s.Review.Final
	return !final.Done && !f.s.inFlight() && final.Tries > f.m.definition.Data.RetryCapPerNode
}

// finalReopened gives a spent final review its attempts again.
func (f *fold) finalReopened() {
	if f.finalSpent() {
		f.s.Review.Final.Tries = 0
	}
}
