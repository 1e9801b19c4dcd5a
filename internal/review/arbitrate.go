package review

import "fmt"

// ruling is what an arbiter decides about an open finding. The zero value rules nothing.
type ruling int

const (
	rulingInvalid ruling = iota
	rulingStand          // the code stays as it is, for the reason given
	rulingFix            // the smallest change that unblocks is made
	rulingPerson         // every way forward is a guess: a person rules
)

var rulingWords = words[ruling]{"decision", []string{"invalid", "stand", "fix", "person"}}

// ArbiterRuling is an arbiter's word on one finding.
type ArbiterRuling struct {
	Finding string `json:"finding"`
	// Decision is stand, fix or person.
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
	// Change is the smallest change that unblocks, with the decision fix.
	Change string `json:"change,omitempty"`
}

// Arbitration is an arbiter's answer. With Problems it holds no ruling.
type Arbitration struct {
	Rulings []ArbiterRuling `json:"rulings,omitempty"`
	// Problems says why the answer does not count, one sentence each, fit for the prompt that asks again.
	Problems []string `json:"problems,omitempty"`
}

// moreAnswers is the problem of a message that contradicts itself.
const moreAnswers = "the message holds more than one answer: give exactly one"

// ParseArbitration reads the rulings on the given findings: each must be ruled once, with a reason, and no other. A
// fix names its change. An answer that breaks a rule anywhere rules nothing, also where other parts are readable.
func ParseArbitration(message []byte, structured []byte, findings []string) Arbitration {
	d := newDocument(message)
	found := d.locate(structured, rulingsKey)
	switch {
	case found.problem != "":
		return Arbitration{Problems: []string{found.problem}}
	case found.object == nil:
		return Arbitration{Problems: []string{`no answer: the message holds no JSON object with "rulings"`}}
	case d.rivals(structured, rulingsKey):
		return Arbitration{Problems: []string{moreAnswers}}
	case len(findings) == 0:
		return Arbitration{Problems: []string{"no finding was asked for"}}
	}
	r := reader{object: found.object}
	var rulings []ArbiterRuling
	var ids []string
	for i, raw := range rawList(&r, rulingsKey) {
		one := r.ruling(fmt.Sprintf("rulings[%d].", i), raw)
		rulings, ids = append(rulings, one), append(ids, one.Finding)
	}
	r.problems = append(r.problems, judgeIDs(rulingsKey, ids, findings)...)
	if len(r.problems) > 0 {
		return Arbitration{Problems: r.problems}
	}
	return Arbitration{Rulings: rulings}
}

func (r *reader) ruling(at string, raw []byte) ArbiterRuling {
	o, err := decodeObject(raw)
	if err != nil {
		r.problem("%s cannot be read: %v", at[:len(at)-1], err)
		return ArbiterRuling{}
	}
	one := ArbiterRuling{
		Finding:  get[string](r, o, at, "finding"),
		Decision: get[string](r, o, at, "decision"),
		Reason:   trimmed(r, o, at, "reason"),
		Change:   trimmed(r, o, at, "change"),
	}
	if one.Finding == "" {
		r.problem("%sfinding is empty", at)
	}
	if one.Reason == "" {
		r.problem("%sreason is empty", at)
	}
	switch rulingWords.find(one.Decision) {
	case rulingInvalid:
		r.problem("%sdecision %q is not stand, fix or person", at, one.Decision)
	case rulingFix:
		if one.Change == "" {
			r.problem("%schange is empty: a fix names the smallest change that unblocks", at)
		}
	}
	return one
}
