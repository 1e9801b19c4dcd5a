package report

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"conclave/internal/artifact"
	"conclave/internal/record"
)

const longClaim = "The loop reads one element too many.\n\nWith an empty slice it panics; see the caller in `serve`.\n# not a heading\n"

// disciplined is a run under the full discipline that waits for a person.
func disciplined(s shelf) record.Run {
	run := twoIterations(s)
	run.Discipline, run.Preset, run.Stop, run.Converged, run.Landed, run.ExitCode = "full", "panel", record.NeedsRuling, false, false, 3
	run.Waiting, run.MaxIters, run.Uncalibrated, run.ChangedLines = "a ruling on F1, SIZE", 6, []string{"codex-security"}, 412
	run.Exempt = []string{"go.sum"}
	run.Budget = &record.Spending{MaxTokens: 100_000, Tokens: 5_400, AssumedTokens: 2_400, MaxCostUSD: 5, CostUSD: 0.25, Extended: 1}
	report := `{"fix_report":[{"finding":"F1","status":"fixed","tests":["TestEmpty"],"command":"rm -rf / | tee","output":"ok\n1 passed"},{"finding":"F2","status":"refuted","evidence":"the caller checks it"}]}`
	run.Steps[4].Artifacts["fix-report.json"] = s.put(report)
	run.Steps[4].Message = "reports F1 fixed, F2 refuted"
	run.Questions = []record.Question{
		{Subject: "F1", Number: 2, Text: "sum.go:12: off by one", Since: "2026-01-02T03:10:00Z", Head: "4b825dc642cb6eb9a060e54bf8d69288fbee4904"},
		{Subject: "SIZE", Number: 1, Text: "812 changed lines, more than 500", Since: "2026-01-02T03:10:00Z"},
	}
	one := s.put(`{"severity":"high","kind":"patch","title":"off by one","claim":` + quoted(longClaim) + `,"rule":"no panics","affects":["serve.go"],"suggestion":"use <"}`)
	two := s.put(`{"severity":"high","kind":"patch","title":"Off by one.","claim":"i <= len(s) reads past the end"}`)
	run.Findings = []record.Finding{
		{
			ID: "F1", Severity: "high", Kind: "decision", Lens: "correctness", Lenses: []string{"correctness", "security"}, Title: "off by one", Claim: "The loop reads one…",
			Evidence: []record.Place{{Path: "sum.go", Line: 12, EndLine: 14, Quote: "for i := 0; i <= len(s); i++ {"}}, Disposition: "not-addressed",
			RaisedBy: []string{"codex", "gemini-security"}, ConfirmedBy: "codex and gemini-security", Proof: "two-seats", Texts: []artifact.Ref{one, two},
			History: []string{"raised by codex@correctness in step 03 (round 0) as high decision", "step 05: the writer claude says that it is fixed", "step 07: codex finds it not-addressed: still <="},
		},
		{ID: "F2", Severity: "high", Kind: "patch", Lens: "tests", Title: "no test", Claim: "c", Disposition: "refuted", RaisedBy: []string{"codex"}, History: []string{"raised", "step 06: refuted by gemini: the caller checks it"}},
		{ID: "F3", Severity: "high", Kind: "patch", Lens: "tests", Title: "unchecked error", Claim: "c", Disposition: "addressed", RaisedBy: []string{"codex"}, ConfirmedBy: "gemini", Proof: "independent", History: []string{"raised"}},
		{ID: "F4", Severity: "high", Kind: "patch", Lens: "tests", Title: "global state", Claim: "c", Disposition: "ruled", RaisedBy: []string{"codex"}, ConfirmedBy: "codex", Proof: "same-engine", History: []string{"raised"}},
		{ID: "F5", Severity: "low", Kind: "patch", Lens: "conventions", Title: "a better name", Claim: "c", Disposition: "logged", RaisedBy: []string{"codex"}, History: []string{"raised"}},
	}
	run.Rulings = []record.Ruling{
		{Finding: "F4", Decision: "stand", Reason: "as the plan says", By: "arbiter gemini", At: "2026-01-02T03:09:00Z", Head: "4b825dc642cb6eb9a060e54bf8d69288fbee4904"},
		{Finding: "F1", Number: 1, Decision: "fix", Reason: "it panics", By: "ada", At: "2026-01-02T03:09:30Z", Head: "4b825dc642cb6eb9a060e54bf8d69288fbee4904", RequestID: "r1"},
	}
	run.Refused = []record.RefusedRuling{{Raw: `{"finding":"F9"}`, Reason: "F9 does not exist", At: "2026-01-02T03:09:40Z"}}
	run.RefusedMore = 3
	return run
}

func quoted(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func TestTheReportOfTheFullDiscipline(t *testing.T) {
	for name, make := range map[string]func(shelf) record.Run{
		"waiting": disciplined,
		"advisory": func(s shelf) record.Run {
			run := disciplined(s)
			run.Stop, run.Converged, run.ExitCode, run.Waiting, run.Questions, run.Advisory = record.Converged, true, 0, "", nil, true
			run.Message = "the reviewers only advise: these findings stand and did not stop the end: F1"
			return run
		},
		"unresolved": func(s shelf) record.Run {
			run := disciplined(s)
			run.Questions, run.Unresolved, run.Waiting = nil, []string{"codex-security", "final"}, "seats without a valid answer: codex-security (RESULT_INVALID)"
			return run
		},
	} {
		t.Run(name, func(t *testing.T) {
			root, s := t.TempDir(), shelf{}
			writeRun(t, root, s, make(s))
			requireGolden(t, "full-"+name+".report.md", bundleFile(t, root, "report.md"))
			require.NoError(t, compiled(t).Validate(document(t, []byte(bundleFile(t, root, "run.json")))))
			require.Contains(t, bundleFile(t, root, "findings.json"), "With an empty slice it panics", "the whole claim, not its beginning")
			require.Contains(t, bundleFile(t, root, "run.json"), "With an empty slice it panics")
			require.Contains(t, bundleFile(t, root, "rulings.json"), "as the plan says")
		})
	}
}

func TestAWaitingRunTellsTheCommandsThatAnswer(t *testing.T) {
	run := disciplined(shelf{})
	require.Equal(t, []string{
		`rule F1 (or --fix, --abort): starter rule add-cache-k3f9q F1 --stand --reason "..."`,
		`rule SIZE (or --abort): starter rule add-cache-k3f9q SIZE --stand --reason "..."`,
		"cancel: starter cancel add-cache-k3f9q",
	}, NextSteps(run))
	require.Equal(t, []string{"F1 (asked for the 2nd time): sum.go:12: off by one", "SIZE: 812 changed lines, more than 500"}, Why(run))
	run.Questions, run.Unresolved = nil, []string{"codex"}
	require.Equal(t, []string{
		"ask codex again: starter resume add-cache-k3f9q --reopen codex",
		`go on without it: starter resume add-cache-k3f9q --waive codex --reason "..."`,
		"cancel: starter cancel add-cache-k3f9q",
	}, NextSteps(run))
	require.Contains(t, Outcome(run), "[uncalibrated]")
	run.Advisory = true
	require.Contains(t, Outcome(run), "[advisory, uncalibrated]")
}

func TestAClaimThatTheStoreLostIsNamed(t *testing.T) {
	root, s := t.TempDir(), shelf{}
	run := disciplined(s)
	delete(s, run.Findings[0].Texts[0])
	writeRun(t, root, s, run)
	report := bundleFile(t, root, "report.md")
	require.Contains(t, report, "the whole text of F1 is missing in this report")
	require.Contains(t, report, "i <= len(s) reads past the end")

	_, notes, failed := wholeClaims(context.Background(), func(context.Context, artifact.Ref) ([]byte, error) { return nil, errors.New("no route") }, run)
	require.Len(t, notes, 2)
	require.Len(t, failed, 2, "a repetition may cure it")
}

func TestSpentSaysWhatIsUnknown(t *testing.T) {
	for want, b := range map[string]*record.Spending{
		"": nil, "12 of 100 tokens": {MaxTokens: 100, Tokens: 12},
		"12 of 200 tokens (5 assumed for turns that reported none), the budget was given once more 1 time": {MaxTokens: 100, Tokens: 12, AssumedTokens: 5, Extended: 1},
		"$0.5000 of $2.0000, at most 1h0m0s": {MaxCostUSD: 2, CostUSD: 0.5, MaxDuration: "1h0m0s"},
		"$0.0075 of $0.0100":                 {MaxCostUSD: 0.01, CostUSD: 0.0075},
	} {
		require.Equal(t, want, Spent(b))
	}
	require.Empty(t, Spent(&record.Spending{Tokens: 7}))
}

// Whatever agents and people write, the report's headings stay ours.
func TestForeignWordsMakeNoHeadingsUnderTheFullDiscipline(t *testing.T) {
	s := shelf{}
	rapid.Check(t, func(t *rapid.T) {
		foreign := rapid.SampledFrom([]string{
			"# forged", "x\n\n# forged\n", "```\n# forged\n", "<h1>forged</h1>", "a | b | c\n--- | ---", "forged\n===", "- x\n# forged", "[a](b)\n# forged", "`\n\n# forged",
		})
		build := func(text func(string) string) string {
			run := disciplined(s)
			f := &run.Findings[0]
			f.Title, f.Claim, f.ConfirmedBy, f.RaisedBy, f.Lenses = "title", text("claim"), text("by"), []string{text("seat")}, []string{text("lens")}
			f.History, f.Evidence[0].Quote, f.Evidence[0].Path = []string{text("history")}, text("quote"), text("path")
			run.Questions[0].Text, run.Rulings[0].By, run.Rulings[0].Reason = text("question"), text("who"), text("why")
			run.Uncalibrated, run.Exempt = []string{text("uncalibrated")}, []string{text("exempt")}
			claims := map[string][]claim{"F1": {{Claim: text("whole"), Rule: text("rule"), Suggestion: text("suggestion"), Affects: []string{text("affects")}}, {Text: text("text")}}}
			report, err := json.Marshal(map[string]any{"fix_report": []fixed{{Finding: "F1", Status: text("status"), Command: text("command"), Output: text("output"), Evidence: text("proof")}}})
			if err != nil {
				t.Fatal(err)
			}
			quoted := map[string]quotes{"05": {fixReport: &excerpt{file: "fix-report.json", content: string(report)}}}
			return string(markdown(run, nil, quoted, claims))
		}
		want := headings(build(func(name string) string { return "plain " + name }))
		got := headings(build(func(name string) string { return name + " " + foreign.Draw(t, name) }))
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("headings %q, want %q", got, want)
		}
	})
}
