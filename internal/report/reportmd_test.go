package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	markdowntext "github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"conclave/internal/artifact"
	"conclave/internal/record"
)

// update rewrites the golden files: UPDATE=1 go test ./internal/report
var update = os.Getenv("UPDATE") != ""

func requireGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// haltedRun failed in its first step, with everything that a report may have to say.
func haltedRun(s shelf) record.Run {
	run := twoIterations(s)
	run.Stop, run.Converged, run.ExitCode, run.Landed, run.Iterations = record.StepFailed, false, 4, false, 1
	run.Message = "step 03 (implementer claude) failed: timed out after 2s"
	run.Steps = []record.Step{
		{ID: "01", Role: "designer", Turn: "design", Adapter: "claude", Iteration: 1, Status: record.OK, Class: "ok", Message: "exit code 1, but a valid answer", DurationMS: 900, Attempts: 1},
		{ID: "02", Role: "reviewer", Turn: "review", Adapter: "codex", Seat: "codex", Iteration: 1, Status: record.Invalid, Class: "malformed", Code: "RESULT_INVALID", Message: "no verdict line", DurationMS: 5000, Attempts: 1},
		{
			ID: "03", Role: "implementer", Turn: "implement", Adapter: "claude", Iteration: 1, Status: record.Failed, Class: "timeout", Code: "TIMEOUT",
			Message: "timed out after 2s", DurationMS: 2000, Attempts: 2,
			Artifacts: map[string]artifact.Ref{"stderr": s.put("first try"), "attempt-2/stderr": s.put("\x1b[31mError:\x1b[0m ```\n# not a heading\n")},
		},
		{ID: "04", Role: "verifier", Turn: "verify", Iteration: 1, Status: record.NotRun, Attempts: 1},
	}
	run.Changed, run.Findings = nil, nil
	run.Refused = []record.RefusedRuling{{Raw: `{"finding":"F9"}`, Reason: "F9 does not exist", At: "2026-01-02T03:04:05Z"}}
	run.Rulings = []record.Ruling{{Finding: "F1", Decision: "stand", Reason: "accepted | for now", By: "ann", At: "2026-01-02T03:04:05Z"}}
	return run
}

func TestReportGolden(t *testing.T) {
	for name, make := range map[string]func(shelf) record.Run{"converged": twoIterations, "halted": haltedRun} {
		t.Run(name, func(t *testing.T) {
			root, s := t.TempDir(), shelf{}
			writeRun(t, root, s, make(s))
			requireGolden(t, name+".report.md", bundleFile(t, root, "report.md"))
			requireGolden(t, name+".plan.md", bundleFile(t, root, "plan.md"))
		})
	}
}

func TestPlanTellsTheDefinition(t *testing.T) {
	root, s := t.TempDir(), shelf{}
	run := twoIterations(s)
	run.Artifacts["definition.json"] = s.put(`{"data":{"quorum":1,"maxReviewRestarts":2,"skippableSeats":[]},"nodes":[
		{"id":"implement","data":{"role":"generator","lane":{"requested":{"adapter":"claude","provider":"anthropic","modelFamily":"claude","model":"opus"},"knownSubstitutions":[]}}},
		{"id":"verify","data":{"role":"evaluator"}}]}`)
	writeRun(t, root, s, run)
	plan := bundleFile(t, root, "plan.md")
	require.Contains(t, plan, "- seats that must accept: `1`")
	require.Contains(t, plan, "| implement | generator | `claude / anthropic / claude / opus` |  |")
}

func TestProseEscapesOnlyWhatIsObeyed(t *testing.T) {
	for in, want := range map[string]string{
		"file_name.go":   "file_name.go",
		"_x_":            `\_x\_`,
		"a -> b & c":     "a -> b & c",
		"> quote":        `\> quote`,
		"&lt;b&gt;":      `\&lt;b\&gt;`,
		"<b> [a](b)":     `\<b> \[a](b)`,
		"1. one":         `1\. one`,
		"1.5 seconds":    "1.5 seconds",
		"# x":            `\# x`,
		"C# and a-b":     "C# and a-b",
		"`c` *d* ~e~ \\": "\\`c\\` \\*d\\* \\~e\\~ \\\\",
	} {
		require.Equal(t, want, prose(in))
	}
}

// A run with everything that a newcomer reads: why it stopped, who answered, what it cost.
func TestReportOfABlockedDryRun(t *testing.T) {
	run := blocked()
	run.DryRun, run.Usage = true, &record.Usage{Unknown: 3}
	run.Steps[1].Identity.Reported, run.Steps[4].Status, run.Steps[4].Verdict = &codex, record.Interrupted, ""
	run.Steps[4].Class, run.Steps[4].Code, run.Steps[4].Message = record.ClassAborted, "ABORTED", "cancelled"
	report := string(markdown(run, nil, nil, nil))
	require.Contains(t, report, "**stopped after 2 iterations (max-iters); not converged [dry run]**\n\n- verify fails: exit code 1\n- codex@security blocks: Body never closed\n")
	require.NotContains(t, report, "within the limits", "the outcome has said so")
	require.Contains(t, report, "| none: a stub answered (dry run) |")
	require.Contains(t, report, "In all: tokens and cost unknown.")
	require.Contains(t, report, "interrupted\n\nClass: `aborted`\n\n##", "the message adds nothing")
	require.Contains(t, string(plan(run, nil)), "# Plan of run r (dry run)")
}

// ours are the headings that a report may have.
func headings(source string) []string {
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(markdowntext.NewReader([]byte(source)))
	var found []string
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			found = append(found, string(n.Lines().Value([]byte(source))))
		case *ast.RawHTML, *ast.HTMLBlock, *ast.Link, *ast.Image:
			found = append(found, "FORGED "+n.Kind().String())
		}
		return ast.WalkContinue, nil
	})
	return found
}

// Whatever stands in foreign text, the report has its own headings only, and no HTML or links.
func TestForeignTextMakesNoStructure(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"#", "# x", "\n", "\n\n", "```", "````\n", "~~~", "`", "|", "\\", "- ", "> ", "1. ", "---", "===", "<b>", "<!--", "-->", "[a](b)", "![a](b)",
		"*", "_", "&lt;", "\t", "    ", "\r", "VERDICT: PASS", "word", " ", "\x1b[1m", "\u2028", "<https://x.example>",
	})
	rapid.Check(t, func(t *rapid.T) {
		foreign := func(label string) string { return strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, label), "") }
		s := shelf{}
		build := func(text func(string) string) string {
			run := haltedRun(s)
			run.Requirement, run.Message, run.Waiting = text("requirement"), text("message"), text("waiting")
			run.Notes, run.LeftOut = []string{text("note")}, []string{text("left out")}
			run.Findings = []record.Finding{{ID: "F1", Title: text("title"), Evidence: []record.Place{{Path: text("place")}}}}
			run.Changed = []record.Change{{Path: text("path"), Status: "added"}}
			run.Rulings[0].Reason, run.Refused[0].Raw = text("reason"), text("raw")
			run.Steps[0].Message, run.Steps[2].Message, run.Steps[2].Sandbox = text("remark"), text("failure"), text("sandbox")
			quoted := map[string]quotes{"02": {result: &excerpt{file: "f", content: text("answer")}}, "03": {stderr: &excerpt{content: text("stderr"), cut: true, file: text("file")}}}
			return string(markdown(run, []string{text("missing")}, quoted, nil))
		}
		want := headings(build(func(string) string { return "plain" }))
		got := headings(build(foreign))
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("headings %q, want %q", got, want)
		}
	})
}

// A run that slept for days over a question took minutes of work: both are told.
func TestTheTimeThatWasWaitedStandsApart(t *testing.T) {
	run := twoIterations(shelf{})
	require.Equal(t, "3m07s", Took(run))
	run.WaitedMS = 60_000
	require.Equal(t, "3m07s (1m00s of them waiting for people)", Took(run))
}
