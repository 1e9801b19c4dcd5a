package convergence

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBasicConvergesInTheFirstIteration(t *testing.T) {
	r := newRun(t, V1).expect("dispatch convergence/1/gen/1")
	r.draft("t1").expect("dispatch review/1/A/1, dispatch review/1/B/1")
	r.start().expect("")
	r.says("B", pass).expect("")
	r.says("A", pass).expect("complete")
	require.Equal(t, CompleteOutput{Iterations: 1, Seats: map[string]string{"A": "accepted", "B": "accepted"}, Findings: []Blocking{}, Outcome: "converged"}, r.output())
}

func TestBasicBlockLeadsToRepairThenVerifierThenEverySeat(t *testing.T) {
	r := newRun(t, V1, limits(3, 2, 1))
	r.draft("t1").start().says("A", pass).says("B", block("F1")).expect("dispatch convergence/repair/1/1")
	var input DispatchInput
	require.NoError(t, json.Unmarshal(r.command().Input, &input))
	require.Equal(t, []Blocking{{ID: "F1", Kind: "patch", Evidence: "ev F1", Seat: "B", Severity: "high"}}, *input.Findings)
	require.True(t, *input.GateMet)
	r.repaired("t2").expect("dispatch convergence/2/eval/2")
	r.verify("t2", true).expect("dispatch review/2/A/2, dispatch review/2/B/2")
	r.start().says("A", pass).says("B", pass).expect("complete")
	require.Equal(t, int64(2), r.output().Iterations)
	require.Equal(t, int64(1), r.output().Restarts)
}

func TestBasicEnds(t *testing.T) {
	cases := []struct {
		name  string
		edits []edit
		play  func(r *run)
		want  string
	}{
		{"generator changed nothing", nil, func(r *run) { r.start().done("gen", fields{"tree": "t0", "changed": false}) }, "fail NO_CHANGE"},
		{"generator did not say whether it changed anything", nil, func(r *run) { r.start().done("gen", fields{"tree": "t0"}) }, "fail NO_CHANGE"},
		{"repair changed nothing", nil, func(r *run) {
			r.draft("t1").start().says("A", block("F1")).says("B", pass)
			r.start().done("rep", fields{"tree": "t1", "changed": false})
		}, "fail STALLED"},
		{"generator fails", []edit{limits(2, 1, 3)}, func(r *run) { r.start().failed("gen", "TIMEOUT") }, "fail CONVERGENCE_NODE_FAILED"},
		{"evaluator fails", []edit{limits(2, 1, 3)}, func(r *run) {
			r.start().done("gen", fields{"changed": true})
			r.start().failed("eval", "EFFECT_FAILED")
		}, "fail CONVERGENCE_NODE_FAILED"},
		{"block in the last round", []edit{limits(1, 0, 0)}, func(r *run) { r.draft("t1").start().says("A", block("F1")).says("B", pass) }, "fail CONVERGENCE_EXHAUSTED"},
		{"gate unmet in the last round", []edit{limits(1, 0, 0)}, func(r *run) {
			r.start().done("gen", fields{"changed": true})
			r.verify("t1", false)
		}, "fail CONVERGENCE_EXHAUSTED"},
		{"no valid evidence", nil, func(r *run) {
			r.start().done("gen", fields{"changed": true})
			r.start().done("eval", fields{"gateMet": true})
		}, "fail CONVERGENCE_REVIEW_EVIDENCE_INVALID"},
		{"required seat without an engine", []edit{limits(2, 1, 3)}, func(r *run) {
			r.draft("t1").start().failed("A", "ENGINE_UNAVAILABLE").says("B", block("F1"))
		}, "fail SEAT_UNRESOLVED"},
		{"required seat fails to the cap", []edit{limits(2, 1, 1)}, func(r *run) {
			r.draft("t1").start().failed("A", "TIMEOUT").says("B", pass)
			r.expect("dispatch review/1/A/2").start().failed("A", "RESULT_INVALID")
		}, "fail SEAT_UNRESOLVED"},
		{"only a block without findings", []edit{limits(2, 1, 0)}, func(r *run) { r.draft("t1").start().says("A", block()).says("B", pass) }, "fail SEAT_UNRESOLVED"},
		{"a pass with a high finding is no pass", []edit{limits(2, 1, 0)}, func(r *run) {
			r.draft("t1").start().says("A", with(block("F1"), fields{"verdict": "pass"})).says("B", pass)
		}, "fail SEAT_UNRESOLVED"},
		{"low confidence is an answer that accepts nothing", nil, func(r *run) {
			r.draft("t1").start().says("A", with(pass, fields{"verdict": "low-confidence"})).says("B", pass)
		}, "fail QUORUM_UNREACHABLE"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRun(t, V1, c.edits...)
			c.play(r)
			r.expect(c.want)
		})
	}
}

func TestBasicGateFailureGoesToRepairWithWhatIsKnown(t *testing.T) {
	r := newRun(t, V1, limits(3, 2, 0))
	r.draft("t1").start().says("A", pass).says("B", block("F1"))
	r.repaired("t2").verify("t2", false).expect("dispatch convergence/repair/2/2")
	var input DispatchInput
	require.NoError(t, json.Unmarshal(r.command().Input, &input))
	require.False(t, *input.GateMet)
	require.Len(t, *input.Findings, 1, "no review has said yet that F1 is gone")
	r.repaired("t3").verify("t3", true).expect("dispatch review/3/A/2, dispatch review/3/B/2")
}

func TestReviewAlwaysReviewsBeforeItRepairs(t *testing.T) {
	always := func(d *Definition) { d.Data.ReviewWhen = WhenAlways }
	r := newRun(t, V1, always)
	r.start().done("gen", fields{"changed": true})
	r.verify("t1", false).expect("dispatch review/1/A/1, dispatch review/1/B/1")
	r.start().says("A", pass).says("B", pass).expect("dispatch convergence/repair/1/1")
	r.repaired("t2").verify("t2", true).start().says("A", pass).says("B", pass).expect("complete")

	r = newRun(t, V1, always)
	r.start().done("gen", fields{"changed": true})
	r.start().done("eval", fields{"gateMet": false}).expect("fail CONVERGENCE_REVIEW_EVIDENCE_INVALID")
}

func TestABlockStandsWhoeverGaveIt(t *testing.T) {
	r := newRun(t, V1, quorum(1), writersOn("p1", "f1"))
	require.False(t, r.m.Voting("A"))
	require.Len(t, r.m.Warnings(), 1)
	r.draft("t1").start().says("A", block("F1")).says("B", pass).expect("dispatch convergence/repair/1/1")
	r.repaired("t2").verify("t2", true).start().says("A", pass).says("B", pass).expect("complete")
	require.Equal(t, map[string]string{"A": "non-voting", "B": "accepted"}, r.output().Seats)
}

func TestADocsSeatKeepsItsPassWhenOnlyCodeChanged(t *testing.T) {
	r := newRun(t, V1, func(d *Definition) { d.node("A").EvidencePaths = []string{"docs/**"} })
	report := func(tree, docs, proofDigit string) fields {
		return fields{"gateMet": true, "workspaceFingerprint": tree, "proofArtifactDigest": proof(proofDigit),
			"inputHashes": fields{"gen": tree, "rep": tree, "docs/**": docs}}
	}
	require.Equal(t, []string{"docs/**"}, r.m.EvidenceGlobs())
	r.start().done("gen", fields{"changed": true})
	r.start().done("eval", report("t1", "d1", "a"))
	r.start().says("A", pass).says("B", block("F1"))
	r.repaired("t2")
	before := r.s
	r.start().done("eval", report("t2", "d1", "a")).expect("dispatch review/2/B/2")

	r.s = before
	r.start().done("eval", report("t2", "d2", "a")).expect("dispatch review/2/A/2, dispatch review/2/B/2")

	r.s = before
	r.start().done("eval", report("t2", "d1", "b")).expect("dispatch review/2/A/2, dispatch review/2/B/2")
}

func TestAnswerOnOtherEvidenceIsAskedAgain(t *testing.T) {
	for _, answer := range []fields{pass, block("F1")} {
		r := newRun(t, V1, limits(2, 1, 1))
		r.draft("t1").start().says("B", pass).says("A", with(answer, fields{"workspaceFingerprint": "t0"}))
		r.expect("dispatch review/1/A/2")
		_, counted := r.s.FindingSeen.Get("F1")
		require.False(t, counted)
	}
}

func TestVerdictOnlyAnswers(t *testing.T) {
	textOnly := fields{"verdict": "pass", "confidence": nil}
	newRun(t, V1).draft("t1").start().says("A", textOnly).says("B", fields{"verdict": "pass"}).expect("complete")
	strict := func(d *Definition) { yes := true; d.Data.RequireFindings = &yes }
	newRun(t, V1, strict).draft("t1").start().says("A", textOnly).says("B", pass).expect("fail SEAT_UNRESOLVED")
	newRun(t, V1).draft("t1").start().says("A", with(pass, fields{"confidence": "high"})).says("B", pass).expect("fail SEAT_UNRESOLVED")
}

func TestInterruptedRunGoesOnWithoutCountingTheLostAttempt(t *testing.T) {
	r := newRun(t, V1).draft("t1").start()
	r.says("B", pass).failed("A", FailAborted).expect("pause interrupted")
	r.event(EventDispatched, fields{"nodeId": "A", "position": "review/1/A/2"}).expect("pause interrupted")
	r.event(EventRunResumed, fields{"reason": "go on"}).expect("dispatch review/1/A/2")
	r.start().says("A", pass).expect("complete")

	r = newRun(t, V1).start()
	r.failed("gen", FailAborted).event(EventRunResumed, fields{}).expect("dispatch convergence/1/gen/2")
}

func TestLimitPauseWaitsForTheBatch(t *testing.T) {
	r := newRun(t, V1).draft("t1").start().event(EventLimit, fields{"reason": "the person left"}).expect("")
	r.says("A", pass).says("B", pass).expect("pause limit")
	require.Equal(t, "the person left", r.command().Reason)
	r.event(EventRunResumed, fields{}).expect("complete")
}

func TestPausedNode(t *testing.T) {
	r := newRun(t, V1).start()
	position := r.position("gen")
	r.event(EventPaused, fields{"nodeId": "gen", "position": position, "reason": "x", "request": nil}).expect("pause node-paused")
	r.event(EventResumed, fields{"nodeId": "gen", "position": "convergence/9/gen/1"}).expect("pause node-paused")
	r.event(EventResumed, fields{"nodeId": "gen", "position": position}).expect("")
	r.done("gen", fields{"changed": true}).expect("dispatch convergence/1/eval/1")
}

func TestSkippableSeatWithoutEngineIsSkippedForGood(t *testing.T) {
	skip := func(d *Definition) { d.Data.SkippableSeats = []string{"A"} }
	r := newRun(t, V1, quorum(1), skip).draft("t1").start().failed("A", FailEngineUnavailable).says("B", block("F1"))
	r.repaired("t2").verify("t2", true).expect("dispatch review/2/B/2")
	r.start().says("B", pass).expect("complete")
	require.Equal(t, "skipped", r.output().Seats["A"])
}

func TestReviewerOnAWritersEngineDoesNotCountAndTheWordsSayWhy(t *testing.T) {
	r := newRun(t, V1, writersOn("wp", "wf")).start().engine("gen", "wp", "wf").done("gen", fields{"changed": true})
	r.verify("t1", true).start().engine("A", "wp", "f1")
	r.says("A", pass).says("B", pass).expect("fail QUORUM_UNREACHABLE")
	require.Contains(t, r.command().Message, `A its engine reported the provider "wp", which a writer ran on too`)
	require.Contains(t, r.m.Outcomes(r.s)["A"].Reason, "wp")

	off := false
	r = newRun(t, V1, writersOn("p1", "f1"), func(d *Definition) { d.Data.WriterExclusion = &off })
	require.True(t, r.m.Voting("A"))
	r.start().engine("gen", "p1", "f1").done("gen", fields{"changed": true})
	r.verify("t1", true).start().says("A", pass).says("B", pass).expect("complete")
}

func TestSeatWithUnknownIdentityDoesNotCount(t *testing.T) {
	r := newRun(t, V1).draft("t1").start().engine("A", "", "")
	r.says("A", pass).says("B", pass).expect("fail QUORUM_UNREACHABLE")
	require.Contains(t, r.command().Message, "A its engine reported no provider or family")
}

func TestStaleAnswerIsDiscarded(t *testing.T) {
	r := newRun(t, V1, limits(2, 1, 1)).draft("t1").start()
	r.event(EventInvalidated, fields{"seatId": "A", "reason": "x"}).says("A", pass).says("B", pass).expect("dispatch review/1/A/2")
	r.start().says("A", pass).expect("complete")
	r.event(EventInvalidated, fields{"seatId": "A", "reason": "x"}).expect("fail SEAT_UNRESOLVED")
}
