package review

// Severity is how much a finding matters. The zero value is no severity.
type Severity int

const (
	// SeverityInvalid is the severity of a finding that states none.
	SeverityInvalid Severity = iota
	// High findings must be fixed.
	High
	// Medium findings are logged.
	Medium
	// Low findings are logged.
	Low
)

var severityWords = words[Severity]{"severity", []string{"invalid", "high", "medium", "low"}}

// String returns "invalid", "high", "medium" or "low".
func (s Severity) String() string { return severityWords.of(s) }

// MarshalText writes the severity as its word.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a severity's word and refuses any other.
func (s *Severity) UnmarshalText(text []byte) error { return severityWords.read(s, text) }

// FindingKind says who can settle a finding. The zero value is no kind.
type FindingKind int

const (
	// KindInvalid is the kind of a finding that states an unknown one.
	KindInvalid FindingKind = iota
	// Patch findings are settled by a change of the code.
	Patch
	// Decision findings need somebody to decide before any change helps.
	Decision
)

var kindWords = words[FindingKind]{"kind", []string{"invalid", "patch", "decision"}}

// String returns "invalid", "patch" or "decision".
func (k FindingKind) String() string { return kindWords.of(k) }

// MarshalText writes the kind as its word.
func (k FindingKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a kind's word and refuses any other.
func (k *FindingKind) UnmarshalText(text []byte) error { return kindWords.read(k, text) }

// RecheckStatus is a reviewer's word on a finding that was to be repaired. The zero value says nothing.
type RecheckStatus int

const (
	// RecheckInvalid is no statement.
	RecheckInvalid RecheckStatus = iota
	// Addressed means that the fix removes the finding.
	Addressed
	// NotAddressed means that the finding still holds; attempted is not addressed.
	NotAddressed
)

var recheckWords = words[RecheckStatus]{"status", []string{"invalid", "addressed", "not-addressed"}}

// String returns "invalid", "addressed" or "not-addressed".
func (r RecheckStatus) String() string { return recheckWords.of(r) }

// MarshalText writes the status as its word.
func (r RecheckStatus) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a status's word and refuses any other.
func (r *RecheckStatus) UnmarshalText(text []byte) error { return recheckWords.read(r, text) }

// Evidence is a place in the code that shows a finding.
type Evidence struct {
	Path    string `json:"path"`
	Line    int    `json:"line,omitempty"`     // 1-based, 0 where the whole file is meant
	EndLine int    `json:"end_line,omitempty"` // 0 where one line is meant
	Quote   string `json:"quote,omitempty"`
}

// Finding is one problem that a reviewer claims.
type Finding struct {
	Severity   Severity    `json:"severity"`
	Kind       FindingKind `json:"kind"`
	Title      string      `json:"title"`
	Claim      string      `json:"claim"`
	Evidence   []Evidence  `json:"evidence,omitempty"`
	Rule       string      `json:"rule,omitempty"`
	Affects    []string    `json:"affects,omitempty"`
	Suggestion string      `json:"suggestion,omitempty"`
}

// Recheck is a reviewer's statement on one finding after a repair.
type Recheck struct {
	Finding string        `json:"finding"`
	Status  RecheckStatus `json:"status"`
	Reason  string        `json:"reason,omitempty"`
}

// Answer is what a reviewer answered, judged. With Problems its verdict is Invalid.
type Answer struct {
	Verdict    Verdict   `json:"verdict"`
	Confidence *float64  `json:"confidence"` // 0 to 1, nil where the answer states none
	Evidence   string    `json:"evidence,omitempty"`
	Reviewed   []string  `json:"reviewed,omitempty"`
	Findings   []Finding `json:"findings,omitempty"`
	Rechecked  []Recheck `json:"rechecked,omitempty"`
	// TextOnly is set where the verdict line alone decided. Such an answer echoes no evidence: the host binds it.
	TextOnly bool `json:"text_only,omitempty"`
	// Problems says why the answer is invalid, one sentence each, fit for the prompt that asks again.
	Problems []string `json:"problems,omitempty"`
}

// AnswerContext is what an answer is held against.
type AnswerContext struct {
	Token   string   // the evidence token of the prompt; without one no JSON answer is valid
	Changed []string // every changed path, deleted ones included
	// Exists reports whether a line of a path stands in the snapshot or in the base; line 0 asks for the path alone.
	// nil refuses every place.
	Exists func(path string, line int) bool
	// RequireFindings refuses answers that are a verdict line only.
	RequireFindings bool
	Mode            Mode // of answers that are a verdict line only
	MaxHigh         int  // most high findings that an answer may hold; 0 means DefaultMaxHigh
	// Recheck are the ids that a recheck must state, each once and no other. Only ParseRecheck reads it.
	Recheck []string
}

const (
	// DefaultMaxHigh is how many high findings one answer may hold.
	DefaultMaxHigh = 20
	// MostHigh is the most that may be configured: all of one answer must fit a history.
	MostHigh = 32
)

// ParseReview reads a reviewer's answer: structured is the engine's structured output, nil where it has none. An
// answer with a JSON object that has a verdict is held to every rule; one without is judged by its verdict line,
// unless findings are required. It never fails: an unreadable answer has Problems.
func ParseReview(message []byte, structured []byte, c AnswerContext) Answer {
	return parse(message, structured, c, judge)
}

// parse reads an answer and holds it against the rules of its role.
func parse(message, structured []byte, c AnswerContext, rules func(Answer, AnswerContext) []string) Answer {
	d := newDocument(message)
	found := d.locate(structured, verdictKey)
	switch {
	case found.problem != "":
		return Answer{Problems: []string{found.problem}}
	case found.object == nil && c.RequireFindings:
		return Answer{Problems: []string{"no verdict: the answer holds no JSON object with a verdict"}}
	case found.object == nil && d.forgotVerdict(structured):
		return Answer{Problems: []string{"no verdict: the JSON answer has none"}}
	case found.object == nil:
		return d.byLine(message, d.verdict(c.Mode))
	}
	return d.byObject(found, func(a Answer) []string { return rules(a, c) })
}

// byObject judges an answer that has a JSON object.
func (d *document) byObject(found located, rules func(Answer) []string) Answer {
	r := reader{object: found.object}
	answer := r.answer()
	answer.Problems = r.problems
	answer.Problems = append(answer.Problems, judgeLine(d.verdict(Strict), found.alone, answer.Verdict)...)
	answer.Problems = append(answer.Problems, rules(answer)...)
	if answer.Verdict == Pass && d.contradicts() {
		answer.Problems = append(answer.Problems, "verdicts differ: the structured output says pass, the message's JSON says block")
	}
	if len(answer.Problems) > 0 {
		answer.Verdict = Invalid
	}
	return answer
}

// byLine judges an answer that is text alone. A block is one finding, the message itself.
func (d *document) byLine(message []byte, line VerdictLine) Answer {
	answer := Answer{Verdict: line.Verdict, TextOnly: true}
	switch {
	case line.Verdict == Pass && d.remains():
		answer.Problems = []string{"the JSON answer cannot be read: it is cut off, broken, or not in a fenced json block of its own"}
	case line.Verdict == Pass && line.Doubt != "":
		answer.Problems = []string{"the verdict is in doubt: " + line.Doubt}
	case line.Verdict == Invalid:
		answer.Problems = []string{line.Reason}
	case line.Verdict == Block:
		answer.Findings = []Finding{{Severity: High, Kind: Patch, Title: "blocking review", Claim: string(message)}}
	}
	if len(answer.Problems) > 0 {
		answer.Verdict = Invalid
	}
	return answer
}
