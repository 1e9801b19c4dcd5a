package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"conclave/internal/calibration"
	"conclave/internal/record"
	"conclave/internal/review"
)

const aCase = "name: one\nrequirement: Add b.\nhead: head\nexpect:\n  - {path: b.txt, lines: 1, lens: correctness}\n"

// TestCasesAreReadWhole: one by one, or all of a folder, with a digest over every file.
func TestCasesAreReadWhole(t *testing.T) {
	c := newCLI(t)
	c.write("cases/one/case.yaml", aCase)
	c.write("cases/one/base/a.txt", "a\n")
	c.write("cases/one/base/gone.txt", "x\n")
	c.write("cases/one/head/a.txt", "a\n")
	c.write("cases/one/head/b.txt", "b\n")
	c.write("cases/two/case.yaml", "name: two\nrequirement: r\nchange: c.diff\nexpect: []\n")
	c.write("cases/two/base/a.txt", "a\n")
	c.write("cases/two/c.diff", "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n a\n+b\n")
	c.write("cases/notes.md", "no case\n")
	cases, err := readCases([]string{"cases"})
	require.NoError(t, err)
	require.Len(t, cases, 2)
	digest := cases[0].Digest
	c.write("cases/one/base/a.txt", "A\n")
	again, err := readCases([]string{"cases/one"})
	require.NoError(t, err)
	require.NotEqual(t, digest, again[0].Digest)

	t.Setenv("GIT_DIR", "/nowhere") // nothing of the caller's git reaches the cases
	work := t.TempDir()
	for i := range cases {
		require.NoError(t, cases[i].build(context.Background(), work))
		require.NotEqual(t, cases[i].base.Tree, cases[i].head.Tree)
	}
	require.NoFileExists(t, filepath.Join(work, "one", "gone.txt"), "head is the whole tree")
	changed, err := os.ReadFile(filepath.Join(work, "two", "a.txt"))
	require.NoError(t, err)
	require.Equal(t, "a\nb\n", string(changed))
}

func TestOurOwnCasesCanBeUsed(t *testing.T) {
	cases, err := readCases([]string{filepath.Join("..", "internal", "calibration", "cases")})
	require.NoError(t, err)
	work := t.TempDir()
	for i := range cases {
		require.NoError(t, cases[i].build(context.Background(), work), cases[i].Name)
	}
}

func TestCasesThatCannotBeUsed(t *testing.T) {
	const diff = "name: one\nrequirement: r\nchange: c.diff\nexpect: []\n"
	for name, tc := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"no case.yaml":   {map[string]string{"one/x": "x"}, []string{"cases is no case and holds none"}},
		"every fault":    {map[string]string{"one/case.yaml": "name: one\n", "two/case.yaml": "requirement: r\n"}, []string{"one/case.yaml:1: requirement is missing", "two/case.yaml:1: name is missing", "expect is missing"}},
		"the same name":  {map[string]string{"one/case.yaml": aCase, "one/base/a": "a", "one/head/a": "b", "two/case.yaml": aCase, "two/base/a": "a", "two/head/a": "b"}, []string{"the name one is that of cases/one"}},
		"no base":        {map[string]string{"one/case.yaml": aCase, "one/head/a": "a"}, []string{"one/case.yaml: base cannot be read"}},
		"no patch":       {map[string]string{"one/case.yaml": diff, "one/base/a": "a"}, []string{"one/case.yaml: c.diff cannot be read"}},
		"a broken patch": {map[string]string{"one/case.yaml": diff, "one/base/a": "a", "one/c.diff": "--- a/b\n+++ b/b\n@@ -1 +1 @@\n-x\n+y\n"}, []string{"case one (cases/one): git apply", "apply to its base"}},
		"no change":      {map[string]string{"one/case.yaml": aCase, "one/base/a": "a", "one/head/a": "a"}, []string{"base and change have the same files"}},
		"a fault nowhere": {map[string]string{"one/case.yaml": aCase, "one/base/a": "a", "one/head/a": "b"},
			[]string{"cases/one/case.yaml: expect[0].path: b.txt is neither in the tree after the change nor in the one before it"}},
		"a fault behind the end": {map[string]string{"one/case.yaml": strings.Replace(aCase, "lines: 1", "lines: 3-4", 1), "one/base/a": "a", "one/head/b.txt": "b\nc\n"},
			[]string{"cases/one/case.yaml: expect[0].lines: b.txt has 2 lines"}},
		"a patch that leaves the tree": {map[string]string{"one/case.yaml": diff, "one/base/a": "a", "one/c.diff": "--- /dev/null\n+++ b/../../out\n@@ -0,0 +1 @@\n+y\n"},
			[]string{"case one (cases/one): git apply"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCLI(t)
			for path, text := range tc.files {
				c.write(filepath.Join("cases", path), text)
			}
			got := c.run("", "calibrate", "--dry-run", "cases")
			require.Equal(t, exitUsage, got.code, got.err)
			for _, want := range tc.want {
				require.Contains(t, got.err, want)
			}
		})
	}
}

// TestWhatWasMeasuredIsShown: doctor and presets tell it, and a damaged file is named.
func TestWhatWasMeasuredIsShown(t *testing.T) {
	c := newCLI(t)
	engine := calibration.Engine{Adapter: "codex", Provider: "openai", ModelFamily: "gpt", Model: "default"}
	p := &plan{}
	doc := calibrationDocument{CasesDigest: "sha256:1", Cases: []calibration.Case{{Name: "a"}}}
	for lens, counts := range map[string]calibration.Counts{
		"correctness": {Cases: 6, Expected: 3, Found: 3, Raised: 3, Correct: 3}, "tests": {Cases: 6, Expected: 2, Found: 1, Raised: 1, Correct: 1},
	} {
		doc.Seats = append(doc.Seats, calibrated{Score: calibration.Score{Seat: lens, Lens: lens, Engine: engine, Reported: []string{"gpt-9"}, Counts: counts}})
	}
	p.config.Host.StateDir = c.state().StateDir()
	path, err := p.keep(doc, time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC))
	require.NoError(t, err)

	got := c.run("", "doctor", "--preset", "panel")
	require.Equal(t, exitFailed, got.code)
	require.Regexp(t, `ok +calibration codex@correctness +precision 1.00 \(3/3\), recall 1.00 \(3/3\) over 6 cases on 2026-02-03`, got.out)
	require.Regexp(t, `note +calibration codex@tests .*recall 0.50 is below 0.70`, got.out)
	require.Regexp(t, `MISSING +calibration of codex-tests +recall 0.50 is below 0.70`, got.out)
	require.Regexp(t, `MISSING +calibration of codex-security +never measured`, got.out)
	require.NotContains(t, got.out, "calibration of codex-correctness")
	require.NotContains(t, c.run("", "doctor").out, "MISSING  calibration", "the default preset asks for none")

	got = c.run("", "presets")
	require.Contains(t, got.out, "3 seats not calibrated")
	var presets struct {
		Calibration map[string][]string `json:"calibration"`
	}
	require.NoError(t, json.Unmarshal([]byte(c.run("", "presets", "--json").out), &presets))
	require.Equal(t, []string{"codex-security (never measured)", "codex-tests (recall 0.50 is below 0.70)", "codex-conventions (never measured)"}, presets.Calibration["panel"])

	c.write("low.yaml", "calibration: {min_recall: 0.5}\n")
	got = c.run("", "run", "--config", "low.yaml", "--discipline", "full", "--seat", "a=codex@tests", "r")
	require.NotContains(t, got.err, "not calibrated", "the thresholds are the configuration's")

	c.write("own.md", "Look for wrong results.\n")
	c.write("own.yaml", "lenses: {correctness: own.md}\n")
	got = c.run("", "run", "--config", "own.yaml", "--discipline", "full", "--seat", "a=codex", "r")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, "a (its lens or a prompt has changed since it was measured)")
	for _, preset := range []string{"panel", "claude-codex"} {
		got = c.run("", "doctor", "--config", "own.yaml", "--preset", preset)
		require.Regexp(t, `note +calibration codex@correctness .*: its lens or a prompt has changed since it was measured`, got.out, "doctor says what run and presets say")
		require.NotRegexp(t, `ok +calibration codex@correctness`, got.out)
	}

	require.NoError(t, os.WriteFile(path, []byte("{"), 0o600))
	got = c.run("", "run", "--discipline", "full", "r")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, path)
	require.Contains(t, got.err, "calibrate again")
	require.Contains(t, c.run("", "doctor", "--preset", "panel").out, "calibrat")
}

// TestWhoCouldNotBeAskedKeepsItsMeasurement: a network that is down tells nothing about a reviewer.
func TestWhoCouldNotBeAskedKeepsItsMeasurement(t *testing.T) {
	c := newCLI(t)
	p := &plan{}
	p.config.Host.StateDir = c.state().StateDir()
	engine := calibration.Engine{Adapter: "codex", Provider: "openai", ModelFamily: "gpt", Model: "default"}
	row := func(counts calibration.Counts) calibrationDocument {
		return calibrationDocument{Seats: []calibrated{{Score: calibration.Score{Lens: "tests", Engine: engine, Counts: counts}}}}
	}
	_, err := p.keep(row(calibration.Counts{Cases: 2, Expected: 1, Found: 1}), time.Now())
	require.NoError(t, err)
	_, err = p.keep(row(calibration.Counts{Cases: 2, Failed: 1, Lost: 1, Expected: 1}), time.Now())
	require.NoError(t, err)
	book, err := p.book()
	require.NoError(t, err)
	require.Len(t, book.Entries, 1)
	require.Equal(t, 1, book.Entries[0].Counts.Found)

	for class, lost := range map[record.Class]bool{record.ClassTransient: true, record.ClassQuota: true, record.ClassPermanent: true, record.ClassAborted: true,
		record.ClassMalformed: false, record.ClassTimeout: false, record.ClassViolation: false} {
		var a calibration.Answer
		takeIn(&a, record.Run{Steps: []record.Step{{Role: "verifier", Status: record.NotRun}, {Role: "reviewer", Status: record.Failed, Class: class, Message: "why"}}})
		require.Equal(t, "why", a.Failed, class)
		require.Equal(t, lost, a.Lost, class)
	}
	var a calibration.Answer
	takeIn(&a, record.Run{Stop: record.StepFailed, Message: "git failed"})
	require.True(t, a.Lost)
	require.Contains(t, a.Failed, "git failed")
	takeIn(&a, record.Run{Steps: []record.Step{
		{Role: "reviewer", Status: record.Invalid, Class: record.ClassMalformed, Message: "why"},
		{Role: "reviewer", Status: record.OK, Class: record.ClassOK, Verdict: "block", Identity: record.Identity{Reported: &record.Engine{Model: "gpt-9"}}}},
		Findings: []record.Finding{{Severity: "medium", Title: "t", Evidence: []record.Place{{Path: "a", Line: 3, EndLine: 4}}}}})
	require.Empty(t, a.Failed, "the last attempt counts")
	require.False(t, a.Lost)
	require.Equal(t, "gpt-9", a.Reported)
	require.Equal(t, []calibration.Finding{{Severity: review.Medium, Title: "t", Places: []review.Evidence{{Path: "a", Line: 3, EndLine: 4}}}}, a.Findings)
}

// TestASubstitutionNeedsItsOwnMeasurement: what may sit in a voting seat may gate.
func TestASubstitutionNeedsItsOwnMeasurement(t *testing.T) {
	c := newCLI(t)
	p := &plan{}
	p.config.Host.StateDir = c.state().StateDir()
	engine := calibration.Engine{Adapter: "codex", Provider: "openai", ModelFamily: "gpt", Model: "default"}
	good := calibration.Counts{Cases: 1, Expected: 1, Found: 1, Raised: 1, Correct: 1}
	_, err := p.keep(calibrationDocument{Seats: []calibrated{{Score: calibration.Score{Lens: "correctness", Engine: engine, Counts: good}}}}, time.Now())
	require.NoError(t, err)
	c.write("sub.yaml", "discipline: full\nseats: {codex: {adapter: codex, substitutions: [\"codex:other\"]}}\n")
	got := c.run("", "run", "--config", "sub.yaml", "r")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, "codex (its substitution codex:other: never measured)")
	c.write("sub.yaml", "discipline: full\nreviewers: codex\n")
	got = c.run("", "run", "--config", "sub.yaml", "r")
	require.NotContains(t, got.err, "calibrated")
	require.True(t, strings.Contains(got.err, "not on PATH"), got.err)
}

// TestTheTableOfACalibration: figures with what they are shares of, then each thing that went wrong.
func TestTheTableOfACalibration(t *testing.T) {
	c := newCLI(t)
	p := &plan{}
	p.config.Host.StateDir = c.state().StateDir()
	p.config.Calibration.MinPrecision, p.config.Calibration.MinRecall = 0.7, 0.7
	cases := []labelled{{Case: calibration.Case{Name: "one", Digest: "sha256:0123456789ab", Expected: []calibration.Expectation{{Path: "a.go", From: 3, To: 3, Lens: "tests", Severity: review.High}}}}}
	engine := calibration.Engine{Adapter: "codex", Provider: "openai", ModelFamily: "gpt", Model: "default"}
	place := func(path string) []calibration.Finding {
		return []calibration.Finding{{Severity: review.High, Title: "wrong", Places: []review.Evidence{{Path: path, Line: 3}}}}
	}
	var out bytes.Buffer
	a := &app{out: &out, err: &out}
	err := a.conclude(p, cases, &measured{answers: []calibration.Answer{
		{Case: "one", Seat: "good", Lens: "tests", Engine: engine, Reported: "gpt-9", Findings: place("a.go")},
		{Case: "one", Seat: "bad", Lens: "tests", Engine: engine, Findings: place("b.go")},
	}, usage: &record.Usage{InputTokens: 7, OutputTokens: 3, Turns: 2, Unpriced: 2}}, false)
	require.Equal(t, exitFailed, explain(&out, err))
	for _, line := range []string{
		`good +tests +codex:gpt-9 +1\.00 \(1/1\) +1\.00 \(1/1\) +calibrated`,
		`bad +tests +codex:default +0\.00 \(0/1\) +0\.00 \(0/1\) +recall 0\.00 is below 0\.70`,
		`LENS +PRECISION +RECALL\s+tests +0\.50 \(1/2\) +0\.50 \(1/2\)`,
		`cases: 1 \(sha256:`, `consumed: tokens: 7 in \(0 cached\), 3 out; cost: unknown`, `bad missed: one: a\.go:3`, `bad raised beside every fault: one: b\.go:3 wrong`, `kept in .*calibration\.json`,
	} {
		require.Regexp(t, line, out.String())
	}
	out.Reset()
	require.NoError(t, a.conclude(p, cases, &measured{answers: []calibration.Answer{{Case: "one", Seat: "good", Lens: "tests", Engine: engine, Findings: place("a.go")}}}, true))
	var doc calibrationDocument
	require.NoError(t, json.Unmarshal(out.Bytes(), &doc))
	require.InDelta(t, 1.0, *doc.Seats[0].Recall, 1e-9)
	require.True(t, doc.Seats[0].Calibrated)

	p.flags.dryRun = true
	out.Reset()
	require.NoError(t, a.conclude(p, cases, &measured{answers: []calibration.Answer{{Case: "one", Seat: "stub", Lens: "tests"}}}, false), "nothing was measured, so nothing failed")
	require.Contains(t, out.String(), "nothing is kept")
}
