package loop

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"conclave/internal/artifact"
	"conclave/internal/convergence"
	"conclave/internal/record"
)

// designCall asks for the design contract, once, before the machine starts.
func (p *Progress) designCall(now time.Time) Call {
	call := Call{Kind: CallTurn}
	step := p.newStep(&call, record.Step{Role: record.RoleDesigner, Turn: record.TurnDesign, Iteration: 1, Adapter: p.in.Designer.Adapter}, now)
	step.Identity.Requested = p.in.Designer
	call.Turn = p.turn(call, *p.in.Designer, now)
	call.Turn.Turn = record.TurnDesign
	call.Turn.Timeout = p.in.Limits.ReaderTimeout
	call.Summary = summary(call.Turn)
	return call
}

// writerCall asks for an implement or a repair turn.
func (p *Progress) writerCall(call *Call, command convergence.Command, now time.Time) {
	target, input := p.requested(call.NodeID), decode[convergence.DispatchInput](command.Input)
	if escalation := p.machine.Definition().Data.Escalation; input.Escalated && escalation != nil {
		target = engine(*escalation)
	}
	turn := record.TurnImplement
	p.Run.Iteration = int(p.State.Restarts) + 1
	if p.machine.Role(call.NodeID) == convergence.RoleRepair {
		turn = record.TurnRepair
		p.Run.Iteration++
	}
	call.Kind = CallTurn
	step := p.newStep(call, record.Step{Role: record.RoleImplementer, Turn: turn, Iteration: p.Run.Iteration, Adapter: target.Adapter}, now)
	step.Identity.Requested = &target
	request := p.turn(*call, target, now)
	request.Turn, request.Writing, request.Timeout = turn, true, p.in.Limits.WriterTimeout
	request.Protected, request.Generated = p.in.Policy.Protected, p.in.Policy.Generated
	request.AllowSecrets = p.in.Policy.AllowSecrets
	request.KeepProtected = p.in.Policy.Ask && !p.in.Policy.AllowProtected
	if turn == record.TurnRepair {
		request.Feedback = p.feedback(input)
		request.Escalated, request.ReportOnly = input.Escalated, input.Reask
	}
	request.Resume = p.resume(turn, target, input.Escalated)
	call.Turn, call.Summary = request, summary(request)
}

// seatCall asks one reviewer: for everything, for the fix, or once at the end.
func (p *Progress) seatCall(call *Call, command convergence.Command, now time.Time) {
	input := decode[convergence.DispatchInput](command.Input)
	target, seat := p.requested(call.NodeID), call.NodeID
	turn, voting, lens := record.TurnReview, p.machine.Voting(seat), p.in.Lenses[call.NodeID]
	switch input.Scope {
	case convergence.ScopeFinal:
		seat, lens = convergence.FinalSeat, "" // it borrows the engine and looks for everything
	case convergence.ScopeFix:
		turn = record.TurnRecheck
	}
	call.Kind = CallTurn
	step := p.newStep(call, record.Step{
		Role: record.RoleReviewer, Turn: turn, Iteration: p.Run.Iteration, Adapter: target.Adapter,
		Seat: seat, Lens: lens, Voting: &voting,
	}, now)
	step.Identity.Requested = &target
	request := p.turn(*call, target, now)
	request.Turn, request.Seat, request.Lens = turn, seat, lens
	request.Scope, request.Timeout, request.Evidence = input.Scope, p.in.Limits.ReaderTimeout, p.token(seat)
	switch input.Scope {
	case convergence.ScopeFix:
		request.Findings, request.Open = input.Recheck, p.knownAll(input.Recheck)
		request.Since, request.FixReport = p.Judged[seat], p.FixReport
	case convergence.ScopeFinal:
		log, left := p.logged()
		if request.Log = log; left > 0 {
			p.Run.Notes = append(p.Run.Notes, fmt.Sprintf("step %s: the log is too long for one prompt: %d findings, the least weighty, are left out", call.Step, left))
		}
	}
	request.Reask = p.Answers[seat].Problem
	call.Turn, call.Summary = request, summary(request)
}

// questionCall asks an engine about findings: to confirm one, or to rule.
func (p *Progress) questionCall(call *Call, command convergence.Command, now time.Time) {
	input := decode[convergence.TurnInput](command.Input)
	role, turn := record.RoleConfirmer, record.TurnConfirm
	if command.Kind == convergence.KindArbitrate {
		role, turn = record.RoleArbiter, record.TurnArbitrate
	}
	target := p.requested(call.NodeID)
	call.Kind = CallTurn
	step := p.newStep(call, record.Step{Role: role, Turn: turn, Iteration: p.Run.Iteration, Adapter: target.Adapter, Seat: call.NodeID}, now)
	step.Identity.Requested = &target
	request := p.turn(*call, target, now)
	request.Turn, request.Seat, request.Findings, request.Timeout = turn, call.NodeID, input.Findings, p.in.Limits.ReaderTimeout
	request.Open, request.Evidence = p.knownAll(input.Findings), p.token(convergence.FinalSeat)
	if request.Rebuttal = input.Rebuttal; input.Rebuttal {
		request.FixReport = p.FixReport
	}
	call.Proof, request.Reask = input.Proof, p.Answers[questionKey(request)].Problem
	call.Turn, call.Summary = request, summary(request)
}

// token names the evidence that an answer is about: what the seat watches of
// it, or the bare tree while no verifier has proved anything.
func (p *Progress) token(seat string) string {
	view, ok := p.machine.SeatView(p.State, seat)
	if !ok && seat == convergence.FinalSeat {
		view, ok = convergence.Evidence{WorkspaceFingerprint: p.Latest.Tree}, true
	}
	if !ok {
		return ""
	}
	return convergence.Token(view)
}

// decode reads what the machine wrote.
func decode[T any](raw json.RawMessage) T {
	var out T
	if err := json.Unmarshal(raw, &out); err != nil {
		panic(fmt.Sprintf("input of a command: %v", err))
	}
	return out
}

// verifyCall asks for the verifier.
func (p *Progress) verifyCall(call *Call, now time.Time) {
	call.Kind = CallVerify
	p.newStep(call, record.Step{Role: record.RoleVerifier, Turn: record.TurnVerify, Iteration: p.Run.Iteration}, now)
	call.Verify = &VerifyRequest{
		Workspace: p.workspace(), Step: call.Step, Command: p.in.Commands.Verify, Lint: p.in.Commands.Lint,
		Timeout: p.in.Limits.VerifyTimeout, Globs: p.machine.EvidenceGlobs(), At: now, Secrets: p.Secret,
	}
	call.Summary = fmt.Sprintf("iteration %d · verify", p.Run.Iteration)
}

func (p *Progress) turn(call Call, target record.Engine, now time.Time) *TurnRequest {
	data := p.machine.Definition().Data
	return &TurnRequest{
		Workspace: p.workspace(), Step: call.Step, Try: 1, Iteration: max(p.Run.Iteration, 1), Target: target,
		Requirement: p.in.Requirement, Constraints: p.in.Constraints, Lint: p.Verified.Lint,
		VerifyCommand: p.in.Commands.Verify, VerifySummary: p.Verified.Summary,
		IdleTimeout: p.in.Limits.IdleTimeout, Discipline: string(data.Discipline), RequireFindings: p.machine.RequireFindings(),
		Lenses: p.in.Policy.Lenses, Prompts: p.in.Policy.Prompts, MaxFindings: p.in.Policy.MaxFindings,
		VerdictMode: p.in.VerdictMode, DryRun: p.in.DryRun, At: now,
		FromCommits: p.isGate() && p.in.Source.Gate.FromCommits,
	}
}

func (p *Progress) workspace() Workspace {
	return Workspace{
		RunID: p.in.RunID, Base: p.Prepared.Base, From: p.Latest, Excludes: p.Prepared.Excludes, ObjectFormat: p.Prepared.ObjectFormat, Contract: p.Contract,
		Setup: p.in.Commands.Setup, SetupTimeout: p.in.Limits.VerifyTimeout, Shared: p.in.Queues.Shared,
	}
}

// feedback gathers what a repair must answer: under full the findings that
// stand, else the message of every seat whose finding the machine hands over;
// and the verifier's failure when the gate was not met.
func (p *Progress) feedback(input convergence.DispatchInput) Feedback {
	var out Feedback
	if p.full() {
		out.Findings = p.repairable(*input.Findings)
		p.tellUnconfirmable()
	} else {
		out.Blocks = p.blocks(*input.Findings)
	}
	if input.GateMet == nil || !*input.GateMet {
		out.Failure = p.Verified.Failure
	}
	return out
}

func (p *Progress) blocks(findings []convergence.Blocking) []NamedRef {
	var out []NamedRef
	seen := map[string]bool{}
	for _, finding := range findings {
		if final := p.Answers[finding.Seat].Final; !seen[finding.Seat] && !final.IsZero() {
			out = append(out, NamedRef{Name: finding.Seat, Ref: final})
		}
		seen[finding.Seat] = true
	}
	return out
}

// requested is the engine that a node's lane asks for.
func (p *Progress) requested(nodeID string) record.Engine {
	return engine(p.machine.Lane(nodeID).Requested)
}

func engine(t convergence.Target) record.Engine {
	return record.Engine{Adapter: t.Adapter, Provider: t.Provider, ModelFamily: t.ModelFamily, Model: t.Model}
}

// newStep appends a running step with the next number to the record.
func (p *Progress) newStep(call *Call, step record.Step, now time.Time) *record.Step {
	step.ID = fmt.Sprintf("%02d", len(p.Run.Steps)+1)
	step.Status, step.Position = record.Running, call.Position
	step.StartedMS = now.Sub(p.Started).Milliseconds()
	step.Artifacts = map[string]artifact.Ref{}
	call.Step = step.ID
	p.Run.Steps = append(p.Run.Steps, step)
	return &p.Run.Steps[len(p.Run.Steps)-1]
}

func summary(t *TurnRequest) string {
	parts := []string{fmt.Sprintf("iteration %d", t.Iteration), t.Turn}
	for _, part := range []string{t.Seat, t.Lens} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(append(parts, t.Target.Adapter), " · ")
}
