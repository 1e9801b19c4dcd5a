package loop

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"conclave/internal/convergence"
	"conclave/internal/record"
)

// RulingStatus says what became of a ruling. The zero value is none of them.
type RulingStatus string

// What becomes of a ruling.
const (
	// RulingApplied answered its question.
	RulingApplied RulingStatus = "applied"
	// RulingKept waits for its finding to be asked.
	RulingKept RulingStatus = "kept"
	// RulingRefused changed nothing; the answer says why.
	RulingRefused RulingStatus = "refused"
)

// RulingAnswer is what the update `rule` completes with.
type RulingAnswer struct {
	Status  RulingStatus `json:"status"`
	Finding string       `json:"finding,omitempty"`
	// Number says which question on the finding was answered, from 1.
	Number   int    `json:"number,omitempty"`
	Decision string `json:"decision,omitempty"`
	// Repeated says that the same request was taken in before; nothing was done again.
	Repeated bool `json:"repeated,omitempty"`
	// Why is the reason of a refusal.
	Why string `json:"why,omitempty"`
	// Open lists what is still asked.
	Open []string `json:"open,omitempty"`
}

// Sources of a ruling that names nobody.
const (
	BySignal   = "signal"
	ByUpdate   = "update"
	ByDeadline = convergence.ByDeadline
)

// kept is a ruling that came before its question.
type kept struct {
	RulingRequest
	Raw string `json:"raw"`
}

// Signalled takes in the signal `ruling`, whatever its payload is. What is
// not applied is listed in the record: nobody waits for an answer.
func (p *Progress) Signalled(payload []byte, now time.Time) {
	request, err := ReadRuling(payload)
	if err != nil {
		p.refuse(payload, err.Error(), now)
		return
	}
	if answer := p.rule(request, payload, BySignal, now); answer.Repeated {
		p.refuse(payload, fmt.Sprintf("repeated: request %s was taken in before", request.RequestID), now)
	}
}

// Rule takes in the update `rule` and answers it.
func (p *Progress) Rule(request RulingRequest, now time.Time) RulingAnswer {
	return p.rule(request, rawOf(request), ByUpdate, now)
}

func (p *Progress) rule(request RulingRequest, raw []byte, by string, now time.Time) RulingAnswer {
	if request.By == "" {
		request.By = by
	}
	answer := p.decideRuling(request, raw, now)
	if answer.Status == RulingRefused {
		p.refuse(raw, answer.Why, now)
	}
	for _, q := range p.Run.Questions {
		answer.Open = append(answer.Open, q.Subject)
	}
	return answer
}

// decideRuling applies a ruling, keeps it or refuses it.
func (p *Progress) decideRuling(r RulingRequest, raw []byte, now time.Time) RulingAnswer {
	answer := RulingAnswer{Status: RulingRefused, Finding: r.Finding, Decision: r.Decision}
	if before, ok := p.takenBefore(r); ok {
		return before
	}
	if answer.Why = p.notNow(r); answer.Why != "" {
		return answer
	}
	if i := p.questionOn(r.Finding); i >= 0 {
		answer.Status, answer.Number = RulingApplied, p.Run.Questions[i].Number
		p.apply(r, now)
		return answer
	}
	if answer.Why = p.notKept(r); answer.Why != "" {
		return answer
	}
	p.Desk.Kept = append(p.Desk.Kept, kept{r, shorten(string(raw), rawLimit)})
	answer.Status, answer.Number = RulingKept, p.Desk.Asked[r.Finding]+1
	return answer
}

// takenBefore finds a ruling of the same request.
func (p *Progress) takenBefore(r RulingRequest) (RulingAnswer, bool) {
	if r.RequestID == "" {
		return RulingAnswer{}, false
	}
	for _, k := range p.Desk.Kept {
		if k.RequestID == r.RequestID {
			return repeated(r, k.Finding, k.Decision, RulingKept, p.Desk.Asked[k.Finding]+1), true
		}
	}
	for _, done := range p.Run.Rulings {
		if done.RequestID == r.RequestID {
			return repeated(r, done.Finding, done.Decision, RulingApplied, done.Number), true
		}
	}
	return RulingAnswer{}, false
}

func repeated(r RulingRequest, finding, decision string, status RulingStatus, number int) RulingAnswer {
	if r.Finding != finding || r.Decision != decision {
		return RulingAnswer{Status: RulingRefused, Finding: r.Finding, Decision: r.Decision,
			Why: fmt.Sprintf("the request_id %s was used before: %s on %s", r.RequestID, decision, finding)}
	}
	return RulingAnswer{Status: status, Finding: finding, Decision: decision, Number: number, Repeated: true}
}

// notNow says why a ruling can answer nothing of this run, "" if it may.
func (p *Progress) notNow(r RulingRequest) string {
	switch {
	case p.Run.Stop.Final():
		return fmt.Sprintf("the run has ended: %s", p.Run.Stop.Words())
	case p.Cancel || p.Failure != "":
		return "the run is ending"
	}
	if _, known := p.State.Review.Findings.Get(r.Finding); !known && !isHostSubject(r.Finding) {
		if !p.full() {
			return "a run of discipline basic asks about no finding; " + p.askedNow()
		}
		return fmt.Sprintf("there is no finding %s; %s", r.Finding, p.askedNow())
	}
	if heads := p.heads(); r.Head != "" && !slices.Contains(heads, r.Head) {
		return fmt.Sprintf("stale: it is about %s, the run stands at %s", r.Head, strings.Join(heads, " = "))
	}
	return ""
}

// notKept says why a ruling that nobody asked for cannot be kept until somebody does, "" if it can.
func (p *Progress) notKept(r RulingRequest) string {
	asked := p.Desk.Asked[r.Finding]
	switch st, _ := p.State.Review.Findings.Get(r.Finding); {
	case isHostSubject(r.Finding):
		return fmt.Sprintf("%s is not asked; %s", r.Finding, p.askedNow())
	case st.Status == convergence.FindingRuled:
		return fmt.Sprintf("repeated: %s was ruled to stand%s", r.Finding, p.lastRuling(r.Finding))
	case !slices.Contains(p.State.Review.Standing, r.Finding):
		return fmt.Sprintf("nothing is asked about %s: it is %s", r.Finding, st.Status)
	case slices.ContainsFunc(p.Desk.Kept, func(k kept) bool { return k.Finding == r.Finding }):
		return fmt.Sprintf("repeated: a ruling on %s is kept already, and the first one counts", r.Finding)
	case asked > 0 && r.RequestID == "": // it cannot be told from one that came second to the question before
		return fmt.Sprintf("repeated: question %d on %s was answered%s, and the first ruling counts; a ruling ahead of the next question needs a request_id",
			asked, r.Finding, p.lastRuling(r.Finding))
	}
	return ""
}

func (p *Progress) askedNow() string {
	if len(p.Run.Questions) == 0 {
		return "nothing is asked now"
	}
	return "asked now: " + subjects(p.Run.Questions)
}

func (p *Progress) lastRuling(finding string) string {
	for i := len(p.Run.Rulings) - 1; i >= 0; i-- {
		if r := p.Run.Rulings[i]; r.Finding == finding {
			return fmt.Sprintf(" (%s, by %s)", r.Decision, r.By)
		}
	}
	return ""
}

// head is the commit that the run stands at.
func (p *Progress) head() string { return cmp.Or(p.Latest.Commit, p.Latest.Tree) }

// heads are the names of what the run stands at: its tree, its commit and,
// where nothing was written since, the user's own commit.
func (p *Progress) heads() []string {
	heads := []string{p.Latest.Tree}
	if p.Latest.Commit != "" {
		heads = append(heads, p.Latest.Commit)
	}
	if gate := p.in.Source.Gate; gate != nil && gate.Head != "" {
		heads = append(heads, gate.Head)
	} else if p.Prepared != nil && p.Latest == p.Prepared.Base && p.Run.Head != "" {
		heads = append(heads, p.Run.Head)
	}
	slices.Sort(heads[1:])
	return slices.Compact(heads)
}

// apply answers an open question.
func (p *Progress) apply(r RulingRequest, now time.Time) {
	i := p.questionOn(r.Finding)
	question := p.Run.Questions[i]
	p.Run.Questions = slices.Delete(p.Run.Questions, i, i+1)
	p.Run.Rulings = append(p.Run.Rulings, record.Ruling{
		Finding: r.Finding, Number: question.Number, Decision: r.Decision, Reason: r.Reason, By: r.By,
		At: now.UTC().Format(time.RFC3339), Head: p.head(), RequestID: r.RequestID,
	})
	p.noteRuling(r)
	if r.Finding == convergence.SubjectBudget && r.Decision == convergence.DecisionStand {
		p.event(convergence.EventBudget, map[string]any{})
	} else {
		p.event(convergence.EventRuling, ruled(r))
	}
	p.Run.Findings = p.recorded()
	p.goOn(now)
}

// ruled is a ruling for the machine, which asks only whether a person gave it.
func ruled(r RulingRequest) map[string]any {
	payload := map[string]any{"finding": r.Finding, "decision": r.Decision}
	if r.By == convergence.ByDeadline {
		payload["by"] = r.By
	}
	return payload
}

// noteRuling remembers what was allowed, so that it is not asked again.
func (p *Progress) noteRuling(r RulingRequest) {
	switch {
	case r.Finding == convergence.SubjectSize:
		p.Desk.SizeRuled = p.Desk.Lines
	case r.Finding == convergence.SubjectProtected:
		p.Desk.ProtectedRuled = p.Desk.Protected
	case r.Finding == convergence.SubjectBudget && r.Decision == convergence.DecisionStand:
		p.Desk.Extended++
	default:
		p.tell(r.Finding, "%s", because(fmt.Sprintf("ruled by %s: %s", clip(r.By, nameBytes), r.Decision), r.Reason))
	}
}

const (
	// refusedKept is how many refused rulings are listed; the others are counted.
	refusedKept = 200
	// rawLimit and whyLimit bound what is listed of one, in bytes.
	rawLimit = 160
	whyLimit = 240
	// nameBytes bounds a person's name in the life of a finding.
	nameBytes = 60
)

// refuse lists a ruling that was not applied.
func (p *Progress) refuse(raw []byte, why string, now time.Time) {
	if len(p.Run.Refused) >= refusedKept {
		p.Run.RefusedMore++
		return
	}
	p.Run.Refused = append(p.Run.Refused, record.RefusedRuling{
		Raw: shorten(string(raw[:min(len(raw), 4*rawLimit)]), rawLimit), Reason: shorten(why, whyLimit), At: now.UTC().Format(time.RFC3339),
	})
}
