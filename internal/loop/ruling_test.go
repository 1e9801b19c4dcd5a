package loop_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/loop"
	"conclave/internal/record"
)

const (
	laneOf   = `{"id":%q,"requested":{"adapter":%q,"provider":%q,"modelFamily":%q,"model":"m","tools":[]},"knownSubstitutions":[]}`
	seatNode = `{"id":%q,"data":{"role":"seat","lane":%s}}`
)

func lane(id string, e record.Engine) string {
	return fmt.Sprintf(laneOf, id, e.Adapter, e.Provider, e.ModelFamily)
}

var gemini = record.Engine{Adapter: "gemini", Provider: "google", ModelFamily: "gemini", Model: "m3", Source: "pinned"}

// ruledInput is a run of the full discipline: claude writes, codex and gemini
// review, and what one of them finds is put to people as soon as the rounds are over.
func ruledInput(iterations int) loop.Input {
	in := input(iterations)
	in.Definition = json.RawMessage(fmt.Sprintf(`{"id":"run","definitionVersion":1,
	 "data":{"maxIterations":%d,"maxReviewRestarts":%d,"quorum":2,"requireDiversity":false,"skippableSeats":[],"seatConcurrency":2,"retryCapPerNode":1,
	  "discipline":"full","reviewWhen":"verified"},
	 "nodes":[{"id":"implement","data":{"role":"generator","lane":%s}},{"id":"verify","data":{"role":"evaluator"}},%s,%s,{"id":"repair","data":{"role":"repair","lane":%s}}],"edges":[]}`,
		iterations, iterations-1, lane("writer", claude), fmt.Sprintf(seatNode, "codex", lane("codex", codex)), fmt.Sprintf(seatNode, "gemini", lane("gemini", gemini)), lane("writer", claude)))
	return in
}

// newRuled is a world of ruledInput in which both seats find the same n things,
// and the arbiter leaves each of them to a person.
func newRuled(t *testing.T, in loop.Input, n int) *world {
	w := newWorld(t, in)
	w.answers["implement"] = func(loop.Call) loop.Outcome { return wrote("tree-1", true) }
	w.answers["review"] = func(c loop.Call) loop.Outcome { return finds(c, n) }
	w.answers["recheck"] = func(c loop.Call) loop.Outcome { return answersAll(c, "not-addressed") }
	w.answers["arbitrate"] = func(c loop.Call) loop.Outcome {
		return loop.Outcome{Turn: &loop.TurnResult{Class: record.ClassOK, Reported: &gemini, Attempt: 1, Answer: json.RawMessage(`{"rulings":[]}`)}}
	}
	repairs := 0
	w.answers["repair"] = func(c loop.Call) loop.Outcome {
		repairs++
		out := wrote(fmt.Sprintf("tree-r%d", repairs), true)
		for _, f := range c.Turn.Feedback.Findings {
			out.Turn.FixReport = append(out.Turn.FixReport, loop.Fixed{Finding: f.ID, Status: "fixed"})
		}
		return out
	}
	return w
}

func by(c loop.Call) *record.Engine {
	if strings.HasPrefix(c.Turn.Seat, "gemini") {
		return &gemini
	}
	return &codex
}

func finds(c loop.Call, n int) loop.Outcome {
	sure := 0.9
	r := &loop.TurnResult{Class: record.ClassOK, Reported: by(c), Verdict: "block", Confidence: &sure, Attempt: 1}
	for i := range n {
		r.Findings = append(r.Findings, loop.Finding{Severity: "high", Kind: "patch", Title: fmt.Sprintf("flaw number %d", i+1), Claim: "it breaks",
			Evidence: []record.Place{{Path: fmt.Sprintf("f%d.go", i+1), Line: 7}}})
	}
	if n == 0 {
		r.Verdict = "pass"
	}
	return loop.Outcome{Turn: r}
}

func answersAll(c loop.Call, status string) loop.Outcome {
	sure := 0.9
	r := &loop.TurnResult{Class: record.ClassOK, Reported: by(c), Verdict: "pass", Confidence: &sure, Attempt: 1}
	if status == "not-addressed" {
		r.Verdict = "block"
	}
	for _, id := range c.Turn.Findings {
		r.Rechecked = append(r.Rechecked, loop.Rechecked{Finding: id, Status: status})
	}
	return loop.Outcome{Turn: r}
}

// signal sends a raw ruling.
func (w *world) signal(raw string) { w.progress.Signalled([]byte(raw), w.now) }

func (w *world) refusals() []string {
	var out []string
	for _, r := range w.record().Refused {
		out = append(out, r.Reason)
	}
	return out
}

func (w *world) asked() []string {
	var out []string
	for _, q := range w.record().Questions {
		out = append(out, fmt.Sprintf("%s#%d", q.Subject, q.Number))
	}
	return out
}

func TestEveryOpenFindingIsAskedAndRulingsEndTheRun(t *testing.T) {
	w := newRuled(t, ruledInput(1), 2)
	require.Equal(t, loop.CallWait, w.run())
	run := w.record()
	require.Equal(t, record.NeedsRuling, run.Stop)
	require.Equal(t, 3, run.ExitCode)
	require.Equal(t, "a ruling on F1, F2", run.Waiting)
	require.Equal(t, []string{"F1#1", "F2#1"}, w.asked())
	require.Equal(t, "f1.go:7: flaw number 1: it breaks", run.Questions[0].Text)
	require.Equal(t, "c-tree-1", run.Questions[0].Head)

	w.signal(`{"finding":"F1","decision":"stand","reason":"known and accepted"}`)
	require.False(t, w.progress.Awake(), "F2 is still asked")
	require.Equal(t, []string{"F2#1"}, w.asked())
	require.Equal(t, "a ruling on F2", w.record().Waiting)
	w.signal(`{"finding":"F2","decision":"stand","reason":"a later ticket","by":"ann","request_id":"r2","head":"tree-1"}`)
	require.True(t, w.progress.Awake())
	require.Equal(t, loop.CallFinish, w.run())
	run = w.record()
	require.Equal(t, record.Ruled, run.Stop, run.Message)
	require.Zero(t, run.ExitCode)
	require.Empty(t, run.Questions)
	require.Empty(t, run.Refused)
	at := run.Rulings[0].At
	require.Equal(t, []record.Ruling{
		{Finding: "F1", Number: 1, Decision: "stand", Reason: "known and accepted", By: "signal", At: at, Head: "c-tree-1"},
		{Finding: "F2", Number: 1, Decision: "stand", Reason: "a later ticket", By: "ann", At: run.Rulings[1].At, Head: "c-tree-1", RequestID: "r2"},
	}, run.Rulings)
	require.Contains(t, run.Findings[0].History, "ruled by signal: stand: known and accepted")
	require.Equal(t, "ruled", run.Findings[0].Disposition)
	require.NotContains(t, strings.Join(w.calls, "\n"), "final", "a person ruled, so no final review follows")
	w.checkReplay(ruledInput(1))
}

func TestAbortEndsTheRun(t *testing.T) {
	w := newRuled(t, ruledInput(1), 2)
	require.Equal(t, loop.CallWait, w.run())
	answer := w.progress.Rule(loop.RulingRequest{Finding: "F2", Decision: "abort", Reason: "wrong approach", By: "bob"}, w.now)
	require.Equal(t, loop.RulingApplied, answer.Status)
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, record.Aborted, w.record().Stop)
	require.Equal(t, 1, w.record().ExitCode)
}

func TestAFailedFixAsksAgainAndTakesTheSecondRuling(t *testing.T) {
	in := ruledInput(1)
	w := newRuled(t, in, 1)
	require.Equal(t, loop.CallWait, w.run())
	w.signal(`{"finding":"F1","decision":"fix","reason":"it must not crash"}`)
	require.Equal(t, loop.CallWait, w.run())
	require.Equal(t, []string{"F1#2"}, w.asked())
	require.Equal(t, "c-tree-r1", w.record().Questions[0].Head)
	require.Contains(t, strings.Join(w.calls, "\n"), "repair")
	w.signal(`{"finding":"F1","decision":"stand","reason":"good enough","head":"tree-1"}`)
	require.Equal(t, []string{"stale: it is about tree-1, the run stands at tree-r1 = c-tree-r1"}, w.refusals())
	w.signal(`{"finding":"F1","decision":"stand","reason":"good enough","head":"c-tree-r1"}`)
	require.Equal(t, loop.CallFinish, w.run())
	run := w.record()
	require.Equal(t, record.Ruled, run.Stop)
	require.Equal(t, []int{1, 2}, []int{run.Rulings[0].Number, run.Rulings[1].Number})
	w.checkReplay(in)
}

// Field report 51: an approval is applied twice, or to something newer.
func TestAnApprovalIsNeitherAppliedTwiceNorToSomethingNewer(t *testing.T) {
	const fix = `{"finding":"F1","decision":"fix","reason":"x","request_id":"r1"}`
	for name, c := range map[string]struct{ again, why string }{
		"the same request":                {fix, "repeated: request r1 was taken in before"},
		"the same words without id":       {`{"finding":"F1","decision":"fix","reason":"x"}`, "repeated: question 1 on F1 was answered (fix, by signal), and the first ruling counts"},
		"another word that came second":   {`{"finding":"F1","decision":"stand","reason":"x"}`, "repeated: question 1 on F1 was answered"},
		"the id with another meaning":     {`{"finding":"F1","decision":"abort","reason":"x","request_id":"r1"}`, "the request_id r1 was used before: fix on F1"},
		"an approval of an older tree":    {`{"finding":"F1","decision":"stand","reason":"x","request_id":"r9","head":"tree-0"}`, "stale: it is about tree-0"},
		"an approval of another run's":    {`{"finding":"F7","decision":"stand","reason":"x"}`, "there is no finding F7; nothing is asked now"},
		"one of what nobody asked before": {`{"finding":"SIZE","decision":"stand"}`, "SIZE is not asked"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newRuled(t, ruledInput(1), 1)
			require.Equal(t, loop.CallWait, w.run())
			w.signal(fix)
			w.signal(c.again) // the repair has not begun: nothing is asked now
			require.Len(t, w.refusals(), 1)
			require.Contains(t, w.refusals()[0], c.why)
			require.Equal(t, loop.CallWait, w.run())
			require.Equal(t, []string{"F1#2"}, w.asked(), "the second question waits for a person")
			require.Len(t, w.record().Rulings, 1)
		})
	}
}

func TestARequestThatIsRepeatedByUpdateIsAnsweredTheSame(t *testing.T) {
	w := newRuled(t, ruledInput(1), 2)
	require.Equal(t, loop.CallWait, w.run())
	request := loop.RulingRequest{Finding: "F1", Decision: "stand", Reason: "x", RequestID: "r1"}
	first := w.progress.Rule(request, w.now)
	require.Equal(t, loop.RulingAnswer{Status: loop.RulingApplied, Finding: "F1", Number: 1, Decision: "stand", Open: []string{"F2"}}, first)
	again := w.progress.Rule(request, w.now)
	require.True(t, again.Repeated)
	again.Repeated = false
	require.Equal(t, first, again)
	require.Empty(t, w.record().Refused, "whoever repeats it has the answer")
	require.Len(t, w.record().Rulings, 1)
	require.Equal(t, "update", w.record().Rulings[0].By)
}

func TestARulingThatComesBeforeItsQuestionIsKept(t *testing.T) {
	in := ruledInput(1)
	w := newRuled(t, in, 2)
	w.onCall = func(c loop.Call) {
		if c.Kind == loop.CallTurn && c.Turn.Turn == "arbitrate" {
			answer := w.progress.Rule(loop.RulingRequest{Finding: "F1", Decision: "stand", Reason: "seen", By: "ann", RequestID: "early"}, w.now)
			require.Equal(t, loop.RulingKept, answer.Status)
			require.Equal(t, 1, answer.Number)
			again := w.progress.Rule(loop.RulingRequest{Finding: "F1", Decision: "stand", Reason: "seen", RequestID: "early"}, w.now)
			require.True(t, again.Repeated)
			require.Equal(t, loop.RulingKept, again.Status)
			other := w.progress.Rule(loop.RulingRequest{Finding: "F1", Decision: "abort", Reason: "no"}, w.now)
			require.Equal(t, "repeated: a ruling on F1 is kept already, and the first one counts", other.Why)
			require.Empty(t, w.record().Rulings)
		}
	}
	require.Equal(t, loop.CallWait, w.run())
	require.Equal(t, []string{"F2#1"}, w.asked(), "F1 was answered as soon as it was asked")
	require.Equal(t, "ann", w.record().Rulings[0].By)
	w.signal(`{"finding":"F2","decision":"stand","reason":"x"}`)
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, record.Ruled, w.record().Stop)
}

func TestAKeptRulingThatDoesNotFitAnyMoreIsRefused(t *testing.T) {
	play := func(t *testing.T, request loop.RulingRequest, status string) *world {
		w := newRuled(t, ruledInput(2), 1)
		w.answers["recheck"] = func(c loop.Call) loop.Outcome { return answersAll(c, status) }
		w.answers["review final"] = func(c loop.Call) loop.Outcome { return finds(c, 0) }
		w.onCall = func(c loop.Call) {
			if c.Kind == loop.CallTurn && c.Turn.Turn == "repair" {
				require.Equal(t, loop.RulingKept, w.progress.Rule(request, w.now).Status)
			}
		}
		w.run()
		return w
	}
	stale := play(t, loop.RulingRequest{Finding: "F1", Decision: "stand", Reason: "x", Head: "c-tree-1"}, "not-addressed")
	require.Equal(t, []string{"stale: it is about c-tree-1, the run stands at tree-r1 = c-tree-r1"}, stale.refusals())
	require.Equal(t, []string{"F1#1"}, stale.asked())

	late := play(t, loop.RulingRequest{Finding: "F1", Decision: "abort", Reason: "x"}, "addressed")
	require.Equal(t, record.Converged, late.record().Stop, late.record().Message)
	require.Len(t, late.refusals(), 1)
	require.Contains(t, late.refusals()[0], "F1 was not asked after that")
}

func TestARulingOnWhatDoesNotStandIsRefused(t *testing.T) {
	in := ruledInput(1)
	w := newRuled(t, in, 1)
	w.answers["review codex"] = func(c loop.Call) loop.Outcome {
		out := finds(c, 1)
		out.Turn.Findings = append(out.Turn.Findings, loop.Finding{Severity: "low", Kind: "patch", Title: "a name could be better"})
		return out
	}
	require.Equal(t, loop.CallWait, w.run())
	w.signal(`{"finding":"F2","decision":"stand","reason":"x"}`)
	w.signal(`{"finding":"F1","decision":"stand","reason":"x"}`)
	w.signal(`{"finding":"F1","decision":"abort","reason":"x"}`)
	require.Equal(t, []string{"nothing is asked about F2: it is logged", "repeated: F1 was ruled to stand (stand, by signal)"}, w.refusals())
	require.Equal(t, loop.CallFinish, w.run())
	w.signal(`{"finding":"F1","decision":"fix","reason":"x"}`)
	require.Equal(t, "the run has ended: every open finding was ruled on", w.refusals()[2])
}

// What is no ruling is listed, and never answers anything.
func TestMalformedRulingsAreListedAndChangeNothing(t *testing.T) {
	long := strings.Repeat("x", 3000)
	cases := map[string]string{
		``:                           "it is empty",
		`null`:                       "it is not a JSON object",
		`"F1"`:                       "it is not a JSON object",
		`[{"finding":"F1"}]`:         "it is not a JSON object",
		`stand F1`:                   "it is not a JSON object",
		"{\"finding\":\"F1\xff\"}":   "it is not UTF-8",
		`{"finding":"F1","decision"`: "it is not JSON",
		`{"finding":"F1","decision":"stand","reason":"x"} {}`:                            "something follows",
		`{"finding":1,"decision":"stand","reason":"x"}`:                                  `"finding" must be a text and is a number`,
		`{"finding":"F1","decision":true,"reason":"x"}`:                                  `"decision" must be a text and is a bool`,
		`{"finding":"F1","decision":"stand","reason":["x"]}`:                             `"reason" must be a text and is a array`,
		`{"finding":"F1","decision":"stand","reason":"x","heads":"c-tree-1"}`:            `the key "heads" is unknown`,
		`{"Finding":"F1","decision":"stand","reason":"x"}`:                               `the key "Finding" is unknown`,
		`{"finding":"F1","decision":"stand","decision":"abort","reason":"x"}`:            `the key "decision" comes twice`,
		`{"decision":"stand","reason":"x"}`:                                              "finding is missing",
		`{"finding":"F1","reason":"x"}`:                                                  "decision is missing",
		`{"finding":"F1","decision":"stand"}`:                                            "reason is missing",
		`{"finding":"F1","decision":"stand","reason":"  "}`:                              "reason is missing",
		`{"finding":"F1","decision":"Stand","reason":"x"}`:                               `the decision "Stand" is none of`,
		`{"finding":"F1","decision":"person","reason":"x"}`:                              `the decision "person" is none of`,
		`{"finding":"F1","decision":"stand","reason":"` + long + `"}`:                    "reason is longer",
		`{"finding":"F1","decision":"stand","reason":"x","by":"` + long + `"}`:           "by is longer",
		`{"finding":"F1","decision":"stand","reason":"` + strings.Repeat(long, 6) + `"}`: "it is longer than 16384 bytes",
		`{"finding":"SIZE","decision":"fix","reason":"x"}`:                               "SIZE cannot be answered with fix",
		`{"finding":"PROTECTED","decision":"fix","reason":"x"}`:                          "PROTECTED cannot be answered with fix",
		`{"finding":"BUDGET","decision":"fix","reason":"x"}`:                             "BUDGET cannot be answered with fix",
	}
	w := newRuled(t, ruledInput(1), 1)
	require.Equal(t, loop.CallWait, w.run())
	before := len(w.progress.Events)
	for raw, why := range cases {
		w.progress.Run.Refused = nil
		w.signal(raw)
		require.Len(t, w.refusals(), 1, raw)
		require.Contains(t, w.refusals()[0], why, raw)
		require.LessOrEqual(t, len(w.record().Refused[0].Raw), 160)
	}
	require.Len(t, w.progress.Events, before)
	require.Equal(t, []string{"F1#1"}, w.asked())
	require.False(t, w.progress.Awake())
}

func TestRefusedRulingsAreCountedBeyondTheList(t *testing.T) {
	w := newRuled(t, ruledInput(1), 1)
	require.Equal(t, loop.CallWait, w.run())
	for range 230 {
		w.signal("\x00\x1b[31m" + strings.Repeat("junk ", 10000))
	}
	require.Len(t, w.record().Refused, 200)
	require.Equal(t, 30, w.record().RefusedMore)
	raw, err := json.Marshal(w.progress.Carry)
	require.NoError(t, err)
	require.Less(t, len(raw), 128<<10)
	require.NotContains(t, w.record().Refused[0].Raw, "\x1b")
}
