package review

import "encoding/json"

// Confirmation is a confirmer's word on one finding. With Problems it is no word at all, and Confirmed is then true:
// a reader who forgets to look at Problems must not take a broken answer for a refutation.
type Confirmation struct {
	Finding   string `json:"finding"`
	Confirmed bool   `json:"confirmed"`
	Reason    string `json:"reason,omitempty"`
	// Problems says why the answer does not count, one sentence each, fit for the prompt that asks again.
	Problems []string `json:"problems,omitempty"`
}

// Refuted reports whether a valid answer refutes the finding. The zero Confirmation refutes nothing.
func (c Confirmation) Refuted() bool {
	return c.Finding != "" && !c.Confirmed && len(c.Problems) == 0
}

// ParseConfirm reads whether a confirmer upholds a finding. The answer must name that finding, echo the token of the
// prompt and say true or false; a refutation needs a reason. Two answers that contradict each other are none.
func ParseConfirm(message []byte, structured []byte, finding, token string) Confirmation {
	d := newDocument(message)
	found := d.locate(structured, confirmedKey)
	var answer Confirmation
	switch {
	case found.problem != "":
		answer.Problems = []string{found.problem}
	case found.object == nil:
		answer.Problems = []string{`no answer: the message holds no JSON object with "confirmed"`}
	case d.rivals(structured, confirmedKey):
		answer.Problems = []string{moreAnswers}
	default:
		answer = readConfirmation(found.object, finding, token)
	}
	if len(answer.Problems) > 0 {
		answer.Finding, answer.Confirmed = finding, true
	}
	return answer
}

func readConfirmation(o object, finding, token string) Confirmation {
	r := reader{object: o}
	answer := Confirmation{
		Finding: get[string](&r, r.object, "", "finding"),
		Reason:  trimmed(&r, r.object, "", "reason"),
	}
	switch confirmed := get[*bool](&r, r.object, "", confirmedKey); {
	case confirmed == nil:
		r.problem("confirmed is neither true nor false")
	case answer.Reason == "" && !*confirmed:
		r.problem("reason is empty: say what refutes the finding")
	default:
		answer.Confirmed = *confirmed
	}
	if finding == "" || answer.Finding != finding {
		r.problem("finding is %q and not %q, which the prompt asks about", answer.Finding, finding)
	}
	r.problems = append(r.problems, judgeToken(Answer{Evidence: get[string](&r, r.object, "", "evidence")}, AnswerContext{Token: token})...)
	answer.Problems = r.problems
	return answer
}

// rawList decodes a list of objects, keeping each element's bytes.
func rawList(r *reader, key string) []json.RawMessage {
	return get[[]json.RawMessage](r, r.object, "", key)
}
