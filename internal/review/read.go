package review

import (
	"encoding/json"
	"fmt"
	"strings"
)

// reader turns an answer's object into an Answer and notes every key that has the wrong form.
type reader struct {
	object   object
	problems []string
}

func (r *reader) problem(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

func (r *reader) answer() Answer {
	a := Answer{
		Confidence: r.confidence(),
		Evidence:   get[string](r, r.object, "", "evidence"),
		Reviewed:   get[[]string](r, r.object, "", "reviewed"),
	}
	word := get[string](r, r.object, "", "verdict")
	switch word {
	case "pass":
		a.Verdict = Pass
	case "block":
		a.Verdict = Block
	default:
		r.problem("no verdict: verdict is %q and not pass or block", word)
	}
	for i, raw := range get[[]json.RawMessage](r, r.object, "", "findings") {
		a.Findings = append(a.Findings, r.finding(fmt.Sprintf("findings[%d].", i), raw))
	}
	for i, raw := range get[[]json.RawMessage](r, r.object, "", "rechecked") {
		a.Rechecked = append(a.Rechecked, r.recheck(fmt.Sprintf("rechecked[%d].", i), raw))
	}
	return a
}

func (r *reader) confidence() *float64 {
	c := get[*float64](r, r.object, "", "confidence")
	if c != nil && (*c < 0 || *c > 1) {
		r.problem("confidence %v is not between 0 and 1", *c)
		return nil
	}
	return c
}

func (r *reader) finding(at string, raw json.RawMessage) Finding {
	o, err := decodeObject(raw)
	if err != nil {
		r.problem("%s cannot be read: %v", at[:len(at)-1], err)
		return Finding{}
	}
	f := Finding{
		Severity:   severityWords.find(get[string](r, o, at, "severity")),
		Kind:       Patch, // a finding that asks nothing of anybody is a patch
		Title:      get[string](r, o, at, "title"),
		Claim:      get[string](r, o, at, "claim"),
		Rule:       get[string](r, o, at, "rule"),
		Affects:    get[[]string](r, o, at, "affects"),
		Suggestion: get[string](r, o, at, "suggestion"),
	}
	if f.Severity == SeverityInvalid {
		r.problem("%sseverity is not high, medium or low", at)
	}
	if word := get[string](r, o, at, "kind"); word != "" {
		if f.Kind = kindWords.find(word); f.Kind == KindInvalid {
			r.problem("%skind %q is not patch or decision", at, word)
		}
	}
	if f.Title == "" && f.Claim == "" {
		r.problem("%stitle and claim are empty", at)
	}
	for i, raw := range get[[]json.RawMessage](r, o, at, "evidence") {
		f.Evidence = append(f.Evidence, r.evidence(fmt.Sprintf("%sevidence[%d].", at, i), raw))
	}
	return f
}

func (r *reader) evidence(at string, raw json.RawMessage) Evidence {
	o, err := decodeObject(raw)
	if err != nil {
		r.problem("%s cannot be read: %v", at[:len(at)-1], err)
		return Evidence{}
	}
	return Evidence{
		Path:    get[string](r, o, at, "path"),
		Line:    get[int](r, o, at, "line"),
		EndLine: get[int](r, o, at, "end_line"),
		Quote:   get[string](r, o, at, "quote"),
	}
}

func (r *reader) recheck(at string, raw json.RawMessage) Recheck {
	o, err := decodeObject(raw)
	if err != nil {
		r.problem("%s cannot be read: %v", at[:len(at)-1], err)
		return Recheck{}
	}
	c := Recheck{
		Finding: get[string](r, o, at, "finding"),
		Status:  recheckWords.find(get[string](r, o, at, "status")),
		Reason:  get[string](r, o, at, "reason"),
	}
	if c.Finding == "" {
		r.problem("%sfinding is empty", at)
	}
	if c.Status == RecheckInvalid {
		r.problem("%sstatus is not addressed or not-addressed", at)
	}
	return c
}

// get decodes one key; a missing or null key is the zero value, a value of another type a problem.
func get[T any](r *reader, o object, at, key string) T {
	var value T
	raw, ok := o[key]
	if !ok {
		return value
	}
	if err := json.Unmarshal(raw, &value); err != nil {
		r.problem("%s%s has the wrong type: %v", at, key, err)
		var zero T
		return zero
	}
	return value
}

// trimmed decodes a key whose value means nothing when it is blank: without blanks around it.
func trimmed(r *reader, o object, at, key string) string {
	return strings.TrimSpace(get[string](r, o, at, key))
}
