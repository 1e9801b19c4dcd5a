package convergence

import (
	"slices"
	"strconv"
	"strings"
)

// fold is one event being folded in: a copy of the state that is replaced piece
// by piece. Whatever it shares with the old state is never written to.
type fold struct {
	m *Machine
	s State
}

// Reduce folds an event into a state and returns the new state; the given one
// is unchanged. An event that does not fit leaves the state as it is, except
// that engine receipts which do not fit are recorded as rejections.
func (m *Machine) Reduce(s State, e Event) State {
	if e.Version < 1 {
		return s
	}
	payload, issues := parseValue(string(e.Payload))
	if len(issues) > 0 || payload.kind() != kindObject {
		return s
	}
	f := fold{m: m, s: s}
	if !f.turnEvent(e, payload) {
		f.event(e, payload)
	}
	return f.s
}

func (f *fold) event(e Event, p value) {
	switch e.Type {
	case EventDispatched:
		f.dispatched(p)
	case EventEngine:
		f.receipt(e.Version, p)
	case EventCompleted:
		f.attempt(p, StatusInFlight, func(n *node, st NodeState) { f.completed(n, st, p.get("result")) })
	case EventFailed:
		f.attempt(p, StatusInFlight, func(n *node, st NodeState) { f.failed(n, st, p.get("code").text()) })
	case EventPaused:
		f.attempt(p, StatusInFlight, func(n *node, st NodeState) { f.move(n, st, StatusPaused) })
	case EventResumed:
		f.attempt(p, StatusPaused, func(n *node, st NodeState) { f.move(n, st, StatusInFlight) })
	case EventInvalidated:
		f.invalidated(p.get("seatId").text())
	case EventLimit:
		f.pause(PauseLimit, p.get("reason").text())
	default:
		if f.m.rules.Resumable {
			f.resumableEvent(e.Type, p)
		}
	}
}

// attempt calls then when the payload names a node whose attempt at exactly
// that position has the wanted status.
func (f *fold) attempt(p value, want Status, then func(*node, NodeState)) {
	n, st, ok := f.node(p.get("nodeId").text())
	if position := p.get("position"); ok && position.isText() && st.Status == want && st.InFlight == position.text() {
		then(n, st)
	}
}

func (f *fold) node(id string) (*node, NodeState, bool) {
	n, ok := f.m.nodes[id]
	if !ok {
		return nil, NodeState{}, false
	}
	st, ok := f.s.Nodes.Get(id)
	return n, st, ok
}

func (f *fold) setNode(n *node, st NodeState) { f.s.Nodes = f.s.Nodes.With(n.id, st) }

func (f *fold) move(n *node, st NodeState, to Status) {
	st.Status = to
	f.setNode(n, st)
}

// finish ends an attempt: its position and receipt can not be referred to again.
func (f *fold) finish(n *node, st NodeState, to Status) {
	st.Status, st.InFlight, st.Receipt = to, "", nil
	f.setNode(n, st)
}

func (f *fold) setPending(n *node) {
	if st, ok := f.s.Nodes.Get(n.id); ok {
		f.finish(n, st, StatusPending)
	}
}

func (f *fold) seat(n *node) SeatState {
	rec, _ := f.s.Seats.Get(n.id)
	return rec
}

func (f *fold) setSeat(n *node, rec SeatState) { f.s.Seats = f.s.Seats.With(n.id, rec) }

// pause stops the run for a reason. An empty reason would read as no pause.
func (f *fold) pause(code, reason string) {
	if reason == "" {
		reason = code
	}
	f.s.PauseReason, f.s.PauseCode = reason, code
}

func (f *fold) dispatched(p value) {
	n, st, ok := f.node(p.get("nodeId").text())
	if !ok || st.Status != StatusPending && st.Status != StatusFailed {
		return
	}
	position := p.get("position")
	if !position.isText() || !strings.HasSuffix(position.text(), "/"+strconv.FormatInt(st.Attempts+1, 10)) {
		return
	}
	if f.m.rules.DecidedDispatchOnly && !f.decided(position.text()) {
		return
	}
	st.Status, st.InFlight, st.Code, st.Receipt = StatusInFlight, position.text(), "", nil
	st.Attempts++
	st.RoundAttempts++
	f.setNode(n, st)
	if !f.m.rules.KeepPauseOnDispatch {
		f.s.PauseReason, f.s.PauseCode = "", ""
	}
	if n.seat != nil && f.m.rules.ForgetOnReask {
		f.setSeat(n, f.seat(n).forgotten(OutcomeNone))
	}
}

// decided reports whether a position is one that Decide asked for and that was
// not dispatched yet, and takes it out of the batch. While anything is in
// flight the batch is the one decided when it began.
func (f *fold) decided(position string) bool {
	batch := f.s.Batch
	if !f.s.inFlight() {
		batch = nil
		for _, step := range f.m.next(&f.s) {
			if step.position != "" {
				batch = append(batch, step.position)
			}
		}
	}
	i := slices.Index(batch, position)
	if i < 0 {
		return false
	}
	f.s.Batch = without(batch, i)
	return true
}

// inFlight reports whether any attempt is running.
func (s *State) inFlight() bool {
	if s.Nodes.some(NodeState.running) {
		return true
	}
	for _, t := range s.Review.Turns {
		if !t.Paused {
			return true
		}
	}
	return false
}

func (st NodeState) running() bool { return st.Status == StatusInFlight }

func (f *fold) invalidated(seatID string) {
	n, st, ok := f.node(seatID)
	if !ok || n.seat == nil {
		return
	}
	rec := f.seat(n)
	switch {
	case st.Status == StatusInFlight:
		rec.Outcome, rec.Stale, rec.Answered = OutcomeInvalid, true, false
		f.setSeat(n, rec)
	case rec.Outcome == OutcomeValid:
		f.expire(n)
	}
}

// expire takes a seat's answer away, so that it is asked again.
func (f *fold) expire(n *node) {
	f.setSeat(n, f.seat(n).forgotten(OutcomeInvalid))
	f.setPending(n)
}
