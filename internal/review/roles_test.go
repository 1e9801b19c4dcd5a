package review

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAConfirmerUpholdsOrRefutes(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		refuted bool
	}{
		"upheld":  {`{"finding":"F1","confirmed":true,"reason":"it panics","evidence":"` + token + `"}`, false},
		"refuted": {`{"finding":"F1","confirmed":false,"reason":"it is made in New","evidence":"` + token + `"}`, true},
	} {
		for place, parse := range map[string]func() Confirmation{
			"fence": func() Confirmation {
				return ParseConfirm([]byte("Read.\n\n```json\n"+c.text+"\n```\n"), nil, "F1", token)
			},
			"message": func() Confirmation { return ParseConfirm([]byte(c.text), nil, "F1", token) },
			"structured": func() Confirmation {
				return ParseConfirm(nil, []byte(c.text), "F1", token)
			},
		} {
			got := parse()
			require.Empty(t, got.Problems, "%s %s", name, place)
			require.Equal(t, c.refuted, got.Refuted(), "%s %s", name, place)
			require.Equal(t, !c.refuted, got.Confirmed, "%s %s", name, place)
			require.NotEmpty(t, got.Reason)
		}
	}
}

func TestAnArbiterRulesEachFinding(t *testing.T) {
	text := `{"rulings":[{"finding":"F2","decision":"fix","reason":"F3 builds on it","change":"make the map"},
		{"finding":"F1","decision":"stand","reason":"the caller holds the lock"},{"finding":"F3","decision":"person","reason":"the requirement says both"}]}`
	got := ParseArbitration([]byte("```json\n"+text+"\n```"), nil, []string{"F1", "F2", "F3"})
	require.Empty(t, got.Problems)
	require.Equal(t, []ArbiterRuling{
		{Finding: "F2", Decision: "fix", Reason: "F3 builds on it", Change: "make the map"},
		{Finding: "F1", Decision: "stand", Reason: "the caller holds the lock"},
		{Finding: "F3", Decision: "person", Reason: "the requirement says both"},
	}, got.Rulings)
	require.NotEmpty(t, ParseArbitration([]byte(text), nil, []string{"F1", "F2"}).Problems, "F3 was not asked for")
	require.Empty(t, ParseArbitration([]byte(text), nil, []string{"F1", "F2", "F3", "F4"}).Rulings, "F4 is left out")
}

func TestAWriterReportsOnEachFinding(t *testing.T) {
	text := `{"fix_report":[{"finding":"F1","status":"fixed","tests":["TestPut"],"command":"go test ./...","output":"ok"},
		{"finding":"F2","status":"refuted","evidence":"a.go:3 makes the map"},{"finding":"F3","status":"fixed"},{"finding":"F9","status":"refuted","evidence":"x"}]}`
	got := ParseFixReport([]byte("Done.\n\n```json\n"+text+"\n```"), nil, []string{"F1", "F2", "F3"})
	require.Equal(t, []FixEntry{
		{Finding: "F1", Status: "fixed", Tests: []string{"TestPut"}, Command: "go test ./...", Output: "ok"},
		{Finding: "F2", Status: "refuted", Evidence: "a.go:3 makes the map"},
	}, got.Entries)
	require.Len(t, got.Problems, 3)
	require.Contains(t, got.Problems[2], "F3")
	require.Equal(t, []string{"F3"}, got.Unanswered([]string{"F1", "F2", "F3"}))
}

func TestARecheckStatesEachFindingOnceAndNoOther(t *testing.T) {
	c := strictContext()
	c.Recheck = []string{"F1", "F2"}
	entry := func(id, status string) any { return fields{"finding": id, "status": status} }
	parse := func(a fields, line string) Answer { return ParseRecheck([]byte(fenced(a, line)), nil, c) }
	got := parse(with(passing(), "rechecked", []any{entry("F1", "addressed"), entry("F2", "addressed")}), "VERDICT: PASS")
	require.Empty(t, got.Problems)
	require.Equal(t, Pass, got.Verdict)
	got = parse(with(with(passing(), "verdict", "block"), "rechecked", []any{entry("F1", "addressed"), entry("F2", "not-addressed")}), "VERDICT: BLOCK")
	require.Empty(t, got.Problems)
	require.Equal(t, Block, got.Verdict)
	for problem, entries := range map[string][]any{
		"leaves out F2":             {entry("F1", "addressed")},
		"leaves out F1, F2":         {},
		`"F7" was not asked for`:    {entry("F1", "addressed"), entry("F2", "addressed"), entry("F7", "addressed")},
		"rechecked[2]: F1 stands t": {entry("F1", "addressed"), entry("F2", "addressed"), entry("F1", "addressed")},
	} {
		got = parse(with(passing(), "rechecked", entries), "VERDICT: PASS")
		require.Equal(t, Invalid, got.Verdict, problem)
		require.Contains(t, strings.Join(got.Problems, "\n"), problem)
	}
	c.RequireFindings = false
	require.Equal(t, Invalid, ParseRecheck([]byte("VERDICT: PASS"), nil, c).Verdict, "a line does not say which finding it means")
	c.Recheck = nil
	require.Equal(t, Pass, ParseRecheck([]byte("VERDICT: PASS"), nil, c).Verdict, "there is none to mean")
}
