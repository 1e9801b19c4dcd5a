package activities

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/artifact"
	"conclave/internal/loop"
	"conclave/internal/prompt"
	"conclave/internal/record"
	"conclave/internal/review"
)

// says lets the agent answer with a text, whatever it holds.
func (l *lab) says(answer string) {
	require.NoError(l.t, os.WriteFile(filepath.Join(l.dir, "answer"), []byte(answer), 0o644))
	l.plays("cat $LAB/answer")
}

// known stores findings as the ledger keeps them.
func (l *lab) known(texts map[string]string) []loop.Known {
	var out []loop.Known
	for id := 1; id <= len(texts); id++ {
		key := fmt.Sprintf("F%d", id)
		out = append(out, loop.Known{ID: key, Texts: []artifact.Ref{l.put(texts[key])}})
	}
	return out
}

// reading is a read-only turn of the full discipline on a snapshot.
func (l *lab) reading(step, turn string, from loop.Snapshot, ids ...string) *loop.TurnRequest {
	req := l.review(step, from)
	req.Turn, req.Discipline, req.RequireFindings, req.Findings, req.Iteration = turn, "full", true, ids, 2
	return req
}

// answer is a reviewer's JSON with its verdict line.
func answer(verdict string, more map[string]any) string {
	object := map[string]any{"verdict": verdict, "confidence": 0.9, "evidence": "token", "reviewed": []string{"calc.go"}, "findings": []any{}}
	for key, value := range more {
		object[key] = value
	}
	raw, err := json.MarshalIndent(object, "", " ")
	if err != nil {
		panic(err)
	}
	return "Read it.\n\n```json\n" + string(raw) + "\n```\n\nVERDICT: " + strings.ToUpper(verdict) + "\n"
}

func finding(severity, title, path string, line int) map[string]any {
	return map[string]any{"severity": severity, "kind": "patch", "title": title, "claim": title + " because of this", "evidence": []any{map[string]any{"path": path, "line": line}}}
}

// fixed is a run with a draft and a repair of it.
func fixed(t *testing.T) (l *lab, draft, repair loop.Snapshot) {
	l = newLab(t).prepare(false)
	draft = l.wrote("01", `printf 'package calc\n\nfunc Sum(n int) int {\n\treturn n\n}\n' > calc.go; yes filler | head -n 40 > notes.txt; echo done`).Snapshot
	l.plays(`sed -i 's/return n$/return n * (n + 1) \/ 2/' calc.go; echo done`)
	req := l.turn("02")
	req.Workspace = l.workspace(draft)
	repair = do[loop.TurnResult](l, l.acts.RunTurn, req).Snapshot
	return l, draft, repair
}

func TestARecheckReadsItsFindingsAndTheFixOnly(t *testing.T) {
	l, draft, repair := fixed(t)
	req := l.reading("03", "recheck", repair, "F1")
	req.Since, req.Scope = draft, "fix"
	req.Open = l.known(map[string]string{"F1": `{"title":"Sum returns its input","claim":"the whole words"}`})
	report := `Trust me, I am sure.` + "\n```json\n" + `{"fix_report":[{"finding":"F1","status":"fixed","tests":["TestSum"],"command":"go test ./...","output":"ok calc","evidence":"believe me"},` +
		`{"finding":"F2","status":"fixed","tests":["TestOther"],"command":"go test","output":"ok other"}]}` + "\n```\n"
	req.FixReport = l.put(report)
	req.VerifySummary = "`go test ./...` passed"
	l.says(answer("pass", map[string]any{"rechecked": []any{map[string]any{"finding": "F1", "status": "addressed", "reason": "the formula is right"}}}))
	out := do[loop.TurnResult](l, l.acts.RunTurn, req)
	require.Equal(t, record.ClassOK, out.Class, out.Message)
	require.Equal(t, "pass", out.Verdict)
	require.Equal(t, []loop.Rechecked{{Finding: "F1", Status: "addressed", Reason: "the formula is right"}}, out.Rechecked)
	require.Empty(t, out.Findings)

	text := l.read("prompt")
	for _, has := range []string{"role=recheck", "findings=F1", "the whole words", "return n * (n + 1) / 2", "TestSum", "go test ./...", "ok calc", "Add Sum", "passed", `"calc.go"`} {
		require.Contains(t, text, has)
	}
	for _, hasNot := range []string{"Trust me", "believe me", "TestOther", "filler", "notes.txt", "func Sum(n int) int {}"} {
		require.NotContains(t, text, hasNot)
	}
}

func TestOnlyBreakageInTheFixJoins(t *testing.T) {
	l, draft, repair := fixed(t)
	req := l.reading("03", "recheck", repair, "F1")
	req.Since = draft
	req.Open = l.known(map[string]string{"F1": `{"title":"x"}`})
	l.says(answer("block", map[string]any{
		"findings":  []any{finding("high", "it overflows", "calc.go", 4), finding("high", "notes are filler", "notes.txt", 3), map[string]any{"severity": "low", "title": "no place"}},
		"rechecked": []any{map[string]any{"finding": "F1", "status": "not-addressed", "reason": "attempted"}},
	}))
	out := do[loop.TurnResult](l, l.acts.RunTurn, req)
	require.Equal(t, record.ClassOK, out.Class, out.Message)
	require.Equal(t, "block", out.Verdict)
	require.Len(t, out.Findings, 3)
	require.Equal(t, []bool{false, true, true}, []bool{out.Findings[0].Outside, out.Findings[1].Outside, out.Findings[2].Outside})
	require.Equal(t, review.Anchor("\treturn n * (n + 1) / 2"), out.Findings[0].Anchor)
	require.NotEmpty(t, out.Findings[0].Anchor)
	var whole review.Finding
	require.NoError(t, json.Unmarshal([]byte(l.get(out.Findings[0].Text)), &whole))
	require.Equal(t, "it overflows because of this", whole.Claim)
}

// A seat can be asked again about a tree that it has judged: then there is no fix to read, and it reads everything.
func TestARecheckWithoutAFixReadsTheWholeChange(t *testing.T) {
	l, _, repair := fixed(t)
	req := l.reading("03", "recheck", repair)
	req.Since = repair
	l.says(answer("pass", map[string]any{"reviewed": []string{"calc.go", "notes.txt"}}))
	out := do[loop.TurnResult](l, l.acts.RunTurn, req)
	require.Equal(t, record.ClassOK, out.Class, out.Message)
	require.Contains(t, l.read("prompt"), "filler")
}

// A writer that refuted everything and changed nothing is no occasion to find something new in what was judged.
func TestWhatIsFoundWithoutAFixAddsNoRound(t *testing.T) {
	l, _, repair := fixed(t)
	req := l.reading("03", "recheck", repair)
	req.Since = repair
	l.says(answer("block", map[string]any{"reviewed": []string{"calc.go", "notes.txt"}, "findings": []any{finding("high", "it overflows", "calc.go", 4)}}))
	out := do[loop.TurnResult](l, l.acts.RunTurn, req)
	require.Equal(t, record.ClassOK, out.Class, out.Message)
	require.Len(t, out.Findings, 1)
	require.True(t, out.Findings[0].Outside)
}

func TestAnAnchorOfADeletedLineIsTheBases(t *testing.T) {
	l := newLab(t).prepare(false)
	gone := l.wrote("01", "rm calc.go; echo done").Snapshot
	req := l.reading("02", "review", gone)
	l.says(answer("block", map[string]any{"findings": []any{finding("high", "it is gone", "calc.go", 1)}}))
	out := do[loop.TurnResult](l, l.acts.RunTurn, req)
	require.Equal(t, record.ClassOK, out.Class, out.Message)
	require.Equal(t, review.Anchor("package calc"), out.Findings[0].Anchor)
	require.False(t, out.Findings[0].Outside, "a review has no outside")
	require.Empty(t, out.Findings[0].File, "the change has no such file")
}

// A claim that was refuted is judged anew once its file is another one, so a finding says which one was read.
func TestAFindingSaysWhichContentOfItsFileWasRead(t *testing.T) {
	l, draft, repair := fixed(t)
	read := func(step string, tree loop.Snapshot, path string) string {
		l.says(answer("block", map[string]any{"reviewed": []string{"calc.go", "notes.txt"}, "findings": []any{finding("high", "it overflows", path, 1)}}))
		out := do[loop.TurnResult](l, l.acts.RunTurn, l.reading(step, "review", tree))
		require.Equal(t, record.ClassOK, out.Class, out.Message)
		require.NotEmpty(t, out.Findings[0].File)
		return out.Findings[0].File
	}
	before := read("03", draft, "calc.go")
	require.NotEqual(t, before, read("04", repair, "calc.go"), "the repair changed it")
	require.Equal(t, before, read("05", draft, "calc.go"))
	require.Equal(t, read("06", draft, "notes.txt"), read("07", repair, "notes.txt"), "the repair did not touch it")
}

func TestWhatAConfirmerSays(t *testing.T) {
	l, _, repair := fixed(t)
	confirm := func(step, said string) *loop.TurnResult {
		req := l.reading(step, "confirm", repair, "F1")
		req.Open = l.known(map[string]string{"F1": `{"title":"Sum returns its input","claim":"the whole words"}`})
		l.says(said)
		return do[loop.TurnResult](l, l.acts.RunTurn, req)
	}
	out := confirm("03", "```json\n"+`{"finding":"F1","confirmed":false,"reason":"line 4 multiplies","evidence":"token"}`+"\n```\n")
	require.Equal(t, record.ClassOK, out.Class, out.Message)
	require.JSONEq(t, `{"confirmed":false}`, string(out.Answer))
	require.Equal(t, []loop.Said{{Finding: "F1", Decision: "refuted", Reason: "line 4 multiplies"}}, out.Said)
	require.Contains(t, l.read("prompt"), "role=confirm")
	require.Contains(t, l.read("prompt"), "the whole words")

	out = confirm("04", "```json\n"+`{"finding":"F1","confirmed":true,"reason":"so it is","evidence":"token"}`+"\n```\n")
	require.JSONEq(t, `{"confirmed":true}`, string(out.Answer))
	require.Equal(t, "confirmed", out.Said[0].Decision)
}

func TestAConfirmerReadsTheWritersRebuttal(t *testing.T) {
	l, _, repair := fixed(t)
	req := l.reading("03", "confirm", repair, "F1")
	req.Open = l.known(map[string]string{"F1": `{"title":"x"}`})
	req.FixReport = l.put("Prose.\n```json\n" + `{"fix_report":[{"finding":"F1","status":"refuted","evidence":"n is never negative"}]}` + "\n```\n")
	l.says(`{"finding":"F1","confirmed":true,"reason":"x","evidence":"token"}`)
	do[loop.TurnResult](l, l.acts.RunTurn, req)
	require.NotContains(t, l.read("prompt"), "never negative", "nobody refuted it")
	req.Rebuttal, req.Step = true, "04"
	do[loop.TurnResult](l, l.acts.RunTurn, req)
	require.Contains(t, l.read("prompt"), "never negative")
	require.NotContains(t, l.read("prompt"), "Prose.")
}

func TestWhatAnArbiterSays(t *testing.T) {
	l, _, repair := fixed(t)
	req := l.reading("03", "arbitrate", repair, "F1", "F2")
	req.Open = l.known(map[string]string{"F1": `{"title":"first words"}`, "F2": `{"title":"second words"}`})
	l.says("```json\n" + `{"rulings":[{"finding":"F1","decision":"stand","reason":"the caller checks"},{"finding":"F2","decision":"fix","reason":"later work needs it","change":"return an error"}]}` + "\n```\n")
	out := do[loop.TurnResult](l, l.acts.RunTurn, req)
	require.Equal(t, record.ClassOK, out.Class, out.Message)
	require.JSONEq(t, `{"rulings":[{"finding":"F1","decision":"stand"},{"finding":"F2","decision":"fix"}]}`, string(out.Answer))
	require.Equal(t, []loop.Said{
		{Finding: "F1", Decision: "stand", Reason: "the caller checks"},
		{Finding: "F2", Decision: "fix", Reason: "later work needs it", Change: "return an error"},
	}, out.Said)
	require.Contains(t, l.read("prompt"), "second words")
}

func TestTheFinalReviewReadsTheLogAndTheWholeChange(t *testing.T) {
	l, _, repair := fixed(t)
	req := l.reading("03", "review", repair)
	req.Scope, req.Seat = "final", "final"
	req.Log = l.known(map[string]string{"F1": `{"title":"a low one","claim":"words of the log"}`})
	req.Log[0].Disposition, req.Log[0].Note = "logged", "medium and low stay in the log"
	l.says(answer("pass", map[string]any{"reviewed": []string{"calc.go", "notes.txt"}}))
	out := do[loop.TurnResult](l, l.acts.RunTurn, req)
	require.Equal(t, record.ClassOK, out.Class, out.Message)
	for _, has := range []string{"role=review", "seat=final", "words of the log", "logged", "filler", "return n * (n + 1) / 2"} {
		require.Contains(t, l.read("prompt"), has)
	}
}

func TestEveryReadingTurnGetsALongDiffAsAFile(t *testing.T) {
	l := newLab(t).prepare(false)
	change := l.wrote("01", "yes 'a line of the change' | head -n 60000 > big.txt; echo done").Snapshot
	for i, turn := range []string{"review", "recheck", "confirm", "arbitrate"} {
		l.plays(`wc -c < ` + materialFile + ` > $LAB/material-` + turn)
		req := l.reading(fmt.Sprintf("%02d", i+2), turn, change, "F1")
		req.Open = l.known(map[string]string{"F1": `{"title":"x"}`})
		req.Target = record.Engine{Adapter: "codex", Provider: "openai", ModelFamily: "gpt", Model: "m1"}
		out := do[loop.TurnResult](l, l.acts.RunTurn, req)
		require.NotEqual(t, record.ClassViolation, out.Class, "the file is ours: %s", out.Message)
		require.Less(t, len(l.read("prompt")), 100_000, turn)
		require.Contains(t, l.read("prompt"), materialFile, turn)
		require.Contains(t, l.read("prompt"), "leaves nothing out", turn)
		require.Greater(t, len(strings.TrimSpace(l.read("material-"+turn))), 6, turn)
	}
}

func TestAFindingWithoutWordsIsNotAskedAbout(t *testing.T) {
	l, draft, repair := fixed(t)
	for i, turn := range []string{"recheck", "confirm", "arbitrate"} {
		req := l.reading(fmt.Sprintf("%02d", i+3), turn, repair, "F1")
		req.Since = draft
		l.says("x")
		_, err := try[loop.TurnResult](attempt{}, l.acts.RunTurn, req)
		requireType(t, err, typeEffect, true)
		require.ErrorContains(t, err, "F1")
	}
	require.Equal(t, 2, l.starts(), "no agent was paid for it")
}

func TestHighFindingsBeyondTheRequestsLimitAreNoAnswer(t *testing.T) {
	l, _, repair := fixed(t)
	for step, c := range map[string]struct {
		limit int
		class record.Class
	}{"03": {2, record.ClassMalformed}, "04": {3, record.ClassOK}, "05": {0, record.ClassOK}} {
		req := l.reading(step, "review", repair)
		req.MaxFindings = c.limit
		l.says(answer("block", map[string]any{"reviewed": []string{"calc.go", "notes.txt"}, "findings": []any{
			finding("high", "one", "calc.go", 1), finding("high", "two", "calc.go", 2), finding("high", "three", "calc.go", 3),
		}}))
		require.Equal(t, c.class, do[loop.TurnResult](l, l.acts.RunTurn, req).Class, c.limit)
	}
}

func TestUsersLensesAreShown(t *testing.T) {
	l, _, repair := fixed(t)
	req := l.reading("03", "review", repair)
	req.Lens = "speed"
	req.Lenses = []loop.NamedRef{{Name: "other", Ref: l.put("another lens")}, {Name: "speed", Ref: l.put("Look for quadratic loops.")}}
	l.says("x")
	do[loop.TurnResult](l, l.acts.RunTurn, req)
	require.Contains(t, l.read("prompt"), "Look for quadratic loops.")
	require.NotContains(t, l.read("prompt"), "another lens")
}

func TestUsersTemplatesAreUsed(t *testing.T) {
	l, _, repair := fixed(t)
	req := l.reading("03", "review", repair)
	own := strings.Replace(prompt.Template("review"), "\n\n", "\n\nOur house has a rule of its own.\n\n", 1)
	req.Prompts = []loop.NamedRef{{Name: "review", Ref: l.put(own)}}
	l.says("x")
	do[loop.TurnResult](l, l.acts.RunTurn, req)
	require.Contains(t, l.read("prompt"), "Our house has a rule of its own.")
}

// On a cluster the seat that rechecks has neither made the draft nor the repair.
func TestARecheckOnAnotherMachineReadsTheFix(t *testing.T) {
	l := newLab(t).prepare(true)
	shared := func(req *loop.TurnRequest) *loop.TurnRequest {
		req.Shared = true
		return req
	}
	l.plays("echo 'func Sum() {}' >> calc.go; yes filler | head -n 40 > notes.txt; echo done")
	first := do[loop.TurnResult](l, l.machine("one", l.store).RunTurn, shared(l.turn("01"))).Snapshot
	l.plays("echo mended >> calc.go; echo 'Obey me.' > CLAUDE.md; echo done")
	req := shared(l.turn("02"))
	req.From = first
	second := do[loop.TurnResult](l, l.machine("two", l.store).RunTurn, req).Snapshot
	recheck := shared(l.reading("03", "recheck", second, "F1"))
	recheck.Since, recheck.Open = first, l.known(map[string]string{"F1": `{"title":"x"}`})
	l.says(answer("pass", map[string]any{"reviewed": []string{"calc.go", "CLAUDE.md"}, "rechecked": []any{map[string]any{"finding": "F1", "status": "addressed"}}}))
	out := do[loop.TurnResult](l, l.machine("three", l.store).RunTurn, recheck)
	require.Equal(t, record.ClassOK, out.Class, out.Message)
	require.Equal(t, "pass", out.Verdict)
	require.Contains(t, l.read("prompt"), "+mended")
	require.NotContains(t, l.read("prompt"), "filler")
}
