package loop

import (
	"fmt"
	"time"

	"conclave/internal/convergence"
)

// Kind says which activity a call is for. The zero Kind is none.
type Kind string

// The kinds of a call.
const (
	CallPrepare Kind = "prepare"
	CallTurn    Kind = "turn"
	CallVerify  Kind = "verify"
	CallBundle  Kind = "bundle"
	CallLand    Kind = "land"
	// CallWait has no activity: the run waits for a signal.
	CallWait Kind = "wait"
	// CallFinish has no activity: the run is over.
	CallFinish Kind = "finish"
)

// Call is one thing to do now. Exactly the request of its kind is set.
type Call struct {
	Kind Kind
	// Summary is the readable name of the activity in the Web UI.
	Summary string
	// Step is the number of the step in the record, empty when it is none.
	Step     string
	Position string
	NodeID   string
	// Proof is how strong a confirmation would be.
	Proof string

	Prepare *PrepareRequest
	Turn    *TurnRequest
	Verify  *VerifyRequest
	Bundle  *BundleRequest
	Land    *LandRequest
}

// Next returns what to do now, and marks it as begun. Several calls run in
// parallel; Next is asked again when all of them are done.
func (p *Progress) Next(now time.Time) []Call {
	switch {
	case p.Failure != "" || p.Cancel:
		return p.end(now)
	case p.Prepared == nil && p.Interrupted:
		return p.wait("interrupted before the run was prepared")
	case p.Prepared == nil:
		return []Call{{Kind: CallPrepare, Summary: "prepare · resolve where the run starts", Prepare: &PrepareRequest{
			RunID: p.in.RunID, Source: p.in.Source, Shared: p.in.Queues.Shared, At: now, Policy: p.gatePolicy(), VerifyCommand: p.gateCommand(),
		}}}
	}
	commands := p.machine.Decide(p.State)
	if len(commands) == 0 {
		return p.fail(now, "the machine has no next command: this is a bug of Conclave, please report it with the bundle")
	}
	if stop, message := p.gateEnd(commands[0]); stop != "" {
		p.settle(stop, message)
		return p.end(now)
	}
	if goesOn(commands[0]) {
		if why := p.tooLarge(); why != "" {
			return p.fail(now, why)
		}
	}
	return p.obey(commands, now)
}

// obey turns the machine's commands into calls.
func (p *Progress) obey(commands []convergence.Command, now time.Time) []Call {
	switch first := commands[0]; first.Kind {
	case convergence.KindDispatch, convergence.KindConfirm, convergence.KindArbitrate:
		return p.dispatch(commands, now)
	case convergence.KindPause:
		p.Run.Unresolved = p.unresolved(first)
		return p.wait(first.Reason)
	case convergence.KindAsk:
		return p.ask(first, now)
	case convergence.KindComplete:
		p.settle(stopOfOutput(first.Output), p.advice(first.Output))
		return p.end(now)
	case convergence.KindFail:
		p.settle(stopOf(first.Code), p.explain(first))
		return p.end(now)
	default:
		return p.fail(now, fmt.Sprintf("the command %q is not supported yet", first.Kind))
	}
}

// dispatch turns the machine's batch into calls. A change that exists already
// needs none. Before a writer starts, the bundle of what went before is written;
// the design step comes before the first.
func (p *Progress) dispatch(commands []convergence.Command, now time.Time) []Call {
	if p.takeGiven(commands, now) {
		return p.Next(now)
	}
	if calls := p.beforeDispatch(commands, now); calls != nil {
		return calls
	}
	role := p.machine.Role(commands[0].NodeID)
	if role == convergence.RoleGenerator || role == convergence.RoleRepair {
		if bundle := p.bundle(fmt.Sprintf("before %s", commands[0].Position)); bundle != nil {
			return bundle
		}
	}
	if !p.Designed {
		return []Call{p.designCall(now)}
	}
	calls := make([]Call, 0, len(commands))
	for _, command := range commands {
		calls = append(calls, p.begin(command, now))
	}
	return calls
}

func (p *Progress) begin(command convergence.Command, now time.Time) Call {
	call := Call{NodeID: command.NodeID, Position: command.Position}
	if command.Kind != convergence.KindDispatch {
		p.questionCall(&call, command, now)
		p.event(convergence.EventDispatched, map[string]any{"nodeId": command.NodeID, "position": command.Position})
		return call
	}
	switch role := p.machine.Role(command.NodeID); role {
	case convergence.RoleEvaluator:
		p.verifyCall(&call, now)
	case convergence.RoleSeat:
		p.seatCall(&call, command, now)
	default:
		p.writerCall(&call, command, now)
	}
	p.event(convergence.EventDispatched, map[string]any{"nodeId": command.NodeID, "position": command.Position})
	return call
}

// wait brings the bundle up to date and then waits for a signal. The record
// says so from the beginning: a resume that comes while the bundle is written counts.
func (p *Progress) wait(reason string) []Call {
	p.Run.Waiting = reason
	p.settleWait()
	if bundle := p.bundle(fmt.Sprintf("wait %d", p.Waits)); bundle != nil {
		return bundle
	}
	return []Call{{Kind: CallWait, Summary: "waits: " + reason}}
}

// end lands what there is, writes the last bundle and finishes.
func (p *Progress) end(now time.Time) []Call {
	p.closeRecord(now)
	if !p.LandingDone && p.changed() {
		return []Call{{Kind: CallLand, Summary: "land · " + p.branch(), Land: &LandRequest{
			RunID: p.in.RunID, Source: p.in.Source, Prepared: *p.Prepared, Final: p.Latest, Branch: p.branch(),
			Title: p.in.Title, Outcome: p.Run.Stop.Words(), At: now, Shared: p.in.Queues.Shared,
		}}}
	}
	if bundle := p.bundle("end"); bundle != nil {
		return bundle
	}
	return []Call{{Kind: CallFinish}}
}

func (p *Progress) bundle(mark string) []Call {
	if p.Bundled == mark {
		return nil
	}
	p.Bundled = mark
	return []Call{{Kind: CallBundle, Summary: "bundle · " + mark, Bundle: &BundleRequest{
		RunID: p.in.RunID, Source: p.in.Source, Requirement: p.in.Requirement, Mark: mark,
	}}}
}

func (p *Progress) fail(now time.Time, message string) []Call {
	p.Failure = message
	return p.end(now)
}

// changed says that there is something to land. What a gate reviews is the user's own already.
func (p *Progress) changed() bool {
	return !p.isGate() && p.Prepared != nil && p.Latest.Tree != "" && p.Latest.Tree != p.Prepared.Base.Tree
}

func (p *Progress) branch() string { return BranchOf(p.in.RunID) }

// BranchOf is the branch on which the change of a run lands.
func BranchOf(runID string) string { return "conclave/" + runID }
