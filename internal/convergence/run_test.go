package convergence

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// run drives one machine by events and keeps them.
type run struct {
	t      *testing.T
	m      *Machine
	s      State
	events []Event
}

// edit changes a definition before it is compiled.
type edit func(*Definition)

func newRun(t *testing.T, rules Rules, edits ...edit) *run {
	t.Helper()
	m, err := Compile(encode(define(edits...)), rules)
	require.NoError(t, err)
	return &run{t: t, m: m, s: m.Initial()}
}

// define returns two seats A and B of different engines, one repair, cap 0.
func define(edits ...edit) Definition {
	d := Definition{
		ID: "d", DefinitionVersion: 1, Edges: []Edge{},
		Data: Data{MaxIterations: 2, MaxReviewRestarts: 1, Quorum: 2, SkippableSeats: []string{}, SeatConcurrency: 2},
		Nodes: []Node{
			{ID: "gen", Data: NodeData{Role: RoleGenerator}},
			{ID: "eval", Data: NodeData{Role: RoleEvaluator}},
			{ID: "rep", Data: NodeData{Role: RoleRepair}},
			{ID: "A", Data: NodeData{Role: RoleSeat, Lane: lane("A", "p1", "f1")}},
			{ID: "B", Data: NodeData{Role: RoleSeat, Lane: lane("B", "p2", "f2")}},
		},
	}
	for _, e := range edits {
		e(&d)
	}
	return d
}

func lane(id, provider, family string, substitutions ...Target) *Lane {
	return &Lane{ID: id, Requested: target(provider, family), KnownSubstitutions: append([]Target{}, substitutions...)}
}

func target(provider, family string) Target {
	return Target{Adapter: "mock", Provider: provider, ModelFamily: family, Model: "m", Tools: []string{}}
}

func (d *Definition) node(id string) *NodeData {
	for i := range d.Nodes {
		if d.Nodes[i].ID == id {
			return &d.Nodes[i].Data
		}
	}
	panic("no node " + id)
}

func limits(iterations, repairs, retries int64) edit {
	return func(d *Definition) {
		d.Data.MaxIterations, d.Data.MaxReviewRestarts, d.Data.RetryCapPerNode = iterations, repairs, retries
	}
}

func quorum(n int64) edit { return func(d *Definition) { d.Data.Quorum = n } }

func full(d *Definition) {
	d.Data.Discipline = Full
	d.Data.RequireFindings = new(bool) // verdict-only answers keep the tests short
}

func writersOn(provider, family string) edit {
	return func(d *Definition) {
		d.node("gen").Lane, d.node("rep").Lane = lane("w", provider, family), lane("w", provider, family)
	}
}

type fields map[string]any

func (r *run) event(typ string, payload fields) *run {
	e := NewEvent(typ, payload)
	r.events = append(r.events, e)
	before := string(encode(r.s))
	next := r.m.Reduce(r.s, e)
	require.Equal(r.t, before, string(encode(r.s)), "Reduce changed the state it was given")
	r.s = next
	return r
}

// start dispatches every command the machine decides now.
func (r *run) start() *run {
	r.t.Helper()
	commands := r.m.Decide(r.s)
	require.NotEmpty(r.t, commands)
	for _, c := range commands {
		require.NotEmpty(r.t, c.Position, "not a turn: %s", encode(c))
		r.event(EventDispatched, fields{"nodeId": c.NodeID, "position": c.Position})
	}
	return r
}

func (r *run) position(id string) string {
	st, ok := r.s.Nodes.Get(id)
	require.True(r.t, ok)
	require.NotEmpty(r.t, st.InFlight, "%s is not in flight", id)
	return st.InFlight
}

func (r *run) done(id string, result fields) *run {
	r.t.Helper()
	return r.event(EventCompleted, fields{"nodeId": id, "position": r.position(id), "result": result})
}

func (r *run) failed(id, code string) *run {
	r.t.Helper()
	return r.event(EventFailed, fields{"nodeId": id, "position": r.position(id), "code": code})
}

// engine records the identity of the call that runs for a node.
func (r *run) engine(id, provider, family string) *run {
	r.t.Helper()
	st, _ := r.s.Nodes.Get(id)
	var effective any
	if provider != "" || family != "" {
		effective = fields{"provider": provider, "modelFamily": family}
	}
	return r.event(EventEngine, fields{"nodeId": id, "position": r.position(id), "sequence": st.lastSequence() + 1, "effective": effective})
}

func proof(digit string) string { return "sha256:" + strings.Repeat(digit, 64) }

// evidenceOf is what the evaluator reports of a tree.
func evidenceOf(tree string) fields {
	return fields{"inputHashes": fields{"gen": tree, "rep": tree}, "workspaceFingerprint": tree, "proofArtifactDigest": proof("a")}
}

func with(a fields, more ...fields) fields {
	merged := fields{}
	for _, f := range append([]fields{a}, more...) {
		for k, v := range f {
			merged[k] = v
		}
	}
	return merged
}

// draft lets the generator and the evaluator run, with the gate met.
func (r *run) draft(tree string) *run {
	r.t.Helper()
	r.start().done("gen", fields{"tree": tree, "changed": true})
	return r.verify(tree, true)
}

func (r *run) verify(tree string, met bool) *run {
	r.t.Helper()
	return r.start().done("eval", with(evidenceOf(tree), fields{"gateMet": met}))
}

func (r *run) repaired(tree string) *run {
	r.t.Helper()
	return r.start().done("rep", fields{"tree": tree, "changed": true})
}

// says lets a seat in flight answer on what it must echo now, by its own engine.
func (r *run) says(id string, answer fields) *run {
	r.t.Helper()
	if l := r.m.Lane(id); l.ID != "" {
		if st, _ := r.s.Nodes.Get(id); st.Receipt == nil {
			r.engine(id, l.Requested.Provider, l.Requested.ModelFamily)
		}
	}
	view, ok := r.m.SeatView(r.s, id)
	require.True(r.t, ok)
	return r.done(id, with(fields{"inputHashes": view.InputHashes, "workspaceFingerprint": view.WorkspaceFingerprint, "proofArtifactDigest": view.ProofArtifactDigest}, answer))
}

var pass = fields{"verdict": "pass", "confidence": 0.9}

func block(ids ...string) fields {
	list := []fields{}
	for _, id := range ids {
		list = append(list, fields{"id": id, "kind": "patch", "severity": "high", "evidence": "ev " + id})
	}
	return fields{"verdict": "findings", "confidence": 0.9, "findings": list}
}

// now describes what the machine decides, in one line.
func (r *run) now() string { return describe(r.m.Decide(r.s)) }

func describe(commands []Command) string {
	words := make([]string, 0, len(commands))
	for _, c := range commands {
		what := c.Kind
		for _, part := range []string{c.Position, c.Code} {
			if part != "" {
				what += " " + part
			}
		}
		words = append(words, what)
	}
	return strings.Join(words, ", ")
}

func (r *run) expect(want string) *run {
	r.t.Helper()
	require.Equal(r.t, want, r.now(), "events:\n%s", r.log())
	requireRoundTrip(r.t, r.s)
	return r
}

func (r *run) log() string {
	var b strings.Builder
	for _, e := range r.events {
		fmt.Fprintln(&b, e.Type, string(e.Payload))
	}
	return b.String()
}

func (r *run) command() Command {
	r.t.Helper()
	commands := r.m.Decide(r.s)
	require.Len(r.t, commands, 1)
	return commands[0]
}

func (r *run) output() CompleteOutput {
	r.t.Helper()
	var out CompleteOutput
	require.NoError(r.t, json.Unmarshal(r.command().Output, &out))
	return out
}
