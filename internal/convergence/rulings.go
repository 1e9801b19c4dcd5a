package convergence

import "slices"

// Subjects of questions that are no findings: the host asks them.
const (
	SubjectSize      = "SIZE"
	SubjectProtected = "PROTECTED"
	SubjectBudget    = "BUDGET"
)

// ByDeadline is who ruled where no person did in time. What nobody has looked at does not spare the final review.
const ByDeadline = "deadline"

// questionRaised lets the host ask a person before the run goes on.
func (f *fold) questionRaised(subject string) {
	switch subject {
	case SubjectSize, SubjectProtected, SubjectBudget:
	default:
		return
	}
	if !slices.Contains(f.s.Review.Questions, subject) {
		f.s.Review.Questions = append(slices.Clone(f.s.Review.Questions), subject)
	}
}

// answered closes a host's question.
func (f *fold) answered(subject string) {
	if i := slices.Index(f.s.Review.Questions, subject); i >= 0 {
		f.s.Review.Questions = without(f.s.Review.Questions, i)
	}
}

// rulingRecorded folds one ruling. With the position of a running arbitration it
// is the arbiter's, without one a person's. What does not fit is ignored: the
// host lists refused rulings.
func (f *fold) rulingRecorded(p value) {
	id, decision := p.get("finding").text(), p.get("decision").text()
	if position := p.get("position"); position.kind() != kindAbsent {
		if i, ok := f.turn(position); ok && f.s.Review.Turns[i].Kind == turnArbitrate {
			f.arbiterRuled(f.s.Review.Turns[i], id, decision)
		}
		return
	}
	if slices.Contains(f.s.Review.Questions, id) {
		switch decision {
		case DecisionStand:
			f.answered(id)
		case DecisionAbort:
			f.fail(CodeRulingAbort, "a person ended the run at the question "+id)
		}
		return
	}
	f.ruledOutside(id, decision, p.get("by").text() != ByDeadline)
}

// ruledOutside takes the ruling of a person, or the answer that stands for one.
func (f *fold) ruledOutside(id, decision string, person bool) {
	st, ok := f.finding(id)
	if !ok || !stands(st) {
		return
	}
	switch decision {
	case DecisionStand, DecisionFix:
		f.s.Review.PersonRuled = f.s.Review.PersonRuled || person
		f.rule(id, st, decision)
	case DecisionAbort:
		f.fail(CodeRulingAbort, "a person ended the run over the finding "+id)
	}
}

// arbiterRuled takes one ruling of a running arbitration. An arbiter on a
// writer's engine decides nothing.
func (f *fold) arbiterRuled(t TurnState, id, decision string) {
	st, ok := f.finding(id)
	if !ok || !stands(st) || st.Arbitrated || t.Paused || !slices.Contains(t.Findings, id) || f.byWriter(t) {
		return
	}
	if decision == DecisionStand || decision == DecisionFix {
		st.Arbitrated = true
		f.rule(id, st, decision)
	}
}

func (f *fold) rule(id string, st FindingState, decision string) {
	switch decision {
	case DecisionStand:
		st.Status, st.Fix = FindingRuled, false
		f.s.Review.Ruled = append(slices.Clone(f.s.Review.Ruled), id)
	case DecisionFix: // it holds, says somebody who is no writer: the writer's no does not reopen that
		st.Fix, st.Rebutted = true, true
	}
	f.setFinding(id, st)
}

// arbitrated ends an arbitration: what it did not rule goes to a person.
func (f *fold) arbitrated(i int, t TurnState) {
	f.endTurn(i)
	f.s.Review.Arbitrate.Tries = 0
	for _, id := range t.Findings {
		if st, ok := f.finding(id); ok && stands(st) && !st.Arbitrated {
			st.Arbitrated = true
			f.setFinding(id, st)
		}
	}
}
