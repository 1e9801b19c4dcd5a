package convergence

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"pgregory.net/rapid"
)

// oneOf draws an item. Draws are the only source of randomness, so a failing
// sequence shrinks.
func oneOf[T any](t *rapid.T, label string, items ...T) T {
	return rapid.SampledFrom(items).Draw(t, label)
}

var dice = rapid.SampledFrom(hundred())

func hundred() []int {
	faces := make([]int, 100)
	for i := range faces {
		faces[i] = i
	}
	return faces
}

// chance is true in that many of a hundred draws. Ranges of rapid prefer small
// numbers, its samples do not.
func chance(t *rapid.T, label string, percent int) bool {
	return dice.Draw(t, label) >= 100-percent
}

var providers = []string{"p1", "p2", "p3", "p4"}

func drawTarget(t *rapid.T) Target {
	return target(oneOf(t, "provider", providers...), "f"+oneOf(t, "family", "1", "2", "3", "4"))
}

func drawLane(t *rapid.T, id string) *Lane {
	if chance(t, "data-only", 15) {
		return nil
	}
	l := &Lane{ID: id, Requested: drawTarget(t), KnownSubstitutions: []Target{}}
	if chance(t, "substitution", 20) {
		l.KnownSubstitutions = append(l.KnownSubstitutions, drawTarget(t))
	}
	return l
}

// drawDefinition draws small definitions, most of which compile.
func drawDefinition(t *rapid.T) Definition {
	iterations := int64(rapid.IntRange(1, 4).Draw(t, "I"))
	d := Definition{
		ID: "d", DefinitionVersion: 1, Edges: []Edge{},
		Data: Data{
			MaxIterations: iterations, MaxReviewRestarts: iterations - 1, SkippableSeats: []string{},
			RetryCapPerNode: int64(rapid.IntRange(0, 2).Draw(t, "c")), SeatConcurrency: int64(rapid.IntRange(1, 4).Draw(t, "k")),
			RequireDiversity: chance(t, "diversity", 30),
		},
	}
	if chance(t, "R apart", 15) {
		d.Data.MaxReviewRestarts = int64(rapid.IntRange(0, 4).Draw(t, "R"))
	}
	writer := drawLane(t, "w")
	d.Nodes = []Node{
		{ID: "gen", Data: NodeData{Role: RoleGenerator, Lane: writer}},
		{ID: "eval", Data: NodeData{Role: RoleEvaluator}},
		{ID: "rep", Data: NodeData{Role: RoleRepair, Lane: writer}},
	}
	seats := rapid.IntRange(1, 4).Draw(t, "S")
	for i := range seats {
		id := string(rune('A' + i))
		data := NodeData{Role: RoleSeat, Lane: drawLane(t, id)}
		if chance(t, "paths", 20) {
			data.EvidencePaths = []string{oneOf(t, "path", "gen", "docs/**")}
		}
		if chance(t, "voting", 10) {
			no := false
			data.Voting = &no
		}
		if chance(t, "skippable", 15) {
			d.Data.SkippableSeats = append(d.Data.SkippableSeats, id)
		}
		d.Nodes = append(d.Nodes, Node{ID: id, Data: data})
	}
	d.Data.Quorum = int64(rapid.IntRange(1, seats).Draw(t, "q"))
	drawPolicies(t, &d)
	return d
}

func drawPolicies(t *rapid.T, d *Definition) {
	d.Data.Discipline = oneOf(t, "discipline", Basic, Full)
	d.Data.ReviewWhen = oneOf(t, "when", WhenVerified, WhenVerified, WhenAlways)
	if chance(t, "self-review", 20) {
		no := false
		d.Data.WriterExclusion = &no
	}
	if strict := chance(t, "requireFindings", 20); strict || chance(t, "said", 50) {
		d.Data.RequireFindings = &strict
	}
	if chance(t, "confirmer", 10) {
		d.Data.Confirmer = lane("confirmer", "cp", "cf")
	}
}

// drawMachine draws definitions until one compiles.
func drawMachine(t *rapid.T, rules Rules) *Machine {
	for range 50 {
		d := drawDefinition(t)
		if m, err := Compile(encode(d), rules); err == nil {
			return m
		}
	}
	t.Skip("no definition compiled")
	return nil
}

// world draws events for one machine.
type world struct {
	t       *rapid.T
	m       *Machine
	s       State
	trees   int
	hostile bool
	calm    bool // little goes wrong, so that rounds pile up
}

// newWorld draws how the run will go.
func newWorld(t *rapid.T, m *Machine) *world {
	w := &world{t: t, m: m, s: m.Initial()}
	switch dice := dice.Draw(t, "mood"); {
	case dice < 40:
		w.calm = true
	case dice < 80:
		w.hostile = true
	}
	return w
}

// noise is chance, but seldom true in a calm run.
func (w *world) noise(label string, percent int) bool {
	if w.calm {
		percent = (percent + 9) / 10
	}
	return chance(w.t, label, percent)
}

func (w *world) draw() Event {
	if w.hostile && chance(w.t, "hostile", 25) {
		return w.hostileEvent()
	}
	running := w.running()
	if len(running) == 0 || chance(w.t, "dispatch first", 30) {
		if e, ok := w.dispatch(); ok {
			return e
		}
	}
	if len(running) > 0 {
		return w.end(oneOf(w.t, "which", running...))
	}
	return w.resume()
}

// place is an attempt that runs.
type place struct {
	nodeID, position string
	sequence         int64
	kind             string
	findings         []string
}

func (w *world) running() []place {
	var running []place
	for id, st := range w.s.Nodes.All() {
		if st.Status == StatusInFlight {
			running = append(running, place{nodeID: id, position: st.InFlight, sequence: st.lastSequence() + 1, kind: string(w.m.Role(id))})
		}
	}
	for _, turn := range w.s.Review.Turns {
		if !turn.Paused {
			running = append(running, place{nodeID: turn.NodeID, position: turn.Position, sequence: NodeState{Receipt: turn.Receipt}.lastSequence() + 1, kind: turn.Kind, findings: turn.Findings})
		}
	}
	return running
}

// dispatch is the next decided turn, also one of a batch that has begun.
func (w *world) dispatch() (Event, bool) {
	if len(w.s.Batch) > 0 && w.s.inFlight() {
		position := oneOf(w.t, "batch", w.s.Batch...)
		return NewEvent(EventDispatched, fields{"nodeId": w.nodeOf(position), "position": position}), true
	}
	commands := slices.DeleteFunc(w.m.Decide(w.s), func(c Command) bool { return c.Position == "" })
	if len(commands) == 0 {
		return Event{}, false
	}
	c := oneOf(w.t, "command", commands...)
	return NewEvent(EventDispatched, fields{"nodeId": c.NodeID, "position": c.Position}), true
}

func (w *world) nodeOf(position string) string {
	for id := range w.m.nodes {
		for _, prefix := range []string{"review/" + itoa(w.s.Iteration), "convergence/" + itoa(w.s.Iteration)} {
			if st, _ := w.s.Nodes.Get(id); position == prefix+"/"+id+"/"+itoa(st.Attempts+1) {
				return id
			}
		}
	}
	return "rep"
}

// end ends or disturbs a running attempt.
func (w *world) end(p place) Event {
	base := fields{"nodeId": p.nodeID, "position": p.position}
	writes := p.kind == "generator" || p.kind == "evaluator" || p.kind == "repair"
	if (w.m.Lane(p.nodeID).ID != "" || p.kind == turnConfirm || p.kind == turnArbitrate) && p.sequence == 1 && (w.calm || chance(w.t, "receipt first", 60)) {
		return NewEvent(EventEngine, with(base, fields{"sequence": p.sequence, "requested": nil, "effective": w.identity(p.nodeID)}))
	}
	if (writes || w.calm) && !w.noise("disturb", 12) { // most runs should get as far as a review
		return NewEvent(EventCompleted, with(base, fields{"result": w.result(p)}))
	}
	switch dice := dice.Draw(w.t, "end"); {
	case dice < 30:
		return NewEvent(EventEngine, with(base, fields{"sequence": p.sequence, "requested": nil, "effective": w.identity(p.nodeID)}))
	case dice < 80:
		return NewEvent(EventCompleted, with(base, fields{"result": w.result(p)}))
	case dice < 90:
		return NewEvent(EventFailed, with(base, fields{"code": oneOf(w.t, "code", FailTimeout, FailResultInvalid, FailEngineUnavailable, FailAborted, FailWorkspaceViolation)}))
	case dice < 93:
		return NewEvent(EventPaused, with(base, fields{"reason": "x", "request": nil}))
	case dice < 96 && len(p.findings) > 0:
		return NewEvent(oneOf(w.t, "answer", EventConfirmed, EventRefuted), fields{"finding": p.findings[0], "position": p.position})
	default:
		return NewEvent(EventInvalidated, fields{"seatId": p.nodeID, "reason": "x"})
	}
}

func (w *world) identity(nodeID string) any {
	if w.noise("unknown", 10) {
		return nil
	}
	target := w.m.Lane(nodeID).Requested
	if target.Provider == "" || w.noise("another engine", 70) {
		target = drawTarget(w.t)
	}
	return fields{"provider": target.Provider, "modelFamily": target.ModelFamily}
}

func (w *world) result(p place) fields {
	switch p.kind {
	case "generator", "repair":
		if chance(w.t, "new tree", 90) {
			w.trees++
		}
		report := []fields{}
		for _, id := range w.s.Review.Standing {
			if !w.noise("left out", 10) {
				report = append(report, fields{"finding": id, "status": oneOf(w.t, "fix", "fixed", "fixed", "refuted")})
			}
		}
		return fields{"tree": "t" + strconv.Itoa(w.trees), "changed": !w.noise("unchanged", 5), "fixReport": report}
	case "evaluator":
		gate := fields{"gateMet": !chance(w.t, "unmet", 15), "failureDigest": "x"}
		if w.noise("no evidence", 1) {
			return gate
		}
		return with(w.evidence(), gate)
	case "confirm":
		return fields{"confirmed": chance(w.t, "upheld", 50)}
	case "arbitrate":
		rulings := []fields{}
		for _, id := range p.findings {
			rulings = append(rulings, fields{"finding": id, "decision": oneOf(w.t, "ruling", "stand", "fix", "person")})
		}
		return fields{"rulings": rulings}
	}
	return w.answer(p)
}

func (w *world) evidence() fields {
	tree := "t" + strconv.Itoa(w.trees)
	return fields{
		"inputHashes":          fields{"gen": tree, "rep": tree, "docs/**": "d" + strconv.Itoa(w.trees/2)},
		"workspaceFingerprint": tree, "proofArtifactDigest": proof(oneOf(w.t, "proof", "a", "a", "a", "b")),
	}
}

func (w *world) answer(p place) fields {
	seat := p.nodeID
	if p.kind == turnFinal {
		seat = FinalSeat
	}
	answer := fields{"verdict": oneOf(w.t, "verdict", "pass", "pass", "pass", "findings")}
	if w.noise("other word", 20) {
		answer["verdict"] = oneOf(w.t, "word", "low-confidence", "?")
	}
	if !w.noise("no confidence", 15) {
		answer["confidence"] = 0.5
	}
	if view, ok := w.m.SeatView(w.s, seat); ok && !w.noise("stale", 10) {
		answer["inputHashes"], answer["workspaceFingerprint"], answer["proofArtifactDigest"] = view.InputHashes, view.WorkspaceFingerprint, view.ProofArtifactDigest
	}
	if answer["verdict"] != "pass" || w.noise("odd", 10) {
		list := []fields{}
		for range oneOf(w.t, "findings", 0, 1, 1, 1, 2) {
			list = append(list, fields{"id": "F" + oneOf(w.t, "id", "1", "2", "3", "4", "5/6"), "evidence": "e",
				"kind": oneOf(w.t, "kind", "patch", "patch", "decision"), "severity": oneOf(w.t, "severity", "high", "high", "medium", "low", "")})
		}
		answer["findings"] = list
	}
	rechecks := []fields{}
	for _, id := range w.s.Review.Standing {
		rechecks = append(rechecks, fields{"finding": id, "status": oneOf(w.t, "recheck", "addressed", "addressed", "addressed", "not-addressed")})
	}
	return with(answer, fields{"rechecked": rechecks})
}

// resume is what a person or a host does to a run that waits.
func (w *world) resume() Event {
	for id, st := range w.s.Nodes.All() {
		if st.Status == StatusPaused {
			return NewEvent(EventResumed, fields{"nodeId": id, "position": st.InFlight})
		}
	}
	for _, turn := range w.s.Review.Turns {
		return NewEvent(EventResumed, fields{"nodeId": turn.NodeID, "position": turn.Position})
	}
	for _, c := range w.m.Decide(w.s) {
		if c.Kind == KindAsk {
			return NewEvent(EventRuling, fields{"finding": oneOf(w.t, "subject", c.Subjects...), "decision": oneOf(w.t, "decision", "stand", "fix", "stand", "fix", "abort")})
		}
	}
	seat := string(rune('A' + rapid.IntRange(0, 3).Draw(w.t, "seat")))
	if chance(w.t, "final", 10) {
		seat = FinalSeat
	}
	switch oneOf(w.t, "resume", 0, 0, 1, 2) {
	case 0:
		return NewEvent(EventRunResumed, fields{"reason": "go on"})
	case 1:
		return NewEvent(EventSeatReopened, fields{"seatId": seat})
	default:
		return NewEvent(EventSeatWaived, fields{"seatId": seat, "reason": "because"})
	}
}

var hostileTypes = []string{
	EventDispatched, EventEngine, EventCompleted, EventFailed, EventPaused, EventResumed, EventInvalidated, EventLimit, EventRunResumed,
	EventSeatReopened, EventSeatWaived, EventQuestion, EventRuling, EventBudget, EventConfirmed, EventRefuted, "unheard-of",
}

// hostileEvent fits nothing on purpose, or only by accident.
func (w *world) hostileEvent() Event {
	if chance(w.t, "garbage", 10) {
		raw := oneOf(w.t, "raw", `null`, `[]`, `{`, `{"nodeId":1}`, `"x"`, `{"nodeId":"A","nodeId":"B"}`)
		return Event{Type: oneOf(w.t, "type", hostileTypes...), Version: rapid.IntRange(-1, 2).Draw(w.t, "version"), Payload: json.RawMessage(raw)}
	}
	id := oneOf(w.t, "node", "gen", "eval", "rep", "A", "B", "C", "nobody")
	st, _ := w.s.Nodes.Get(id)
	position := st.InFlight
	if chance(w.t, "other position", 60) {
		prefix := oneOf(w.t, "prefix", "review/1/"+id, "review/2/"+id, "convergence/1/"+id, "convergence/repair/1", "confirm/1/F1", "arbitrate/1", "final/1/A")
		position = fmt.Sprintf("%s/%d", prefix, st.Attempts+int64(rapid.IntRange(0, 2).Draw(w.t, "attempt")))
	}
	e := NewEvent(oneOf(w.t, "type", hostileTypes...), fields{
		"nodeId": id, "position": position, "seatId": id, "reason": "x", "sequence": rapid.IntRange(0, 2).Draw(w.t, "sequence"),
		"effective": w.identity(id), "code": oneOf(w.t, "code", FailAborted, FailEngineUnavailable, FailTimeout),
		"finding": oneOf(w.t, "finding", "F1", "F2", "SIZE"), "subject": oneOf(w.t, "subject", "SIZE", "F1"),
		"decision": oneOf(w.t, "decision", "stand", "fix", "person"), "result": with(w.answer(place{nodeID: "A"}), fields{"gateMet": true, "changed": true}),
	})
	if chance(w.t, "without position", 30) {
		e = NewEvent(EventRuling, fields{"finding": oneOf(w.t, "early", "F1", "F2"), "decision": oneOf(w.t, "decision", "stand", "fix")})
	}
	e.Version = oneOf(w.t, "version", 1, 1, 1, 2)
	return e
}
