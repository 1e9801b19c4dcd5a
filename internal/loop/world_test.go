package loop_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"conclave/internal/artifact"
	"conclave/internal/convergence"
	"conclave/internal/loop"
	"conclave/internal/record"
)

var claude = record.Engine{Adapter: "claude", Provider: "anthropic", ModelFamily: "claude", Model: "m1", Source: "served"}
var codex = record.Engine{Adapter: "codex", Provider: "openai", ModelFamily: "gpt", Model: "m2", Source: "pinned"}

func definition(iterations int) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"id":"run","definitionVersion":1,
	 "data":{"maxIterations":%d,"maxReviewRestarts":%d,"quorum":1,"requireDiversity":false,"skippableSeats":[],"seatConcurrency":2,"retryCapPerNode":1},
	 "nodes":[
	  {"id":"implement","data":{"role":"generator","lane":{"id":"writer","requested":{"adapter":"claude","provider":"anthropic","modelFamily":"claude","model":"m1","tools":[]},"knownSubstitutions":[]}}},
	  {"id":"verify","data":{"role":"evaluator"}},
	  {"id":"codex","data":{"role":"seat","lane":{"id":"codex","requested":{"adapter":"codex","provider":"openai","modelFamily":"gpt","model":"m2","tools":[]},"knownSubstitutions":[]}}},
	  {"id":"claude","data":{"role":"seat","lane":{"id":"claude","requested":{"adapter":"claude","provider":"anthropic","modelFamily":"claude","model":"m1","tools":[]},"knownSubstitutions":[]}}},
	  {"id":"repair","data":{"role":"repair","lane":{"id":"writer","requested":{"adapter":"claude","provider":"anthropic","modelFamily":"claude","model":"m1","tools":[]},"knownSubstitutions":[]}}}],
	 "edges":[]}`, iterations, iterations-1))
}

func input(iterations int) loop.Input {
	return loop.Input{
		Schema: loop.InputSchema, RunID: "add-sum-abcde", Rules: "conclave/v1", Definition: definition(iterations),
		Requirement: artifact.Of([]byte("Add Sum")), Title: "Add Sum", Source: loop.Source{Dir: "/repo"},
		Commands: loop.Commands{Verify: "go test ./..."}, VerdictMode: "strict",
		Limits: loop.Limits{WriterTimeout: time.Minute, ReaderTimeout: time.Minute, VerifyTimeout: time.Minute},
		Lenses: map[string]string{"codex": "correctness", "claude": "correctness"},
	}
}

// world plays the activities. answers are taken by "turn seat iteration", else by "turn seat", else by "turn".
type world struct {
	t        require.TestingT
	progress *loop.Progress
	now      time.Time
	answers  map[string]func(loop.Call) loop.Outcome
	calls    []string
	turns    []loop.TurnRequest
	marks    []string
	onCall   func(loop.Call)
	// limit bounds the batches of a run; 0 is a hundred.
	limit int
}

func newWorld(t require.TestingT, in loop.Input) *world {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	p, err := loop.New(in, "run-x", now)
	require.NoError(t, err)
	return &world{t: t, progress: p, now: now, answers: map[string]func(loop.Call) loop.Outcome{
		"verify":    func(loop.Call) loop.Outcome { return gate(loop.GatePass) },
		"implement": func(loop.Call) loop.Outcome { return wrote("tree-1", true) },
		"repair":    func(c loop.Call) loop.Outcome { return wrote(fmt.Sprintf("tree-%d", c.Turn.Iteration), true) },
		"design": func(loop.Call) loop.Outcome {
			return loop.Outcome{Turn: &loop.TurnResult{Class: record.ClassOK, Final: artifact.Of([]byte("contract")), Attempt: 1}}
		},
		"review": func(c loop.Call) loop.Outcome { return judged(c, "pass") },
	}}
}

func wrote(tree string, changed bool) loop.Outcome {
	return loop.Outcome{Turn: &loop.TurnResult{
		Class: record.ClassOK, Reported: &claude, Snapshot: loop.Snapshot{Commit: "c-" + tree, Tree: tree}, Changed: changed,
		Stats: &record.Stats{Files: 1}, Attempt: 1, Usage: &record.Usage{InputTokens: 10},
	}}
}

func judged(c loop.Call, verdict string) loop.Outcome {
	who := codex
	if c.Turn.Seat == "claude" {
		who = claude
	}
	r := &loop.TurnResult{Class: record.ClassOK, Reported: &who, Verdict: verdict, Final: artifact.Of([]byte(c.Turn.Seat + " says " + verdict)), Attempt: 1}
	if verdict == "block" {
		r.Findings = []loop.Finding{{Severity: "high", Kind: "patch", Title: "off by one"}}
	}
	return loop.Outcome{Turn: r}
}

func gate(gate string) loop.Outcome {
	v := &loop.VerifyResult{Class: record.ClassOK, Gate: gate, Attempt: 1}
	if gate == loop.GateFail {
		v.ExitCode, v.Failure = 1, artifact.Of([]byte("FAIL"))
	}
	return loop.Outcome{Verify: v}
}

func troubled(class record.Class, code string) loop.Outcome {
	return loop.Outcome{Turn: &loop.TurnResult{Class: class, Code: code, Message: "because " + code, Attempt: 1}}
}

// run plays until the run ends or waits, and returns that call's kind.
func (w *world) run() loop.Kind {
	for range max(w.limit, 100) {
		w.now = w.now.Add(time.Second)
		calls := w.progress.Next(w.now)
		if kind := calls[0].Kind; kind == loop.CallFinish || kind == loop.CallWait {
			return kind
		}
		for _, call := range calls {
			w.play(call)
		}
	}
	require.Fail(w.t, "the run does not end")
	return ""
}

func (w *world) play(call loop.Call) {
	if w.onCall != nil {
		w.onCall(call)
	}
	for {
		w.calls = append(w.calls, describe(call))
		again := w.progress.Done(call, w.answer(call), w.now)
		if again == nil {
			return
		}
		w.now, call = w.now.Add(again.After), again.Call
	}
}

func describe(c loop.Call) string {
	switch c.Kind {
	case loop.CallTurn:
		text := fmt.Sprintf("%s %s", c.Step, c.Turn.Turn)
		if c.Turn.Seat != "" {
			text += " " + c.Turn.Seat
		}
		return text
	case loop.CallVerify:
		return c.Step + " verify"
	default:
		return string(c.Kind)
	}
}

func (w *world) answer(c loop.Call) loop.Outcome {
	switch c.Kind {
	case loop.CallPrepare:
		return loop.Outcome{Prepared: &loop.Prepared{Base: loop.Snapshot{Commit: "base", Tree: "tree-0"}, Head: "head"}}
	case loop.CallBundle:
		w.marks = append(w.marks, c.Bundle.Mark)
		return loop.Outcome{Bundled: true}
	case loop.CallLand:
		return loop.Outcome{Landed: &loop.Landed{Branch: c.Land.Branch, Commit: "landed"}}
	case loop.CallVerify:
		return w.answers["verify"](c)
	default:
		w.turns = append(w.turns, *c.Turn)
		for _, key := range []string{
			fmt.Sprintf("%s %s %d", c.Turn.Turn, c.Turn.Seat, c.Turn.Iteration), c.Turn.Turn + " " + c.Turn.Seat, c.Turn.Turn,
		} {
			if play := w.answers[key]; play != nil {
				return play(c)
			}
		}
		require.Fail(w.t, "no answer for "+describe(c))
		return loop.Outcome{}
	}
}

func (w *world) record() record.Run { return w.progress.Record(w.now) }

// checkReplay: the events give exactly the dispatches that became steps.
func (w *world) checkReplay(in loop.Input) {
	machine, err := convergence.Compile(in.Definition, convergence.V1)
	require.NoError(w.t, err)
	dispatched, _, err := loop.Replay(machine, w.progress.Events)
	require.NoError(w.t, err)
	var want []string
	for _, s := range w.record().Steps {
		if s.Position != "" {
			want = append(want, s.Position)
		}
	}
	var got []string
	for _, d := range dispatched {
		got = append(got, d.Position)
	}
	require.Equal(w.t, want, got)
}
