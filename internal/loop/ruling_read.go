package loop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"conclave/internal/convergence"
)

// RulingRequest is a person's answer to one question, as the signal `ruling`
// and the update `rule` bring it.
type RulingRequest struct {
	// Finding is the finding's id, SIZE, PROTECTED or BUDGET.
	Finding string `json:"finding"`
	// Decision is stand, fix or abort.
	Decision string `json:"decision"`
	// Reason is required for a finding.
	Reason string `json:"reason,omitempty"`
	By     string `json:"by,omitempty"`
	// RequestID makes the ruling idempotent; without it the question is its key.
	RequestID string `json:"request_id,omitempty"`
	// Head, where it is given, is the tree or the commit that the ruling is about.
	Head string `json:"head,omitempty"`
}

// Bounds of what a ruling may hold, in bytes: it is kept in the run's state for ever.
const (
	rulingLimit = 16 << 10
	reasonLimit = 2000
	wordLimit   = 200
)

var rulingKeys = []string{"finding", "decision", "reason", "by", "request_id", "head"}

// ReadRuling reads the payload of a ruling. It refuses whatever could make it
// mean something else than its sender wanted: other types, other keys, more than
// one value. The error says what is wrong, in words for its sender.
func ReadRuling(payload []byte) (RulingRequest, error) {
	var r RulingRequest
	switch trimmed := bytes.TrimSpace(payload); {
	case len(trimmed) == 0:
		return r, errors.New("it is empty; a ruling is a JSON object with finding, decision and reason")
	case len(trimmed) > rulingLimit:
		return r, fmt.Errorf("it is longer than %d bytes", rulingLimit)
	case !utf8.Valid(trimmed):
		return r, errors.New("it is not UTF-8")
	case trimmed[0] != '{':
		return r, errors.New("it is not a JSON object")
	}
	if err := checkKeys(payload); err != nil {
		return r, err
	}
	if err := json.Unmarshal(payload, &r); err != nil {
		var mistyped *json.UnmarshalTypeError
		if errors.As(err, &mistyped) {
			return RulingRequest{}, fmt.Errorf("%q must be a text and is a %s", mistyped.Field, mistyped.Value)
		}
		return RulingRequest{}, fmt.Errorf("it is not JSON: %w", err)
	}
	r.Finding, r.Decision, r.Reason = strings.TrimSpace(r.Finding), strings.TrimSpace(r.Decision), strings.TrimSpace(r.Reason)
	r.By, r.RequestID, r.Head = strings.TrimSpace(r.By), strings.TrimSpace(r.RequestID), strings.TrimSpace(r.Head)
	return r, r.check()
}

// checkKeys refuses keys that nobody would read, and keys that come twice.
func checkKeys(payload []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(payload))
	if _, err := decoder.Token(); err != nil {
		return fmt.Errorf("it is not JSON: %w", err)
	}
	seen := map[string]bool{}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return fmt.Errorf("it is not JSON: %w", err)
		}
		key, _ := token.(string) // an object's key always is one
		switch {
		case !isRulingKey(key):
			return fmt.Errorf("the key %q is unknown; a ruling has %s", shorten(key, wordLimit), strings.Join(rulingKeys, ", "))
		case seen[key]:
			return fmt.Errorf("the key %q comes twice", key)
		}
		seen[key] = true
		var skipped json.RawMessage
		if err := decoder.Decode(&skipped); err != nil {
			return fmt.Errorf("it is not JSON: %w", err)
		}
	}
	if _, err := decoder.Token(); err != nil {
		return fmt.Errorf("it is not JSON: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON object")
	}
	return nil
}

func isRulingKey(key string) bool {
	for _, known := range rulingKeys {
		if key == known {
			return true
		}
	}
	return false
}

// check refuses what can answer no question at all.
func (r RulingRequest) check() error {
	switch {
	case r.Finding == "":
		return errors.New("finding is missing: a finding's id, SIZE, PROTECTED or BUDGET")
	case r.Decision == "":
		return errors.New("decision is missing: stand, fix or abort")
	}
	for _, word := range []struct{ name, text string }{{"finding", r.Finding}, {"by", r.By}, {"request_id", r.RequestID}, {"head", r.Head}} {
		if len(word.text) > wordLimit {
			return fmt.Errorf("%s is longer than %d bytes", word.name, wordLimit)
		}
	}
	if len(r.Reason) > reasonLimit {
		return fmt.Errorf("reason is longer than %d bytes", reasonLimit)
	}
	switch r.Decision {
	case convergence.DecisionStand, convergence.DecisionFix, convergence.DecisionAbort:
	default:
		return fmt.Errorf("the decision %q is none of stand, fix, abort", r.Decision)
	}
	if isHostSubject(r.Finding) {
		if r.Decision == convergence.DecisionFix {
			return fmt.Errorf("%s cannot be answered with fix: stand goes on, abort ends the run", r.Finding)
		}
		return nil
	}
	if r.Reason == "" {
		return errors.New("reason is missing: a ruling on a finding needs one")
	}
	return nil
}

// isHostSubject says that the subject is one of our own questions and no finding.
func isHostSubject(subject string) bool {
	switch subject {
	case convergence.SubjectSize, convergence.SubjectProtected, convergence.SubjectBudget:
		return true
	}
	return false
}

// shorten cuts a text to at most limit bytes of valid UTF-8 without control characters.
func shorten(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit-len("…")], "") + "…"
}
