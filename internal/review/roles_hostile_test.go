package review

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const (
	refutation   = `{"finding":"F1","confirmed":false,"reason":"New makes the map","evidence":"` + token + `"}`
	confirmation = `{"finding":"F1","confirmed":true,"reason":"it panics","evidence":"` + token + `"}`
	arbitration  = `{"rulings":[{"finding":"F1","decision":"stand","reason":"the caller holds the lock"},{"finding":"F2","decision":"stand","reason":"as specified"}]}`
	report       = `{"fix_report":[{"finding":"F1","status":"fixed","tests":["TestPut"],"command":"go test","output":"ok"},{"finding":"F2","status":"refuted","evidence":"a.go:3"}]}`
)

var both = []string{"F1", "F2"}

// reading is one way of reading a message as an answer of a role; accepts says that it helps to end the run.
type reading struct {
	whole   string
	accepts func(message, structured []byte) bool
	problem func(message, structured []byte) bool
}

var readings = map[string]reading{
	"confirm": {refutation,
		func(m, s []byte) bool { return ParseConfirm(m, s, "F1", token).Refuted() },
		func(m, s []byte) bool { return len(ParseConfirm(m, s, "F1", token).Problems) > 0 }},
	"arbitrate": {arbitration,
		func(m, s []byte) bool { return len(ParseArbitration(m, s, both).Rulings) > 0 },
		func(m, s []byte) bool { return len(ParseArbitration(m, s, both).Problems) > 0 }},
	"repair": {report,
		func(m, s []byte) bool { return len(ParseFixReport(m, s, both).Entries) > 0 },
		func(m, s []byte) bool { return len(ParseFixReport(m, s, both).Problems) > 0 }},
	"recheck": {encoded(addressed(passing())),
		func(m, s []byte) bool { return parseF1(m, s).Verdict == Pass },
		func(m, s []byte) bool { return len(parseF1(m, s).Problems) > 0 }},
}

func parseF1(message, structured []byte) Answer {
	c := strictContext()
	c.Recheck = []string{"F1"}
	return ParseRecheck(message, structured, c)
}

func TestAnAnswerCutAtAnyByteIsNoAccept(t *testing.T) {
	for role, read := range readings {
		t.Run(role, func(t *testing.T) {
			line := ""
			if role == "recheck" {
				line = "\nVERDICT: PASS"
			}
			require.True(t, read.accepts([]byte(read.whole), nil))
			require.True(t, read.accepts(nil, []byte(read.whole)))
			message := "Read it.\n\n```json\n" + read.whole + "\n```\n" + line
			require.True(t, read.accepts([]byte(message), nil))
			end := strings.Index(message, read.whole) + len(read.whole)
			for i := range end {
				require.False(t, read.accepts([]byte(message[:i]), nil), "%q", message[:i])
				require.True(t, read.problem([]byte(message[:i]), nil), "%q", message[:i])
				require.False(t, read.accepts([]byte(message[:i]+"\n```\n"+line), nil), "closed again: %q", message[:i])
			}
			for i := range read.whole {
				require.False(t, read.accepts([]byte(read.whole[:i]), nil))
				require.False(t, read.accepts(nil, []byte(read.whole[:i])))
				require.True(t, read.problem(nil, []byte(read.whole[:i])))
				if i > 0 {
					require.False(t, read.accepts(nil, []byte(read.whole[i:])), "the front is missing")
				}
			}
		})
	}
}

// foreign are outputs that are no answer of the role that reads them.
func foreign() []string {
	return []string{
		"", " \n\t", "\x00", "\xff\xfe", "null", "true", "false", "[]", "{}", `""`, `"refuted"`, "{", "}", "[{}]",
		"Refuted.", "The finding is not confirmed.", "confirmed: false", "finding: F1\nconfirmed: false", "VERDICT: PASS",
		"<html><body>502 Bad Gateway</body></html>", `{"type":"error","error":{"type":"overloaded_error"}}`,
		`{"type":"result","is_error":true,"result":""}`, "Let me look at the code first.", "rate limit exceeded, try again later",
		encoded(passing()), encoded(blocking()), `{"confirmed":null}`, `{"confirmed":"false"}`, `{"confirmed":0}`, `{"confirmed":[]}`,
		`{"rulings":null}`, `{"rulings":{}}`, `{"rulings":[]}`, `{"rulings":[null]}`, `{"rulings":["stand"]}`, `{"rulings":"stand"}`,
		`{"fix_report":null}`, `{"fix_report":{}}`, `{"fix_report":[]}`, `{"fix_report":[[]]}`, `{"fix_report":"done"}`,
		`{"fix_report":[{"finding":"F1"}]}`, `{"fix_report":[{"finding":"F1","status":"fixed"}]}`, `{"result":` + refutation + `}`,
		"```\n```", "```json\n```", "```json\nnull\n```", strings.Repeat("{", 10000), strings.Repeat("[", 10000), `{"confirmed":` + strings.Repeat("[", 20000),
	}
}

func TestForeignOutputIsNoAccept(t *testing.T) {
	for role, read := range readings {
		for i, text := range foreign() {
			t.Run(fmt.Sprintf("%s/%d", role, i), func(t *testing.T) {
				for _, in := range [][2][]byte{{[]byte(text), nil}, {nil, []byte(text)}, {[]byte(text), []byte(text)}, {[]byte("```json\n" + text + "\n```\n\nVERDICT: PASS"), nil}} {
					require.False(t, read.accepts(in[0], in[1]), "%.80q", text)
					require.True(t, read.problem(in[0], in[1]), "%.80q", text)
				}
			})
		}
		for other, another := range readings {
			if other != role {
				require.False(t, read.accepts([]byte(another.whole), nil), "%s as %s", other, role)
				require.False(t, read.accepts(nil, []byte(another.whole)), "%s as %s", other, role)
			}
		}
	}
}

func TestARefutationIsExplicitAndAboutThisFindingOnThisEvidence(t *testing.T) {
	change := func(from, to string) string { return strings.Replace(refutation, from, to, 1) }
	for name, text := range map[string]string{
		"another finding":            change("F1", "F2"),
		"the sample of the prompt":   change("F1", "F<n>"),
		"a finding in another case":  change("F1", "f1"),
		"no finding":                 change(`"finding":"F1",`, ""),
		"a number as finding":        change(`"F1"`, "1"),
		"two findings":               change(`"F1"`, `["F1","F2"]`),
		"another token":              change(token, strings.Repeat("0", len(token))),
		"the front of the token":     change(token, token[:8]),
		"no token":                   change(`,"evidence":"`+token+`"`, ""),
		"no reason":                  change("New makes the map", ""),
		"a blank reason":             change("New makes the map", " \t"),
		"no word on it":              change(`"confirmed":false,`, ""),
		"null":                       change("false", "null"),
		"a string":                   change("false", `"false"`),
		"a number":                   change("false", "0"),
		"the key in another case":    change(`"confirmed"`, `"Confirmed"`),
		"said twice in one object":   change(`"confirmed":false`, `"confirmed":true,"confirmed":false`),
		"text behind it":             refutation + " or not",
		"two answers, upheld first":  "```json\n" + confirmation + "\n```\n\n```json\n" + refutation + "\n```",
		"two answers, upheld last":   "```json\n" + refutation + "\n```\n\n```json\n" + confirmation + "\n```",
		"two objects in one block":   "```json\n" + refutation + "\n" + confirmation + "\n```",
		"a broken one before":        "```json\n{\"confirmed\": tr\n```\n\n```json\n" + refutation + "\n```",
		"somebody else's, quoted":    "> ```json\n> " + refutation + "\n> ```",
		"in a comment":               "<!--\n" + refutation + "\n-->",
		"in a block of another kind": "```go\n" + refutation + "\n```",
	} {
		t.Run(name, func(t *testing.T) {
			message := text
			if strings.HasPrefix(text, "{") {
				message = "```json\n" + text + "\n```"
			}
			got := ParseConfirm([]byte(message), nil, "F1", token)
			require.NotEmpty(t, got.Problems)
			require.False(t, got.Refuted())
			require.True(t, got.Confirmed, "who forgets to look at Problems does not refute")
			require.Equal(t, "F1", got.Finding)
		})
	}
	require.NotEmpty(t, ParseConfirm([]byte(confirmation), []byte(refutation), "F1", token).Problems, "the text contradicts the structured output")
	require.True(t, ParseConfirm([]byte("```json\n"+refutation+"\n```"), []byte(refutation), "F1", token).Refuted(), "the same said twice is one answer")
	require.NotEmpty(t, ParseConfirm([]byte(change("F1", "")), nil, "", token).Problems, "a call without a finding accepts nothing")
	require.NotEmpty(t, ParseConfirm([]byte(change(token, "")), nil, "F1", "").Problems, "nor one without a token")
	require.False(t, Confirmation{}.Refuted())
}

func TestAnArbitrationThatBreaksARuleRulesNothing(t *testing.T) {
	change := func(from, to string) string { return strings.Replace(arbitration, from, to, 1) }
	for name, text := range map[string]string{
		"a finding left out":       `{"rulings":[{"finding":"F1","decision":"stand","reason":"x"}]}`,
		"a foreign finding":        change(`"F2"`, `"F3"`),
		"one ruled twice":          change(`"F2"`, `"F1"`),
		"an unknown decision":      change(`"stand"`, `"ignore"`),
		"a person's word":          change(`"stand"`, `"abort"`),
		"a decision in upper case": change(`"stand"`, `"STAND"`),
		"the refusing word":        change(`"stand"`, `"invalid"`),
		"no decision":              change(`"decision":"stand",`, ""),
		"no reason":                change("as specified", " "),
		"a fix without its change": change(`"stand"`, `"fix"`),
		"a decision said twice":    change(`"decision":"stand"`, `"decision":"fix","decision":"stand"`),
		"two answers that differ":  "```json\n" + change(`"stand"`, `"person"`) + "\n```\n\n```json\n" + arbitration + "\n```",
		"a quoted one":             "> ```json\n> " + arbitration + "\n> ```",
	} {
		t.Run(name, func(t *testing.T) {
			got := ParseArbitration([]byte(text), nil, both)
			require.NotEmpty(t, got.Problems)
			require.Empty(t, got.Rulings)
		})
	}
	require.NotEmpty(t, ParseArbitration([]byte(`{"rulings":[]}`), nil, nil).Problems)
}

func TestAFixReportCountsEntryByEntry(t *testing.T) {
	fixed := `{"finding":"F1","status":"fixed","tests":["TestPut"],"command":"go test","output":"ok"}`
	refuted := `{"finding":"F2","status":"refuted","evidence":"a.go:3"}`
	change := func(from, to string) string { return strings.Replace(fixed, from, to, 1) }
	for name, bad := range map[string]string{
		"a finding that was not to be repaired": change("F1", "F9"),
		"no finding":                            change(`"finding":"F1",`, ""),
		"no status":                             change(`"status":"fixed",`, ""),
		"attempted":                             change(`"fixed"`, `"attempted"`),
		"the refusing word":                     change(`"fixed"`, `"invalid"`),
		"no tests":                              change(`"TestPut"`, ""),
		"a blank test":                          change("TestPut", " "),
		"tests as a text":                       change(`["TestPut"]`, `"TestPut"`),
		"no command":                            change("go test", ""),
		"no output":                             change(`,"output":"ok"`, ""),
		"refuted without evidence":              `{"finding":"F1","status":"refuted"}`,
		"fixed and refuted":                     fixed + `,{"finding":"F1","status":"refuted","evidence":"x"}`,
		"refuted without evidence, then fixed":  `{"finding":"F1","status":"refuted"},` + fixed,
		"no object":                             `"F1 fixed"`,
	} {
		t.Run(name, func(t *testing.T) {
			got := ParseFixReport([]byte(`{"fix_report":[`+bad+`,`+refuted+`]}`), nil, both)
			require.NotEmpty(t, got.Problems)
			require.Equal(t, []FixEntry{{Finding: "F2", Status: "refuted", Evidence: "a.go:3"}}, got.Entries, "the other entry counts")
			require.Equal(t, []string{"F1"}, got.Unanswered(both))
		})
	}
	got := ParseFixReport([]byte(`{"fix_report":[`+fixed+`,`+fixed+`,`+refuted+`]}`), nil, both)
	require.Len(t, got.Entries, 2)
	require.NotEmpty(t, got.Problems, "the repetition is named")
	got = ParseFixReport([]byte("```json\n{\"fix_report\":["+refuted+"]}\n```\n\n```json\n{\"fix_report\":["+fixed+"]}\n```"), nil, both)
	require.Equal(t, []string{"F2"}, got.Unanswered(both), "the last block counts")
	require.Contains(t, got.Problems[0], "only the last counts")
}

// TestNoMixtureOfOutputsRefutes builds messages of whole, foreign, broken and contrary pieces.
func TestNoMixtureOfOutputsRefutes(t *testing.T) {
	stale := strings.Replace(refutation, token, strings.Repeat("9", len(token)), 1)
	other := strings.Replace(refutation, "F1", "F2", 1)
	fence := func(s string) string { return "```json\n" + s + "\n```" }
	pieces := []string{fence(refutation), refutation, fence(confirmation), fence(stale), fence(other), fence(refutation[:40]), "> " + fence(refutation),
		"> " + refutation, "```", "~~~", "<!--", "-->", "Refuted.", fence(encoded(passing())), fence("{}"), "    " + refutation, "VERDICT: PASS", "{", "}", "\x00"}
	rapid.Check(t, func(t *rapid.T) {
		picked := rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6).Draw(t, "pieces")
		text := strings.Join(picked, rapid.SampledFrom([]string{"\n", "\n\n"}).Draw(t, "gap"))
		var structured []byte
		if rapid.Bool().Draw(t, "structured") {
			structured = []byte(rapid.SampledFrom([]string{refutation, confirmation, stale, other, "{}", "null", ""}).Draw(t, "output"))
		}
		got := ParseConfirm([]byte(text), structured, "F1", token)
		require.Equal(t, len(got.Problems) > 0 || got.Confirmed, !got.Refuted())
		if !got.Refuted() {
			return
		}
		require.Equal(t, "F1", got.Finding)
		require.True(t, strings.Contains(text, refutation) || string(structured) == refutation, "%q", text)
		require.NotEqual(t, confirmation, string(structured))
		if len(picked) == 2 && strings.HasPrefix(picked[0], "```json") && strings.HasPrefix(picked[1], "```json") && structured == nil {
			require.NotContains(t, picked, fence(confirmation))
			require.NotContains(t, picked, fence(stale))
			require.NotContains(t, picked, fence(other))
		}
	})
}
