package loop

import (
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

// orFailure takes a call that ended without a result, as when somebody else
// completed its activity, for a failed one.
func (o Outcome) orFailure(kind Kind) Outcome {
	missing := kind == CallPrepare && o.Prepared == nil || kind == CallTurn && o.Turn == nil ||
		kind == CallVerify && o.Verify == nil || kind == CallLand && o.Landed == nil
	if missing && o.Failure == nil {
		o.Failure = &Failure{Code: convergence.FailEffect, Message: "the activity ended without a result"}
	}
	return o
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
	defer func() { p.Run.Findings = p.recorded() }()
	out = out.orFailure(call.Kind)
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
	if out.Failure != nil && out.Failure.Code == convergence.FailAborted {
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

func failedStep(step *record.Step) string {
	who := strings.TrimSpace(step.Role + " " + step.Adapter)
	if step.Seat != "" {
		who = "reviewer seat " + step.Seat
	}
	return fmt.Sprintf("step %s (%s) failed: %s", step.ID, who, step.Message)
}
