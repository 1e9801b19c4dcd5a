package convergence

import (
	"fmt"
	"strconv"
	"strings"
)

// Decide returns the commands that come next, in the order they are to be
// dispatched; none while any attempt is in flight, so that a batch is a barrier.
// Commands other than turns stand alone. It is total: every state has an answer.
func (m *Machine) Decide(s State) []Command {
	steps := m.next(&s)
	commands := make([]Command, 0, len(steps))
	for _, step := range steps {
		commands = append(commands, m.render(&s, step))
	}
	return commands
}

// next is the strict order of decisions.
func (m *Machine) next(s *State) []step {
	if s.inFlight() {
		return nil
	}
	if s.PauseReason != "" {
		return m.pauseStep(s.PauseCode, s.PauseReason)
	}
	if s.Failure != nil {
		return m.failStep(s.Failure.Code, s.Failure.Message)
	}
	if s.Phase == PhaseSettled {
		return m.settled(s)
	}
	if len(s.Review.Questions) > 0 {
		return m.ask(s.Review.Questions)
	}
	if steps := m.paused(s); steps != nil {
		return steps
	}
	if steps := m.writerFailed(s); steps != nil {
		return steps
	}
	if steps := m.stalled(s); steps != nil {
		return steps
	}
	switch s.Phase {
	case PhaseBody:
		return m.body(s)
	case PhaseReview:
		return m.review(s)
	}
	return m.failStep(CodeInvalidState, fmt.Sprintf("the state has the unknown phase %q", s.Phase))
}

func (m *Machine) paused(s *State) []step {
	for _, n := range m.order {
		if m.status(s, n) == StatusPaused {
			return m.pauseStep(PauseNode, fmt.Sprintf("node %s is paused", n.id))
		}
	}
	for _, t := range s.Review.Turns {
		return m.pauseStep(PauseNode, fmt.Sprintf("the turn %s is paused", t.Position))
	}
	return nil
}

func (m *Machine) nodeState(s *State, n *node) NodeState {
	st, _ := s.Nodes.Get(n.id)
	return st
}

func (m *Machine) status(s *State, n *node) Status { return m.nodeState(s, n).Status }

func (m *Machine) waiting(s *State, n *node) bool {
	status := m.status(s, n)
	return status == StatusPending || status == StatusFailed
}

func (m *Machine) settled(s *State) []step {
	for _, n := range m.order {
		if n.seat == nil && m.status(s, n) == StatusFailed {
			return m.failStep(CodeNodeFailed, m.failureWords(s, n))
		}
	}
	return m.exhausted(s)
}

func (m *Machine) failureWords(s *State, n *node) string {
	return fmt.Sprintf("%s %s failed: %s", n.role, n.id, m.nodeState(s, n).Code)
}

func (m *Machine) exhausted(s *State) []step {
	return m.failStep(CodeExhausted, fmt.Sprintf("no convergence within the limits: iteration %d, %d repairs", s.Iteration, s.Restarts))
}

// writerFailed ends the run for the first non-seat that may not be retried.
func (m *Machine) writerFailed(s *State) []step {
	for _, n := range []*node{m.generator, m.evaluator, m.repair} {
		st := m.nodeState(s, n)
		if st.Status != StatusFailed {
			continue
		}
		if m.rules.WriterFailureEnds || st.Attempts > m.definition.Data.RetryCapPerNode {
			return m.failStep(CodeNodeFailed, m.failureWords(s, n))
		}
	}
	return nil
}

func (m *Machine) body(s *State) []step {
	switch {
	case m.waiting(s, m.generator):
		return m.dispatchBody(s, m.generator)
	case m.waiting(s, m.evaluator):
		return m.dispatchBody(s, m.evaluator)
	}
	// Only an evaluator that did not meet the gate leaves the body like this.
	return m.repairOrEnd(s)
}

func (m *Machine) dispatchBody(s *State, n *node) []step {
	attempt := m.nodeState(s, n).Attempts + 1
	return []step{{kind: KindDispatch, node: n, position: "convergence/" + itoa(s.Iteration) + "/" + n.id + "/" + itoa(attempt)}}
}

// repairOrEnd dispatches the repair with everything that blocks; when none is
// left a basic run ends and a full one asks for rulings.
func (m *Machine) repairOrEnd(s *State) []step {
	switch {
	case m.full():
		return m.repairOrRule(s)
	case s.Restarts < m.repairLimit:
		return m.dispatchRepair(s)
	}
	return m.exhausted(s)
}

func (m *Machine) dispatchRepair(s *State) []step {
	attempt := m.nodeState(s, m.repair).Attempts + 1
	position := "convergence/repair/" + itoa(s.Restarts+1) + "/" + itoa(attempt)
	return []step{{kind: KindDispatch, node: m.repair, position: position, blocking: m.blocking(s)}}
}

func (m *Machine) review(s *State) []step {
	if s.ReviewEvidence == nil {
		return m.failStep(CodeEvidenceInvalid, "the evaluator gave no valid review evidence (inputHashes, workspaceFingerprint, proofArtifactDigest), so no seat can be asked")
	}
	if words := m.unwatchable(s); words != "" {
		return m.failStep(CodeEvidenceInvalid, words)
	}
	if missing := m.missing(s, func(st NodeState) bool { return st.Code == FailEngineUnavailable }); len(missing) > 0 {
		return m.unresolved(missing)
	}
	if steps := m.rebuttals(s); len(steps) > 0 {
		return steps
	}
	if seats := m.candidates(s); len(seats) > 0 {
		return m.dispatchSeats(s, seats)
	}
	if missing := m.missing(s, func(NodeState) bool { return true }); len(missing) > 0 {
		return m.unresolved(missing)
	}
	if m.full() {
		return m.fullReview(s)
	}
	if m.rules.BlockBeforeQuorum && (len(m.blocking(s)) > 0 || !s.GateMet) {
		return m.repairOrEnd(s)
	}
	if m.quorumMet(s) {
		return []step{{kind: KindComplete}}
	}
	return m.withoutQuorum(s)
}

// unwatchable names the first seat that watches a key the evaluator did not
// report.
func (m *Machine) unwatchable(s *State) string {
	if !m.rules.DemandWatchedKeys {
		return ""
	}
	for _, seat := range m.seats {
		if seat.view(s.ReviewEvidence) == nil && !lost(s, seat.id) {
			return fmt.Sprintf("the evaluator did not report all that seat %s watches (%s), so it can not be asked", seat.id, strings.Join(seat.paths, ", "))
		}
	}
	return ""
}

// candidates are the seats to ask, in declaration order.
func (m *Machine) candidates(s *State) []*node {
	var seats []*node
	for _, seat := range m.seats {
		n := m.nodes[seat.id]
		if m.mayAsk(s, n) {
			seats = append(seats, n)
		}
	}
	return seats
}

func (m *Machine) mayAsk(s *State, n *node) bool {
	rec, _ := s.Seats.Get(n.id)
	switch rec.Outcome {
	case OutcomeNone, OutcomeInvalid, OutcomeNonVerdict:
	default:
		return false
	}
	st := m.nodeState(s, n)
	within := m.counted(st) <= m.definition.Data.RetryCapPerNode
	switch st.Status {
	case StatusPending:
		return within || !m.rules.CapEveryAsk
	case StatusFailed:
		return within
	}
	return false
}

func (m *Machine) dispatchSeats(s *State, seats []*node) []step {
	if k := m.definition.Data.SeatConcurrency; int64(len(seats)) > k {
		seats = seats[:k]
	}
	steps := make([]step, 0, len(seats))
	for _, n := range seats {
		attempt := m.nodeState(s, n).Attempts + 1
		steps = append(steps, step{kind: KindDispatch, node: n, position: "review/" + itoa(s.Iteration) + "/" + n.id + "/" + itoa(attempt)})
	}
	return steps
}

// missing names the required seats without a valid answer whose node fits.
func (m *Machine) missing(s *State, fits func(NodeState) bool) []string {
	if !m.rules.MissingSeatStops {
		return nil
	}
	var words []string
	for _, seat := range m.seats {
		rec, _ := s.Seats.Get(seat.id)
		st, _ := s.Nodes.Get(seat.id)
		if rec.Answered || rec.Outcome == OutcomeSkipped || rec.Outcome == OutcomeWaived || !fits(st) {
			continue
		}
		why := "no valid answer"
		if st.Code != "" {
			why = st.Code
		}
		words = append(words, fmt.Sprintf("%s (%s)", seat.id, why))
	}
	return words
}

// unresolved ends a basic run and pauses a full one.
func (m *Machine) unresolved(missing []string) []step {
	words := "seats without a valid answer: " + strings.Join(missing, ", ")
	if m.full() {
		return m.pauseStep(PauseUnresolved, words)
	}
	return m.failStep(CodeSeatUnresolved, words)
}

// withoutQuorum is the form's order once the quorum test failed.
func (m *Machine) withoutQuorum(s *State) []step {
	if blocking := m.blocking(s); len(blocking) > 0 {
		if ids := m.escalated(s, blocking); len(ids) > 0 {
			return m.failStep(CodeEscalated, "findings came back too often: "+strings.Join(ids, ", "))
		}
		if s.Restarts >= m.repairLimit {
			return m.exhausted(s)
		}
		if m.waiting(s, m.repair) {
			return m.dispatchRepair(s)
		}
	}
	var open []string
	for _, seat := range m.seats {
		if rec, _ := s.Seats.Get(seat.id); rec.Outcome == OutcomeNone || rec.Outcome == OutcomeNonVerdict {
			open = append(open, seat.id)
		}
	}
	if len(open) > 0 {
		return m.pauseStep(PauseUnresolved, "seats unresolved after their retries: "+strings.Join(open, ", "))
	}
	return m.failStep(CodeUnreachable, m.quorumWords(s))
}

// blocking lists the findings of every seat that blocks, in declaration order;
// under full those that stand in the ledger.
func (m *Machine) blocking(s *State) []Blocking {
	var found []Blocking
	if m.full() {
		for _, id := range s.Review.Standing {
			st, _ := s.Review.Findings.Get(id)
			found = append(found, Blocking{ID: id, Kind: st.Kind, Evidence: st.Evidence, Severity: st.Severity, Seat: st.RaisedBy[0].Seat})
		}
		return found
	}
	for _, seat := range m.seats {
		rec, _ := s.Seats.Get(seat.id)
		if rec.Verdict != VerdictFindings {
			continue
		}
		for _, f := range rec.Findings {
			found = append(found, Blocking{ID: f.ID, Kind: f.Kind, Evidence: f.Evidence, Severity: f.Severity, Seat: seat.id})
		}
	}
	return found
}

// escalated lists the blocking findings that were counted too often, once each.
func (m *Machine) escalated(s *State, blocking []Blocking) []string {
	var ids []string
	named := map[string]bool{}
	limit := int64(m.rules.EscalateAt)
	for _, b := range blocking {
		if rounds, _ := s.FindingRounds.Get(b.ID); limit > 0 && rounds >= limit && !named[b.ID] {
			named[b.ID] = true
			ids = append(ids, b.ID)
		}
	}
	return ids
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
