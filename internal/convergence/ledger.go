package convergence

import "slices"

// Disposition is what became of a finding. The zero value is none, and counts as
// open wherever it matters.
type Disposition string

// The dispositions of a finding.
const (
	FindingOpen         Disposition = "open"          // high, not confirmed yet
	FindingConfirmed    Disposition = "confirmed"     // to be repaired
	FindingNotAddressed Disposition = "not-addressed" // confirmed, and a recheck found it again
	FindingAddressed    Disposition = "addressed"
	FindingRefuted      Disposition = "refuted"
	FindingRuled        Disposition = "ruled"  // an arbiter or a person lets it stand
	FindingLogged       Disposition = "logged" // medium or low: never enters the loop
)

// Ruling decisions.
const (
	DecisionStand  = "stand"
	DecisionFix    = "fix"
	DecisionAbort  = "abort"  // a person's only
	DecisionPerson = "person" // an arbiter's only
)

// ReviewState is the machine's side of the ledger of a full run: who raised
// what, and what became of it. Texts are kept by internal/review.
type ReviewState struct {
	Findings Map[FindingState] `json:"findings,omitzero"`
	// Standing lists the high findings that stand against the end, in the order
	// they were raised.
	Standing []string `json:"standing,omitempty"`
	// Ruled lists the findings that were ruled to stand, in that order.
	Ruled []string `json:"ruled,omitempty"`
	// PersonRuled: a person ruled on a finding, so no final review follows.
	PersonRuled bool `json:"personRuled,omitempty"`
	// Turns are the confirm, arbitrate and final turns in flight or paused.
	Turns []TurnState `json:"turns,omitempty"`
	// Questions are the host's subjects that wait for a person.
	Questions []string `json:"questions,omitempty"`
	// Stalled says why the loop makes no progress; repairs then need a ruling.
	Stalled string `json:"stalled,omitempty"`
	// Asked: the writer was asked for its fix report a second time this round,
	// and Changed keeps whether the first attempt changed the tree.
	Asked   bool `json:"asked,omitempty"`
	Changed bool `json:"changed,omitempty"`
	// Failure and Failures count the same verifier failure in a row.
	Failure  string `json:"failure,omitempty"`
	Failures int64  `json:"failures,omitempty"`
	// Arbitrate and Final count the attempts of those turns.
	Arbitrate TurnCount `json:"arbitrate,omitzero"`
	Final     TurnCount `json:"final,omitzero"`
}

// FindingState is one finding as the machine knows it.
type FindingState struct {
	Severity string      `json:"severity"`
	Kind     string      `json:"kind"`
	Evidence string      `json:"evidence,omitempty"`
	Status   Disposition `json:"status"`
	RaisedBy []Raiser    `json:"raisedBy"`
	// Since is the iteration it was first raised in.
	Since int64 `json:"since"`
	// Confirm counts its confirm turns.
	Confirm TurnCount `json:"confirm,omitzero"`
	// Rebuttal: the writer refuted it and the confirmer has to decide; Rebutted:
	// that was tried once and is not tried again, or a ruling says to fix it.
	Rebuttal bool `json:"rebuttal,omitempty"`
	Rebutted bool `json:"rebutted,omitempty"`
	// Fix: ruled to be fixed, and no repair was spent on it since.
	Fix bool `json:"fix,omitempty"`
	// Arbitrated: the arbiter had its say; the next question goes to a person.
	Arbitrated bool `json:"arbitrated,omitempty"`
	// Rechecks are the answers of this round.
	Rechecks []Recheck `json:"rechecks,omitempty"`
}

// Raiser is a seat that reported a finding, with the family its engine reported.
type Raiser struct {
	Seat        string `json:"seat"`
	ModelFamily string `json:"modelFamily,omitempty"`
}

// Recheck is one seat's answer about an older finding.
type Recheck struct {
	Seat      string `json:"seat"`
	Addressed bool   `json:"addressed"`
}

// TurnCount counts the attempts of a turn: All for positions, Tries against the
// cap. Done says that it needs no other.
type TurnCount struct {
	All   int64 `json:"all,omitempty"`
	Tries int64 `json:"tries,omitempty"`
	Done  bool  `json:"done,omitempty"`
}

// FinalSeat is the name of the final review in answers and events.
const FinalSeat = "final"

func (f *fold) finding(id string) (FindingState, bool) { return f.s.Review.Findings.Get(id) }

// setFinding stores a finding and keeps the list of those that stand.
func (f *fold) setFinding(id string, st FindingState) {
	f.s.Review.Findings = f.s.Review.Findings.With(id, st)
	standing := f.s.Review.Standing
	i := slices.Index(standing, id)
	switch {
	case stands(st) && i < 0:
		f.s.Review.Standing = append(slices.Clip(standing), id)
	case !stands(st) && i >= 0:
		f.s.Review.Standing = without(standing, i)
	}
}

// without returns the list without one item, nil when none is left; the given
// list is unchanged.
func without[T any](list []T, i int) []T {
	if len(list) == 1 {
		return nil
	}
	return slices.Concat(list[:i], list[i+1:])
}

// stands reports whether a finding stands against the end.
func stands(st FindingState) bool {
	switch st.Status {
	case FindingAddressed, FindingRefuted, FindingRuled, FindingLogged:
		return false
	}
	return true
}

// raise enters one reported finding. What was refuted or ruled stays so; what
// was addressed and comes back is not addressed; a logged one that is reported
// as high joins the loop. Who mentions in passing what others recheck does not
// have to close it: nobody asked that seat, and a round would be spent to do so.
func (f *fold) raise(finding Finding, by Raiser) {
	st, known := f.finding(finding.ID)
	high := isHigh(finding)
	switch {
	case !known:
		st = firstSeen(finding, f.s.Iteration)
	case by.Seat == FinalSeat:
		return // a final review that merges with a known finding changes nothing
	case high && st.Status == FindingLogged:
		st.Severity, st.Status, st.Since = SeverityHigh, FindingOpen, f.s.Iteration
	case high && st.Status == FindingAddressed:
		st.Status = FindingNotAddressed
	}
	if known && !high && older(&f.s, st) {
		return // what only goes to the log closes nothing and keeps nothing open
	}
	st.RaisedBy = raisedBy(st.RaisedBy, by)
	if known && high && st.Since < f.s.Iteration {
		st.Rechecks = recheckedBy(st.Rechecks, Recheck{Seat: by.Seat})
	}
	if st.Status == FindingOpen && f.m.independent(st.RaisedBy) {
		st.Status = FindingConfirmed
	}
	f.setFinding(finding.ID, st)
}

// firstSeen is a finding that nobody reported before.
func firstSeen(finding Finding, iteration int64) FindingState {
	st := FindingState{Severity: finding.Severity, Kind: finding.Kind, Evidence: finding.Evidence, Status: FindingLogged, Since: iteration}
	if isHigh(finding) {
		st.Severity, st.Status = SeverityHigh, FindingOpen
	}
	return st
}

// raisedBy adds a seat that is not listed yet; the given list is unchanged.
func raisedBy(list []Raiser, by Raiser) []Raiser {
	if slices.ContainsFunc(list, func(r Raiser) bool { return r.Seat == by.Seat }) {
		return list
	}
	return append(slices.Clip(list), by)
}

// recheckedBy replaces or adds one seat's recheck; "not addressed" once said in
// a round is not taken back.
func recheckedBy(list []Recheck, r Recheck) []Recheck {
	list = slices.Clone(list)
	for i := range list {
		if list[i].Seat == r.Seat {
			list[i].Addressed = list[i].Addressed && r.Addressed
			return list
		}
	}
	return append(list, r)
}

// independent reports whether two voting seats of different families raised a
// finding: that confirms it.
func (m *Machine) independent(raisers []Raiser) bool {
	family := ""
	for _, r := range raisers {
		if r.ModelFamily == "" || !m.Voting(r.Seat) {
			continue
		}
		if family != "" && family != r.ModelFamily {
			return true
		}
		family = r.ModelFamily
	}
	return false
}

// older reports whether a finding is one to recheck in this round.
func older(s *State, st FindingState) bool { return stands(st) && st.Since < s.Iteration }

// owners are the seats whose word closes an older finding: everyone who raised
// it and is still there, and the first other voting seat that is where none of
// them votes. A seat without a vote often is a writer's engine: alone it would
// excuse what it wrote.
func (m *Machine) owners(s *State, st FindingState) []string {
	var seats []string
	for _, r := range st.RaisedBy {
		if n, ok := m.nodes[r.Seat]; ok && n.seat != nil && !lost(s, r.Seat) {
			seats = append(seats, r.Seat)
		}
	}
	if slices.ContainsFunc(seats, m.Voting) {
		return seats
	}
	for _, seat := range m.seats {
		if seat.voting && !lost(s, seat.id) {
			return append(seats, seat.id)
		}
	}
	return seats
}

// lost reports whether a seat was skipped or waived.
func lost(s *State, seatID string) bool {
	rec, _ := s.Seats.Get(seatID)
	return rec.Outcome == OutcomeSkipped || rec.Outcome == OutcomeWaived
}

// toRecheck lists the older findings a seat has to recheck.
func (m *Machine) toRecheck(s *State, seatID string) []string {
	var ids []string
	for _, id := range s.Review.Standing {
		if st, _ := s.Review.Findings.Get(id); older(s, st) && slices.Contains(m.owners(s, st), seatID) {
			ids = append(ids, id)
		}
	}
	return ids
}

// holds reports whether a finding that a seat raised, or owns, stands.
func (m *Machine) holds(s *State, seatID string) bool {
	for _, id := range s.Review.Standing {
		st, _ := s.Review.Findings.Get(id)
		if slices.ContainsFunc(st.RaisedBy, func(r Raiser) bool { return r.Seat == seatID }) || slices.Contains(m.owners(s, st), seatID) {
			return true
		}
	}
	return false
}

// report enters a valid answer: first the rechecks, then what was found. A
// finding the seat had to recheck and did not name is not addressed.
func (f *fold) report(by Raiser, findings []Finding, rechecked rechecks) {
	for _, id := range f.m.toRecheck(&f.s, by.Seat) {
		st, _ := f.finding(id)
		st.Rechecks = recheckedBy(st.Rechecks, Recheck{Seat: by.Seat, Addressed: rechecked.addressed[id]})
		f.setFinding(id, st)
	}
	for _, finding := range findings {
		f.raise(finding, by)
	}
	f.settleRechecks()
}

// mayClear reports whether a seat's word can close a finding: it votes, and its
// engine did not turn out to be a writer's.
func (m *Machine) mayClear(s *State, seatID string) bool {
	n, ok := m.nodes[seatID]
	if !ok || n.seat == nil || !n.seat.voting {
		return false
	}
	rec, _ := s.Seats.Get(seatID)
	return m.excluded(s, n.seat, rec) == ""
}

// settleRechecks closes each older finding of which all owners have said that
// it is addressed, one of them with a vote that counts.
func (f *fold) settleRechecks() {
	for _, id := range f.s.Review.Standing {
		st, _ := f.finding(id)
		if !older(&f.s, st) || len(st.Rechecks) == 0 {
			continue
		}
		said, addressed, votes := 0, true, 0
		owners := f.m.owners(&f.s, st)
		for _, r := range st.Rechecks {
			if slices.Contains(owners, r.Seat) {
				said++
				addressed = addressed && r.Addressed
				if f.m.mayClear(&f.s, r.Seat) {
					votes++
				}
			}
		}
		switch {
		case said < len(owners) || said == 0:
			continue
		case addressed && votes > 0:
			st.Status = FindingAddressed
		default:
			st.Status = FindingNotAddressed
		}
		f.setFinding(id, st)
	}
}
