package calibration_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"conclave/internal/calibration"
	"conclave/internal/review"
)

func expect(path string, from, to int, lens string, severity review.Severity) calibration.Expectation {
	return calibration.Expectation{Path: path, From: from, To: to, Lens: lens, Severity: severity}
}

func raised(severity review.Severity, path string, line, end int) calibration.Finding {
	return calibration.Finding{Severity: severity, Title: "t", Places: []review.Evidence{{Path: path, Line: line, EndLine: end}}}
}

var cases = []calibration.Case{
	{Name: "one", Expected: []calibration.Expectation{expect("a.go", 10, 12, "correctness", review.High), expect("a.go", 40, 40, "security", review.High)}},
	{Name: "two", Expected: []calibration.Expectation{expect("b.go", 5, 5, "correctness", review.Medium), expect("b_test.go", 0, 0, "tests", review.High)}},
	{Name: "clean"},
}

// TestCountsByHand: each case is small enough to be counted on paper, which is what the comments do.
func TestCountsByHand(t *testing.T) {
	high, medium, low := review.High, review.Medium, review.Low
	for _, c := range []struct {
		name    string
		lens    string
		answers map[string][]calibration.Finding
		failed  string
		want    calibration.Counts
	}{
		{"everything and nothing else", "correctness", map[string][]calibration.Finding{
			"one": {raised(high, "a.go", 11, 0)}, "two": {raised(medium, "b.go", 5, 5)}}, "",
			calibration.Counts{Cases: 3, Expected: 2, Found: 2, Raised: 2, Correct: 2}},
		{"nothing", "correctness", nil, "", calibration.Counts{Cases: 3, Expected: 2}},
		{"a false alarm in a clean case", "correctness", map[string][]calibration.Finding{"clean": {raised(high, "a.go", 11, 0)}}, "",
			calibration.Counts{Cases: 3, Expected: 2, Raised: 1}},
		{"a lesser false alarm enters no loop and counts for nothing", "correctness", map[string][]calibration.Finding{"clean": {raised(low, "a.go", 11, 0), raised(medium, "b", 1, 0)}}, "",
			calibration.Counts{Cases: 3, Expected: 2}},
		{"a fault of another lens is right, and not this seat's duty", "correctness", map[string][]calibration.Finding{"one": {raised(high, "a.go", 41, 0)}}, "",
			calibration.Counts{Cases: 3, Expected: 2, Raised: 1, Correct: 1}},
		{"raised less severely than it is", "correctness", map[string][]calibration.Finding{"one": {raised(medium, "a.go", 11, 0)}}, "",
			calibration.Counts{Cases: 3, Expected: 2}},
		{"raised more severely", "correctness", map[string][]calibration.Finding{"two": {raised(high, "b.go", 5, 0)}}, "",
			calibration.Counts{Cases: 3, Expected: 2, Found: 1, Raised: 1, Correct: 1}},
		{"three lines beside", "correctness", map[string][]calibration.Finding{"one": {raised(high, "a.go", 7, 0), raised(high, "a.go", 15, 0)}}, "",
			calibration.Counts{Cases: 3, Expected: 2, Found: 1, Raised: 2, Correct: 2}},
		{"four lines beside", "correctness", map[string][]calibration.Finding{"one": {raised(high, "a.go", 6, 0), raised(high, "a.go", 16, 18)}}, "",
			calibration.Counts{Cases: 3, Expected: 2, Raised: 2}},
		{"another file", "correctness", map[string][]calibration.Finding{"one": {raised(high, "c.go", 11, 0)}}, "",
			calibration.Counts{Cases: 3, Expected: 2, Raised: 1}},
		{"a whole file is no place", "correctness", map[string][]calibration.Finding{"one": {raised(high, "a.go", 0, 0), raised(high, "a.go", 1, 41)}}, "",
			calibration.Counts{Cases: 3, Expected: 2, Raised: 2}},
		{"a whole file is expected", "tests", map[string][]calibration.Finding{"two": {raised(high, "./b_test.go", 99, 0)}}, "",
			calibration.Counts{Cases: 3, Expected: 1, Found: 1, Raised: 1, Correct: 1}},
		{"no severity is high", "correctness", map[string][]calibration.Finding{"one": {raised(review.SeverityInvalid, "a.go", 11, 0)}, "clean": {raised(review.SeverityInvalid, "a.go", 1, 0)}}, "",
			calibration.Counts{Cases: 3, Expected: 2, Found: 1, Raised: 2, Correct: 1}},
		{"a lens of nobody", "contract", map[string][]calibration.Finding{"one": {raised(high, "a.go", 11, 0)}}, "",
			calibration.Counts{Cases: 3, Raised: 1, Correct: 1}},
		{"no valid answer finds nothing", "correctness", map[string][]calibration.Finding{"one": {raised(high, "a.go", 11, 0)}, "clean": {raised(high, "a.go", 11, 0)}}, "timeout",
			calibration.Counts{Cases: 3, Failed: 3, Expected: 2}},
		{"an engine that could not be asked", "correctness", nil, "lost: no network", calibration.Counts{Cases: 3, Failed: 3, Lost: 3, Expected: 2}},
		{"a finding without a place", "correctness", map[string][]calibration.Finding{"one": {{Severity: high, Title: "t"}}}, "",
			calibration.Counts{Cases: 3, Expected: 2, Raised: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var answers []calibration.Answer
			for _, k := range cases {
				answers = append(answers, calibration.Answer{Case: k.Name, Seat: "s", Lens: c.lens, Failed: c.failed, Lost: strings.HasPrefix(c.failed, "lost"), Findings: c.answers[k.Name]})
			}
			got := calibration.Measure(cases, answers)
			require.Len(t, got, 1)
			require.Equal(t, c.want, got[0].Counts)
			require.Len(t, got[0].Missed, c.want.Expected-c.want.Found)
			require.Len(t, got[0].False, c.want.Raised-c.want.Correct)
			require.Len(t, got[0].Unanswered, c.want.Failed)
		})
	}
}

// TestAnOptionalFaultIsRightAndNotMissed: precision counts it, recall does not.
func TestAnOptionalFaultIsRightAndNotMissed(t *testing.T) {
	optional := expect("a.go", 10, 10, "tests", review.High)
	optional.Optional = true
	k := []calibration.Case{{Name: "one", Expected: []calibration.Expectation{optional, expect("b.go", 1, 1, "tests", review.High)}}}
	got := calibration.Measure(k, []calibration.Answer{{Case: "one", Seat: "s", Lens: "tests", Findings: []calibration.Finding{raised(review.High, "a.go", 10, 0)}}})
	require.Equal(t, calibration.Counts{Cases: 1, Expected: 1, Raised: 1, Correct: 1}, got[0].Counts)
}

func TestSharesOfNothing(t *testing.T) {
	_, ok := calibration.Counts{}.Precision()
	require.False(t, ok)
	_, ok = calibration.Counts{}.Recall()
	require.False(t, ok)
	p, ok := calibration.Counts{Raised: 4, Correct: 3}.Precision()
	require.True(t, ok)
	require.InDelta(t, 0.75, p, 1e-12)
}

func TestPerSeatLensAndModel(t *testing.T) {
	engine := calibration.Engine{Adapter: "codex", Provider: "openai", ModelFamily: "gpt", Model: "default"}
	other := calibration.Engine{Adapter: "mine", Provider: "acme", ModelFamily: "a", Model: "v1"}
	high := review.High
	got := calibration.Measure(cases, []calibration.Answer{
		{Case: "one", Seat: "x", Lens: "correctness", Engine: engine, Reported: "gpt-9", Findings: []calibration.Finding{raised(high, "a.go", 10, 0)}},
		{Case: "one", Seat: "y", Lens: "security", Engine: engine, Reported: "gpt-9", Findings: []calibration.Finding{raised(high, "z.go", 1, 0)}},
		{Case: "clean", Seat: "x", Lens: "correctness", Engine: engine, Reported: "gpt-8", Findings: []calibration.Finding{raised(high, "a.go", 1, 0)}},
		{Case: "one", Seat: "z", Lens: "correctness", Engine: other},
		{Case: "of somebody else", Seat: "w"},
	})
	require.Len(t, got, 3)
	require.Equal(t, []string{"gpt-8", "gpt-9"}, got[0].Reported)
	require.Equal(t, []string{"clean: a.go:1 t"}, got[0].False)
	require.Equal(t, []string{"one: a.go:40"}, got[1].Missed)
	require.Equal(t, []calibration.Group{
		{Name: "correctness", Counts: calibration.Counts{Cases: 3, Expected: 2, Found: 1, Raised: 2, Correct: 1}},
		{Name: "security", Counts: calibration.Counts{Cases: 1, Expected: 1, Raised: 1}},
	}, calibration.ByLens(got))
	require.Equal(t, []calibration.Group{
		{Name: "codex:gpt-8+gpt-9", Counts: calibration.Counts{Cases: 2, Expected: 1, Found: 1, Raised: 2, Correct: 1}},
		{Name: "codex:gpt-9", Counts: calibration.Counts{Cases: 1, Expected: 1, Raised: 1}},
		{Name: "mine:v1", Counts: calibration.Counts{Cases: 1, Expected: 1}},
	}, calibration.ByModel(got))
}

func TestThresholds(t *testing.T) {
	min := calibration.Thresholds{Precision: 0.7, Recall: 0.7}
	for _, c := range []struct {
		name   string
		counts calibration.Counts
		min    calibration.Thresholds
		want   string
	}{
		{"good", calibration.Counts{Cases: 3, Expected: 10, Found: 7, Raised: 10, Correct: 7}, min, ""},
		{"blind", calibration.Counts{Cases: 3, Expected: 10, Found: 6, Raised: 6, Correct: 6}, min, "recall 0.60 is below 0.70"},
		{"noisy", calibration.Counts{Cases: 3, Expected: 10, Found: 10, Raised: 20, Correct: 13}, min, "precision 0.65 is below 0.70"},
		{"silent", calibration.Counts{Cases: 3, Failed: 1, Expected: 10, Found: 9, Raised: 9, Correct: 9}, min, "no valid answer to 1 of 3 cases"},
		{"never measured", calibration.Counts{Cases: 3, Raised: 1, Correct: 1}, min, "no case expects anything of its lens"},
		{"never measured, and nothing asked", calibration.Counts{Cases: 3}, calibration.Thresholds{}, "no case expects anything of its lens"},
		{"nothing raised, no recall asked", calibration.Counts{Cases: 3, Expected: 1}, calibration.Thresholds{Precision: 0.7}, "it raised nothing"},
		{"nothing asked", calibration.Counts{Cases: 3, Expected: 1}, calibration.Thresholds{}, ""},
	} {
		require.Equal(t, c.want, c.min.Lacks(c.counts), c.name)
	}
}

// TestAnotherWordIsAnotherMeasurement: engine, model, lens and words each make a seat uncalibrated again.
func TestAnotherWordIsAnotherMeasurement(t *testing.T) {
	key := calibration.Key{Engine: calibration.Engine{Adapter: "codex", Provider: "openai", ModelFamily: "gpt", Model: "m"}, Lens: "tests", Words: "sha256:1"}
	var book calibration.Book
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	book.Put(calibration.Entry{Key: key, At: at, Counts: calibration.Counts{Cases: 1}})
	book.Put(calibration.Entry{Key: key, At: at.Add(time.Hour), Counts: calibration.Counts{Cases: 2}})
	require.Len(t, book.Entries, 1)
	got, ok := book.Find(key)
	require.True(t, ok)
	require.Equal(t, 2, got.Counts.Cases)
	for _, change := range []func(*calibration.Key){
		func(k *calibration.Key) { k.Adapter = "x" }, func(k *calibration.Key) { k.Model = "x" }, func(k *calibration.Key) { k.Provider = "x" },
		func(k *calibration.Key) { k.ModelFamily = "x" }, func(k *calibration.Key) { k.Lens = "x" }, func(k *calibration.Key) { k.Words = "x" },
	} {
		other := key
		change(&other)
		_, ok := book.Find(other)
		require.False(t, ok)
		require.Equal(t, other.Words == "x", book.Known(other))
	}
	_, err := calibration.Read([]byte(`{"schema":9}`))
	require.ErrorContains(t, err, "schema 9")
	_, err = calibration.Read([]byte(`{`))
	require.Error(t, err)
	empty, err := calibration.Read(nil)
	require.NoError(t, err)
	require.Empty(t, empty.Entries)
}

// TestPropertyCounts: whatever was raised, the counts stay shares, and one more false alarm never helps.
func TestPropertyCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		finding := rapid.Custom(func(t *rapid.T) calibration.Finding {
			return raised(review.Severity(rapid.IntRange(0, 3).Draw(t, "severity")), rapid.SampledFrom([]string{"a.go", "b.go", "b_test.go"}).Draw(t, "path"),
				rapid.IntRange(0, 60).Draw(t, "line"), rapid.IntRange(0, 120).Draw(t, "end"))
		})
		lens := rapid.SampledFrom([]string{"correctness", "security", "tests"}).Draw(t, "lens")
		var answers []calibration.Answer
		for _, c := range cases {
			answers = append(answers, calibration.Answer{Case: c.Name, Seat: "s", Lens: lens, Findings: rapid.SliceOfN(finding, 0, 5).Draw(t, c.Name)})
		}
		before := calibration.Measure(cases, answers)[0].Counts
		require.LessOrEqual(t, before.Found, before.Expected)
		require.LessOrEqual(t, before.Correct, before.Raised)
		answers[2].Findings = append(answers[2].Findings, raised(review.High, "a.go", 1, 0))
		after := calibration.Measure(cases, answers)[0].Counts
		require.Equal(t, before.Found, after.Found)
		p, _ := before.Precision()
		q, ok := after.Precision()
		require.True(t, ok)
		require.LessOrEqual(t, q, max(p, 0))
	})
}
