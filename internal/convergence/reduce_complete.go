package convergence

import "fmt"

func (f *fold) completed(n *node, st NodeState, result value) {
	switch n.role {
	case RoleGenerator:
		f.finish(n, st, StatusPassed)
		f.generatorDone(n, result)
	case RoleEvaluator:
		f.finish(n, st, StatusPassed)
		f.evaluatorDone(result)
	case RoleRepair:
		f.finish(n, st, StatusPassed)
		f.repairDone(n, result)
	case RoleSeat:
		f.seatDone(n, st, result)
	}
}

func (f *fold) generatorDone(n *node, result value) {
	if changed, _ := f.wrote(result, f.s.Iteration); !changed {
		f.fail(CodeNoChange, fmt.Sprintf("%s changed nothing, so there is nothing to review", n.id))
	}
}

// wrote records the tree a writer left in a draft. It reports whether the writer
// changed anything (one that does not say so did not) and whether the tree is
// one of an earlier draft; a tree that is not named is taken for one.
func (f *fold) wrote(result value, draft int64) (changed, repeated bool) {
	if !f.m.rules.WritersReportTree {
		return true, false
	}
	tree := result.get("tree").text()
	first, seen := f.s.Trees.Get(tree)
	if !seen && tree != "" {
		f.s.Trees = f.s.Trees.With(tree, draft)
	}
	return result.get("changed").isTrue(), tree == "" || seen && first != draft
}

func (f *fold) fail(code, message string) {
	if f.s.Failure == nil {
		f.s.Failure = &Failure{Code: code, Message: message}
	}
}

func (f *fold) evaluatorDone(result value) {
	d := f.m.definition.Data
	f.s.GateMet = result.get("gateMet").isTrue()
	if f.m.full() {
		f.countFailure(result.get("failureDigest").text())
	}
	switch {
	case f.s.GateMet || d.ReviewWhen == WhenAlways:
		f.startReview(readEvidence(result))
	case f.m.rules.RepairFailedGate:
		f.s.ReviewEvidence = nil
	case f.s.Iteration >= d.MaxIterations:
		f.s.Phase = PhaseSettled
	default:
		f.s.Iteration++
		f.s.Phase = PhaseBody
		f.setPending(f.m.generator)
		f.setPending(f.m.evaluator)
	}
}

// startReview binds the review to new evidence. Passes that were given on other
// evidence expire.
func (f *fold) startReview(evidence *Evidence) {
	f.s.ReviewEvidence = evidence
	f.s.Phase = PhaseReview
	for _, s := range f.m.seats {
		n := f.m.nodes[s.id]
		if rec := f.seat(n); rec.Outcome == OutcomeValid && !f.m.keepsPass(s, rec.Evidence, s.view(evidence)) {
			f.expire(n)
		}
	}
}

func (f *fold) repairDone(n *node, result value) {
	if !f.m.full() && f.s.Restarts >= f.m.repairLimit {
		f.s.Phase = PhaseSettled
		return
	}
	changed, repeated := f.wrote(result, f.s.Iteration+1)
	if f.m.full() {
		f.fullRepairDone(n, result, changed, repeated)
		return
	}
	f.newRound()
	if !changed {
		f.fail(CodeStalled, fmt.Sprintf("%s changed nothing in repair round %d", n.id, f.s.Restarts))
	}
}

// newRound starts the round after a repair: every seat without a valid answer,
// or with a finding to recheck, is asked again, and attempts count anew.
func (f *fold) newRound() {
	f.s.Restarts++
	f.s.Iteration = min(f.s.Iteration+1, f.m.iterationCap)
	f.s.Phase = PhaseBody
	f.setPending(f.m.evaluator)
	f.setPending(f.m.repair)
	if !f.m.rules.RepairIsDraft {
		f.setPending(f.m.generator)
	}
	for _, s := range f.m.seats {
		n := f.m.nodes[s.id]
		st, ok := f.s.Nodes.Get(n.id)
		if !ok {
			continue
		}
		st.RoundAttempts = 0
		rec := f.seat(n)
		switch keeps := rec.Outcome == OutcomeWaived || rec.Outcome == OutcomeValid && len(f.m.toRecheck(&f.s, s.id)) == 0; {
		case keeps:
			f.setNode(n, st)
			continue
		case rec.Outcome == OutcomeValid:
			rec = rec.forgotten(OutcomeInvalid)
		}
		rec.Answered = false
		f.setSeat(n, rec)
		f.finish(n, st, StatusPending)
	}
}

func (f *fold) failed(n *node, st NodeState, code string) {
	st.Code = code
	f.finish(n, st, StatusFailed)
	if code == FailAborted {
		f.pause(PauseInterrupted, "interrupted: "+n.id)
		return
	}
	if n.seat == nil {
		return
	}
	rec := f.seat(n)
	rec.Outcome, rec.Answered = OutcomeNonVerdict, false
	if code == FailEngineUnavailable {
		if n.seat.skippable {
			rec.Outcome = OutcomeSkipped
		} else if !f.m.rules.UnavailableIsMissing {
			f.pause(PauseUnavailable, fmt.Sprintf("no engine is available for the required seat %s", n.id))
		}
	}
	f.setSeat(n, rec)
	f.settleRechecks()
}
