package convergence

import (
	"slices"
	"strings"
)

// TurnState is a turn of the full discipline that runs or is paused: a confirm,
// an arbitration or the final review.
type TurnState struct {
	Kind     string   `json:"kind"` // the first word of the position
	Position string   `json:"position"`
	NodeID   string   `json:"nodeId"`
	Findings []string `json:"findings,omitempty"`
	Receipt  *Receipt `json:"receipt,omitempty"`
	Paused   bool     `json:"paused,omitempty"`
}

// Kinds of turns, which are the first words of their positions.
const (
	turnConfirm   = "confirm"
	turnArbitrate = "arbitrate"
	turnFinal     = "final"
)

// turn returns the running or paused turn at a position.
func (f *fold) turn(position value) (int, bool) {
	if !position.isText() {
		return 0, false
	}
	i := slices.IndexFunc(f.s.Review.Turns, func(t TurnState) bool { return t.Position == position.text() })
	return i, i >= 0
}

// turnEvent folds an event that belongs to a turn, and reports whether it did.
func (f *fold) turnEvent(e Event, p value) bool {
	if !f.m.full() {
		return false
	}
	if e.Type == EventDispatched {
		return f.turnDispatched(p)
	}
	i, ok := f.turn(p.get("position"))
	if !ok {
		return false
	}
	t := f.s.Review.Turns[i]
	switch e.Type {
	case EventEngine:
		f.turnReceipt(i, e.Version, p)
	case EventPaused, EventResumed:
		t.Paused = e.Type == EventPaused
		f.setTurn(i, t)
	case EventCompleted:
		if !t.Paused {
			f.turnDone(i, t, p.get("result"))
		}
	case EventFailed:
		if !t.Paused {
			f.turnFailed(i, t, p.get("code").text())
		}
	case EventConfirmed, EventRefuted:
		if !t.Paused && t.Kind == turnConfirm && slices.Contains(t.Findings, p.get("finding").text()) {
			f.confirmed(i, t, e.Type == EventConfirmed)
		}
	default:
		return false
	}
	return true
}

func (f *fold) setTurn(i int, t TurnState) {
	f.s.Review.Turns = slices.Clone(f.s.Review.Turns)
	f.s.Review.Turns[i] = t
}

func (f *fold) endTurn(i int) { f.s.Review.Turns = without(f.s.Review.Turns, i) }

// turnDispatched begins a turn that Decide asked for.
func (f *fold) turnDispatched(p value) bool {
	position := p.get("position").text()
	kind, _, _ := strings.Cut(position, "/")
	switch kind {
	case turnConfirm, turnArbitrate, turnFinal:
	default:
		return false
	}
	if !f.decided(position) {
		return true
	}
	t := TurnState{Kind: kind, Position: position, NodeID: p.get("nodeId").text()}
	switch kind {
	case turnConfirm:
		id := confirmFinding(position)
		st, _ := f.finding(id)
		st.Confirm.All++
		st.Confirm.Tries++
		f.setFinding(id, st)
		t.Findings = []string{id}
	case turnArbitrate:
		f.s.Review.Arbitrate.All++
		f.s.Review.Arbitrate.Tries++
		t.Findings = f.m.toArbitrate(&f.s)
	case turnFinal:
		f.s.Review.Final.All++
		f.s.Review.Final.Tries++
	}
	f.s.Review.Turns = append(slices.Clone(f.s.Review.Turns), t)
	return true
}

// confirmFinding reads the finding out of confirm/<iteration>/<finding>/<attempt>;
// an id may hold slashes.
func confirmFinding(position string) string {
	_, rest, _ := strings.Cut(strings.TrimPrefix(position, turnConfirm+"/"), "/")
	if i := strings.LastIndexByte(rest, '/'); i >= 0 {
		return rest[:i]
	}
	return rest
}

func (f *fold) turnReceipt(i, version int, p value) {
	t := f.s.Review.Turns[i]
	last := NodeState{Receipt: t.Receipt}.lastSequence()
	sequence, _ := p.get("sequence").safeInteger()
	reason := ""
	switch {
	case version != 1:
		reason = "unsupported-version"
	case t.Paused:
		reason = "not-in-flight"
	case sequence != last+1:
		reason = "sequence-mismatch"
	}
	if reason != "" {
		f.reject(p.get("nodeId").text(), t.Position, sequence, reason)
		return
	}
	got := readReceipt(p, sequence)
	t.Receipt = &got
	f.setTurn(i, t)
}

// byWriter reports whether a turn ran on an engine that a writer ran on, or on
// one that did not say. Such a turn may neither clear nor excuse a finding.
func (f *fold) byWriter(t TurnState) bool {
	if !f.m.writerExclusion() {
		return false
	}
	return t.Receipt == nil || t.Receipt.Provider == "" || t.Receipt.ModelFamily == "" ||
		slices.Contains(f.s.WriterProviders, t.Receipt.Provider) || slices.Contains(f.s.WriterModelFamilies, t.Receipt.ModelFamily)
}

func (f *fold) turnDone(i int, t TurnState, result value) {
	switch t.Kind {
	case turnConfirm:
		if word := result.get("confirmed"); word.isBool() {
			f.confirmed(i, t, word.isTrue())
		} else {
			f.turnFailed(i, t, FailResultInvalid)
		}
	case turnArbitrate:
		for _, item := range result.get("rulings").items() {
			f.arbiterRuled(t, item.get("finding").text(), item.get("decision").text())
		}
		f.arbitrated(i, t)
	case turnFinal:
		f.finalDone(i, t, result)
	}
}

// turnFailed ends an attempt. Once the cap is reached, or without an engine, a
// confirm leaves its finding confirmed and an arbitration leaves the question
// to a person: no failure may clear a finding.
func (f *fold) turnFailed(i int, t TurnState, code string) {
	if code == FailAborted {
		count := f.turnCount(t)
		count.Tries--
		f.setTurnCount(t, count)
		f.endTurn(i)
		f.pause(PauseInterrupted, "interrupted: "+t.Position)
		return
	}
	count, limit := f.turnCount(t), f.m.definition.Data.RetryCapPerNode
	spent := code == FailEngineUnavailable || count.Tries > limit
	switch {
	case !spent:
		f.endTurn(i)
	case t.Kind == turnConfirm:
		f.confirmed(i, t, true)
	case t.Kind == turnArbitrate:
		f.arbitrated(i, t)
	default:
		count.Tries = limit + 1
		f.setTurnCount(t, count)
		f.endTurn(i)
	}
}

func (f *fold) turnCount(t TurnState) TurnCount {
	switch t.Kind {
	case turnConfirm:
		st, _ := f.finding(t.Findings[0])
		return st.Confirm
	case turnArbitrate:
		return f.s.Review.Arbitrate
	}
	return f.s.Review.Final
}

func (f *fold) setTurnCount(t TurnState, count TurnCount) {
	switch t.Kind {
	case turnConfirm:
		st, _ := f.finding(t.Findings[0])
		st.Confirm = count
		f.setFinding(t.Findings[0], st)
	case turnArbitrate:
		f.s.Review.Arbitrate = count
	case turnFinal:
		f.s.Review.Final = count
	}
}

// confirmed closes a confirm turn. A refutation by a writer's engine does not
// refute.
func (f *fold) confirmed(i int, t TurnState, upheld bool) {
	f.endTurn(i)
	id := t.Findings[0]
	st, ok := f.finding(id)
	if !ok || !stands(st) {
		return
	}
	st.Confirm.Tries = 0
	switch {
	case !upheld && !f.byWriter(t):
		st.Status, st.Fix = FindingRefuted, false
	case st.Status == FindingOpen:
		st.Status = FindingConfirmed
	}
	st.Rebuttal = false
	f.setFinding(id, st)
}

// finalDone enters what the final review found. Its answer must be valid on the
// whole evidence like any other, and an engine's must not be a writer's: it is
// the one look at the whole that comes after the repairs.
func (f *fold) finalDone(i int, t TurnState, result value) {
	rec := f.m.readAnswer(f.s.ReviewEvidence, &seat{id: FinalSeat}, NodeState{Receipt: t.Receipt}, result, rechecks{})
	if rec.Answered { // what a writer's engine finds counts, as everywhere
		f.report(Raiser{Seat: FinalSeat, ModelFamily: rec.ModelFamily}, rec.Findings, rechecks{})
	}
	if !rec.Answered || f.m.Lane(t.NodeID).ID != "" && f.byWriter(t) {
		f.turnFailed(i, t, FailResultInvalid)
		return
	}
	f.endTurn(i)
	f.s.Review.Final.Done = true
}
