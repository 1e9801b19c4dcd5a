package loop

import (
	"fmt"
	"strings"

	"conclave/internal/convergence"
	"conclave/internal/record"
)

// seatDone binds a valid answer to the evidence it was asked about: the answer
// echoed the token of this view, or it is text whose evidence the host knows.
func (p *Progress) seatDone(call Call, step *record.Step, result TurnResult) {
	seat := call.Turn.Seat
	view, _ := p.machine.SeatView(p.State, seat)
	said := map[string]any{
		"verdict": map[string]string{"pass": "pass", "block": "findings"}[result.Verdict], "confidence": result.Confidence,
		"inputHashes": view.InputHashes, "workspaceFingerprint": view.WorkspaceFingerprint, "proofArtifactDigest": view.ProofArtifactDigest,
	}
	if p.full() {
		said["findings"], said["rechecked"] = p.raise(call, result), p.rechecked(call, result)
	} else {
		said["findings"] = p.findings(call, result)
	}
	p.Answers[seat] = answer{Final: result.Final}
	p.event(convergence.EventCompleted, map[string]any{"nodeId": call.NodeID, "position": call.Position, "result": said})
	if p.full() {
		p.judged(call, step)
	}
}

// rechecked passes on what a seat says of older findings.
func (p *Progress) rechecked(call Call, result TurnResult) []map[string]string {
	out := make([]map[string]string, 0, len(result.Rechecked))
	var left []string
	for _, r := range result.Rechecked {
		out = append(out, map[string]string{"finding": r.Finding, "status": r.Status})
		p.tell(r.Finding, "%s", because(fmt.Sprintf("step %s: %s finds it %s", call.Step, call.Turn.Seat, r.Status), r.Reason))
		if r.Status != string(convergence.FindingAddressed) {
			left = append(left, r.Finding)
		}
	}
	if len(left) > 0 {
		p.remark(call, "not addressed: "+strings.Join(left, ", "))
	}
	return out
}

// judged remembers what the seat has seen, if the machine takes its answer; an
// answer that it does not take is none.
func (p *Progress) judged(call Call, step *record.Step) {
	seat := call.Turn.Seat
	taken := p.State.Review.Final.Done
	if seat != convergence.FinalSeat {
		rec, _ := p.State.Seats.Get(seat)
		taken = rec.Answered
	}
	if taken {
		p.Judged[seat] = call.Turn.From
		return
	}
	step.Status, step.Class = record.Invalid, record.ClassMalformed
	step.Message = "the answer does not count: its verdict, confidence or findings do not agree"
	if seat == convergence.FinalSeat {
		step.Message += ", or its engine is a writer's or unknown"
	}
	p.Answers[seat] = answer{Problem: step.Message}
}

// findings enters what a seat reported under the basic discipline, where every
// review speaks for itself.
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
