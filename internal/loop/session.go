package loop

import (
	"conclave/internal/record"
)

// Earlier is a session of the writer's own that a repair turn goes on with.
type Earlier struct {
	Session string `json:"session"`
	// Usage is what the turns of the session used so far, nil when that is unknown: some programs report a session's
	// sum, from which it is taken off.
	Usage *record.Usage `json:"usage,omitempty"`
}

// The words of Input.WriterSession. The zero value is SessionFresh.
const (
	SessionResume = "resume"
	SessionFresh  = "fresh"
)

// freshFrom is the round from which a repair begins a new session, whatever was asked for: a context that has failed
// so often rather misleads.
const freshFrom = 4

// writerSession is the memory of the session that wrote the newest snapshot.
type writerSession struct {
	Target record.Engine `json:"target"`
	Earlier
}

// resume is the session that a writing turn goes on with; nil for a new one. Only a repair has any, and only where the
// same engine wrote last; a worker that does not hold the session begins a new one.
func (p *Progress) resume(turn string, target record.Engine, escalated bool) *Earlier {
	last := p.Writer
	switch {
	case p.in.WriterSession != SessionResume, turn != record.TurnRepair, p.in.DryRun, last == nil:
		return nil
	case escalated, p.Run.Iteration-1 >= freshFrom, last.Target != target:
		return nil
	}
	earlier := last.Earlier
	return &earlier
}

// keepSession remembers the session that a writing turn ended well in.
func (p *Progress) keepSession(call Call, result TurnResult) {
	if result.Session == "" {
		p.Writer = nil
		return
	}
	next := &writerSession{Target: call.Turn.Target, Earlier: Earlier{Session: result.Session, Usage: result.Usage}}
	if last := p.Writer; result.Resumed && last != nil && last.Session == result.Session {
		next.Usage = nil
		if last.Usage != nil && result.Usage != nil {
			next.Usage = record.Sum(last.Usage, result.Usage)
		}
	}
	p.Writer = next
}
