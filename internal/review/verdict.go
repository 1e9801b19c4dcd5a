package review

import "fmt"

// Verdict is what a reviewer concludes. The zero value is Invalid, so a verdict that was never set accepts nothing.
type Verdict int

const (
	// Invalid means that no verdict could be read.
	Invalid Verdict = iota
	// Pass means that the reviewer found nothing that must be fixed.
	Pass
	// Block means that the reviewer found something that must be fixed.
	Block
)

// String returns "invalid", "pass" or "block".
func (v Verdict) String() string {
	switch v {
	case Pass:
		return "pass"
	case Block:
		return "block"
	default:
		return "invalid"
	}
}

// MarshalText writes the verdict as its word.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads "invalid", "pass" or "block" and refuses every other word.
func (v *Verdict) UnmarshalText(text []byte) error {
	for _, known := range []Verdict{Invalid, Pass, Block} {
		if known.String() == string(text) {
			*v = known
			return nil
		}
	}
	*v = Invalid
	return fmt.Errorf("verdict %q is none of invalid, pass, block", text)
}

// Mode says what a text without a verdict line means. The zero value is Strict.
type Mode int

const (
	// Strict makes a text without a verdict line invalid.
	Strict Mode = iota
	// Heuristic falls back to the phrases of the text.
	Heuristic
)

// String returns "strict" or "heuristic".
func (m Mode) String() string {
	if m == Heuristic {
		return "heuristic"
	}
	return "strict"
}

// MarshalText writes the mode as its word.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads "strict" or "heuristic".
func (m *Mode) UnmarshalText(text []byte) error {
	parsed, err := ParseMode(string(text))
	*m = parsed
	return err
}

// ParseMode reads a mode's word; the error names the two that exist.
func ParseMode(s string) (Mode, error) {
	switch s {
	case "strict":
		return Strict, nil
	case "heuristic":
		return Heuristic, nil
	}
	return Strict, fmt.Errorf("verdict mode %q is unknown: use strict or heuristic", s)
}

// VerdictLine is the verdict of one message and where it stands.
type VerdictLine struct {
	Verdict Verdict `json:"verdict"`
	// Line is the 1-based line of the given text, 0 where no line decided.
	Line int `json:"line"`
	// Reason says in one sentence why the verdict is what it is.
	Reason string `json:"reason"`
	// Doubt is set where the counted verdict is contradicted by a later verdict line that an unclosed fence or
	// comment swallowed. The line rule ignores it; ParseReview does not let a pass stand on it.
	Doubt string `json:"-"`
}

// ParseVerdict finds the last verdict line of a message. A line counts when it says exactly VERDICT: PASS or
// VERDICT: BLOCK under its Markdown marks, and stands in a block that speaks for the author: prose, lists and headings,
// or a fence that ends the message and holds nothing else.
func ParseVerdict(text []byte, mode Mode) VerdictLine { return newDocument(text).verdict(mode) }

func (d *document) verdict(mode Mode) VerdictLine {
	sightings := d.sightings()
	if counted, ok := last(sightings, sighting.counts); ok {
		return VerdictLine{
			Verdict: counted.verdict,
			Line:    counted.line,
			Reason:  counted.kind.why(),
			Doubt:   doubtOf(sightings, counted),
		}
	}
	if d.empty() {
		return VerdictLine{Reason: "the text is empty"}
	}
	if mode == Heuristic {
		return byPhrase(d.lines)
	}
	if shadow, ok := last(sightings, func(sighting) bool { return true }); ok {
		return VerdictLine{Reason: fmt.Sprintf("no verdict line: line %d %s", shadow.line, shadow.kind.why())}
	}
	return VerdictLine{Reason: "no verdict line"}
}

// doubtOf looks behind the counted verdict for a different one that the author probably meant to count.
func doubtOf(all []sighting, counted sighting) string {
	hidden, ok := last(all, func(s sighting) bool {
		return s.unclosed && s.line > counted.line && s.verdict != counted.verdict
	})
	if !ok {
		return ""
	}
	return fmt.Sprintf("line %d says %s inside a %s that is never closed", hidden.line, hidden.verdict, hidden.kind)
}

func last(all []sighting, keep func(sighting) bool) (sighting, bool) {
	for i := len(all) - 1; i >= 0; i-- {
		if keep(all[i]) {
			return all[i], true
		}
	}
	return sighting{}, false
}
