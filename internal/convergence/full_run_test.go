package convergence

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// fullRun has two voting seats A (p1/f1) and B (p2/f2), writers on w/w, I
// iterations and cap 0 unless edited.
func fullRun(t *testing.T, edits ...edit) *run {
	t.Helper()
	return newRun(t, V1, append([]edit{full, limits(3, 2, 0), writersOn("w", "w")}, edits...)...)
}

func finding(id, severity string) fields {
	return fields{"id": id, "kind": "patch", "severity": severity, "evidence": "ev " + id}
}

func blockWith(findings ...fields) fields {
	return fields{"verdict": "findings", "findings": findings}
}

func rechecked(verdict string, pairs ...string) fields {
	list := []fields{}
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, fields{"finding": pairs[i], "status": pairs[i+1]})
	}
	return fields{"verdict": verdict, "confidence": 0.9, "rechecked": list}
}

// turnAt returns the running turn of a kind about a finding ("" for any).
func (r *run) turnAt(kind, id string) TurnState {
	r.t.Helper()
	for _, turn := range r.s.Review.Turns {
		if turn.Kind == kind && (id == "" || turn.Findings[0] == id) {
			return turn
		}
	}
	r.t.Fatalf("no %s turn runs for %q", kind, id)
	return TurnState{}
}

func (r *run) turnEngine(turn TurnState, provider, family string) *run {
	r.t.Helper()
	return r.event(EventEngine, fields{"nodeId": turn.NodeID, "position": turn.Position, "sequence": 1,
		"effective": fields{"provider": provider, "modelFamily": family}})
}

// confirm lets the running confirm turn about a finding decide.
func (r *run) confirm(id string, upheld bool) *run {
	r.t.Helper()
	turn := r.turnAt("confirm", id)
	return r.turnEngine(turn, "cp", "cf").event(EventCompleted, fields{"nodeId": turn.NodeID, "position": turn.Position, "result": fields{"confirmed": upheld}})
}

// arbitrate lets the running arbitration rule: finding, decision, ...
func (r *run) arbitrate(pairs ...string) *run {
	r.t.Helper()
	turn := r.turnAt("arbitrate", "")
	r.turnEngine(turn, "ap", "af")
	for i := 0; i < len(pairs); i += 2 {
		r.event(EventRuling, fields{"finding": pairs[i], "decision": pairs[i+1], "position": turn.Position})
	}
	return r.event(EventCompleted, fields{"nodeId": turn.NodeID, "position": turn.Position, "result": fields{}})
}

func (r *run) person(id, decision string) *run {
	return r.event(EventRuling, fields{"finding": id, "decision": decision, "reason": "because", "by": "somebody"})
}

// final lets the running final review answer.
func (r *run) final(answer fields) *run {
	r.t.Helper()
	turn := r.turnAt("final", "")
	view, ok := r.m.SeatView(r.s, "final")
	require.True(r.t, ok)
	return r.turnEngine(turn, "p1", "f1").event(EventCompleted, fields{"nodeId": turn.NodeID, "position": turn.Position,
		"result": with(fields{"inputHashes": view.InputHashes, "workspaceFingerprint": view.WorkspaceFingerprint, "proofArtifactDigest": view.ProofArtifactDigest}, answer)})
}

// fixed lets the repair in flight leave a tree and a fix report.
func (r *run) fixed(tree string, changed bool, pairs ...string) *run {
	r.t.Helper()
	list := []fields{}
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, fields{"finding": pairs[i], "status": pairs[i+1]})
	}
	return r.done("rep", fields{"tree": tree, "changed": changed, "fixReport": list})
}

func (r *run) status(id string) Disposition {
	st, _ := r.s.Review.Findings.Get(id)
	return st.Status
}

func (r *run) input() DispatchInput {
	r.t.Helper()
	var in DispatchInput
	require.NoError(r.t, json.Unmarshal(r.m.Decide(r.s)[0].Input, &in))
	return in
}
