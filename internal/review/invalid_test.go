package review

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// everyInvalidAnswer is the list of the design: what makes an answer of a review or a recheck invalid. Each change
// starts from an answer that is valid for both.
var everyInvalidAnswer = map[string]struct {
	from    func() fields
	change  func(fields) fields
	line    string
	problem string
}{
	"no verdict": {passing, func(a fields) fields { return with(a, "verdict", nil) }, "VERDICT: PASS", "no verdict"},
	"block with neither a finding nor a not-addressed entry": {blocking, func(a fields) fields { return with(a, "findings", []any{}) },
		"VERDICT: BLOCK", "neither a finding nor a not-addressed entry"},
	"pass with a high finding": {blocking, func(a fields) fields { return with(a, "verdict", "pass") }, "VERDICT: PASS", "pass with a high finding"},
	"pass with a not-addressed entry": {passing, func(a fields) fields {
		return with(a, "rechecked", []any{fields{"finding": "F1", "status": "not-addressed"}})
	}, "VERDICT: PASS", "pass with a not-addressed entry"},
	"wrong token":   {passing, func(a fields) fields { return with(a, "evidence", strings.Repeat("f", len(token))) }, "VERDICT: PASS", "evidence is wrong"},
	"missing token": {passing, func(a fields) fields { return with(a, "evidence", nil) }, "VERDICT: PASS", "evidence is missing"},
	"a changed path missing from reviewed": {passing, func(a fields) fields { return with(a, "reviewed", []any{"gone.go"}) },
		"VERDICT: PASS", `leaves out changed paths: "a.go"`},
	"a deleted path missing from reviewed": {passing, func(a fields) fields { return with(a, "reviewed", []any{"a.go"}) },
		"VERDICT: PASS", `leaves out changed paths: "gone.go"`},
	"a path that exists neither in the snapshot nor in the base": {blocking, func(a fields) fields { return at(a, "path", "b.go") },
		"VERDICT: BLOCK", "b.go:3 exists neither"},
	"a line that exists neither in the snapshot nor in the base": {blocking, func(a fields) fields { return at(a, "line", 11) },
		"VERDICT: BLOCK", "a.go:11 exists neither"},
	"a high finding without evidence": {blocking, func(a fields) fields { return with(a, "findings", []any{with(highFinding(), "evidence", nil)}) },
		"VERDICT: BLOCK", "has no evidence"},
	"more high findings than may be": {blocking, func(a fields) fields {
		return with(a, "findings", []any{highFinding(), highFinding(), highFinding()})
	}, "VERDICT: BLOCK", "3 high findings are more than 2"},
	"JSON says pass and the line says block": {passing, func(a fields) fields { return a }, "VERDICT: BLOCK", "verdicts differ"},
	"JSON says block and the line says pass": {blocking, func(a fields) fields { return a }, "VERDICT: PASS", "verdicts differ"},
	"no verdict line after JSON in a text":   {passing, func(a fields) fields { return a }, "That is all.", "verdict line is missing"},
}

// at changes one key of the first finding's first place.
func at(a fields, key string, value any) fields {
	return with(a, "findings", []any{with(highFinding(), "evidence", []any{with(fields{"path": "a.go", "line": 3}, key, value)})})
}

// addressed adds the statement that a recheck of F1 needs, where the answer makes none.
func addressed(a fields) fields {
	if _, said := a["rechecked"]; said {
		return a
	}
	return with(a, "rechecked", []any{fields{"finding": "F1", "status": "addressed"}})
}

func TestEveryInvalidAnswerOfTheDesign(t *testing.T) {
	c := strictContext()
	c.MaxHigh = 2
	re := c
	re.Recheck = []string{"F1"}
	for name, bad := range everyInvalidAnswer {
		t.Run(name, func(t *testing.T) {
			whole := map[bool]string{true: "VERDICT: PASS", false: "VERDICT: BLOCK"}[bad.from()["verdict"] == "pass"]
			require.Empty(t, ParseReview([]byte(fenced(bad.from(), whole)), nil, c).Problems, "what it starts from is valid")
			require.Empty(t, ParseRecheck([]byte(fenced(addressed(bad.from()), whole)), nil, re).Problems)

			text := []byte(fenced(bad.change(bad.from()), bad.line))
			requireInvalid(t, ParseReview(text, nil, c), bad.problem)
			text = []byte(fenced(addressed(bad.change(bad.from())), bad.line))
			requireInvalid(t, ParseRecheck(text, nil, re), bad.problem)

			c, re := c, re
			c.RequireFindings, re.RequireFindings, c.Mode, re.Mode = false, false, Heuristic, Heuristic
			requireInvalid(t, ParseReview(text, nil, c), bad.problem)
			requireInvalid(t, ParseRecheck(text, nil, re), bad.problem)
		})
	}
}

func requireInvalid(t *testing.T, got Answer, problem string) {
	t.Helper()
	require.Equal(t, Invalid, got.Verdict)
	require.Contains(t, strings.Join(got.Problems, "\n"), problem)
}

func TestARecheckAnswersWhatWasAskedAndNothingElse(t *testing.T) {
	c := strictContext()
	c.Recheck = []string{"F1", "F2"}
	entry := func(id any, status any) any { return fields{"finding": id, "status": status} }
	ok := entry("F1", "addressed")
	for name, bad := range map[string]struct {
		entries any
		problem string
	}{
		"a finding is left out":               {[]any{ok}, "leaves out F2"},
		"all are left out":                    {[]any{}, "leaves out F1, F2"},
		"the key is left out":                 {nil, "leaves out F1, F2"},
		"a foreign finding":                   {[]any{ok, entry("F2", "addressed"), entry("F3", "addressed")}, `"F3" was not asked for`},
		"a foreign finding instead":           {[]any{ok, entry("F3", "addressed")}, "leaves out F2"},
		"an id in another case":               {[]any{ok, entry("f2", "addressed")}, "leaves out F2"},
		"the sample of the prompt":            {[]any{ok, entry("F<n>", "addressed")}, `"F<n>" was not asked for`},
		"one twice":                           {[]any{ok, ok, entry("F2", "addressed")}, "F1 stands twice"},
		"one twice with different statuses":   {[]any{ok, entry("F1", "not-addressed"), entry("F2", "addressed")}, "F1 stands twice"},
		"attempted is not addressed":          {[]any{ok, entry("F2", "attempted")}, "status is not addressed or not-addressed"},
		"partially addressed":                 {[]any{ok, entry("F2", "partially addressed")}, "status is not addressed or not-addressed"},
		"the status in upper case":            {[]any{ok, entry("F2", "ADDRESSED")}, "status is not addressed or not-addressed"},
		"a status that is true":               {[]any{ok, entry("F2", true)}, "wrong type"},
		"no status":                           {[]any{ok, entry("F2", nil)}, "status is not addressed or not-addressed"},
		"no finding":                          {[]any{ok, entry(nil, "addressed")}, "finding is empty"},
		"a number":                            {[]any{ok, entry(2, "addressed")}, "wrong type"},
		"entries that are no objects":         {[]any{"F1", "F2"}, "rechecked[0] cannot be read"},
		"a map instead of a list":             {fields{"F1": "addressed", "F2": "addressed"}, "wrong type"},
		"one summary for all":                 {"all addressed", "wrong type"},
		"an entry whose status is said twice": {[]any{ok, jsonText(`{"finding":"F2","status":"not-addressed","status":"addressed"}`)}, "stands twice"},
	} {
		t.Run(name, func(t *testing.T) {
			requireInvalid(t, ParseRecheck([]byte(fenced(with(passing(), "rechecked", bad.entries), "VERDICT: PASS")), nil, c), bad.problem)
			requireInvalid(t, ParseRecheck(nil, []byte(encoded(with(passing(), "rechecked", bad.entries))), c), bad.problem)
		})
	}
	for _, text := range []string{"", "All addressed.", "VERDICT: PASS", "F1 and F2 are addressed.\n\nVERDICT: PASS"} {
		loose := c
		loose.RequireFindings, loose.Mode = false, Heuristic
		require.Equal(t, Invalid, ParseRecheck([]byte(text), nil, loose).Verdict, "%q", text)
	}
}

// jsonText stands in an answer as it is.
type jsonText string

// MarshalJSON returns the text.
func (j jsonText) MarshalJSON() ([]byte, error) { return []byte(j), nil }

func TestNewFindingsOfARecheckKeepTheirPlaces(t *testing.T) {
	c := strictContext()
	c.Recheck = []string{"F1"}
	got := ParseRecheck([]byte(fenced(addressed(blocking()), "VERDICT: BLOCK")), nil, c)
	require.Empty(t, got.Problems)
	require.Len(t, got.Findings, 1)
	require.Equal(t, []Recheck{{Finding: "F1", Status: Addressed}}, got.Rechecked)
}
