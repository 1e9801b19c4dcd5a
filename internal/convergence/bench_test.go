package convergence

import (
	"fmt"
	"testing"
)

// longLog is a run of the wanted length under live rules: round after round a
// seat blocks with a new finding and the writer repairs.
func longLog(tb testing.TB, discipline edit, events int) (*Machine, []Event) {
	d := define(discipline, limits(1_000_000, 999_999, 1), writersOn("w", "w"))
	m, err := Compile(encode(d), V1)
	if err != nil {
		tb.Fatal(err)
	}
	r := &logger{m: m, s: m.Initial()}
	for round := 1; len(r.events) < events; round++ {
		r.round(round)
	}
	return m, r.events[:events]
}

type logger struct {
	m      *Machine
	s      State
	events []Event
}

func (l *logger) event(typ string, payload fields) {
	e := NewEvent(typ, payload)
	l.events = append(l.events, e)
	l.s = l.m.Reduce(l.s, e)
}

// round answers whatever is decided until the next round begins.
func (l *logger) round(n int) {
	for restarts := l.s.Restarts; l.s.Restarts == restarts; {
		batch := l.m.Decide(l.s)
		for _, c := range batch {
			l.event(EventDispatched, fields{"nodeId": c.NodeID, "position": c.Position})
		}
		for _, c := range batch {
			l.event(EventEngine, fields{"nodeId": c.NodeID, "position": c.Position, "sequence": 1, "requested": nil,
				"effective": fields{"adapter": "mock", "provider": l.m.Lane(c.NodeID).Requested.Provider, "modelFamily": l.m.Lane(c.NodeID).Requested.ModelFamily, "model": "m"}})
			l.event(EventCompleted, fields{"nodeId": c.NodeID, "position": c.Position, "result": l.result(c, n)})
		}
	}
}

func (l *logger) result(c Command, n int) fields {
	tree := fmt.Sprint("tree", n)
	if c.Kind == KindConfirm {
		return fields{"confirmed": true}
	}
	switch l.m.Role(c.NodeID) {
	case RoleEvaluator:
		return with(evidenceOf(tree), fields{"gateMet": true})
	case RoleSeat:
		view, _ := l.m.SeatView(l.s, c.NodeID)
		answer := fields{"verdict": "pass", "confidence": 0.9}
		if c.NodeID == "A" {
			answer = block(fmt.Sprint("F", n))
		}
		rechecks := []fields{}
		for _, id := range l.s.Review.Standing {
			rechecks = append(rechecks, fields{"finding": id, "status": "addressed"})
		}
		return with(fields{"inputHashes": view.InputHashes, "workspaceFingerprint": view.WorkspaceFingerprint, "proofArtifactDigest": view.ProofArtifactDigest, "rechecked": rechecks}, answer)
	}
	report := []fields{}
	for _, id := range l.s.Review.Standing {
		report = append(report, fields{"finding": id, "status": "fixed"})
	}
	return fields{"tree": tree + string(l.m.Role(c.NodeID)), "changed": true, "fixReport": report}
}

// rejected is a log of nothing but receipts that do not fit: the worst for a
// state that has to list them all.
func rejected(tb testing.TB, events int) (*Machine, []Event) {
	m, err := Compile(encode(define()), V1)
	if err != nil {
		tb.Fatal(err)
	}
	e := NewEvent(EventEngine, fields{"nodeId": "A", "position": "review/1/A/1", "sequence": 1})
	log := make([]Event, events)
	for i := range log {
		log[i] = e
	}
	return m, log
}

// BenchmarkReduceDecide folds a log and decides after every event. The time per
// event must not depend on the length.
func BenchmarkReduceDecide(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		logs := map[string]func() (*Machine, []Event){
			"basic":    func() (*Machine, []Event) { return longLog(b, func(*Definition) {}, n) },
			"full":     func() (*Machine, []Event) { return longLog(b, full, n) },
			"rejected": func() (*Machine, []Event) { return rejected(b, n) },
		}
		for _, kind := range []string{"basic", "full", "rejected"} {
			b.Run(fmt.Sprintf("%s/%d", kind, n), func(b *testing.B) {
				m, events := logs[kind]()
				b.ReportAllocs()
				for b.Loop() {
					s := m.Initial()
					for _, e := range events {
						s = m.Reduce(s, e)
						m.Decide(s)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/event")
			})
		}
	}
}
