package loop

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"conclave/internal/convergence"
	"conclave/internal/record"
)

func (p *Progress) turnDone(call Call, out Outcome, now time.Time) *Again {
	if out.Failure != nil {
		out.Turn = &TurnResult{Class: classOf(out.Failure.Code), Code: out.Failure.Code, Message: out.Failure.Message, Attempt: 1}
	}
	result := *out.Turn
	p.checkIdentity(call, &result)
	p.receipt(call, result)
	impatient(call, &result)
	if again := p.again(call, result); again != nil {
		p.paidTry(p.step(call.Step), result)
		p.step(call.Step).Message = clip(fmt.Sprintf("waits %s for another try: %s", again.After, again.Why), messageBytes)
		return again
	}
	step, before := p.finishStep(call, result, now), p.standings()
	switch {
	case call.NodeID == "":
		p.designDone(step, result)
	case result.Class != record.ClassOK:
		p.nodeFailed(call, step, result)
	case call.Turn.Writing:
		p.writerDone(call, result)
	case call.Turn.Turn == record.TurnConfirm:
		p.confirmDone(call, result)
	case call.Turn.Turn == record.TurnArbitrate:
		p.arbitrateDone(call, result, now)
	default:
		p.seatDone(call, step, result)
	}
	p.tellSettled(before, "step "+call.Step)
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
	step.Identity.Reported, step.Sandbox, step.Session = result.Reported, result.Sandbox, result.Session
	step.Resumed = result.Resumed
	step.Verdict, step.Stats, step.Artifacts = result.Verdict, result.Stats, result.Artifacts
	step.Tree = result.Snapshot.Tree
	step.Attempts = result.Attempt + call.Turn.Try - 1
	step.DurationMS = now.Sub(p.Started).Milliseconds() - step.StartedMS
	step.Status = statusOf(result.Class)
	p.noteOnce(result.Notes...)
	p.paid(step, result)
	return step
}

// paidTry is paid for a try that another one follows. One that was refused consumed nothing, and reports nothing.
func (p *Progress) paidTry(step *record.Step, result TurnResult) {
	switch {
	case result.Usage != nil:
		p.paid(step, result)
	case result.Worked:
		p.unreported(step, result.Lost+1)
	default:
		p.unreported(step, result.Lost)
	}
}

// unreported counts engine calls of which nobody told what they consumed.
func (p *Progress) unreported(step *record.Step, calls int) {
	for range calls {
		p.Run.Usage, step.Usage = record.Sum(p.Run.Usage, nil), record.Sum(step.Usage, nil)
	}
}

// paid adds what a try consumed to its step and to the run. What nobody
// reported is unknown, and makes an unknown part of a sum.
func (p *Progress) paid(step *record.Step, result TurnResult) {
	p.unreported(step, result.Lost)
	p.Run.Usage = record.Sum(p.Run.Usage, result.Usage)
	if step.Usage == nil {
		step.Usage = result.Usage
	} else {
		step.Usage = record.Sum(step.Usage, result.Usage)
	}
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
	p.keepSession(call, result)
	p.asked(call, result)
	p.Run.Artifacts["changes.diff"], p.Run.Artifacts["changed.json"] = result.TotalDiff, result.Total
	p.scanned(result.Scan)
	p.secretsOf(result.Scan, "step "+call.Step)
	answer := map[string]any{"tree": result.Snapshot.Tree, "changed": result.Changed}
	if p.full() && call.Turn.Turn == record.TurnRepair {
		p.reported(call, result)
		answer["fixReport"] = append([]Fixed{}, result.FixReport...)
	}
	p.event(convergence.EventCompleted, map[string]any{"nodeId": call.NodeID, "position": call.Position, "result": answer})
	p.askAfterChange(call, result)
	if result.Changed && result.Snapshot.Tree == p.Prepared.Base.Tree { // no review can be made of it
		p.Failure = fmt.Sprintf("step %s (%s) took the whole change back: nothing is left to review", call.Step, p.who(call))
	}
}

// reported keeps what a writer says of each finding: rechecks read it, and it
// is evidence of nothing.
func (p *Progress) reported(call Call, result TurnResult) {
	p.FixReport = result.Artifacts[fixReportFile]
	if p.FixReport.IsZero() { // what an attempt after a lost worker left stands in a folder of its own
		p.FixReport = result.Artifacts[fmt.Sprintf("attempt-%d/%s", result.Attempt, fixReportFile)]
	}
	var words []string
	for _, said := range result.FixReport {
		words = append(words, said.Finding+" "+said.Status)
		verb := "refutes it"
		if said.Status == "fixed" {
			verb = "says that it is fixed"
		}
		p.tell(said.Finding, "step %s: the writer %s %s", call.Step, p.who(call), verb)
	}
	if len(words) > 0 {
		p.remark(call, "reports "+strings.Join(words, ", "))
	} else if len(call.Turn.Feedback.Findings) > 0 {
		p.remark(call, "gave no fix report")
	}
}

// fixReportFile is a repair's artifact with its fix report alone.
const fixReportFile = "fix-report.json"

// scanned keeps what the change is, and notes what nobody is asked about.
func (p *Progress) scanned(scan *Scan) {
	if scan == nil {
		return
	}
	policy := p.in.Policy
	p.Run.ChangedLines, p.Run.Exempt = scan.Lines, scan.Exempt
	if !policy.Ask && policy.SizeLimit > 0 && scan.Lines > policy.SizeLimit {
		p.noteOnce(fmt.Sprintf("the change has more than %d changed lines: reviewers find less in so much", policy.SizeLimit))
	}
	if policy.Ask && !policy.AllowProtected {
		return // the question tells it
	}
	for _, guarded := range scan.Protected {
		p.noteOnce("the change touches a protected path: " + guarded.words())
	}
}

// asked says that a writer asks for a decision instead of working: nobody in the loop can give one.
func (p *Progress) asked(call Call, result TurnResult) {
	if result.Question == "" || result.Changed {
		return
	}
	p.remark(call, "changed nothing and needs a decision: "+result.Question)
	p.noteOnce(fmt.Sprintf("step %s: %s changed nothing and needs a decision: %s Answer it in the requirement or in a --constraint file, and start a new run", call.Step, p.who(call), result.Question))
}

// noteOnce keeps notes that the record does not hold yet: what is said of a change or of a machine is true of every turn.
func (p *Progress) noteOnce(notes ...string) {
	for _, note := range notes {
		if !slices.Contains(p.Run.Notes, note) {
			p.Run.Notes = append(p.Run.Notes, note)
		}
	}
}

func (p *Progress) nodeFailed(call Call, step *record.Step, result TurnResult) {
	key := call.Turn.Seat
	if question := call.Turn.Turn == record.TurnConfirm || call.Turn.Turn == record.TurnArbitrate; question {
		key = questionKey(call.Turn)
	}
	if key != "" && result.Class != record.ClassAborted { // an interrupted seat gave no answer to complain about
		p.Answers[key] = answer{Problem: step.Message}
	}
	before := convergence.FindingState{}
	if call.Turn.Turn == record.TurnConfirm {
		before = p.findingState(call.Turn.Findings[0])
	}
	p.event(convergence.EventFailed, map[string]any{"nodeId": call.NodeID, "position": call.Position, "code": codeOf(result)})
	if call.Turn.Turn == record.TurnConfirm {
		p.confirmFailed(call, before)
	}
}
