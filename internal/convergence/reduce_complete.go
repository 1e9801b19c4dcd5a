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
	if !f.wrote(result) {
		f.fail(CodeNoChange, fmt.Sprintf("%s changed nothing, so there is nothing to review", n.id))
	}
}

// wrote records the tree a writer left and reports whether it changed anything.
// A writer that does not say so changed nothing.
func (f *fold) wrote(result value) bool {
	if !f.m.rules.WritersReportTree {
		return true
	}
	f.seenTree(result.get("tree").text)
	return result.get("changed").isTrue()
}

// seenTree records a snapshot and reports whether it had been seen before.
func (f *fold) seenTree(tree string) bool {
	if tree == "" {
		return false
	}
	if _, ok := f.s.Trees.Get(tree); ok {
		return true
	}
	f.s.Trees = f.s.Trees.With(tree, f.s.Iteration)
	return false
}

func (f *fold) fail(code, message string) {
	if f.s.Failure == nil {
		f.s.Failure = &Failure{Code: code, Message: message}
	}
}

func (f *fold) evaluatorDone(result value) {
	d := f.m.definition.Data
	f.s.GateMet = result.get("gateMet").isTrue()
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
	d := f.m.definition.Data
	if f.s.Restarts >= d.MaxReviewRestarts {
		f.s.Phase = PhaseSettled
		return
	}
	f.s.Restarts++
	f.s.Iteration = min(f.s.Iteration+1, f.m.iterationCap)
	f.s.Phase = PhaseBody
	f.setPending(f.m.evaluator)
	f.setPending(f.m.repair)
	if !f.m.rules.RepairIsDraft {
		f.setPending(f.m.generator)
	}
	f.newRound()
	if !f.wrote(result) {
		f.fail(CodeStalled, fmt.Sprintf("%s changed nothing in repair round %d", n.id, f.s.Restarts))
	}
}

// newRound puts every seat without a valid answer back in the queue and starts
// the count of its attempts anew.
func (f *fold) newRound() {
	for _, s := range f.m.seats {
		n := f.m.nodes[s.id]
		st, ok := f.s.Nodes.Get(n.id)
		if !ok {
			continue
		}
		st.RoundAttempts = 0
		f.setNode(n, st)
		if rec := f.seat(n); rec.Outcome != OutcomeValid && rec.Outcome != OutcomeWaived {
			f.finish(n, st, StatusPending)
		}
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
	rec.Outcome = OutcomeNonVerdict
	if code == FailEngineUnavailable {
		if n.seat.skippable {
			rec.Outcome = OutcomeSkipped
		} else if !f.m.rules.UnavailableIsMissing {
			f.pause(PauseUnavailable, fmt.Sprintf("no engine is available for the required seat %s", n.id))
		}
	}
	f.setSeat(n, rec)
}
