package convergence

import "encoding/json"

// Kinds of commands.
const (
	KindDispatch  = "dispatch"
	KindPause     = "pause"
	KindComplete  = "complete"
	KindFail      = "fail"
	KindConfirm   = "confirm"
	KindArbitrate = "arbitrate"
	KindAsk       = "ask"
)

// Codes of a fail command.
const (
	CodeNodeFailed      = "CONVERGENCE_NODE_FAILED"
	CodeExhausted       = "CONVERGENCE_EXHAUSTED"
	CodeEvidenceInvalid = "CONVERGENCE_REVIEW_EVIDENCE_INVALID"
	CodeEscalated       = "FINDING_ESCALATED"
	CodeUnreachable     = "QUORUM_UNREACHABLE"
	// The following end runs under conclave/v1 only.
	CodeNoChange       = "NO_CHANGE"
	CodeStalled        = "STALLED"
	CodeSeatUnresolved = "SEAT_UNRESOLVED"
	CodeRulingAbort    = "RULING_ABORT"
	CodeInvalidState   = "INVALID_STATE"
)

// Codes of a pause command, where the rules let it carry one.
const (
	PauseInterrupted = "interrupted"
	PauseUnavailable = "engine-unavailable"
	PauseLimit       = "limit"
	PauseNode        = "node-paused"
	PauseUnresolved  = "seat-unresolved"
)

// Command is one thing to do next. Only the fields of its kind are set:
//
//	dispatch   nodeId, position, input
//	confirm    nodeId, position, input, findings (one)
//	arbitrate  nodeId, position, input, findings
//	ask        subjects, reason
//	pause      reason, and code under conclave/v1
//	complete   output
//	fail       code, message
type Command struct {
	Kind     string          `json:"kind"`
	NodeID   string          `json:"nodeId,omitempty"`
	Position string          `json:"position,omitempty"`
	Input    json.RawMessage `json:"input,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Code     string          `json:"code,omitempty"`
	Message  string          `json:"message,omitempty"`
	Output   json.RawMessage `json:"output,omitempty"`
	Findings []string        `json:"findings,omitempty"`
	Subjects []string        `json:"subjects,omitempty"`
}

// step is a decision before its input and output are written: Reduce needs to
// know positions only.
type step struct {
	kind     string
	node     *node  // of a node's dispatch
	nodeID   string // of a turn: whose engine it borrows
	laneID   string
	scope    string
	position string
	findings []string
	subjects []string
	reason   string
	code     string
	message  string
	blocking []Blocking
}

// Blocking is a finding that stands against the end, with the seat that raised it.
type Blocking struct {
	ID       string `json:"id"`
	Kind     string `json:"kind"`
	Evidence string `json:"evidence"`
	Seat     string `json:"seat,omitempty"`
	Severity string `json:"severity,omitempty"`
}

func (m *Machine) failStep(code, message string) []step {
	return []step{{kind: KindFail, code: code, message: message}}
}

func (m *Machine) pauseStep(code, reason string) []step {
	return []step{{kind: KindPause, code: code, reason: reason}}
}
