package convergence

import (
	"fmt"
	"slices"
	"strings"
)

// countsNot says in words why a seat does not count towards the quorum; "" when
// it does. It is evaluated at decision time, so also for passes of earlier rounds.
func (m *Machine) countsNot(s *State, seat *seat) string {
	rec, _ := s.Seats.Get(seat.id)
	switch {
	case !seat.voting:
		return "does not vote: " + seat.reason
	case rec.Outcome == OutcomeSkipped || rec.Outcome == OutcomeWaived:
		return string(rec.Outcome)
	case rec.Outcome != OutcomeValid || rec.Verdict != VerdictPass && !m.full():
		return "did not pass"
	case m.full() && !m.overlooks(s) && m.holds(s, seat.id):
		return "holds a finding that stands"
	}
	return m.excluded(s, seat, rec)
}

// excluded says in words why the engine that a seat reported keeps it out.
func (m *Machine) excluded(s *State, seat *seat, rec SeatState) string {
	switch {
	case seat.lane == nil || !m.writerExclusion():
		return ""
	case rec.Provider == "" || rec.ModelFamily == "":
		return "its engine reported no provider or family"
	case slices.Contains(s.WriterProviders, rec.Provider):
		return fmt.Sprintf("its engine reported the provider %q, which a writer ran on too", rec.Provider)
	case slices.Contains(s.WriterModelFamilies, rec.ModelFamily):
		return fmt.Sprintf("its engine reported the model family %q, which a writer ran on too", rec.ModelFamily)
	}
	return ""
}

// quorumMet reports whether enough seats count and, where diversity is asked
// for, enough of them differ pairwise in provider and in family.
func (m *Machine) quorumMet(s *State) bool {
	eligible, pairs := m.eligible(s)
	need := m.quorum(s)
	if int64(eligible) < need {
		return false
	}
	return !m.definition.Data.RequireDiversity || int64(maxMatching(pairs)) >= need
}

func (m *Machine) quorum(s *State) int64 {
	need := m.definition.Data.Quorum
	if m.rules.WaiverLowersQuorum {
		need = max(1, need-s.Waived)
	}
	return need
}

// eligible counts the seats that count, and lists the identities of those whose
// engine is known: a data-only seat counts for the number, not for diversity.
func (m *Machine) eligible(s *State) (int, []identityPair) {
	count := 0
	var pairs []identityPair
	for _, seat := range m.seats {
		if m.countsNot(s, seat) != "" {
			continue
		}
		count++
		if rec, _ := s.Seats.Get(seat.id); rec.Provider != "" && rec.ModelFamily != "" {
			pairs = append(pairs, identityPair{rec.Provider, rec.ModelFamily})
		}
	}
	return count, pairs
}

func (m *Machine) quorumWords(s *State) string {
	eligible, pairs := m.eligible(s)
	need := m.quorum(s)
	words := fmt.Sprintf("%d of %d needed seats accept", eligible, need)
	if m.definition.Data.RequireDiversity && int64(eligible) >= need {
		words += fmt.Sprintf(", but only %d of them differ in provider and family", maxMatching(pairs))
	}
	var reasons []string
	for _, seat := range m.seats {
		if why := m.countsNot(s, seat); why != "" {
			reasons = append(reasons, seat.id+" "+why)
		}
	}
	if len(reasons) > 0 {
		words += "; not counted: " + strings.Join(reasons, "; ")
	}
	return words
}
