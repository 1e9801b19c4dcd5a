package loop

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"conclave/internal/convergence"
	"conclave/internal/record"
)

// Outcome is how a call ended: the result of its kind, or a failure of the
// activity itself. Exactly one field is set.
type Outcome struct {
	Prepared *Prepared
	Turn     *TurnResult
	Verify   *VerifyResult
	Landed   *Landed
	Bundled  bool
	Failure  *Failure
}

// Failure is an activity that gave no result.
type Failure struct {
	// Code is a failure code of the form: ABORTED, TIMEOUT, EFFECT_FAILED, ...
	Code    string
	Message string
}

// Again asks for the same turn once more after a pause.
type Again struct {
	After time.Duration
	Call  Call
	// Why is shown while the run waits.
	Why string
}

// Done takes in how a call ended. It returns a request to try the same call
// again later when its failure passes with time, else nil.
func (p *Progress) Done(call Call, out Outcome, now time.Time) *Again {
	switch call.Kind {
	case CallPrepare:
		p.prepareDone(out)
	case CallTurn:
		return p.turnDone(call, out, now)
	case CallVerify:
		p.verifyDone(call, out, now)
	case CallLand:
		p.landDone(out)
	case CallBundle:
		p.bundleDone(out)
	}
	return nil
}

func (p *Progress) prepareDone(out Outcome) {
	if out.Failure != nil && out.Failure.Code == "ABORTED" {
		return // Next waits, or ends a cancelled run
	}
	if out.Failure != nil {
		p.Failure = "the run could not be prepared: " + out.Failure.Message
		return
	}
	p.Prepared, p.Latest = out.Prepared, out.Prepared.Base
	p.Run.Base = out.Prepared.Head
	if p.Run.Base == "" { // a folder that is no repository
		p.Run.Base = out.Prepared.Base.Commit
	}
	p.Run.Head = p.Run.Base
	if p.in.Source.IncludeDirty { // it starts from a commit of the uncommitted work
		p.Run.Head = out.Prepared.Base.Commit
	}
	p.Run.LeftOut = out.Prepared.LeftOut
	p.Run.Notes = append(p.Run.Notes, out.Prepared.Notes...)
}

func (p *Progress) turnDone(call Call, out Outcome, now time.Time) *Again {
	if out.Failure != nil {
		out.Turn = &TurnResult{Class: classOf(out.Failure.Code), Code: out.Failure.Code, Message: out.Failure.Message, Attempt: 1}
	}
	result := *out.Turn
	p.receipt(call, result)
	if again := p.again(call, result); again != nil {
		if result.Usage != nil { // what a failed try consumed was paid too
			p.Run.Usage = sum(p.Run.Usage, result.Usage)
		}
		return again
	}
	step := p.finishStep(call, result, now)
	switch {
	case call.NodeID == "":
		p.designDone(step, result)
	case result.Class != record.ClassOK:
		p.nodeFailed(call, step, result)
	case call.Turn.Writing:
		p.writerDone(call, result)
	case len(result.Answer) > 0:
		p.event(convergence.EventCompleted, map[string]any{"nodeId": call.NodeID, "position": call.Position, "result": result.Answer})
	default:
		p.seatDone(call, result)
	}
	return nil
}

// receipt records one engine call: who was asked and who reported itself.
func (p *Progress) receipt(call Call, result TurnResult) {
	if call.NodeID == "" {
		return
	}
	payload := map[string]any{
		"nodeId": call.NodeID, "position": call.Position, "sequence": call.Turn.Try,
		"requested": identity(call.Turn.Target), "effective": nil,
	}
	if result.Reported != nil {
		payload["effective"] = identity(*result.Reported)
	}
	p.event(convergence.EventEngine, payload)
}

func identity(e record.Engine) map[string]string {
	return map[string]string{"adapter": e.Adapter, "provider": e.Provider, "modelFamily": e.ModelFamily, "model": e.Model}
}

func (p *Progress) finishStep(call Call, result TurnResult, now time.Time) *record.Step {
	step := p.step(call.Step)
	step.Class, step.Code, step.Message = result.Class, result.Code, result.Message
	step.Identity.Reported, step.Usage, step.Sandbox = result.Reported, result.Usage, result.Sandbox
	step.Verdict, step.Stats, step.Artifacts = result.Verdict, result.Stats, result.Artifacts
	step.Tree = result.Snapshot.Tree
	step.Attempts = result.Attempt + call.Turn.Try - 1
	step.DurationMS = now.Sub(p.Started).Milliseconds() - step.StartedMS
	step.Status = statusOf(result.Class)
	p.Run.Notes = append(p.Run.Notes, result.Notes...)
	p.Run.Usage = sum(p.Run.Usage, result.Usage)
	return step
}

func (p *Progress) designDone(step *record.Step, result TurnResult) {
	switch result.Class {
	case record.ClassOK:
		p.Designed, p.Contract = true, result.Final
		p.Run.Artifacts["design-contract.md"] = result.Final
	case record.ClassAborted:
		p.Interrupt("interrupted")
	default:
		p.Failure = failedStep(step)
	}
}

func (p *Progress) writerDone(call Call, result TurnResult) {
	p.Latest = result.Snapshot
	p.Run.Artifacts["changes.diff"], p.Run.Artifacts["changed.json"] = result.TotalDiff, result.Total
	p.event(convergence.EventCompleted, map[string]any{
		"nodeId": call.NodeID, "position": call.Position,
		"result": map[string]any{"tree": result.Snapshot.Tree, "changed": result.Changed},
	})
	p.askAfterChange(call, result)
}

// seatDone binds a valid answer to the evidence it was asked about: the answer
// echoed the token of this view, or it is text whose evidence the host knows.
func (p *Progress) seatDone(call Call, result TurnResult) {
	view, _ := p.machine.SeatView(p.State, call.Turn.Seat)
	verdict := map[string]string{"pass": "pass", "block": "findings"}[result.Verdict]
	p.Answers[call.Turn.Seat] = answer{Final: result.Final}
	p.event(convergence.EventCompleted, map[string]any{
		"nodeId": call.NodeID, "position": call.Position,
		"result": map[string]any{
			"verdict": verdict, "confidence": result.Confidence, "findings": p.findings(call, result),
			"inputHashes": view.InputHashes, "workspaceFingerprint": view.WorkspaceFingerprint,
			"proofArtifactDigest": view.ProofArtifactDigest,
		},
	})
}

func (p *Progress) nodeFailed(call Call, step *record.Step, result TurnResult) {
	if call.Turn.Seat != "" && result.Class != record.ClassAborted { // an interrupted seat gave no answer to complain about
		p.Answers[call.Turn.Seat] = answer{Problem: step.Message}
	}
	p.event(convergence.EventFailed, map[string]any{"nodeId": call.NodeID, "position": call.Position, "code": codeOf(result)})
}

func (p *Progress) verifyDone(call Call, out Outcome, now time.Time) {
	step := p.step(call.Step)
	step.DurationMS = now.Sub(p.Started).Milliseconds() - step.StartedMS
	if out.Failure != nil {
		out.Verify = &VerifyResult{Class: classOf(out.Failure.Code), Code: out.Failure.Code, Message: out.Failure.Message, Attempt: 1}
	}
	v := *out.Verify
	step.Class, step.Code, step.Message, step.Attempts = v.Class, v.Code, v.Message, v.Attempt
	step.Artifacts, step.Restored = v.Artifacts, v.Restored
	if v.Class != record.ClassOK {
		step.Status = statusOf(v.Class)
		p.event(convergence.EventFailed, map[string]any{"nodeId": call.NodeID, "position": call.Position, "code": codeOf(TurnResult{Class: v.Class, Code: v.Code})})
		return
	}
	p.Verified = verified{Failure: v.Failure, Lint: v.Lint, Summary: p.verifySummary(v)}
	step.Status, step.Verdict = record.OK, v.Gate
	if v.Gate == GateNotRun {
		step.Status, step.Verdict = record.NotRun, ""
	} else {
		step.ExitCode = &v.ExitCode
	}
	result := p.evidence(v)
	result["gateMet"] = v.Gate == GatePass || v.Gate == GateNotRun
	p.event(convergence.EventCompleted, map[string]any{"nodeId": call.NodeID, "position": call.Position, "result": result})
}

// evidence is what reviews of this snapshot are bound to (design section 4).
func (p *Progress) evidence(v VerifyResult) map[string]any {
	hashes := map[string]string{"requirement": p.in.Requirement.Digest, "contract": p.Contract.Digest, "constraints": digestOf(p.in.Constraints)}
	for _, node := range p.machine.Writers() {
		hashes[node] = p.Latest.Tree
	}
	for i, glob := range p.machine.EvidenceGlobs() {
		if i < len(v.Globs) { // a missing one is evidence that nobody can answer on
			hashes[glob] = v.Globs[i]
		}
	}
	var proof any = map[string]any{"verify": nil}
	if v.Gate != GateNotRun {
		proof = map[string]any{"command": p.in.Commands.Verify, "exitCode": v.ExitCode, "gate": v.Gate}
	}
	return map[string]any{"inputHashes": hashes, "workspaceFingerprint": p.Latest.Tree, "proofArtifactDigest": digestOf(proof)}
}

func (p *Progress) verifySummary(v VerifyResult) string {
	switch v.Gate {
	case GateNotRun:
		return "no verify command is configured"
	case GatePass:
		return fmt.Sprintf("`%s` passed", p.in.Commands.Verify)
	default:
		return fmt.Sprintf("`%s` failed with exit code %d", p.in.Commands.Verify, v.ExitCode)
	}
}

func (p *Progress) landDone(out Outcome) {
	p.LandingDone = true
	if out.Failure != nil {
		p.Run.Notes = append(p.Run.Notes, "the branch was not landed: "+out.Failure.Message)
		return
	}
	if out.Landed.Note != "" {
		p.Run.Notes = append(p.Run.Notes, out.Landed.Note)
	}
	p.Run.Branch, p.Run.Landed = out.Landed.Branch, out.Landed.Commit != ""
}

func (p *Progress) bundleDone(out Outcome) {
	if out.Failure != nil {
		p.Run.Notes = append(p.Run.Notes, "the bundle was not written: "+out.Failure.Message)
	}
}

func (p *Progress) step(id string) *record.Step {
	for i := range p.Run.Steps {
		if p.Run.Steps[i].ID == id {
			return &p.Run.Steps[i]
		}
	}
	panic("no step " + id)
}

func digestOf(value any) string {
	raw, err := json.Marshal(value)
	if err == nil {
		var digest string
		if digest, err = convergence.Digest(raw); err == nil {
			return digest
		}
	}
	panic(fmt.Sprintf("digest: %v", err)) // only plain values come here
}

func failedStep(step *record.Step) string {
	who := strings.TrimSpace(step.Role + " " + step.Adapter)
	if step.Seat != "" {
		who = "reviewer seat " + step.Seat
	}
	return fmt.Sprintf("step %s (%s) failed: %s", step.ID, who, step.Message)
}

func (p *Progress) findings(call Call, result TurnResult) []map[string]any {
	out := []map[string]any{}
	p.readDispositions(call.NodeID, result.Verdict)
	for _, f := range result.Findings {
		p.Findings++
		id := fmt.Sprintf("F%d", p.Findings)
		p.Run.Findings = append(p.Run.Findings, record.Finding{
			ID: id, Severity: f.Severity, Kind: f.Kind, Lens: call.Turn.Lens, Title: f.Title, Claim: f.Claim,
			Evidence: f.Evidence, Disposition: "open", RaisedBy: []string{call.NodeID},
			History: []string{"raised in step " + call.Step},
		})
		out = append(out, map[string]any{"id": id, "kind": f.Kind, "severity": f.Severity, "evidence": f.Title})
	}
	return out
}

// readDispositions closes the seat's open findings when it passes a later tree;
// when it blocks again its new findings stand in their place.
func (p *Progress) readDispositions(seat, verdict string) {
	disposition := map[string]string{"pass": "addressed", "block": "not-addressed"}[verdict]
	for i := range p.Run.Findings {
		f := &p.Run.Findings[i]
		if f.Disposition == "open" && disposition != "" && f.RaisedBy[0] == seat {
			f.Disposition = disposition
		}
	}
}
