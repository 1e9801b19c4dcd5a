package loop_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"

	"conclave/internal/artifact"
	"conclave/internal/loop"
	"conclave/internal/record"
)

// engines of the full discipline's tests, by adapter.
var engines = map[string]record.Engine{
	"claude": claude, "codex": codex,
	"gemini":   {Adapter: "gemini", Provider: "google", ModelFamily: "gemini", Model: "m3", Source: "served"},
	"opencode": {Adapter: "opencode", Provider: "zai", ModelFamily: "glm", Model: "m4", Source: "served"},
}

func target(adapter string) string {
	e := engines[adapter]
	return fmt.Sprintf(`{"adapter":%q,"provider":%q,"modelFamily":%q,"model":%q,"tools":[]}`, e.Adapter, e.Provider, e.ModelFamily, e.Model)
}

// fullInput has claude write, opencode take over what it does not manage, and a
// seat for each of the named engines. data adds keys to the definition's data.
func fullInput(iterations int, data string, seats ...string) loop.Input {
	in := input(iterations)
	writer := fmt.Sprintf(`{"id":"writer","requested":%s,"knownSubstitutions":[]}`, target("claude"))
	repair := fmt.Sprintf(`{"id":"repair","requested":%s,"knownSubstitutions":[%s]}`, target("claude"), target("opencode"))
	var nodes []string
	in.Lenses = map[string]string{}
	for _, seat := range seats {
		nodes = append(nodes, fmt.Sprintf(`{"id":%q,"data":{"role":"seat","lane":{"id":%q,"requested":%s,"knownSubstitutions":[]}}}`, seat, seat, target(engineOf(seat))))
		in.Lenses[seat] = "correctness"
		if _, lens, ok := strings.Cut(seat, "-"); ok {
			in.Lenses[seat] = lens
		}
	}
	if data != "" {
		data = "," + data
	}
	in.Definition = json.RawMessage(fmt.Sprintf(`{"id":"run","definitionVersion":1,
	 "data":{"discipline":"full","maxIterations":%d,"maxReviewRestarts":%d,"quorum":1,"requireDiversity":false,"skippableSeats":[],"seatConcurrency":8,"retryCapPerNode":1,"escalation":%s%s},
	 "nodes":[{"id":"implement","data":{"role":"generator","lane":%s}},{"id":"verify","data":{"role":"evaluator"}},%s,{"id":"repair","data":{"role":"repair","lane":%s}}],"edges":[]}`,
		iterations, iterations-1, target("opencode"), data, writer, strings.Join(nodes, ","), repair))
	return in
}

// engineOf is the adapter of a seat: "codex" of "codex-security".
func engineOf(seat string) string {
	adapter, _, _ := strings.Cut(seat, "-")
	return adapter
}

// problem is a finding of its own place.
func problem(severity, title string) loop.Finding {
	raw, _ := json.Marshal(map[string]string{"title": title, "whole": "the whole text of " + title})
	return loop.Finding{
		Severity: severity, Kind: "patch", Title: title, Claim: title + ", says the reviewer", Anchor: "x := load(" + artifact.Of([]byte(title)).Digest[7:19] + ")",
		File: "as it was", Text: artifact.Of(raw), Evidence: []record.Place{{Path: strings.ReplaceAll(title, " ", "_") + ".go", Line: 7}},
	}
}

// says is a valid answer of a reviewer.
func says(c loop.Call, rechecked []loop.Rechecked, findings ...loop.Finding) loop.Outcome {
	verdict := "pass"
	for _, r := range rechecked {
		if r.Status != "addressed" {
			verdict = "block"
		}
	}
	for _, f := range findings {
		if f.Severity == "high" && !f.Outside {
			verdict = "block"
		}
	}
	sure, engine := 0.9, engines[c.Turn.Target.Adapter]
	return loop.Outcome{Turn: &loop.TurnResult{
		Class: record.ClassOK, Reported: &engine, Verdict: verdict, Confidence: &sure, Findings: findings, Rechecked: rechecked,
		Final: artifact.Of([]byte(c.Step)), Attempt: 1,
	}}
}

// rechecks answers for each finding that a recheck is about.
func rechecks(c loop.Call, status string) []loop.Rechecked {
	var out []loop.Rechecked
	for _, id := range c.Turn.Findings {
		out = append(out, loop.Rechecked{Finding: id, Status: status, Reason: "because " + status})
	}
	return out
}

// repaired leaves a tree and reports one status for every finding.
func repaired(c loop.Call, tree, status string) loop.Outcome {
	out := wrote(tree, true)
	engine := engines[c.Turn.Target.Adapter]
	out.Turn.Reported = &engine
	out.Turn.Artifacts = map[string]artifact.Ref{"fix-report.json": artifact.Of([]byte("report of " + c.Step))}
	for _, k := range c.Turn.Feedback.Findings {
		out.Turn.FixReport = append(out.Turn.FixReport, loop.Fixed{Finding: k.ID, Status: status})
	}
	return out
}

func confirms(c loop.Call, holds bool) loop.Outcome {
	engine := engines[c.Turn.Target.Adapter]
	decision := map[bool]string{true: "confirmed", false: "refuted"}[holds]
	return loop.Outcome{Turn: &loop.TurnResult{
		Class: record.ClassOK, Reported: &engine, Answer: json.RawMessage(fmt.Sprintf(`{"confirmed":%v}`, holds)), Attempt: 1,
		Said: []loop.Said{{Finding: c.Turn.Findings[0], Decision: decision, Reason: "I traced it"}},
	}}
}

func arbitrates(c loop.Call, decision string) loop.Outcome {
	engine := engines[c.Turn.Target.Adapter]
	result := loop.TurnResult{Class: record.ClassOK, Reported: &engine, Attempt: 1}
	var rulings []string
	for _, id := range c.Turn.Findings {
		rulings = append(rulings, fmt.Sprintf(`{"finding":%q,"decision":%q}`, id, decision))
		result.Said = append(result.Said, loop.Said{Finding: id, Decision: decision, Reason: "both have a point", Change: "one line"})
	}
	result.Answer = json.RawMessage(`{"rulings":[` + strings.Join(rulings, ",") + `]}`)
	return loop.Outcome{Turn: &result}
}

// newFullWorld answers everything in the most peaceful way.
func newFullWorld(t require.TestingT, in loop.Input) *world {
	w := newWorld(t, in)
	w.answers["review"] = func(c loop.Call) loop.Outcome { return says(c, nil) }
	w.answers["recheck"] = func(c loop.Call) loop.Outcome { return says(c, rechecks(c, "addressed")) }
	w.answers["repair"] = func(c loop.Call) loop.Outcome { return repaired(c, fmt.Sprintf("tree-%d", c.Turn.Iteration), "fixed") }
	w.answers["confirm"] = func(c loop.Call) loop.Outcome { return confirms(c, true) }
	w.answers["arbitrate"] = func(c loop.Call) loop.Outcome { return arbitrates(c, "person") }
	return w
}

// turn returns the n-th request of a kind or of a kind and seat, from 1.
func (w *world) turn(kind string, n int) loop.TurnRequest {
	for _, turn := range w.turns {
		if turn.Turn == kind || turn.Turn+" "+turn.Seat == kind {
			if n--; n == 0 {
				return turn
			}
		}
	}
	require.Failf(w.t, "no such turn", "%s", kind)
	return loop.TurnRequest{}
}

func (w *world) count(kind string) (n int) {
	for _, turn := range w.turns {
		if turn.Turn == kind {
			n++
		}
	}
	return n
}

func (w *world) finding(id string) record.Finding {
	for _, f := range w.record().Findings {
		if f.ID == id {
			return f
		}
	}
	require.Failf(w.t, "no such finding", "%s", id)
	return record.Finding{}
}

func story(f record.Finding) string { return strings.Join(f.History, "\n") }

func ids(known []loop.Known) (out []string) {
	for _, k := range known {
		out = append(out, k.ID)
	}
	return out
}

// checkProjection: what the record says became of the findings is what the machine decided.
func (w *world) checkProjection() {
	want := map[string]string{}
	for id, st := range w.progress.State.Review.Findings.All() {
		want[id] = string(st.Status)
	}
	got := map[string]string{}
	for _, f := range w.record().Findings {
		got[f.ID] = f.Disposition
	}
	require.Equal(w.t, want, got)
}
