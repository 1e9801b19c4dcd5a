package loop

import (
	"cmp"
	"fmt"
	"path"
	"strings"
	"time"

	"conclave/internal/convergence"
	"conclave/internal/record"
)

// isGate says that a change is reviewed that exists already.
func (p *Progress) isGate() bool { return p.in.Source.Gate != nil }

// gatePolicy is what a gate's change is scanned for, while it is resolved.
func (p *Progress) gatePolicy() Policy {
	if !p.isGate() {
		return Policy{}
	}
	return p.in.Policy
}

// gateCommand is the verify command whose files a gate's change must not touch unseen.
func (p *Progress) gateCommand() string {
	if !p.isGate() {
		return ""
	}
	return p.in.Commands.Verify
}

// takeGiven answers a writer that has no engine with the change that exists
// already, and reports whether it did. A gate has no other writer: without a
// change to give, or for a repair, the run ends.
func (p *Progress) takeGiven(commands []convergence.Command, now time.Time) bool {
	first := commands[0]
	role := p.machine.Role(first.NodeID)
	if !p.isGate() || first.Kind != convergence.KindDispatch || role != convergence.RoleGenerator && role != convergence.RoleRepair {
		return false
	}
	given := p.Prepared.Given
	if role == convergence.RoleRepair || given == nil {
		p.Failure = fmt.Sprintf("a review has no %s, and no change was given in its place: this is a bug of Conclave, please report it", role)
		return true
	}
	gate := p.in.Source.Gate
	p.Designed = true
	p.Latest = given.Head
	p.Run.Base, p.Run.Head, p.Run.Iteration = gate.Base, gate.Head, 1
	p.Run.Artifacts["changes.diff"], p.Run.Artifacts["changed.json"] = given.TotalDiff, given.Total
	p.secretsOf(&given.Scan, "the change as given")
	p.event(convergence.EventDispatched, map[string]any{"nodeId": first.NodeID, "position": first.Position})
	changed := given.Head.Tree != p.Prepared.Base.Tree
	p.event(convergence.EventCompleted, map[string]any{
		"nodeId": first.NodeID, "position": first.Position,
		"result": map[string]any{"tree": given.Head.Tree, "changed": changed},
	})
	p.askAfterChange(
		Call{Kind: CallTurn, NodeID: first.NodeID, Position: first.Position, Turn: &TurnRequest{Turn: "given", Writing: true, At: now}},
		TurnResult{Class: record.ClassOK, Snapshot: given.Head, Changed: changed, Stats: &given.Stats, Total: given.Total, TotalDiff: given.TotalDiff, Scan: &given.Scan},
	)
	return true
}

// gateEnd says how a gate ends on what the machine decided; an empty stop is
// not for it to say. Nobody repairs and nobody is waited for: a seat without a
// valid answer is no review, an open finding blocks.
func (p *Progress) gateEnd(command convergence.Command) (stop record.Stop, message string) {
	if !p.isGate() {
		return "", ""
	}
	switch {
	case command.Kind == convergence.KindPause && (command.Code == convergence.PauseUnresolved || command.Code == convergence.PauseUnavailable):
		return record.NoReview, command.Reason
	case command.Kind != convergence.KindFail:
		return "", ""
	}
	switch command.Code {
	case convergence.CodeSeatUnresolved:
		return record.NoReview, p.explain(command)
	case convergence.CodeNoChange:
		return record.NoReview, "base and head have the same files: there is nothing to review"
	case convergence.CodeExhausted:
		if blocking := append(p.openSecrets(), p.blocking()...); len(blocking) > 0 {
			return record.MaxIters, "blocking findings: " + listed(blocking)
		}
		if !p.State.GateMet {
			return record.StepFailed, fmt.Sprintf("the verifier does not pass on the head: %s", cmp.Or(p.Verified.Summary, "it gave no result"))
		}
	}
	return "", ""
}

// blocking names the findings that stand against the end.
func (p *Progress) blocking() []string {
	ids := append([]string{}, p.State.Review.Standing...)
	for _, seat := range p.machine.Seats() {
		st, _ := p.State.Seats.Get(seat.ID)
		if p.machine.Definition().Data.Discipline == convergence.Full || st.Verdict != convergence.VerdictFindings {
			continue
		}
		for _, f := range st.Findings {
			ids = append(ids, f.ID)
		}
	}
	var words []string
	for _, id := range ids {
		words = append(words, p.findingWords(id))
	}
	return words
}

func (p *Progress) findingWords(id string) string {
	for _, f := range p.Run.Findings {
		if f.ID == id {
			return fmt.Sprintf("%s (%s) %s", id, f.Severity, f.Title)
		}
	}
	return id
}

// mostListed is how many findings a message names.
const mostListed = 5

func listed(words []string) string {
	if more := len(words) - mostListed; more > 0 {
		return strings.Join(words[:mostListed], "; ") + fmt.Sprintf("; and %d more", more)
	}
	return strings.Join(words, "; ")
}

// Reusable says whether a review's verdict may be used again for the same
// change and plan: every seat and confirmer gave a valid answer, and none
// of them, nor of those that confirmed or ruled, was the stub.
func Reusable(run record.Run) bool {
	switch run.Stop {
	case record.Converged, record.Ruled, record.MaxIters:
	default:
		return false
	}
	if run.Kind != record.KindReview || run.DryRun {
		return false
	}
	asked, missing := 0, map[string]bool{}
	for _, s := range run.Steps {
		if stubbed(s) {
			return false
		}
		who, valid := s.Seat, s.Status == record.OK
		switch s.Role {
		case record.RoleReviewer:
			asked++
			valid = valid && s.Verdict != ""
		case record.RoleConfirmer: // one that failed left its finding confirmed, which it may not be
			who = path.Dir(s.Position)
		default:
			continue
		}
		if valid { // the last attempt counts
			delete(missing, who)
		} else {
			missing[who] = true
		}
	}
	return asked > 0 && len(missing) == 0
}

// stubAdapter is the adapter that judges nothing. A lane may name it without a dry run.
const stubAdapter = "stub"

// stubbed says that the stub stood for a step's engine.
func stubbed(s record.Step) bool {
	return s.Adapter == stubAdapter || s.Identity.Reported != nil && s.Identity.Reported.Adapter == stubAdapter
}
