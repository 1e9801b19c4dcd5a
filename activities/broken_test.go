package activities

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/loop"
	"conclave/internal/record"
)

// Whatever an engine prints: what is not a valid answer accepts nothing, refutes nothing, excuses nothing.
func TestWrongGreenFromBrokenAnswers(t *testing.T) {
	l, draft, repair := fixed(t)
	good := map[string]string{
		"review":    answer("pass", map[string]any{"reviewed": []string{"calc.go", "notes.txt"}}),
		"recheck":   answer("pass", map[string]any{"rechecked": []any{map[string]any{"finding": "F1", "status": "addressed"}}}),
		"confirm":   "```json\n" + `{"finding":"F1","confirmed":false,"reason":"no","evidence":"token"}` + "\n```\n",
		"arbitrate": "```json\n" + `{"rulings":[{"finding":"F1","decision":"stand","reason":"fine"}]}` + "\n```\n",
	}
	step := 2
	run := func(turn, said string) *loop.TurnResult {
		step++
		req := l.reading(fmt.Sprintf("%02d", step), turn, repair)
		if turn != "review" {
			req.Findings, req.Open = []string{"F1"}, l.known(map[string]string{"F1": `{"title":"x"}`})
		}
		req.Since = draft
		l.says(said)
		return do[loop.TurnResult](l, l.acts.RunTurn, req)
	}
	for turn, whole := range good {
		require.Equal(t, record.ClassOK, run(turn, whole).Class, turn)
		bad := map[string]string{
			"blank": " \n", "prose": "All is well. I approve.", "empty object": "{}", "null": "null", "a list": "[]", "binary": "\x00\xff\xfe",
			"foreign token":               strings.ReplaceAll(whole, "token", "tokem"),
			"quoted (field rows 2 and 3)": "> " + strings.ReplaceAll(whole, "\n", "\n> "),
			"in a diff (field row 2)":     "+" + strings.ReplaceAll(whole, "\n", "\n+"),
			"another finding":             strings.ReplaceAll(whole, "F1", "F7"),
			"too long":                    whole + strings.Repeat("x", 1<<20),
		}
		for other, text := range good {
			if other != turn && (other != "review" || turn != "recheck") {
				bad["the answer of a "+other] = text
			}
		}
		for cut := 1; cut < len(whole)-8; cut += 23 {
			bad[fmt.Sprintf("cut at %d", cut)] = whole[:cut]
		}
		if turn == "review" {
			delete(bad, "another finding")
			delete(bad, "the answer of a recheck")
		}
		if turn == "arbitrate" {
			delete(bad, "foreign token")
		}
		for name, said := range bad {
			out := run(turn, said)
			accepted := out.Class == record.ClassOK && (out.Verdict == "pass" || len(out.Answer) > 0)
			require.False(t, accepted && !strings.HasPrefix(name, "cut at"), "%s: %s: %s", turn, name, out.Message)
			if accepted { // the cut took words behind a whole answer
				require.Contains(t, said, "}\n```", "%s: %s", turn, name)
			}
			if out.Class == record.ClassMalformed {
				require.NotEmpty(t, out.Message)
				require.Empty(t, out.Rechecked)
				require.Empty(t, out.Said)
			}
		}
	}
	out := run("confirm", good["confirm"]+strings.Repeat("x", 1<<20))
	require.Equal(t, "RESULT_TOO_LARGE", out.Code)
}

// What another process, an older version or a broken disk left in the store is no answer.
func TestADamagedResultInTheStoreIsNoAnswer(t *testing.T) {
	l, _, repair := fixed(t)
	req := l.reading("03", "review", repair)
	l.says(answer("pass", map[string]any{"reviewed": []string{"calc.go", "notes.txt"}}))
	whole := do[loop.TurnResult](l, l.acts.RunTurn, req)
	require.Equal(t, "pass", whole.Verdict, whole.Message)
	key := filepath.Join(l.dir, "store", "keys", filepath.FromSlash(resultKey(runID, "03", 1)))
	stored, err := os.ReadFile(key)
	require.NoError(t, err)
	var kept finished
	require.NoError(t, json.Unmarshal(stored, &kept))
	foreign := func(result string) []byte {
		raw, err := json.Marshal(finished{Request: kept.Request, Result: json.RawMessage(result)})
		require.NoError(t, err)
		return raw
	}
	l.says("no answer")
	for name, content := range map[string][]byte{
		"cut": stored[:len(stored)/2], "empty": {}, "null": []byte("null"), "another request's": []byte(strings.Replace(string(stored), kept.Request, kept.Request+"0", 1)),
		"an empty result": foreign("{}"), "a null result": foreign("null"), "a list": foreign("[]"), "another type": foreign(`{"class":7,"verdict":"pass"}`),
		"a verdict without a class": foreign(`{"verdict":"pass"}`),
	} {
		require.NoError(t, os.WriteFile(key, content, 0o600))
		out, err := try[loop.TurnResult](attempt{}, l.acts.RunTurn, req)
		if err == nil {
			require.NotEqual(t, record.ClassOK, out.Class, name)
		}
	}
}
