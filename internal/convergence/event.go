package convergence

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Event types that Reduce understands. Any other type is ignored.
const (
	EventDispatched  = "node-dispatched"         // {nodeId, position}
	EventEngine      = "engine-attempt-recorded" // {nodeId, position, sequence, requested, effective}
	EventCompleted   = "node-completed"          // {nodeId, position, result}
	EventFailed      = "node-failed"             // {nodeId, position, code}
	EventPaused      = "node-paused"             // {nodeId, position, reason, request}
	EventResumed     = "node-resumed"            // {nodeId, position}
	EventInvalidated = "seat-invalidated"        // {seatId, reason}
	EventLimit       = "limit-paused"            // {reason}

	// The following exist under rule sets with Resumable only.
	EventRunResumed   = "run-resumed"   // {reason}
	EventSeatReopened = "seat-reopened" // {seatId}
	EventSeatWaived   = "seat-waived"   // {seatId, reason}

	EventQuestion = "question-raised" // {subject}: SIZE, PROTECTED or BUDGET
	EventRuling   = "ruling-recorded" // {finding, decision}, the position of an arbitration if an arbiter ruled, by if a deadline did
	EventBudget   = "budget-extended" // {}: answers BUDGET

	// Under the full discipline these close a confirm turn, as node-completed
	// with a result of {confirmed: true|false} does.
	EventConfirmed = "finding-confirmed" // {finding, position}
	EventRefuted   = "finding-refuted"   // {finding, position}
)

// Codes of a node-failed event, as far as our host gives them. The machine treats the first two apart from the rest.
const (
	FailAborted            = "ABORTED"
	FailEngineUnavailable  = "ENGINE_UNAVAILABLE"
	FailTimeout            = "TIMEOUT"
	FailEffect             = "EFFECT_FAILED" // trouble of the host's own, or of the way to the engine
	FailResultInvalid      = "RESULT_INVALID"
	FailResultTooLarge     = "RESULT_TOO_LARGE"
	FailWorkspaceViolation = "WORKSPACE_VIOLATION"
)

// Event is one recorded fact. Version is at least 1.
type Event struct {
	Type    string          `json:"type"`
	Version int             `json:"version"`
	Payload json.RawMessage `json:"payload"`
}

// NewEvent returns an event of version 1. It panics when the payload has no JSON
// form: that is a bug of the caller, and dropping the event would lose a fact.
func NewEvent(typ string, payload any) Event {
	raw, err := json.Marshal(payload)
	if err != nil {
		panic(fmt.Sprintf("convergence: payload of %s: %v", typ, err))
	}
	return Event{Type: typ, Version: 1, Payload: raw}
}

// ParseEvents reads a JSON array of events. Each must have exactly type,
// version (an integer of at least 1) and payload; every problem is returned in one
// *ValidationError.
func ParseEvents(raw []byte) ([]Event, error) {
	root, issues := parseValue(string(raw))
	if len(issues) > 0 {
		return nil, &ValidationError{Issues: issues}
	}
	var r report
	if root.kind() != kindArray {
		r.add(CodeInvalidEvent, "", "must be a list of events")
		return nil, r.err()
	}
	events := make([]Event, 0, root.count())
	for i, item := range root.items() {
		events = append(events, readEvent(&r, item, "/"+strconv.Itoa(i)))
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return events, nil
}

func readEvent(r *report, v value, path string) Event {
	if v.kind() != kindObject {
		r.add(CodeInvalidEvent, path, "must be an object with type, version and payload")
		return Event{}
	}
	for _, field := range v.items() {
		if name := field.name(); name != "type" && name != "version" && name != "payload" {
			r.add(CodeInvalidEvent, path+"/"+escapePointer(name), "is not part of an event: type, version and payload are")
		}
	}
	typ := v.get("type")
	if !typ.isText() || typ.text() == "" {
		r.add(CodeInvalidEvent, path+"/type", "must be a text that is not empty")
	}
	version, ok := v.get("version").safeInteger()
	if !ok || version < 1 {
		r.add(CodeInvalidEvent, path+"/version", "must be an integer of at least 1")
	}
	payload := v.get("payload")
	if payload.kind() == kindAbsent {
		r.add(CodeInvalidEvent, path+"/payload", "is missing")
	}
	return Event{Type: typ.text(), Version: int(version), Payload: appendCanonical(nil, payload)}
}
