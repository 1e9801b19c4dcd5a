package loop

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"conclave/internal/convergence"
	"conclave/internal/record"
)

// stops maps the machine's end codes to stop reasons. A code that is not here
// ends the run as a failed step, never as a success.
var stops = map[string]record.Stop{
	convergence.CodeExhausted:   record.MaxIters,
	convergence.CodeStalled:     record.Stalled,
	convergence.CodeRulingAbort: record.Aborted,
	convergence.CodeUnreachable: record.NoReview,
}

// stopOfOutput reads how a complete run ended. An outcome that is not known here is no success.
func stopOfOutput(output json.RawMessage) record.Stop {
	switch decode[convergence.CompleteOutput](output).Outcome {
	case convergence.EndConverged, convergence.EndAdvisory: // the record is marked as advisory
		return record.Converged
	case convergence.EndRuled:
		return record.Ruled
	default:
		return record.StepFailed
	}
}

// advice says of an advisory run that ended which findings could not stop it.
func (p *Progress) advice(output json.RawMessage) string {
	out := decode[convergence.CompleteOutput](output)
	if out.Outcome != convergence.EndAdvisory {
		return ""
	}
	var ids []string
	for _, finding := range out.Findings {
		ids = append(ids, finding.ID)
	}
	return fmt.Sprintf("the reviewers only advise: these findings stand and did not stop the end: %s", strings.Join(ids, ", "))
}

// unresolved names the seats that a pause waits for: those which a person can
// reopen or waive. A pause for another reason names none.
func (p *Progress) unresolved(pause convergence.Command) []string {
	if pause.Code != convergence.PauseUnresolved && pause.Code != convergence.PauseUnavailable {
		return nil
	}
	var seats []string
	for _, seat := range p.machine.Seats() {
		rec, _ := p.State.Seats.Get(seat.ID)
		node, _ := p.State.Nodes.Get(seat.ID)
		if node.RoundAttempts > 0 && !rec.Answered && rec.Outcome != convergence.OutcomeSkipped && rec.Outcome != convergence.OutcomeWaived {
			seats = append(seats, seat.ID)
		}
	}
	if len(seats) == 0 { // every seat has answered, so it is the final review that is missing
		seats = append(seats, convergence.FinalSeat)
	}
	return seats
}

func stopOf(code string) record.Stop {
	if stop, ok := stops[code]; ok {
		return stop
	}
	return record.StepFailed
}

// explain says in words why the machine ended the run.
func (p *Progress) explain(fail convergence.Command) string {
	switch fail.Code {
	case convergence.CodeNodeFailed, convergence.CodeSeatUnresolved:
		if step := p.lastFailed(); step != nil {
			return failedStep(step)
		}
	case convergence.CodeNoChange:
		if step := p.lastWriter(); step != nil {
			if step.Message != "" { // it asks for a decision
				return fmt.Sprintf("step %s (implementer %s) %s", step.ID, step.Adapter, step.Message)
			}
			return fmt.Sprintf("step %s (implementer %s) changed nothing: there is no change to review", step.ID, step.Adapter)
		}
	}
	return fail.Message
}

func (p *Progress) lastFailed() *record.Step {
	for i := len(p.Run.Steps) - 1; i >= 0; i-- {
		if s := &p.Run.Steps[i]; s.Status == record.Failed || s.Status == record.Invalid {
			return s
		}
	}
	return nil
}

func (p *Progress) lastWriter() *record.Step {
	for i := len(p.Run.Steps) - 1; i >= 0; i-- {
		if s := &p.Run.Steps[i]; s.Role == record.RoleImplementer {
			return s
		}
	}
	return nil
}

// settle fixes the stop reason; the first one stands.
func (p *Progress) settle(stop record.Stop, message string) {
	if p.Run.Stop.Final() {
		return
	}
	p.Run.Stop, p.Run.Message, p.Run.Waiting, p.Run.Unresolved = stop, message, "", nil
	p.Run.ExitCode, p.Run.Converged = stop.ExitCode(), stop == record.Converged
	p.Run.Iterations = p.Run.Iteration
}

func (p *Progress) settleWait() {
	stop := record.NeedsRuling
	if p.Interrupted {
		stop = record.StopInterrupted
	}
	p.Run.Stop, p.Run.ExitCode, p.Run.Iterations = stop, stop.ExitCode(), p.Run.Iteration
}

// closeRecord settles a run that ends outside the machine, and its clock.
func (p *Progress) closeRecord(now time.Time) {
	if p.Cancel {
		p.settle(record.Cancelled, "cancelled")
	}
	p.settle(record.StepFailed, p.Failure)
	p.interruptSteps()
	p.closeDesk(now)
	if p.Run.TotalMS == 0 {
		p.Run.TotalMS = max(now.Sub(p.Started).Milliseconds(), 1)
	}
}

// interruptSteps marks what was still running when the run ended.
func (p *Progress) interruptSteps() {
	for i := range p.Run.Steps {
		if s := &p.Run.Steps[i]; s.Status == record.Running {
			s.Status = record.Interrupted
		}
	}
}

// Interrupt pauses the run at once; running turns are ended by the caller. A
// run that only has to land and to write its bundle is not held up.
func (p *Progress) Interrupt(reason string) {
	if p.Run.Stop.Final() {
		return
	}
	p.Interrupted = true
	p.event(convergence.EventLimit, map[string]any{"reason": reason})
}

// Cancelled ends the run at the next call of Next.
func (p *Progress) Cancelled() { p.Cancel = true }
