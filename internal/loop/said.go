package loop

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"conclave/internal/convergence"
	"conclave/internal/record"
)

// confirmDone takes in whether a finding holds. Nothing but a valid answer of
// an engine that is no writer's can refute one; the machine decides that.
func (p *Progress) confirmDone(call Call, result TurnResult) {
	id := call.Turn.Findings[0]
	delete(p.Answers, questionKey(call.Turn))
	before := p.findingState(id)
	p.event(convergence.EventCompleted, map[string]any{"nodeId": call.NodeID, "position": call.Position, "result": answerOf(result)})
	p.tellConfirmed(call, before, reasonOf(result.Said, id), saysNo(result.Answer))
}

// answerOf is an answer as an event can hold it: what is no JSON is no answer.
func answerOf(result TurnResult) json.RawMessage {
	if !json.Valid(result.Answer) {
		return nil
	}
	return result.Answer
}

// saysNo reads whether a confirmer refuted.
func saysNo(answer json.RawMessage) bool {
	var word struct{ Confirmed *bool }
	return json.Unmarshal(answer, &word) == nil && word.Confirmed != nil && !*word.Confirmed
}

func (p *Progress) tellConfirmed(call Call, before convergence.FindingState, reason string, refuted bool) {
	id, who := call.Turn.Findings[0], p.who(call)
	what, proof := "confirmed by "+who, confirmation{By: who, Proof: call.Proof}
	switch {
	case p.findingState(id).Status == convergence.FindingRefuted:
		what, proof = "refuted by "+who, confirmation{}
		p.settled(id)
	case refuted:
		what, proof = who+" would refute it, which a writer's engine, or an unknown one, may not", confirmation{Proof: proofUnconfirmable}
	case call.Turn.Rebuttal:
		what = "upheld against the writer's rebuttal by " + who
	}
	if proof.Proof != "" && before.Status == convergence.FindingOpen {
		p.confirmed(id, proof)
	}
	what = because(what, reason)
	p.tell(id, "step %s: %s", call.Step, what)
	p.remark(call, id+": "+what)
}

// remark is what a step came to, in words of ours.
func (p *Progress) remark(call Call, words string) {
	step := p.step(call.Step)
	if step.Message != "" {
		words = step.Message + "; " + words
	}
	step.Message = clip(words, messageBytes)
}

// messageBytes bounds what a step's message says of findings.
const messageBytes = 400

// confirmFailed says what became of a finding whose confirm turn gave no answer.
func (p *Progress) confirmFailed(call Call, before convergence.FindingState) {
	id := call.Turn.Findings[0]
	now := p.findingState(id)
	if before.Status == convergence.FindingOpen && now.Status == convergence.FindingConfirmed {
		p.confirmed(id, confirmation{Proof: proofUnconfirmable})
		p.tell(id, "step %s: %s gave no valid confirmation, so it counts as confirmed", call.Step, p.who(call))
	} else if before.Rebuttal && !now.Rebuttal {
		p.tell(id, "step %s: %s gave no valid answer to the writer's rebuttal, so it stands", call.Step, p.who(call))
	}
}

// arbitrateDone takes in an arbiter's rulings. Those that the machine does not
// take, because a writer's engine gave them, are named and change nothing.
func (p *Progress) arbitrateDone(call Call, result TurnResult, now time.Time) {
	delete(p.Answers, questionKey(call.Turn))
	p.event(convergence.EventCompleted, map[string]any{"nodeId": call.NodeID, "position": call.Position, "result": answerOf(result)})
	said := map[string]Said{}
	for _, s := range result.Said {
		if _, twice := said[s.Finding]; !twice {
			said[s.Finding] = s
		}
	}
	var words []string
	for _, id := range call.Turn.Findings {
		s, ok := said[id]
		words = append(words, because(id+": "+cmp.Or(s.Decision, "not ruled"), s.Reason))
		if !ok {
			p.tell(id, "step %s: the arbiter %s did not rule on it, so a person is asked", call.Step, p.who(call))
			continue
		}
		p.arbiterSaid(call, id, s, now)
	}
	p.remark(call, strings.Join(words, "; "))
}

func (p *Progress) arbiterSaid(call Call, id string, s Said, now time.Time) {
	reason := clip(s.Reason, reasonBytes)
	if s.Change != "" {
		reason = clip(reason+" (the smallest change: "+s.Change+")", 2*reasonBytes)
	}
	st, who := p.findingState(id), "arbiter "+p.who(call)
	taken := s.Decision == convergence.DecisionPerson || s.Decision == convergence.DecisionStand && st.Status == convergence.FindingRuled ||
		s.Decision == convergence.DecisionFix && st.Fix
	if !taken {
		p.tell(id, "%s", because("step "+call.Step+": "+who+" would rule "+s.Decision+", which a writer's engine, or an unknown one, may not; a person is asked", reason))
		return
	}
	p.tell(id, "%s", because("step "+call.Step+": ruled by "+who+": "+s.Decision, reason))
	p.Run.Rulings = append(p.Run.Rulings, record.Ruling{
		Finding: id, Decision: s.Decision, Reason: reason, By: who, At: now.UTC().Format(time.RFC3339), Head: p.Latest.Tree,
	})
}

func reasonOf(said []Said, id string) string {
	for _, s := range said {
		if s.Finding == id {
			return s.Reason
		}
	}
	return ""
}

// who names the engine that answered a call.
func (p *Progress) who(call Call) string {
	if step := p.step(call.Step); step.Identity.Reported != nil {
		return step.Identity.Reported.Adapter
	}
	return call.Turn.Target.Adapter
}

// questionKey is under which a question's last problem is kept: never under the
// name of the seat whose engine it borrows, which is asked other things.
func questionKey(request *TurnRequest) string {
	if request.Turn == record.TurnConfirm {
		return "confirm " + request.Findings[0]
	}
	return request.Turn
}
