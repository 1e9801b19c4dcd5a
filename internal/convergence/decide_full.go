package convergence

import (
	"fmt"
	"slices"
	"strings"
)

// EscalationRound is the first repair round that goes to the escalation target.
const EscalationRound = 4

// rebuttals are the confirm turns about findings that the writer refuted. They
// come before the seats: what is refuted needs no recheck.
func (m *Machine) rebuttals(s *State) []step {
	return m.confirms(s, func(st FindingState) bool { return st.Rebuttal })
}

// unconfirmed are the confirm turns about findings that nobody confirmed yet.
func (m *Machine) unconfirmed(s *State) []step {
	return m.confirms(s, func(st FindingState) bool { return st.Status == FindingOpen })
}

func (m *Machine) confirms(s *State, due func(FindingState) bool) []step {
	var steps []step
	for _, id := range s.Review.Standing {
		st, _ := s.Review.Findings.Get(id)
		if !due(st) || int64(len(steps)) >= m.definition.Data.SeatConcurrency {
			continue
		}
		nodeID, laneID, proof := m.confirmer(s, st)
		if proof == "" {
			continue // every engine is a writer: the finding counts as confirmed
		}
		position := turnConfirm + "/" + itoa(s.Iteration) + "/" + id + "/" + itoa(st.Confirm.All+1)
		steps = append(steps, step{kind: KindConfirm, nodeID: nodeID, laneID: laneID, position: position, findings: []string{id}, reason: proof})
	}
	return steps
}

// How strong a confirmation is.
const (
	ProofIndependent = "independent" // an engine that did not raise the finding
	ProofSameEngine  = "same-engine" // a fresh context of a raiser's engine
)

// confirmer chooses who confirms a finding: a declared confirmer, else an engine
// that is no writer and did not raise it, else a fresh context of a raiser's
// engine that is no writer; nobody where every engine is a writer.
func (m *Machine) confirmer(s *State, st FindingState) (nodeID, laneID, proof string) {
	var raisers []Target
	for _, r := range st.RaisedBy {
		id := r.Seat
		if id == FinalSeat {
			id = m.finalLane(s) // whose engine it borrowed
		}
		if l := m.Lane(id); l.ID != "" {
			raisers = append(raisers, l.Requested)
		}
	}
	raised := func(t Target) bool {
		return slices.ContainsFunc(raisers, func(raiser Target) bool { return sameEngine(raiser, t) })
	}
	if l := m.definition.Data.Confirmer; l != nil {
		if raised(l.Requested) {
			return confirmerID, l.ID, ProofSameEngine
		}
		return confirmerID, l.ID, ProofIndependent
	}
	weaker := ""
	for _, seat := range m.seats {
		if seat.lane == nil || lost(s, seat.id) || m.writerConflict(seat.lane, nil) != "" {
			continue
		}
		if !raised(seat.lane.Requested) {
			return seat.id, seat.lane.ID, ProofIndependent
		}
		if weaker == "" {
			weaker = seat.id
		}
	}
	if weaker == "" {
		return "", "", ""
	}
	return weaker, m.Lane(weaker).ID, ProofSameEngine
}

func sameEngine(a, b Target) bool {
	return a.Adapter == b.Adapter && a.Provider == b.Provider && a.ModelFamily == b.ModelFamily && a.Model == b.Model
}

// arbiter chooses who arbitrates: a declared arbiter, else the engine of a seat
// that is no writer, voting seats first; "" when there is none.
func (m *Machine) arbiter(s *State) (nodeID, laneID string) {
	if l := m.definition.Data.Arbiter; l != nil {
		return arbiterID, l.ID
	}
	found := ""
	for _, seat := range m.seats {
		if seat.lane == nil || lost(s, seat.id) || m.writerConflict(seat.lane, nil) != "" {
			continue
		}
		if seat.voting {
			return seat.id, seat.lane.ID
		}
		if found == "" {
			found = seat.id
		}
	}
	return found, m.Lane(found).ID
}

// fullReview decides a full review once every seat has answered.
func (m *Machine) fullReview(s *State) []step {
	if steps := m.unconfirmed(s); len(steps) > 0 {
		return steps
	}
	if steps := m.rulings(s, m.decisions(s)); len(steps) > 0 {
		return steps
	}
	if !m.overlooks(s) && len(s.Review.Standing) > 0 || !s.GateMet {
		return m.repairOrRule(s)
	}
	if !m.quorumMet(s) {
		return m.failStep(CodeUnreachable, m.quorumWords(s))
	}
	if steps := m.finalReview(s); len(steps) > 0 {
		return steps
	}
	return []step{{kind: KindComplete}}
}

// overlooks reports whether open findings do not stop the end: an advisory run
// that has no repair left.
func (m *Machine) overlooks(s *State) bool {
	return m.definition.Data.Advisory && !m.mayRepair(s)
}

// decisions are the confirmed findings that only a ruling can settle.
func (m *Machine) decisions(s *State) []string {
	return m.needRuling(s, func(st FindingState) bool { return st.Kind == KindDecision })
}

func (m *Machine) needRuling(s *State, fits func(FindingState) bool) []string {
	var ids []string
	for _, id := range s.Review.Standing {
		if st, _ := s.Review.Findings.Get(id); !st.Fix && fits(st) {
			ids = append(ids, id)
		}
	}
	return ids
}

// mayRepair reports whether a repair may run: within the limits while there is
// progress, or because a ruling asked for one.
func (m *Machine) mayRepair(s *State) bool {
	if s.Restarts < m.repairLimit && s.Review.Stalled == "" {
		return true
	}
	for _, id := range s.Review.Standing {
		if st, _ := s.Review.Findings.Get(id); st.Fix {
			return true
		}
	}
	return false
}

// repairOrRule repairs while it may; then every open finding needs a ruling, and
// a gate that is still not met ends the run.
func (m *Machine) repairOrRule(s *State) []step {
	if steps := m.rebuttals(s); len(steps) > 0 {
		return steps
	}
	if s.Restarts < m.repairLimit && s.Review.Stalled == "" {
		return m.dispatchRepair(s)
	}
	if steps := m.rulings(s, m.needRuling(s, func(FindingState) bool { return true })); len(steps) > 0 {
		return steps
	}
	if m.mayRepair(s) {
		return m.dispatchRepair(s)
	}
	if s.Review.Stalled != "" {
		return m.failStep(CodeStalled, "stalled: "+s.Review.Stalled)
	}
	return m.exhausted(s)
}

// rulings asks for what each finding needs: the arbiter once, then a person.
func (m *Machine) rulings(s *State, ids []string) []step {
	if allowed := m.definition.Data.Rulings; m.definition.Data.Advisory || allowed != nil && !*allowed {
		return nil
	}
	var arbitrate, ask []string
	nodeID, laneID := m.arbiter(s)
	for _, id := range ids {
		if st, _ := s.Review.Findings.Get(id); st.Arbitrated || nodeID == "" {
			ask = append(ask, id)
		} else {
			arbitrate = append(arbitrate, id)
		}
	}
	switch {
	case len(arbitrate) > 0:
		position := turnArbitrate + "/" + itoa(s.Iteration) + "/" + itoa(s.Review.Arbitrate.All+1)
		return []step{{kind: KindArbitrate, nodeID: nodeID, laneID: laneID, position: position, findings: arbitrate}}
	case len(ask) > 0:
		return m.ask(ask)
	}
	return nil
}

// toArbitrate is what an arbitration that is dispatched now is about.
func (m *Machine) toArbitrate(s *State) []string {
	for _, step := range m.next(s) {
		if step.kind == KindArbitrate {
			return step.findings
		}
	}
	return nil
}

func (m *Machine) ask(subjects []string) []step {
	return []step{{kind: KindAsk, subjects: subjects, reason: "a ruling is needed on " + strings.Join(subjects, ", ")}}
}

// stalled decides a run without progress before anything else is paid for:
// rulings at once; a repair where one was ruled; the end where there is nothing
// to rule. Once everything was ruled to stand the tree is verified as usual.
func (m *Machine) stalled(s *State) []step {
	if !m.full() || s.Review.Stalled == "" {
		return nil
	}
	if len(s.Review.Standing) > 0 && !m.definition.Data.Advisory || !s.GateMet {
		return m.repairOrRule(s)
	}
	return nil
}

// finalReview is asked once per run, and not where a person ruled.
func (m *Machine) finalReview(s *State) []step {
	if s.Review.PersonRuled || s.Review.Final.Done {
		return nil
	}
	seat := m.finalLane(s)
	if s.Review.Final.Tries > m.definition.Data.RetryCapPerNode {
		return m.pauseStep(PauseUnresolved, fmt.Sprintf("the final review by %s gave no valid answer", seat))
	}
	position := turnFinal + "/" + itoa(s.Iteration) + "/" + seat + "/" + itoa(s.Review.Final.All+1)
	return []step{{kind: KindDispatch, nodeID: seat, position: position, scope: ScopeFinal}}
}

// finalLane is the first voting seat that is still there and whose engine did
// not turn out to be a writer's; else the first voting one.
func (m *Machine) finalLane(s *State) string {
	first := ""
	for _, seat := range m.seats {
		if !seat.voting {
			continue
		}
		rec, _ := s.Seats.Get(seat.id)
		if !lost(s, seat.id) && (rec.Outcome != OutcomeValid || m.excluded(s, seat, rec) == "") {
			return seat.id
		}
		if first == "" {
			first = seat.id
		}
	}
	return first
}
