package review

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const token = "0123456789abcdef01234567"

// place knows a.go and gone.go with ten lines each.
func place(path string, line int) bool {
	return (path == "a.go" || path == "gone.go") && line >= 0 && line <= 10
}

func strictContext() AnswerContext {
	return AnswerContext{Token: token, Changed: []string{"a.go", "gone.go"}, Exists: place, RequireFindings: true}
}

func basicContext() AnswerContext {
	c := strictContext()
	c.RequireFindings = false
	return c
}

type fields = map[string]any

func highFinding() fields {
	return fields{"severity": "high", "kind": "patch", "title": "nil map", "claim": "writes to a nil map",
		"evidence": []any{fields{"path": "a.go", "line": 3, "end_line": 4, "quote": "m[k] = v"}}}
}

func passing() fields {
	return fields{"verdict": "pass", "confidence": 0.8, "evidence": token, "reviewed": []any{"a.go", "gone.go"}, "findings": []any{}}
}

func blocking() fields {
	a := passing()
	a["verdict"], a["findings"] = "block", []any{highFinding()}
	return a
}

// with returns a copy of an answer with one key changed; nil removes it.
func with(a fields, key string, value any) fields {
	changed := fields{}
	for k, v := range a {
		changed[k] = v
	}
	if changed[key] = value; value == nil {
		delete(changed, key)
	}
	return changed
}

func encoded(a fields) string {
	text, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func fenced(a fields, line string) string {
	return "Checked both files.\n\n```json\n" + encoded(a) + "\n```\n\n" + line + "\n"
}

func TestValidAnswers(t *testing.T) {
	medium := highFinding()
	medium["severity"] = "medium"
	lowNoEvidence := fields{"severity": "low", "title": "typo"}
	notAddressed := with(passing(), "verdict", "block")
	notAddressed["rechecked"] = []any{fields{"finding": "F1", "status": "not-addressed", "reason": "still nil"}}
	addressed := with(passing(), "rechecked", []any{fields{"finding": "F1", "status": "addressed"}})
	for _, c := range []struct {
		name   string
		answer fields
		line   string
		want   Verdict
	}{
		{"pass", passing(), "VERDICT: PASS", Pass},
		{"block", blocking(), "VERDICT: BLOCK", Block},
		{"pass with medium and low", with(passing(), "findings", []any{medium, lowNoEvidence}), "**VERDICT: PASS**", Pass},
		{"block with a medium finding", with(blocking(), "findings", []any{medium}), "VERDICT: BLOCK", Block},
		{"block with a not-addressed entry", notAddressed, "VERDICT: BLOCK", Block},
		{"pass with an addressed entry", addressed, "VERDICT: PASS", Pass},
		{"no findings key", with(passing(), "findings", nil), "VERDICT: PASS", Pass},
		{"no confidence", with(passing(), "confidence", nil), "VERDICT: PASS", Pass},
		{"unknown keys", with(passing(), "rulings", []any{fields{"finding": 3}}), "VERDICT: PASS", Pass},
		{"spelling of paths", with(passing(), "reviewed", []any{"./a.go", "gone.go"}), "VERDICT: PASS", Pass},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ParseReview([]byte(fenced(c.answer, c.line)), nil, strictContext())
			require.Empty(t, got.Problems)
			require.Equal(t, c.want, got.Verdict)
			require.False(t, got.TextOnly)
			require.Equal(t, token, got.Evidence)

			got = ParseReview(nil, []byte(encoded(c.answer)), strictContext())
			require.Empty(t, got.Problems, "after structured output the line may be missing")
			require.Equal(t, c.want, got.Verdict)
		})
	}
}

func TestAValidAnswerKeepsItsFindings(t *testing.T) {
	f := highFinding()
	f["rule"], f["affects"], f["suggestion"], f["kind"] = "no nil maps", []any{"gone.go"}, "make it", "decision"
	got := ParseReview([]byte(fenced(with(blocking(), "findings", []any{f}), "VERDICT: BLOCK")), nil, strictContext())
	require.Empty(t, got.Problems)
	require.Equal(t, []Finding{{
		Severity: High, Kind: Decision, Title: "nil map", Claim: "writes to a nil map", Rule: "no nil maps",
		Evidence: []Evidence{{Path: "a.go", Line: 3, EndLine: 4, Quote: "m[k] = v"}},
		Affects:  []string{"gone.go"}, Suggestion: "make it",
	}}, got.Findings)
	require.InDelta(t, 0.8, *got.Confidence, 1e-9)
	require.Equal(t, []string{"a.go", "gone.go"}, got.Reviewed)
}

func TestInvalidAnswers(t *testing.T) {
	finding := func(key string, value any) fields {
		return with(blocking(), "findings", []any{with(highFinding(), key, value)})
	}
	at := func(key string, value any) fields {
		e := with(fields{"path": "a.go", "line": 3}, key, value)
		return finding("evidence", []any{e})
	}
	many := []any{}
	for range 21 {
		many = append(many, highFinding())
	}
	open := []any{fields{"finding": "F1", "status": "not-addressed"}}
	for _, c := range []struct {
		name    string
		answer  fields
		line    string
		problem string
	}{
		{"unknown verdict", with(passing(), "verdict", "approve"), "VERDICT: PASS", "no verdict"},
		{"verdict in upper case", with(passing(), "verdict", "PASS"), "VERDICT: PASS", "no verdict"},
		{"verdict is no string", with(passing(), "verdict", true), "VERDICT: PASS", "no verdict"},
		{"block without a finding", with(blocking(), "findings", []any{}), "VERDICT: BLOCK", "disagree"},
		{"pass with a high finding", with(blocking(), "verdict", "pass"), "VERDICT: PASS", "disagree"},
		{"pass with a not-addressed entry", with(passing(), "rechecked", open), "VERDICT: PASS", "disagree"},
		{"wrong token", with(passing(), "evidence", "ffff"), "VERDICT: PASS", "evidence is wrong"},
		{"missing token", with(passing(), "evidence", nil), "VERDICT: PASS", "evidence is missing"},
		{"prefix of the token", with(passing(), "evidence", token[:12]), "VERDICT: PASS", "evidence is wrong"},
		{"changed path left out", with(passing(), "reviewed", []any{"gone.go"}), "VERDICT: PASS", `"a.go"`},
		{"deleted path left out", with(passing(), "reviewed", []any{"a.go"}), "VERDICT: PASS", `"gone.go"`},
		{"nothing reviewed", with(passing(), "reviewed", nil), "VERDICT: PASS", "leaves out"},
		{"reviewed is no list", with(passing(), "reviewed", "a.go"), "VERDICT: PASS", "wrong type"},
		{"unknown path", at("path", "b.go"), "VERDICT: BLOCK", "exists neither"},
		{"path out of the tree", at("path", "../a.go"), "VERDICT: BLOCK", "exists neither"},
		{"absolute path", at("path", "/a.go"), "VERDICT: BLOCK", "exists neither"},
		{"no path", at("path", nil), "VERDICT: BLOCK", "path is empty"},
		{"unknown line", at("line", 11), "VERDICT: BLOCK", "exists neither"},
		{"negative line", at("line", -1), "VERDICT: BLOCK", "no range"},
		{"unknown end line", at("end_line", 11), "VERDICT: BLOCK", "exists neither"},
		{"end before line", at("end_line", 2), "VERDICT: BLOCK", "no range"},
		{"line is no number", at("line", "3"), "VERDICT: BLOCK", "wrong type"},
		{"line is a fraction", at("line", 3.5), "VERDICT: BLOCK", "wrong type"},
		{"affected path unknown", finding("affects", []any{"b.go"}), "VERDICT: BLOCK", "affects"},
		{"high without evidence", finding("evidence", nil), "VERDICT: BLOCK", "no evidence"},
		{"no severity", finding("severity", nil), "VERDICT: BLOCK", "severity"},
		{"unknown severity", finding("severity", "critical"), "VERDICT: BLOCK", "severity"},
		{"unknown kind", finding("kind", "question"), "VERDICT: BLOCK", "kind"},
		{"nothing claimed", with(blocking(), "findings", []any{fields{"severity": "low"}}), "VERDICT: BLOCK", "empty"},
		{"finding is no object", with(blocking(), "findings", []any{"bad"}), "VERDICT: BLOCK", "findings[0] cannot be read"},
		{"findings is no list", with(blocking(), "findings", fields{}), "VERDICT: BLOCK", "wrong type"},
		{"too many high findings", with(blocking(), "findings", many), "VERDICT: BLOCK", "21 high findings"},
		{"line says otherwise", passing(), "VERDICT: BLOCK", "verdicts differ"},
		{"json says otherwise", blocking(), "VERDICT: PASS", "verdicts differ"},
		{"no line", passing(), "Done.", "verdict line is missing"},
		{"line in a quote", passing(), "> VERDICT: PASS", "verdict line is missing"},
		{"confidence over one", with(passing(), "confidence", 80), "VERDICT: PASS", "confidence"},
		{"confidence below zero", with(passing(), "confidence", -0.1), "VERDICT: PASS", "confidence"},
		{"unknown recheck status", with(passing(), "rechecked", []any{fields{"finding": "F1", "status": "attempted"}}), "VERDICT: PASS", "status"},
		{"recheck of nothing", with(passing(), "rechecked", []any{fields{"status": "addressed"}}), "VERDICT: PASS", "finding is empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, context := range map[string]AnswerContext{"strict": strictContext(), "basic": basicContext()} {
				got := ParseReview([]byte(fenced(c.answer, c.line)), nil, context)
				require.Equal(t, Invalid, got.Verdict, name)
				require.Contains(t, strings.Join(got.Problems, "\n"), c.problem, name)
			}
		})
	}
}

func TestAnAnswerBoundToNothingIsInvalid(t *testing.T) {
	for name, change := range map[string]func(*AnswerContext){
		"no token":  func(c *AnswerContext) { c.Token = "" },
		"no places": func(c *AnswerContext) { c.Exists = nil },
	} {
		t.Run(name, func(t *testing.T) {
			c := strictContext()
			change(&c)
			require.NotEmpty(t, ParseReview([]byte(fenced(blocking(), "VERDICT: BLOCK")), nil, c).Problems)
		})
	}
}

func TestTextOnlyAnswers(t *testing.T) {
	block := "a.go:3 writes to a nil map.\n\nVERDICT: BLOCK\n"
	got := ParseReview([]byte(block), nil, basicContext())
	require.Equal(t, Block, got.Verdict)
	require.True(t, got.TextOnly)
	require.Nil(t, got.Confidence)
	require.Empty(t, got.Problems)
	require.Equal(t, []Finding{{Severity: High, Kind: Patch, Title: "blocking review", Claim: block}}, got.Findings)

	got = ParseReview([]byte("Fine.\n\nVERDICT: PASS"), nil, basicContext())
	require.Equal(t, Pass, got.Verdict)
	require.Empty(t, got.Findings)

	got = ParseReview([]byte("Fine.\n\nVERDICT: PASS"), nil, strictContext())
	require.Equal(t, Invalid, got.Verdict, "findings are required")

	for _, text := range []string{"", "Fine.", "> VERDICT: PASS"} {
		got = ParseReview([]byte(text), nil, basicContext())
		require.Equal(t, Invalid, got.Verdict)
		require.NotEmpty(t, got.Problems)
	}
	heuristic := basicContext()
	heuristic.Mode = Heuristic
	require.Equal(t, Pass, ParseReview([]byte("Fine."), nil, heuristic).Verdict)
	require.Equal(t, Block, ParseReview([]byte("A blocker."), nil, heuristic).Verdict)
	require.Equal(t, Invalid, ParseReview(nil, nil, heuristic).Verdict)
}

func TestBasicHoldsEveryAnswerWithAVerdictInJSONToEveryRule(t *testing.T) {
	snippet := "Use this:\n\n```json\n{\"retries\": 3}\n```\n\nVERDICT: PASS"
	got := ParseReview([]byte(snippet), nil, basicContext())
	require.Equal(t, Pass, got.Verdict, "JSON without a verdict is no answer")
	require.True(t, got.TextOnly)

	for name, text := range map[string]string{
		"fence without a word": "```\n" + encoded(blocking()) + "\n```\n\nVERDICT: PASS",
		"bare":                 "My answer:\n" + encoded(blocking()) + "\n\nVERDICT: PASS",
		"bare at the top":      encoded(blocking()) + "\n\nVERDICT: PASS",
		"broken fence":         "```json\n{\"verdict\": \"block\", \"findings\": [\n```\n\nVERDICT: PASS",
		"cut off":              "{\"verdict\": \"block\", \"findings\": [{\"sev",
		"in an item":           "1. Result\n\n   ```json\n   " + encoded(blocking()) + "\n   ```\n\nVERDICT: PASS",
		"two verdict keys":     "```json\n{\"verdict\":\"block\",\"verdict\":\"pass\"}\n```\n\nVERDICT: PASS",
		"upper-case fence":     "```JSON\n" + encoded(blocking()) + "\n```\n\nVERDICT: PASS",
		"two objects":          "```json\n" + encoded(passing()) + encoded(blocking()) + "\n```\n\nVERDICT: PASS",
	} {
		t.Run(name, func(t *testing.T) {
			got := ParseReview([]byte(text), nil, basicContext())
			require.Equal(t, Invalid, got.Verdict)
			require.False(t, got.TextOnly)
		})
	}
}

func TestWhereTheAnswerIsFound(t *testing.T) {
	t.Run("the last json block with a verdict", func(t *testing.T) {
		text := fenced(passing(), "") + fenced(blocking(), "") + "```json\n{\"a\":1}\n```\n\nVERDICT: BLOCK"
		require.Equal(t, Block, ParseReview([]byte(text), nil, strictContext()).Verdict)
	})
	t.Run("structured output wins", func(t *testing.T) {
		got := ParseReview([]byte(fenced(passing(), "VERDICT: BLOCK")), []byte(encoded(blocking())), strictContext())
		require.Equal(t, Block, got.Verdict)
	})
	t.Run("structured output and another line", func(t *testing.T) {
		got := ParseReview([]byte("VERDICT: PASS"), []byte(encoded(blocking())), strictContext())
		require.Contains(t, strings.Join(got.Problems, " "), "verdicts differ")
	})
	t.Run("the message is the object", func(t *testing.T) {
		got := ParseReview([]byte("\ufeff"+encoded(passing())+"\n"), nil, strictContext())
		require.Equal(t, Pass, got.Verdict, got.Problems)
	})
	t.Run("an object over several lines, then the line", func(t *testing.T) {
		pretty, err := json.MarshalIndent(passing(), "", "  ")
		require.NoError(t, err)
		got := ParseReview([]byte("Read it.\n\n"+string(pretty)+"\n\nVERDICT: PASS\n"), nil, strictContext())
		require.Equal(t, Pass, got.Verdict, got.Problems)
	})
	t.Run("a quoted block is somebody else's", func(t *testing.T) {
		text := "> ```json\n> " + encoded(passing()) + "\n> ```\n\nVERDICT: PASS"
		require.Equal(t, Invalid, ParseReview([]byte(text), nil, strictContext()).Verdict)
	})
	t.Run("crlf and blank lines", func(t *testing.T) {
		text := strings.ReplaceAll("```json\n\n\n"+strings.ReplaceAll(encoded(passing()), ",", ",\n\n\n")+"\n```\nVERDICT: PASS\n", "\n", "\r\n")
		require.Equal(t, Pass, ParseReview([]byte(text), nil, strictContext()).Verdict)
	})
	t.Run("invisible characters of a path stay", func(t *testing.T) {
		c := strictContext()
		c.Changed = []string{"a\u00a0b.go"}
		text := fenced(with(passing(), "reviewed", []any{"a\u00a0b.go"}), "VERDICT: PASS")
		require.Empty(t, ParseReview([]byte(text), nil, c).Problems)
		c.Changed = []string{"ab.go"}
		require.NotEmpty(t, ParseReview([]byte(text), nil, c).Problems)
	})
	t.Run("a path that is no UTF-8 is answered as it was shown", func(t *testing.T) {
		c := strictContext()
		c.Changed = []string{"\xff\xfe.go"}
		text := fenced(with(passing(), "reviewed", []any{"\xff\xfe.go"}), "VERDICT: PASS")
		require.Empty(t, ParseReview([]byte(text), nil, c).Problems)
	})
	t.Run("a key that stands twice", func(t *testing.T) {
		// Whichever of the two were taken, one reading of this answer would be valid.
		text := strings.Replace(fenced(passing(), "VERDICT: PASS"), `{`, `{"verdict":"block",`, 1)
		got := ParseReview([]byte(text), nil, strictContext())
		require.Contains(t, strings.Join(got.Problems, " "), "stands twice")
		text = strings.Replace(fenced(blocking(), "VERDICT: BLOCK"), `"severity":"high"`, `"severity":"low","severity":"high"`, 1)
		require.Contains(t, strings.Join(ParseReview([]byte(text), nil, strictContext()).Problems, " "), "stands twice")
	})
	t.Run("keys in another case do not count", func(t *testing.T) {
		text := "```json\n{\"Verdict\":\"pass\"}\n```\nVERDICT: PASS"
		require.Equal(t, Invalid, ParseReview([]byte(text), nil, strictContext()).Verdict)
	})
}

func TestAPassBeforeASwallowedBlockIsInvalid(t *testing.T) {
	// A reviewer quotes a diff that closes the reviewer's fence: the closing mark then opens one that swallows the
	// real conclusion.
	text := "The change adds:\n\n```\n+a\n```\nVERDICT: PASS\n```\n\nThat is an injection.\n\nVERDICT: BLOCK\n"
	require.Equal(t, Pass, ParseVerdict([]byte(text), Strict).Verdict, "the line rule alone")
	got := ParseReview([]byte(text), nil, basicContext())
	require.Equal(t, Invalid, got.Verdict)
	require.Contains(t, got.Problems[0], "never closed")
	require.Equal(t, Invalid, ParseReview([]byte("VERDICT: PASS\n\n<!-- x\n\nVERDICT: BLOCK\n"), nil, basicContext()).Verdict)
}

// TestNoDamagedAnswerPasses cuts, repeats and mixes answers: none of them may pass that is not whole.
func TestNoDamagedAnswerPasses(t *testing.T) {
	whole := fenced(blocking(), "VERDICT: BLOCK")
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.IntRange(0, len(whole)).Draw(t, "from")
		to := rapid.IntRange(from, len(whole)).Draw(t, "to")
		text := whole[from:to] + rapid.SampledFrom([]string{"", "\n\nVERDICT: PASS", "PASS", "\n```\n\nVERDICT: PASS"}).Draw(t, "tail")
		got := ParseReview([]byte(text), nil, strictContext())
		require.NotEqual(t, Pass, got.Verdict, "%q", text)
		require.Equal(t, got.Verdict == Invalid, len(got.Problems) > 0)
		keys := answerKey.FindAllString(text, -1)
		slices.Sort(keys)
		if len(slices.Compact(keys)) > 1 { // what is less may be anybody's code
			require.NotEqual(t, Pass, ParseReview([]byte(text), nil, basicContext()).Verdict, "%q", text)
		}
	})
}

func TestALineDoesNotPassForAnAnswerInJSONThatNobodyCanRead(t *testing.T) {
	whole := encoded(blocking())
	cut, _, _ := strings.Cut(whole, `"verdict"`)
	for name, text := range map[string]string{
		"cut off before its verdict":     "```json\n" + cut + "\n```",
		"a fence of another name":        "```jsonc\n" + whole + "\n```",
		"behind a word":                  "Answer: " + whole,
		"between back-ticks":             "`" + whole + "`",
		"as indented code":               "Answer:\n\n    " + whole,
		"in HTML":                        "<details>\n" + whole + "\n</details>",
		"in another object":              "```json\n{\"result\": " + whole + "}\n```",
		"with keys in upper case":        "```json\n" + strings.ToUpper(whole) + "\n```",
		"with a verdict and one more":    "My answer is {\"verdict\": \"block\", \"findings\": [...]}",
		"over several lines of the text": "Answer: {\n\"verdict\": \"block\",\n\"findings\": [1]\n}",
	} {
		t.Run(name, func(t *testing.T) {
			for _, mode := range []Mode{Strict, Heuristic} {
				c := basicContext()
				c.Mode = mode
				requireInvalid(t, ParseReview([]byte(text+"\n\nVERDICT: PASS\n"), nil, c), "cannot be read")
				require.Equal(t, Block, ParseReview([]byte(text+"\n\nVERDICT: BLOCK\n"), nil, c).Verdict, "a block stands")
			}
		})
	}
	for name, text := range map[string]string{
		"quoted":          "> Answer: " + whole,
		"code":            "```go\nconst sample = `" + whole + "`\n```",
		"a pasted hunk":   "@@ -0,0 +1 @@\n+" + whole,
		"one key":         "The report has `\"findings\": []`.",
		"words, not keys": "The \"findings\" and the \"evidence\" are fine.",
	} {
		t.Run(name+" is no answer", func(t *testing.T) {
			require.Equal(t, Pass, ParseReview([]byte(text+"\n\nVERDICT: PASS\n"), nil, basicContext()).Verdict)
		})
	}
}

func TestStructuredOutputDoesNotPassBesideAMessageThatBlocks(t *testing.T) {
	for name, c := range map[string]AnswerContext{"strict": strictContext(), "basic": basicContext()} {
		for _, line := range []string{"", "VERDICT: PASS"} {
			requireInvalid(t, ParseReview([]byte(fenced(blocking(), line)), []byte(encoded(passing())), c), "verdicts differ")
		}
		require.Equal(t, Pass, ParseReview([]byte(fenced(passing(), "")), []byte(encoded(passing())), c).Verdict, name)
	}
}

func TestStructuredOutputOfAnyFormNeverPasses(t *testing.T) {
	for _, raw := range []string{"null", "[]", "{}", "true", `"pass"`, `{"verdict":null}`, `{"verdict":{}}`, `{"result":"pass"}`, "{", "\x00", "{}{}"} {
		t.Run(fmt.Sprintf("%q", raw), func(t *testing.T) {
			require.Equal(t, Invalid, ParseReview(nil, []byte(raw), strictContext()).Verdict)
			require.Equal(t, Invalid, ParseReview(nil, []byte(raw), basicContext()).Verdict)
			require.Equal(t, Invalid, ParseReview([]byte(raw), nil, basicContext()).Verdict)
		})
	}
}

func TestALineDoesNotCountForAnAnswerThatForgotItsVerdict(t *testing.T) {
	forgot := with(blocking(), "verdict", nil)
	for name, c := range map[string]AnswerContext{"strict": strictContext(), "basic": basicContext()} {
		got := ParseReview([]byte(fenced(forgot, "VERDICT: PASS")), nil, c)
		require.Equal(t, Invalid, got.Verdict, name)
		require.Contains(t, got.Problems[0], "no verdict")
		require.Equal(t, Invalid, ParseReview([]byte("VERDICT: PASS"), []byte(encoded(forgot)), c).Verdict, name)
	}
	snippet := "The report has the form\n\n```json\n{\"findings\": [], \"total\": 3}\n```\n\nVERDICT: PASS"
	require.Equal(t, Pass, ParseReview([]byte(snippet), nil, basicContext()).Verdict, "code under review may have such a key")
}
