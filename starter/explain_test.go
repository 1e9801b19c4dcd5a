package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// captured is a row of the agent package's table of captured streams.
type captured struct {
	Adapter string `json:"adapter"`
	Case    string `json:"case"`
	Exit    int    `json:"exit"`
	Class   string `json:"class"`
	Message string `json:"message"`
	Model   string `json:"model"`
	Source  string `json:"source"`
	Input   int64  `json:"input_tokens"`
	Output  int64  `json:"output_tokens"`
	Session string `json:"session"`
}

// captures are the rows, and the folder with the streams, before the test leaves it.
func captures(t *testing.T) (string, []captured) {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "internal", "agent", "testdata", "captures"))
	require.NoError(t, err)
	content, err := os.ReadFile(filepath.Join(dir, "expected.jsonl"))
	require.NoError(t, err)
	var rows []captured
	for line := range strings.Lines(string(content)) {
		var row captured
		require.NoError(t, json.Unmarshal([]byte(line), &row))
		rows = append(rows, row)
	}
	return dir, rows
}

func TestExplainEveryCapture(t *testing.T) {
	dir, rows := captures(t)
	require.Len(t, rows, 181)
	c := newCLI(t)
	refused := 0
	for _, row := range rows {
		t.Run(row.Adapter+"/"+row.Case, func(t *testing.T) {
			base := filepath.Join(dir, row.Adapter, row.Case)
			args := []string{"adapters", "explain", row.Adapter, "--stdout", base + ".stdout", "--exit", strconv.Itoa(row.Exit), "--model", "asked-model"}
			if _, err := os.Stat(base + ".stderr"); err == nil {
				args = append(args, "--stderr", base+".stderr")
			}
			got := c.run("", args...)
			if row.Class == "" { // streams of a program that has no adapter
				require.Equal(t, exitUsage, got.code)
				require.Contains(t, got.err, `unknown adapter "`+row.Adapter+`"`)
				refused++
				return
			}
			require.Equal(t, 0, got.code, got.err)
			checkExplanation(t, row, got.out)
		})
	}
	require.Equal(t, 5, refused, "qwen's")
}

func checkExplanation(t *testing.T, row captured, out string) {
	t.Helper()
	var e explanation
	require.NoError(t, json.Unmarshal([]byte(out), &e))
	require.Equal(t, row.Class, e.Class, e.Message)
	require.Contains(t, e.Message, row.Message)
	require.Equal(t, row.Class == "ok", e.Message == "")
	require.Equal(t, row.Session, e.Session)
	if row.Source == "" {
		require.Nil(t, e.Identity)
	} else {
		require.Equal(t, row.Adapter+" "+row.Model+" "+row.Source, e.Identity.Adapter+" "+e.Identity.Model+" "+e.Identity.Source)
	}
	if row.Input == 0 && row.Output == 0 {
		require.Nil(t, e.Usage, "unknown is not zero")
	} else {
		require.Equal(t, [2]int64{row.Input, row.Output}, [2]int64{e.Usage.InputTokens, e.Usage.OutputTokens})
	}
	var document map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(out), &document))
	for _, key := range []string{"class", "message", "identity", "usage", "session", "retry_after", "events"} {
		require.Contains(t, document, key)
	}
	require.NotEqual(t, "null", string(document["events"]))
}

// TestExplainAnEndedStream: the beginning of a good stream is never a good one.
func TestExplainAnEndedStream(t *testing.T) {
	dir, _ := captures(t)
	c := newCLI(t)
	for _, adapter := range []string{"claude", "codex", "opencode", "gemini"} {
		content, err := os.ReadFile(filepath.Join(dir, adapter, "impl-ok.stdout"))
		require.NoError(t, err)
		lines := strings.SplitAfter(strings.TrimSpace(string(content)), "\n")
		got := c.run(strings.Join(lines[:len(lines)-1], ""), "adapters", "explain", adapter, "--stdout", "-", "--exit", "0", "--json")
		require.Equal(t, 0, got.code, got.err)
		require.Contains(t, got.out, `"class":"malformed"`, adapter)
		got = c.run(string(content), "adapters", "explain", adapter, "--stdout", "-", "--exit", "137")
		require.Contains(t, got.out, `"class":"timeout"`, adapter)
	}
}

func TestExplainTellsUntilWhenAndWhichModel(t *testing.T) {
	dir, _ := captures(t)
	c := newCLI(t)
	got := c.run("", "adapters", "explain", "codex", "--stdout", filepath.Join(dir, "codex", "err-429-usagelimit.stdout"), "--exit", "1")
	require.Equal(t, 0, got.code, got.err)
	var e explanation
	require.NoError(t, json.Unmarshal([]byte(got.out), &e))
	require.Equal(t, "quota", e.Class)
	require.Greater(t, e.RetryAfter, 3600.0)
	require.Equal(t, "default adapter", e.Identity.Model+" "+e.Identity.Source, "nobody says which model it chose")

	content, err := os.ReadFile(filepath.Join(dir, "codex", "impl-ok.stdout"))
	require.NoError(t, err)
	day := filepath.Join(c.repo, "sessions", "2026", "11", "30")
	require.NoError(t, os.MkdirAll(day, 0o755))
	require.NoError(t, json.Unmarshal([]byte(c.run(string(content), "adapters", "explain", "codex", "--stdout", "-", "--exit", "0").out), &e))
	c.write(filepath.Join("sessions", "2026", "11", "30", "rollout-2026-11-30T14-00-00-"+e.Session+".jsonl"),
		`{"type":"session_meta","payload":{"id":"x","model_provider":"openai"}}`+"\n"+`{"type":"turn_context","payload":{"model":"gpt-9"}}`+"\n")
	got = c.run(string(content), "adapters", "explain", "codex", "--stdout", "-", "--exit", "0", "--session-dir", "sessions")
	require.NoError(t, json.Unmarshal([]byte(got.out), &e))
	require.Equal(t, "gpt-9 session-file", e.Identity.Model+" "+e.Identity.Source)
}
