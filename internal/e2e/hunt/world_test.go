package hunt

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"conclave/internal/artifact"
	"conclave/internal/loop"
	"conclave/internal/record"
	"conclave/internal/review"
)

// engines of a case: the writer's, those of the seats, and nobody's.
var (
	writing = record.Engine{Adapter: "claude", Provider: "anthropic", ModelFamily: "claude", Model: "m", Source: "served"}
	lanes   = []record.Engine{
		{Adapter: "codex", Provider: "openai", ModelFamily: "gpt", Model: "m", Source: "served"},
		{Adapter: "bolt", Provider: "bolt", ModelFamily: "bolt-1", Model: "m", Source: "served"},
		{Adapter: "grid", Provider: "grid", ModelFamily: "grid-x", Model: "m", Source: "served"},
	}
)

// world plays the activities of one run.
type world struct {
	t      *testing.T
	seed   uint64
	dice   dice
	now    time.Time
	input  loop.Input
	run    *loop.Progress
	book   *book
	trees  int
	broken int // one answer in so many is broken
	seats  map[string]record.Engine
	voting map[string]bool
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, seed: seed, dice: newDice(seed), now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), seats: map[string]record.Engine{}, voting: map[string]bool{}}
	w.broken = pick(w.dice, 2, 3, 6, 20)
	w.input = loop.Input{
		Schema: loop.InputSchema, RunID: "hunt", Rules: "conclave/v1", Definition: w.definition(), Requirement: artifact.Of([]byte("do it")),
		Title: "do it", Source: loop.Source{Dir: "/repo"}, VerdictMode: "strict", Commands: loop.Commands{Verify: "make test"},
		Limits: loop.Limits{WriterTimeout: time.Minute, ReaderTimeout: time.Minute, VerifyTimeout: time.Minute},
	}
	var err error
	w.run, err = loop.New(w.input, "run-hunt", w.now)
	require.NoError(t, err, w)
	w.book = newBook(w)
	return w
}

func (w *world) String() string { return fmt.Sprintf("case %d", w.seed) }

// definition is a full review with one to three seats, sometimes one of the writer's engine that has no vote.
func (w *world) definition() json.RawMessage {
	lane := func(id string, e record.Engine) object {
		return object{"id": id, "knownSubstitutions": []any{}, "requested": object{
			"adapter": e.Adapter, "provider": e.Provider, "modelFamily": e.ModelFamily, "model": e.Model, "tools": []string{},
		}}
	}
	node := func(id string, data object) object { return object{"id": id, "data": data} }
	nodes := []any{node("implement", object{"role": "generator", "lane": lane("writer", writing)}), node("verify", object{"role": "evaluator"})}
	count := 1 + w.dice.IntN(3)
	for i := range count {
		id, e := fmt.Sprintf("seat%d", i+1), lanes[i]
		if i > 0 && w.dice.in(4) {
			e = lanes[0] // the same engine under another lens
		}
		w.seats[id], w.voting[id] = e, true
		nodes = append(nodes, node(id, object{"role": "seat", "lane": lane(id, e)}))
	}
	if w.dice.in(3) {
		w.seats["own"] = writing
		nodes = append(nodes, node("own", object{"role": "seat", "lane": lane("own", writing)}))
	}
	nodes = append(nodes, node("repair", object{"role": "repair", "lane": lane("writer", writing)}))
	iterations := 1 + w.dice.IntN(5)
	return json.RawMessage(encode(object{"id": "hunt", "definitionVersion": 1, "nodes": nodes, "edges": []any{}, "data": object{
		"maxIterations": iterations, "maxReviewRestarts": iterations - 1, "quorum": count, "requireDiversity": false, "skippableSeats": []any{},
		"seatConcurrency": 1 + w.dice.IntN(3), "retryCapPerNode": w.dice.IntN(3), "discipline": "full", "reviewWhen": pick(w.dice, "verified", "always"),
	}}))
}

// play carries the run until it ends or nobody goes on with it.
func (w *world) play() record.Run {
	for waits, calls := 0, 0; calls < 400; calls++ {
		w.now = w.now.Add(time.Second)
		w.renew()
		todo := w.run.Next(w.now)
		switch todo[0].Kind {
		case loop.CallFinish:
			return w.run.Record(w.now)
		case loop.CallWait:
			if waits++; waits > 8 || !w.person() {
				return w.run.Record(w.now)
			}
			continue
		}
		w.dice.Shuffle(len(todo), func(i, j int) { todo[i], todo[j] = todo[j], todo[i] })
		for _, call := range todo {
			for again := w.run.Done(call, w.outcome(call), w.now); again != nil; {
				call = again.Call
				again = w.run.Done(call, w.outcome(call), w.now)
			}
		}
	}
	require.Fail(w.t, "the run does not end", w)
	return record.Run{}
}

// renew continues as new now and then: the state goes through its plain form.
func (w *world) renew() {
	if !w.dice.in(12) {
		return
	}
	raw, err := json.Marshal(w.run.Carry)
	require.NoError(w.t, err, w)
	var carry loop.Carry
	require.NoError(w.t, json.Unmarshal(raw, &carry), w)
	in := w.input
	in.Resume = &carry
	w.run, err = loop.New(in, "run-hunt", w.now)
	require.NoError(w.t, err, w)
}

// person answers a waiting run, or leaves it.
func (w *world) person() bool {
	questions := w.run.Record(w.now).Questions
	if w.dice.in(4) {
		return false
	}
	for range 3 { // what is not a ruling changes nothing
		w.run.Signalled([]byte(pick(w.dice, "", "stand", `{"finding":"F1","decision":"stand"}`, `{"finding":"F1","decision":"pass","reason":"x"}`, `[{"finding":"F1"}]`,
			`{"finding":"F996","decision":"stand","reason":"x"}`, `{"finding":"F1","decision":"stand","reason":"x","head":"other"}`)), w.now)
	}
	for _, q := range questions {
		decision := pick(w.dice, "stand", "fix", "fix", "abort")
		w.run.Signalled([]byte(encode(object{"finding": q.Subject, "decision": decision, "reason": "because"})), w.now)
		w.book.ruled(q.Subject, decision)
	}
	if len(questions) == 0 {
		w.run.AskResume(loop.Resume{})
	}
	if w.run.Awake() {
		w.run.Woken(w.now)
	}
	return true
}

// outcome plays one activity.
func (w *world) outcome(call loop.Call) loop.Outcome {
	switch call.Kind {
	case loop.CallPrepare:
		return loop.Outcome{Prepared: &loop.Prepared{Base: loop.Snapshot{Commit: "c-base", Tree: "base"}, Head: "head"}}
	case loop.CallBundle:
		return loop.Outcome{Bundled: true}
	case loop.CallLand:
		return loop.Outcome{Landed: &loop.Landed{Branch: call.Land.Branch, Commit: "landed"}}
	case loop.CallVerify:
		return w.verify(call)
	}
	if w.dice.in(40) { // the activity itself gave nothing
		w.book.silent(call)
		return loop.Outcome{Failure: &loop.Failure{Code: pick(w.dice, "EFFECT_FAILED", "TIMEOUT", "ABORTED", "WORKER_LOST", ""), Message: "lost"}}
	}
	result := &loop.TurnResult{Class: record.ClassOK, Attempt: 1, Reported: w.reported(call)}
	if call.Turn.Writing {
		w.write(call, result)
	} else {
		w.answer(call, result)
	}
	if w.dice.in(40) && !call.Turn.Writing && result.Class == record.ClassOK {
		w.hollow(call, result)
		w.book.silent(call)
	}
	if w.dice.in(25) { // a class that is not ok beside an answer that looks good
		result.Class = pick(w.dice, record.ClassTransient, record.ClassQuota, record.ClassPermanent, record.ClassTimeout, record.ClassViolation, record.ClassMalformed, record.ClassAborted, record.Class(""), record.Class("fine"))
		result.Code = pick(w.dice, "", "RESULT_INVALID", "ENGINE_UNAVAILABLE", "TIMEOUT")
		w.book.silent(call)
	}
	w.book.wrote(call, *result)
	return loop.Outcome{Turn: result}
}

// hollow makes a result say ok and mean nothing, as no activity should give one.
func (w *world) hollow(call loop.Call, result *loop.TurnResult) {
	result.Findings, result.Rechecked, result.Said = nil, nil, nil
	switch call.Turn.Turn {
	case "review", "recheck":
		result.Verdict = pick(w.dice, "", "approve", "PASS", "block", "invalid")
	default:
		result.Answer = json.RawMessage(pick(w.dice, "null", "{}", "[]", `"no"`, `{"confirmed":"false"}`, `{"confirmed":null}`, `{"rulings":null}`, `{"rulings":[{"finding":"F1"}]}`, `{"rulings":[{"decision":"stand"}]}`))
	}
}

// reported is who answered: mostly who was asked, sometimes nobody knows, sometimes an engine of another family.
func (w *world) reported(call loop.Call) *record.Engine {
	e := call.Turn.Target
	e.Source = "served"
	switch {
	case w.dice.in(30):
		return nil
	case w.dice.in(30) && !call.Turn.Writing:
		return &writing
	case w.dice.in(60) && call.Turn.Writing:
		return &lanes[w.dice.IntN(len(lanes))]
	}
	return &e
}

func (w *world) verify(loop.Call) loop.Outcome {
	v := &loop.VerifyResult{Class: record.ClassOK, Attempt: 1, Gate: pick(w.dice, loop.GatePass, loop.GatePass, loop.GatePass, loop.GateNotRun)}
	if w.dice.in(6) {
		v.Gate, v.ExitCode, v.Failure, v.FailureDigest = loop.GateFail, 1, artifact.Of([]byte("FAIL")), pick(w.dice, "one", "two")
	}
	if w.dice.in(60) {
		v.Class, v.Code = record.ClassPermanent, "EFFECT_FAILED"
	}
	w.book.verified(v.Class == record.ClassOK && v.Gate != loop.GateFail)
	return loop.Outcome{Verify: v}
}

// write leaves a new tree, sometimes an old one, sometimes none.
func (w *world) write(call loop.Call, result *loop.TurnResult) {
	w.trees++
	tree := fmt.Sprintf("tree-%d", w.trees)
	if w.dice.in(20) {
		tree = fmt.Sprintf("tree-%d", 1+w.dice.IntN(w.trees))
	}
	result.Snapshot = loop.Snapshot{Commit: "c-" + tree, Tree: tree}
	result.Changed = tree != call.Turn.From.Tree
	if call.Turn.Turn != "repair" || len(call.Turn.Feedback.Findings) == 0 {
		return
	}
	var ids []string
	for _, known := range call.Turn.Feedback.Findings {
		ids = append(ids, known.ID)
	}
	say := w.dice.report(asked{findings: ids}, w.dice.in(8))
	report := review.ParseFixReport([]byte(say.text), nil, ids)
	for _, e := range report.Entries {
		require.Equal(w.t, say.fixed[e.Finding], e.Status, w)
		result.FixReport = append(result.FixReport, loop.Fixed{Finding: e.Finding, Status: e.Status})
	}
	require.Len(w.t, result.FixReport, len(say.fixed), w)
}

// answer reads what an engine said as the activities do.
func (w *world) answer(call loop.Call, result *loop.TurnResult) {
	a := asked{token: call.Turn.Evidence, findings: call.Turn.Findings, recheck: call.Turn.Turn == "recheck"}
	require.NotEmpty(w.t, a.token, w)
	broken := w.dice.in(w.broken)
	var say said
	var problems []string
	switch call.Turn.Turn {
	case "review", "recheck":
		say = w.dice.reviewed(a, broken)
		problems = w.readReview(call, say, result)
	case "confirm":
		say = w.dice.confirmation(a, broken)
		answer := review.ParseConfirm([]byte(say.text), nil, a.findings[0], a.token)
		problems = answer.Problems
		result.Answer = json.RawMessage(encode(object{"confirmed": !answer.Refuted()}))
	case "arbitrate":
		say = w.dice.arbitration(a, broken)
		answer := review.ParseArbitration([]byte(say.text), nil, a.findings)
		problems = answer.Problems
		for _, r := range answer.Rulings {
			result.Said = append(result.Said, loop.Said{Finding: r.Finding, Decision: r.Decision, Reason: r.Reason})
		}
		result.Answer = json.RawMessage(encode(object{"rulings": answer.Rulings}))
	default:
		require.Fail(w.t, "an unknown turn", call.Turn.Turn)
	}
	require.Equal(w.t, say.valid, len(problems) == 0, "%s: %s %s read\n%s\nas %q", w, call.Turn.Turn, call.Turn.Seat, say.text, problems)
	if len(problems) > 0 {
		*result = loop.TurnResult{Class: record.ClassMalformed, Code: "RESULT_INVALID", Message: problems[0], Attempt: 1, Reported: result.Reported}
	}
	w.book.said(call, say, result.Reported)
}

func (w *world) readReview(call loop.Call, say said, result *loop.TurnResult) []string {
	context := review.AnswerContext{
		Token: call.Turn.Evidence, Changed: paths, Exists: exists, RequireFindings: call.Turn.RequireFindings, Recheck: call.Turn.Findings,
	}
	parse := review.ParseReview
	if call.Turn.Turn == "recheck" {
		parse = review.ParseRecheck
	}
	answer := parse([]byte(say.text), nil, context)
	if len(answer.Problems) > 0 || answer.Verdict == review.Invalid {
		return append(answer.Problems, "invalid")
	}
	result.Verdict, result.Confidence, result.Final = answer.Verdict.String(), answer.Confidence, artifact.Of([]byte(say.text))
	for _, f := range answer.Findings {
		finding := loop.Finding{Severity: f.Severity.String(), Kind: f.Kind.String(), Title: f.Title, Claim: f.Claim, Text: artifact.Of([]byte(f.Title + call.Turn.Seat))}
		for _, e := range f.Evidence {
			finding.Evidence = append(finding.Evidence, record.Place{Path: e.Path, Line: e.Line})
			finding.Anchor = review.Anchor(fmt.Sprintf("line %d of %s", e.Line, e.Path))
		}
		result.Findings = append(result.Findings, finding)
	}
	for _, r := range answer.Rechecked {
		result.Rechecked = append(result.Rechecked, loop.Rechecked{Finding: r.Finding, Status: r.Status.String(), Reason: r.Reason})
	}
	require.ElementsMatch(w.t, keys(say.addressed), ids(result.Rechecked), w)
	return nil
}

func keys(m map[string]bool) []string {
	out := []string{}
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func ids(list []loop.Rechecked) []string {
	out := []string{}
	for _, r := range list {
		out = append(out, r.Finding)
	}
	return out
}
