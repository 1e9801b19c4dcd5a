package loop

import (
	"encoding/json"
	"fmt"
	"time"

	"conclave/internal/convergence"
	"conclave/internal/record"
)

func (p *Progress) verifyDone(call Call, out Outcome, now time.Time) {
	step := p.step(call.Step)
	step.DurationMS = now.Sub(p.Started).Milliseconds() - step.StartedMS
	if out.Failure != nil {
		out.Verify = &VerifyResult{Class: classOf(out.Failure.Code), Code: out.Failure.Code, Message: out.Failure.Message, Attempt: 1}
	}
	v := *out.Verify
	step.Class, step.Code, step.Message, step.Attempts = v.Class, v.Code, v.Message, v.Attempt
	step.Artifacts, step.Restored, step.Sandbox = v.Artifacts, v.Restored, v.Sandbox
	p.noteOnce(v.Notes...)
	if v.Class != record.ClassOK {
		step.Status = statusOf(v.Class)
		p.event(convergence.EventFailed, map[string]any{"nodeId": call.NodeID, "position": call.Position, "code": codeOf(TurnResult{Class: v.Class, Code: v.Code})})
		return
	}
	p.Verified = verified{Failure: v.Failure, Lint: v.Lint, Summary: p.verifySummary(v)}
	step.Status, step.Verdict = record.OK, v.Gate
	if v.Gate == GateNotRun {
		step.Status, step.Verdict = record.NotRun, ""
	} else if p.in.Commands.Verify != "" { // secrets close the gate also where no command does
		step.ExitCode = &v.ExitCode
	}
	result := p.evidence(v)
	if v.FailureDigest != "" {
		result["failureDigest"] = v.FailureDigest
	}
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
	if v.Secrets > 0 {
		return v.Message
	}
	switch v.Gate {
	case GateNotRun:
		return "no verify command is configured"
	case GatePass:
		return fmt.Sprintf("`%s` passed", p.in.Commands.Verify)
	default:
		return fmt.Sprintf("`%s` failed with exit code %d", p.in.Commands.Verify, v.ExitCode)
	}
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
