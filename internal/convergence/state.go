package convergence

// StateSchema is the version of State's JSON. A state of another schema must
// not be folded further.
const StateSchema = 1

// Phase is where a run stands. The zero value is no phase.
type Phase string

// The phases of the form.
const (
	PhaseBody    Phase = "body"    // writing and verifying
	PhaseReview  Phase = "review"  // asking seats
	PhaseSettled Phase = "settled" // limits spent
)

// Status is where a node's latest attempt stands. The zero value is no status.
type Status string

// The statuses of a node.
const (
	StatusPending  Status = "pending"
	StatusInFlight Status = "in-flight"
	StatusPaused   Status = "paused"
	StatusPassed   Status = "passed"
	StatusFailed   Status = "failed"
)

// Outcome is what became of a seat; "" is the form's null: not asked yet, or no
// verdict in its answer.
type Outcome string

// The outcomes of a seat.
const (
	OutcomeNone       Outcome = ""
	OutcomeInvalid    Outcome = "invalid"
	OutcomeNonVerdict Outcome = "non-verdict"
	OutcomeSkipped    Outcome = "skipped"
	OutcomeWaived     Outcome = "waived" // by a person, conclave/v1 only
	OutcomeValid      Outcome = "valid"
)

// Verdict is the word a seat answered with; "" when it was none of the three.
type Verdict string

// The verdicts of a seat.
const (
	VerdictNone          Verdict = ""
	VerdictLowConfidence Verdict = "low-confidence"
	VerdictFindings      Verdict = "findings"
	VerdictPass          Verdict = "pass"
)

// State is all a run's events amount to. It is plain JSON: what a query returns,
// what continue-as-new carries. Treat it as a value; Reduce never changes one.
type State struct {
	Schema    int   `json:"schema"`
	Phase     Phase `json:"phase"`
	Iteration int64 `json:"iteration"`
	Restarts  int64 `json:"restarts"`

	Nodes Map[NodeState] `json:"nodes"`
	Seats Map[SeatState] `json:"seats"`

	EngineReceiptRejections List[Rejection] `json:"engineReceiptRejections,omitzero"`
	WriterProviders         []string        `json:"writerProviders,omitempty"`
	WriterModelFamilies     []string        `json:"writerModelFamilies,omitempty"`

	// ReviewEvidence is what reviews are bound to; nil without valid evidence.
	ReviewEvidence *Evidence `json:"reviewEvidence"`
	// GateMet is the last evaluator's word.
	GateMet bool `json:"gateMet"`
	// FindingRounds counts, per finding id, what Rules.CountReturns says.
	FindingRounds Map[int64] `json:"findingRounds,omitzero"`

	PauseReason string `json:"pauseReason,omitempty"`
	PauseCode   string `json:"pauseCode,omitempty"`

	// Failure ends the run whatever else holds (conclave/v1).
	Failure *Failure `json:"failure,omitempty"`
	// Batch holds the decided positions of the running batch that were not
	// dispatched yet (Rules.DecidedDispatchOnly).
	Batch []string `json:"batch,omitempty"`
	// FindingSeen is the last iteration each finding id was raised in
	// (Rules.CountReturns).
	FindingSeen Map[int64] `json:"findingSeen,omitzero"`
	// Trees maps each snapshot a writer left to the iteration it was first seen
	// in (Rules.WritersReportTree).
	Trees Map[int64] `json:"trees,omitzero"`
	// Waived counts waived voting seats: each takes its place out of the quorum.
	Waived int64 `json:"waived,omitempty"`
	// Review is the ledger of a full run, and the questions of any.
	Review ReviewState `json:"review,omitzero"`
}

// Failure is an end that an event decided.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// NodeState is where one node stands.
type NodeState struct {
	Status Status `json:"status"`
	// Attempts counts dispatches over the whole run; positions are built on it.
	Attempts int64 `json:"attempts"`
	// RoundAttempts counts those of this round that count against the cap.
	RoundAttempts int64 `json:"roundAttempts,omitempty"`
	// InFlight is the position of the running or paused attempt.
	InFlight string `json:"inFlight,omitempty"`
	// Receipt is the last accepted engine receipt of that position. Receipts of
	// finished positions are not kept: no event can refer to them again.
	Receipt *Receipt `json:"receipt,omitempty"`
	// Code is why the latest attempt failed.
	Code string `json:"code,omitempty"`
}

// Receipt is the identity an engine call reported; empty texts are unknown.
type Receipt struct {
	Sequence    int64  `json:"sequence"`
	Provider    string `json:"provider,omitempty"`
	ModelFamily string `json:"modelFamily,omitempty"`
}

// SeatState is what a seat last said.
type SeatState struct {
	Outcome    Outcome  `json:"outcome,omitempty"`
	Verdict    Verdict  `json:"verdict,omitempty"`
	Confidence *float64 `json:"confidence,omitempty"`
	// Provider and ModelFamily come from the last receipt of the attempt, never
	// from the answer; empty is unknown.
	Provider    string `json:"provider,omitempty"`
	ModelFamily string `json:"modelFamily,omitempty"`
	// The evidence the seat echoed, reduced to what it watches.
	*Evidence
	Findings []Finding `json:"findings,omitempty"`
	// Stale marks a running attempt whose answer will be discarded.
	Stale bool `json:"stale,omitempty"`
	// Answered: the seat gave a valid answer on current evidence, whatever it says.
	Answered bool `json:"answered,omitempty"`
	// Reason is why a person waived the seat.
	Reason string `json:"reason,omitempty"`
	// Judged is the workspace fingerprint of the seat's last valid answer; it
	// survives being asked again (full: what a recheck's diff starts from).
	Judged string `json:"judged,omitempty"`
}

// forgotten is the record of a seat whose answer does not stand any more.
func (rec SeatState) forgotten(outcome Outcome) SeatState {
	return SeatState{Outcome: outcome, Judged: rec.Judged}
}

// Finding is what a seat reported. Texts beyond these are kept by the ledger of
// internal/review.
type Finding struct {
	ID       string `json:"id"`
	Kind     string `json:"kind"`
	Severity string `json:"severity,omitempty"`
	Evidence string `json:"evidence"`
}

// Rejection is a receipt that did not fit, and the first reason why.
type Rejection struct {
	Code     string `json:"code"`
	NodeID   string `json:"nodeId"`
	Position string `json:"position"`
	Sequence int64  `json:"sequence"`
	Reason   string `json:"reason"`
}

// Initial returns the state before any event.
func (m *Machine) Initial() State {
	s := State{Schema: StateSchema, Phase: PhaseBody, Iteration: 1}
	for _, n := range m.order {
		s.Nodes = s.Nodes.With(n.id, NodeState{Status: StatusPending})
		if n.seat != nil {
			s.Seats = s.Seats.With(n.id, SeatState{})
		}
	}
	return s
}
