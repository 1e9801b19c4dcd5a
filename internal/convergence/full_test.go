package convergence

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFullConvergesAfterConfirmRepairRecheckAndFinalReview(t *testing.T) {
	r := fullRun(t).draft("t1")
	require.Equal(t, ScopeAll, r.input().Scope)
	r.start().says("A", blockWith(finding("F1", "high"), finding("F2", "low"))).says("B", pass)
	r.expect("confirm confirm/1/F1/1")
	require.Equal(t, "holds a finding that stands", r.m.Outcomes(r.s)["A"].Reason)
	require.Equal(t, "accepted", r.m.Outcomes(r.s)["B"].Label)
	command := r.command()
	require.Equal(t, "B", command.NodeID, "an engine that did not raise it")
	require.JSONEq(t, `{"positionSummary":"confirm/1/F1/1","lane":"B","findings":["F1"],"proof":"independent"}`, string(command.Input))
	require.Equal(t, FindingLogged, r.status("F2"))

	r.start().expect("").confirm("F1", true).expect("dispatch convergence/repair/1/1")
	require.Equal(t, []Blocking{{ID: "F1", Kind: "patch", Evidence: "ev F1", Severity: "high", Seat: "A"}}, *r.input().Findings)
	r.start().fixed("t2", true, "F1", "fixed").verify("t2", true).expect("dispatch review/2/A/2, dispatch review/2/B/2")
	require.Equal(t, ScopeFix, r.input().Scope)
	require.Equal(t, "t1", r.input().Since)
	require.Equal(t, []string{"F1"}, r.input().Recheck)
	r.start().says("A", rechecked("pass", "F1", "addressed")).says("B", pass)
	require.Equal(t, FindingAddressed, r.status("F1"))
	r.expect("dispatch final/2/A/1")
	require.Equal(t, ScopeFinal, r.input().Scope)
	r.start().final(pass).expect("complete")
	require.Equal(t, EndConverged, r.output().Outcome)
}

func TestRefutedFindingNeedsNoRepair(t *testing.T) {
	r := fullRun(t).draft("t1").start().says("A", blockWith(finding("F1", "high"))).says("B", pass)
	r.start().confirm("F1", false).expect("dispatch final/1/A/1")
	r.start().final(pass).expect("complete")
	require.Equal(t, FindingRefuted, r.status("F1"))
}

func TestRefutationByAWritersEngineOrAnUnknownOneDoesNotRefute(t *testing.T) {
	for _, engine := range [][2]string{{"w", "x"}, {"x", "w"}, {"", ""}} {
		r := fullRun(t).start().engine("gen", "w", "w").done("gen", fields{"tree": "t1", "changed": true})
		r.verify("t1", true).start().says("A", blockWith(finding("F1", "high"))).says("B", pass).start()
		turn := r.turnAt("confirm", "F1")
		r.turnEngine(turn, engine[0], engine[1]).event(EventRefuted, fields{"finding": "F1", "position": turn.Position})
		require.Equal(t, FindingConfirmed, r.status("F1"), engine)
	}
}

func TestTwoVotingSeatsOfDifferentFamiliesConfirmEachOther(t *testing.T) {
	r := fullRun(t).draft("t1").start().says("A", blockWith(finding("F1", "high"))).says("B", blockWith(finding("F1", "high")))
	r.expect("dispatch convergence/repair/1/1")

	same := func(d *Definition) { d.node("B").Lane = lane("B", "p2", "f1") }
	r = fullRun(t, same).draft("t1").start().says("A", blockWith(finding("F1", "high"))).says("B", blockWith(finding("F1", "high")))
	r.expect("confirm confirm/1/F1/1")
	require.Contains(t, string(r.command().Input), ProofSameEngine)
}

func TestConfirmerThatFailsLeavesTheFindingConfirmed(t *testing.T) {
	r := fullRun(t, limits(3, 2, 1)).draft("t1").start().says("A", blockWith(finding("F1", "high"))).says("B", pass)
	for attempt := range 2 {
		r.expect(fmt.Sprintf("confirm confirm/1/F1/%d", attempt+1)).start()
		turn := r.turnAt("confirm", "F1")
		r.event(EventFailed, fields{"nodeId": turn.NodeID, "position": turn.Position, "code": "TIMEOUT"})
	}
	r.expect("dispatch convergence/repair/1/1")
}

func TestWithoutAnEngineThatIsNoWriterTheFindingCountsAsConfirmed(t *testing.T) {
	off := false
	self := func(d *Definition) {
		d.Data.WriterExclusion = &off
		d.node("A").Lane, d.node("B").Lane = lane("A", "w", "w"), lane("B", "w", "w")
	}
	r := fullRun(t, self, limits(1, 0, 0)).draft("t1").start().says("A", blockWith(finding("F1", "high"))).says("B", pass)
	r.expect("ask")
	require.Equal(t, []string{"F1"}, r.command().Subjects)
	r.person("F1", "stand").expect("complete")
	require.Equal(t, EndRuled, r.output().Outcome)
}

func TestAddressedOnlyWhenEveryRaiserSaysSo(t *testing.T) {
	r := fullRun(t).draft("t1").start().says("A", blockWith(finding("F1", "high"))).says("B", blockWith(finding("F1", "high")))
	r.start().fixed("t2", true, "F1", "fixed").verify("t2", true).start()
	r.says("A", rechecked("pass", "F1", "addressed"))
	require.Equal(t, FindingConfirmed, r.status("F1"), "B has not said anything yet")
	r.says("B", rechecked("findings", "F1", "not-addressed"))
	require.Equal(t, FindingNotAddressed, r.status("F1"))
	r.expect("dispatch convergence/repair/2/2")
}

func TestAFindingThatIsNotNamedInTheRecheckIsNotAddressed(t *testing.T) {
	r := fullRun(t).draft("t1").start().says("A", blockWith(finding("F1", "high"))).says("B", pass).start().confirm("F1", true)
	r.start().fixed("t2", true, "F1", "fixed").verify("t2", true).start().says("A", pass).says("B", pass)
	r.expect("dispatch convergence/repair/2/2")
}

func TestANewFindingInTheFixDiffJoins(t *testing.T) {
	r := fullRun(t).draft("t1").start().says("A", blockWith(finding("F1", "high"))).says("B", pass).start().confirm("F1", true)
	r.start().fixed("t2", true, "F1", "fixed").verify("t2", true).start()
	r.says("A", rechecked("pass", "F1", "addressed")).says("B", blockWith(finding("F2", "high"), finding("F3", "medium")))
	r.expect("confirm confirm/2/F2/1").start().confirm("F2", true).expect("dispatch convergence/repair/2/2")
}

// What lies outside of a fix comes in as low. It adds no round, whoever of the seats in flight answers first.
func TestAPassingMentionOfAFindingUnderRecheckAddsNoRound(t *testing.T) {
	mentions := with(pass, fields{"findings": []fields{finding("F1", "low")}})
	start := func() *run {
		r := fullRun(t).draft("t1").start().says("A", blockWith(finding("F1", "high"))).says("B", pass).start().confirm("F1", true)
		return r.start().fixed("t2", true, "F1", "fixed").verify("t2", true).start()
	}
	start().says("A", rechecked("pass", "F1", "addressed")).says("B", mentions).expect("dispatch final/2/A/1")
	start().says("B", mentions).says("A", rechecked("pass", "F1", "addressed")).expect("dispatch final/2/A/1")
	start().says("B", mentions).says("A", rechecked("findings", "F1", "not-addressed")).expect("dispatch convergence/repair/2/2")
	start().says("B", blockWith(finding("F1", "high"))).says("A", rechecked("pass", "F1", "addressed")).expect("dispatch convergence/repair/2/2")
}

func TestMissingFixReportIsAskedOnceAndThenStalls(t *testing.T) {
	r := fullRun(t).draft("t1").start().says("A", blockWith(finding("F1", "high"))).says("B", pass).start().confirm("F1", true)
	r.start().fixed("t2", true).expect("dispatch convergence/repair/1/2")
	require.True(t, r.input().Reask)
	before := r.s
	r.start().fixed("t2", false, "F1", "fixed").expect("dispatch convergence/2/eval/2")

	r.s = before
	r.start().fixed("t2", false).expect("arbitrate arbitrate/2/1")
	r.start().arbitrate("F1", "person").expect("ask")
}

func TestWriterRefutesAndTheConfirmerDecidesOnce(t *testing.T) {
	r := fullRun(t).draft("t1").start().says("A", blockWith(finding("F1", "high"))).says("B", pass).start().confirm("F1", true)
	r.start().fixed("t1", false, "F1", "refuted").expect("dispatch convergence/2/eval/2")
	r.verify("t1", true).expect("confirm confirm/2/F1/2")
	require.Contains(t, string(r.command().Input), `"rebuttal":true`)
	r.start()
	before := r.s
	r.confirm("F1", false).expect("dispatch review/2/A/2")
	r.start().says("A", pass).expect("dispatch final/2/A/1")

	r.s = before
	r.confirm("F1", true).expect("dispatch review/2/A/2")
	r.start().says("A", rechecked("findings", "F1", "not-addressed")).expect("dispatch convergence/repair/2/2")
	r.start().fixed("t1", false, "F1", "refuted").expect("arbitrate arbitrate/3/1")
}

func TestATreeSeenBeforeStallsAndIsRuledAtOnce(t *testing.T) {
	r := fullRun(t, limits(6, 5, 0)).draft("a").start().says("A", blockWith(finding("F1", "high"))).says("B", pass).start().confirm("F1", true)
	r.start().fixed("b", true, "F1", "fixed").verify("b", true).start().says("A", rechecked("findings", "F1", "not-addressed")).says("B", pass)
	r.start().fixed("a", true, "F1", "fixed").expect("arbitrate arbitrate/3/1")
	before := r.start().s
	r.arbitrate("F1", "fix").expect("dispatch convergence/repair/3/3")

	r.s = before
	r.arbitrate("F1", "stand").expect("dispatch convergence/3/eval/3")
	r.verify("a", true).start().says("A", pass).says("B", pass).expect("dispatch final/3/A/1")
	r.start().final(pass).expect("complete")
	require.Equal(t, []string{"F1"}, r.output().Ruled)
}

func TestTheSameVerifierFailureThreeTimesStalls(t *testing.T) {
	r := fullRun(t, limits(6, 5, 0)).start().done("gen", fields{"tree": "t1", "changed": true})
	for round := range 3 {
		r.start().done("eval", fields{"gateMet": false, "failureDigest": "same"})
		if round < 2 {
			r.start().fixed(fmt.Sprint("r", round), true)
		}
	}
	r.expect("fail STALLED")
}

func TestLimitLeadsToRulings(t *testing.T) {
	r := fullRun(t, limits(1, 0, 0)).draft("t1").start().says("A", blockWith(finding("F1", "high"))).says("B", pass).start().confirm("F1", true)
	r.expect("arbitrate arbitrate/1/1").start()
	before := r.s
	r.arbitrate("F1", "stand").expect("dispatch final/1/A/1").start().final(pass).expect("complete")
	require.Equal(t, EndRuled, r.output().Outcome)

	r.s = before
	r.arbitrate("F1", "fix").expect("dispatch convergence/repair/1/1")
	r.start().fixed("t2", true, "F1", "fixed").verify("t2", true).start().says("A", rechecked("findings", "F1", "not-addressed")).says("B", pass)
	r.expect("ask") // the arbiter had its say
	r.person("F1", "fix").expect("dispatch convergence/repair/2/2")
	r.start().fixed("t3", true, "F1", "fixed").verify("t3", true).start().says("A", rechecked("findings", "F1", "not-addressed")).says("B", pass)
	r.expect("ask").person("F1", "stand").expect("complete")
	require.Equal(t, int64(3), r.output().Iterations)

	r.s = before
	r.arbitrate("F1", "person").expect("ask").person("F1", "abort").expect("fail RULING_ABORT")

	r.s = before
	turn := r.turnAt("arbitrate", "")
	r.event(EventFailed, fields{"nodeId": turn.NodeID, "position": turn.Position, "code": "TIMEOUT"}).expect("ask")
}

func TestArbiterOnAWritersEngineRulesNothing(t *testing.T) {
	r := fullRun(t, limits(1, 0, 0)).start().engine("gen", "w", "w").done("gen", fields{"tree": "t1", "changed": true})
	r.verify("t1", true).start().says("A", blockWith(finding("F1", "high"))).says("B", pass).start().confirm("F1", true).start()
	turn := r.turnAt("arbitrate", "")
	r.turnEngine(turn, "w", "x").event(EventRuling, fields{"finding": "F1", "decision": "stand", "position": turn.Position})
	r.event(EventCompleted, fields{"nodeId": turn.NodeID, "position": turn.Position, "result": fields{"rulings": []fields{{"finding": "F1", "decision": "stand"}}}})
	r.expect("ask")
}

func TestADecisionIsRuledBeforeAnythingIsRepaired(t *testing.T) {
	decision := with(finding("F1", "high"), fields{"kind": "decision"})
	r := fullRun(t).draft("t1").start().says("A", blockWith(decision, finding("F2", "high"))).says("B", pass)
	r.expect("confirm confirm/1/F1/1, confirm confirm/1/F2/1").start().confirm("F1", true).confirm("F2", true)
	r.expect("arbitrate arbitrate/1/1")
	require.Equal(t, []string{"F1"}, r.command().Findings)
	r.start().arbitrate("F1", "fix").expect("dispatch convergence/repair/1/1")
	require.Len(t, *r.input().Findings, 2)
}

func TestNoFinalReviewWhereAPersonRuled(t *testing.T) {
	r := fullRun(t).draft("t1").start().says("A", blockWith(finding("F1", "high"))).says("B", pass).start().confirm("F1", true)
	r.person("F1", "stand").expect("complete")
}

func TestADeadlineSparesNoFinalReview(t *testing.T) {
	r := fullRun(t, limits(1, 0, 0)).draft("t1").start().says("A", blockWith(finding("F1", "high"))).says("B", pass).start().confirm("F1", true)
	r.expect("arbitrate arbitrate/1/1").start().arbitrate("F1", "person").expect("ask")
	r.event(EventRuling, fields{"finding": "F1", "decision": "stand", "by": ByDeadline}).expect("dispatch final/1/A/1")
	r.start().final(pass).expect("complete")
}

func TestFinalReview(t *testing.T) {
	start := func(edits ...edit) *run {
		return fullRun(t, edits...).draft("t1").start().says("A", blockWith(finding("F1", "low"))).says("B", pass).expect("dispatch final/1/A/1").start()
	}
	start().final(blockWith(finding("F1", "high"))).expect("complete") // a known one changes nothing
	r := start().final(blockWith(finding("F9", "high"))).expect("confirm confirm/1/F9/1")
	require.Equal(t, "B", r.command().NodeID, "the final review ran on the engine of A")
	r.start().confirm("F9", true)
	r.expect("dispatch convergence/repair/1/1").start().fixed("t2", true, "F9", "fixed").verify("t2", true)
	require.Equal(t, []string{"F9"}, r.input().Recheck, "the first voting seat rechecks it")
	r.start().says("A", rechecked("pass", "F9", "addressed")).says("B", pass).expect("complete")

	start(limits(1, 0, 0)).final(blockWith(finding("F9", "high"))).start().confirm("F9", true).expect("arbitrate arbitrate/1/1")

	r = start().final(fields{"verdict": "pass", "workspaceFingerprint": "other"}).expect("pause seat-unresolved")
	r.event(EventRunResumed, fields{}).expect("dispatch final/1/A/2").start().final(pass).expect("complete")
}

func TestFullPausesForAMissingSeatAndGoesOn(t *testing.T) {
	start := func() *run {
		return fullRun(t).draft("t1").start().failed("A", FailEngineUnavailable).says("B", pass).expect("pause seat-unresolved")
	}
	start().event(EventSeatReopened, fields{"seatId": "A"}).expect("dispatch review/1/A/2")
	start().event(EventRunResumed, fields{}).expect("dispatch review/1/A/2")
	start().event(EventSeatWaived, fields{"seatId": "A"}).expect("pause seat-unresolved") // a waiver needs a reason
	r := start().event(EventSeatWaived, fields{"seatId": "A", "reason": "gone"}).expect("dispatch final/1/B/1")
	r.start().final(pass).expect("complete")
	require.Equal(t, "waived", r.output().Seats["A"])
	start().event(EventSeatWaived, fields{"seatId": "B", "reason": "it answered"}).expect("pause seat-unresolved")
}

func TestALostSeatsFindingsGoToTheFirstOtherVotingSeat(t *testing.T) {
	r := fullRun(t).draft("t1").start().says("A", blockWith(finding("F1", "high"))).says("B", pass).start().confirm("F1", true)
	r.start().fixed("t2", true, "F1", "fixed").verify("t2", true).start().failed("A", "TIMEOUT").says("B", pass)
	r.expect("pause seat-unresolved").event(EventSeatWaived, fields{"seatId": "A", "reason": "gone"}).expect("dispatch convergence/repair/2/2")
	r.start().fixed("t3", true, "F1", "fixed").verify("t3", true).expect("dispatch review/3/B/3")
	require.Equal(t, []string{"F1"}, r.input().Recheck)
	r.start().says("B", rechecked("pass", "F1", "addressed")).expect("dispatch final/3/B/1")
}

func TestAWatcherWithAnOpenFindingRechecksEvenIfItsFilesDidNotChange(t *testing.T) {
	docs := func(d *Definition) { d.node("A").EvidencePaths = []string{"requirement"} }
	report := func(tree string) fields {
		return fields{"gateMet": true, "workspaceFingerprint": tree, "proofArtifactDigest": proof("a"), "inputHashes": fields{"gen": tree, "requirement": "r"}}
	}
	r := fullRun(t, docs).start().done("gen", fields{"tree": "t1", "changed": true})
	r.start().done("eval", report("t1")).start().says("A", blockWith(finding("F1", "high"))).says("B", pass).start().confirm("F1", true)
	r.start().fixed("t2", true, "F1", "fixed").start().done("eval", report("t2")).expect("dispatch review/2/A/2, dispatch review/2/B/2")
}

func TestQuestionsOfTheHostComeFirst(t *testing.T) {
	for _, rules := range []edit{func(*Definition) {}, full} {
		r := newRun(t, V1, rules).event(EventQuestion, fields{"subject": "SIZE"}).expect("ask")
		require.Equal(t, []string{"SIZE"}, r.command().Subjects)
		r.event(EventQuestion, fields{"subject": "WEATHER"}).person("SIZE", "fix").expect("ask")
		before := r.s
		r.person("SIZE", "stand").expect("dispatch convergence/1/gen/1")
		r.s = before
		r.person("SIZE", "abort").expect("fail RULING_ABORT")
		r.s = before
		r.event(EventQuestion, fields{"subject": "BUDGET"}).event(EventBudget, fields{}).expect("ask")
		require.Equal(t, []string{"SIZE"}, r.command().Subjects)
	}
}

func TestRepairsFourAndFiveAreEscalated(t *testing.T) {
	r := fullRun(t, limits(6, 5, 0)).draft("t1").start().says("A", blockWith(finding("F1", "high"))).says("B", pass).start().confirm("F1", true)
	for round := 1; round <= 5; round++ {
		require.Equal(t, round >= 4, r.input().Escalated, "round %d", round)
		tree := fmt.Sprint("r", round)
		r.start().fixed(tree, true, "F1", "fixed").verify(tree, true).start()
		r.says("A", rechecked("findings", "F1", "not-addressed")).says("B", pass)
	}
	r.expect("arbitrate arbitrate/6/1")
	returns, _ := r.s.FindingRounds.Get("F1")
	require.Zero(t, returns, "a recheck is no report")
}

func TestAdvisoryRunRepairsAndThenEndsInSpiteOfFindings(t *testing.T) {
	advisory := func(d *Definition) { d.Data.Advisory = true }
	r := fullRun(t, advisory, limits(2, 1, 0)).draft("t1").start().says("A", blockWith(finding("F1", "high"))).says("B", pass).start().confirm("F1", true)
	r.start().fixed("t2", true, "F1", "fixed").verify("t2", true).start().says("A", rechecked("findings", "F1", "not-addressed")).says("B", pass)
	r.expect("dispatch final/2/A/1").start().final(pass).expect("complete")
	require.Equal(t, EndAdvisory, r.output().Outcome)
	require.Len(t, r.output().Findings, 1)
}

func TestWithoutRulingsOpenFindingsEndTheRun(t *testing.T) {
	gate := func(d *Definition) { no := false; d.Data.Rulings = &no }
	r := fullRun(t, gate, limits(1, 0, 0)).draft("t1").start()
	r.says("A", blockWith(with(finding("F1", "high"), fields{"kind": "decision"}))).says("B", pass).start().confirm("F1", true)
	r.expect("fail CONVERGENCE_EXHAUSTED")
}

func TestDeclaredConfirmerAndArbiter(t *testing.T) {
	declared := func(d *Definition) { d.Data.Confirmer, d.Data.Arbiter = lane("c", "cp", "cf"), lane("a", "ap", "af") }
	r := fullRun(t, declared, limits(1, 0, 0)).draft("t1").start().says("A", blockWith(finding("F1", "high"))).says("B", pass)
	require.Equal(t, "confirmer", r.command().NodeID)
	require.Equal(t, "c", r.m.Lane("confirmer").ID)
	r.start().confirm("F1", true)
	require.Equal(t, "arbiter", r.command().NodeID)
	require.Equal(t, "a", r.m.Lane("arbiter").ID)
	require.Empty(t, fullRun(t).m.Lane("arbiter").ID)
}

func TestInterruptedTurnsAreAskedAgainWithoutBeingCounted(t *testing.T) {
	r := fullRun(t).draft("t1").start().says("A", blockWith(finding("F1", "high"))).says("B", pass).start()
	turn := r.turnAt("confirm", "F1")
	r.event(EventFailed, fields{"nodeId": turn.NodeID, "position": turn.Position, "code": FailAborted}).expect("pause interrupted")
	r.event(EventRunResumed, fields{}).expect("confirm confirm/1/F1/2").start()
	turn = r.turnAt("confirm", "F1")
	r.event(EventPaused, fields{"nodeId": turn.NodeID, "position": turn.Position, "reason": "x"}).expect("pause node-paused")
	r.event(EventResumed, fields{"nodeId": turn.NodeID, "position": turn.Position}).expect("").confirm("F1", true)
	r.expect("dispatch convergence/repair/1/1")
}

func TestReceiptsOfTurnsAreChecked(t *testing.T) {
	r := fullRun(t).draft("t1").start().says("A", blockWith(finding("F1", "high"))).says("B", pass).start()
	turn := r.turnAt("confirm", "F1")
	r.event(EventEngine, fields{"nodeId": turn.NodeID, "position": turn.Position, "sequence": 2})
	require.Equal(t, []Rejection{{Code: CodeInvalidReceipt, NodeID: turn.NodeID, Position: turn.Position, Sequence: 2, Reason: "sequence-mismatch"}}, r.s.EngineReceiptRejections.Slice())
}

// A seat without a vote is often a writer's engine. Alone it does not close what it raised: a voting seat rechecks it too.
func TestASeatWithoutAVoteDoesNotCloseItsFindingAlone(t *testing.T) {
	no := false
	panel := func(d *Definition) { d.node("A").Voting, d.Data.Quorum = &no, 1 }
	begin := func() *run {
		r := fullRun(t, panel).draft("t1").start().says("A", blockWith(finding("F1", "high"))).says("B", pass)
		r.start().confirm("F1", true).start().fixed("t2", true, "F1", "fixed").verify("t2", true).expect("dispatch review/2/A/2, dispatch review/2/B/2")
		for _, command := range r.m.Decide(r.s) {
			var in DispatchInput
			require.NoError(t, json.Unmarshal(command.Input, &in))
			require.Equal(t, []string{"F1"}, in.Recheck, command.NodeID)
		}
		return r.start()
	}
	r := begin().says("A", rechecked("pass", "F1", "addressed"))
	require.Equal(t, FindingConfirmed, r.status("F1"), "its own word is not enough")
	r.says("B", rechecked("pass", "F1", "addressed"))
	require.Equal(t, FindingAddressed, r.status("F1"))

	r = begin().says("A", rechecked("pass", "F1", "addressed")).says("B", rechecked("findings", "F1", "not-addressed"))
	require.Equal(t, FindingNotAddressed, r.status("F1"))
	r = begin().says("A", rechecked("findings", "F1", "not-addressed")).says("B", rechecked("pass", "F1", "addressed"))
	require.Equal(t, FindingNotAddressed, r.status("F1"), "the seat that raised it is still heard")
}

// A voting seat whose engine turns out to be a writer's may find, and may not clear.
func TestARecheckByAWritersEngineClosesNothing(t *testing.T) {
	r := fullRun(t).start().engine("gen", "w", "w").done("gen", fields{"tree": "t1", "changed": true}).verify("t1", true).start()
	r.says("A", blockWith(finding("F1", "high"))).says("B", pass).start().confirm("F1", true)
	r.start().fixed("t2", true, "F1", "fixed").verify("t2", true).start()
	r.engine("A", "w", "w").says("A", rechecked("pass", "F1", "addressed")).says("B", pass)
	require.Equal(t, FindingNotAddressed, r.status("F1"))
	r.expect("dispatch convergence/repair/2/2")
}
