package convergence

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Somebody ruled that a finding is to be fixed. The writer's no and a confirmer that believes it do not undo that.
func TestAFindingRuledToBeFixedCanNotBeRefutedAway(t *testing.T) {
	r := fullRun(t, limits(1, 0, 0)).draft("t1").start().says("A", blockWith(finding("F1", "high"))).says("B", pass).start().confirm("F1", true)
	r.start().arbitrate("F1", "person").expect("ask").person("F1", "fix").expect("dispatch convergence/repair/1/1")
	before := r.start().s
	r.fixed("t1", false, "F1", "refuted").expect("ask")
	require.Equal(t, FindingConfirmed, r.status("F1"), "asked again, because the fix failed")

	r.s = before // the same with a tree that changed
	r.fixed("t2", true, "F1", "refuted").verify("t2", true).expect("dispatch review/2/A/2, dispatch review/2/B/2")
	require.Equal(t, []string{"F1"}, r.input().Recheck)
	r.start().says("A", rechecked("findings", "F1", "not-addressed")).says("B", pass).expect("ask")
}

// Nor does it while rounds are left: a ruling outlives the repair that it asked for.
func TestAFindingRuledToBeFixedCanNotBeRefutedAwayInALaterRound(t *testing.T) {
	r := fullRun(t, limits(6, 5, 0)).draft("t1").start().says("A", blockWith(finding("F1", "high"))).says("B", pass).start().confirm("F1", true)
	r.start().fixed("t1", false, "F1", "fixed").expect("arbitrate arbitrate/2/1") // stalled
	r.start().arbitrate("F1", "person").person("F1", "fix").start().fixed("t2", true, "F1", "fixed").verify("t2", true)
	r.start().says("A", rechecked("findings", "F1", "not-addressed")).says("B", pass).expect("dispatch convergence/repair/3/3")
	r.start().fixed("t3", true, "F1", "refuted").verify("t3", true).expect("dispatch review/4/A/3, dispatch review/4/B/3")
}

// The arbiter's word weighs as much: it is no writer's.
func TestAFindingThatTheArbiterWantsFixedCanNotBeRefutedAway(t *testing.T) {
	r := fullRun(t, limits(1, 0, 0)).draft("t1").start().says("A", blockWith(finding("F1", "high"))).says("B", pass).start().confirm("F1", true)
	r.start().arbitrate("F1", "fix").start().fixed("t1", false, "F1", "refuted").expect("ask")
}

// A final review on a writer's engine, or on an unknown one, is none: nobody independent has read the whole change then.
func TestAFinalReviewOnAWritersEngineDoesNotCount(t *testing.T) {
	for _, engine := range [][2]string{{"w", "x"}, {"x", "w"}, {"", ""}} {
		r := fullRun(t).start().engine("gen", "w", "w").done("gen", fields{"tree": "t1", "changed": true})
		r.verify("t1", true).start().says("A", pass).says("B", pass).expect("dispatch final/1/A/1").start()
		turn := r.turnAt("final", "")
		view, _ := r.m.SeatView(r.s, "final")
		r.turnEngine(turn, engine[0], engine[1]).event(EventCompleted, fields{"nodeId": turn.NodeID, "position": turn.Position,
			"result": with(fields{"inputHashes": view.InputHashes, "workspaceFingerprint": view.WorkspaceFingerprint, "proofArtifactDigest": view.ProofArtifactDigest}, pass)})
		r.expect("pause seat-unresolved")
		r.event(EventSeatReopened, fields{"seatId": "final"}).event(EventRunResumed, fields{}).start().final(pass).expect("complete")
	}
}

// The final review borrows the engine of a seat that counts, not of one that turned out to run on a writer's.
func TestTheFinalReviewBorrowsTheEngineOfASeatThatCounts(t *testing.T) {
	one := func(d *Definition) { d.Data.Quorum = 1 }
	r := fullRun(t, one).start().engine("gen", "w", "w").done("gen", fields{"tree": "t1", "changed": true}).verify("t1", true).start()
	r.engine("A", "w", "w").says("A", pass).says("B", pass).expect("dispatch final/1/B/1")
}

// A declared confirmer on the engine that raised the finding is not recorded as an independent one.
func TestADeclaredConfirmerOnTheRaisersEngineIsTheWeakerProof(t *testing.T) {
	declared := func(d *Definition) { d.Data.Confirmer = lane("c", "p1", "f1") }
	r := fullRun(t, declared).draft("t1").start().says("A", blockWith(finding("F1", "high"))).says("B", pass)
	require.Equal(t, "confirmer", r.command().NodeID)
	require.Contains(t, string(r.command().Input), ProofSameEngine)
}
