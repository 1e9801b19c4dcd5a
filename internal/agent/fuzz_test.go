package agent

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// fuzzParser feeds anything to a parser: it never panics, an outcome always has a class, a failure never has an answer, and
// no success is without an answer and a terminal event.
func fuzzParser(f *testing.F, adapter string) {
	files, err := filepath.Glob(filepath.Join("testdata", "captures", adapter, "*.stdout"))
	require.NoError(f, err)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(content, "", 0)
	}
	f.Add([]byte("{\"type\":\"result\",\"is_error\":false}\n\xff\xfe\n{\n"), "API Error: 401", 1)
	f.Fuzz(func(t *testing.T, stdout []byte, stderr string, exit int) {
		a, err := Settings{}.Lookup(adapter)
		require.NoError(t, err)
		o, events, err := Explain(a, TurnSpec{Target: asked(adapter)}, Recording{Stdout: bytes.NewReader(stdout), Stderr: stderr, Exit: exit})
		require.NoError(t, err)
		for _, e := range events {
			require.NotEmpty(t, e.Kind)
			require.LessOrEqual(t, len(e.Action()), actionLimit)
		}
		require.Contains(t, []Class{ok, malformed, transient, quota, permanent, timeout, aborted}, o.Class)
		require.GreaterOrEqual(t, o.RetryAfter, o.RetryAfter*0)
		require.LessOrEqual(t, len(o.Message), messageLimit)
		require.True(t, utf8.ValidString(o.Message))
		if o.Class == ok {
			require.True(t, o.TerminalEvent)
			require.NotEmpty(t, append(bytes.TrimSpace(o.Final), o.Structured...))
			require.Empty(t, o.Code)
			require.NotContains(t, []int{124, 137}, exit)
			return
		}
		require.NotEmpty(t, o.Code)
		require.NotEmpty(t, o.Message)
		require.Empty(t, o.Final)
		require.Empty(t, o.Structured)
	})
}

func FuzzClaude(f *testing.F)   { fuzzParser(f, "claude") }
func FuzzCodex(f *testing.F)    { fuzzParser(f, "codex") }
func FuzzOpencode(f *testing.F) { fuzzParser(f, "opencode") }
func FuzzGemini(f *testing.F)   { fuzzParser(f, "gemini") }
func FuzzCommand(f *testing.F)  { fuzzParser(f, "command") }
