package agent

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/process"
	"conclave/internal/record"
)

func TestLinesThatAreObjects(t *testing.T) {
	for line, want := range map[string]string{
		`{"a":"x"}`: "x", "  {\"a\":\"x\"}\r": "x", "\ufeff{\"a\":\"x\"}": "x", "\x1b[0m{\"a\":\"x\"}\x1b[39m": "x", "{\"a\":\"x\"}\x1b[0m": "x",
		"{\"a\":\"u\u2028v\"}": "u\u2028v", "{\"a\":\"\xff\"}": "\ufffd",
		"": "-", "\x1b[0m": "-", "text": "-", `[{"a":"x"}]`: "-", `{"a":"x"`: "-", `{"a":"x"} tail`: "-", `"{}"`: "-", "null": "-",
	} {
		var into struct {
			A string `json:"a"`
		}
		if want == "-" {
			require.False(t, object([]byte(line), &into), "%q", line)
			continue
		}
		require.True(t, object([]byte(line), &into), "%q", line)
		require.Equal(t, want, into.A)
	}
}

// TestAStreamWithoutEndIsNotKept: a program may print until the disk's bound is reached, in any of its events. What a
// parser keeps of it is bounded.
func TestAStreamWithoutEndIsNotKept(t *testing.T) {
	chunk := strings.Repeat("x", 1<<20)
	type stream struct{ before, line, after string }
	for name, s := range map[string]stream{
		"gemini":        {`{"type":"init","session_id":"s"}`, `{"type":"message","role":"assistant","delta":true,"content":"` + chunk + `"}`, `{"type":"result","status":"success"}`},
		"gemini errors": {`{"type":"message","role":"assistant","content":"fine"}`, `{"type":"error","severity":"error","message":"` + chunk + `"}`, `{"type":"message","role":"assistant","content":"done"}` + "\n" + `{"type":"result","status":"success"}`},
		"opencode":      {`{"type":"step_start","sessionID":"s"}`, `{"type":"text","sessionID":"s","part":{"text":"` + chunk + `"}}`, `{"type":"step_finish","sessionID":"s","part":{"reason":"stop"}}`},
		"codex":         {`{"type":"item.completed","item":{"type":"agent_message","text":"fine"}}`, `{"type":"item.completed","item":{"type":"error","message":"` + chunk + `"}}`, `{"type":"turn.completed"}`},
	} {
		t.Run(name, func(t *testing.T) {
			adapter, err := Settings{}.Lookup(strings.Fields(name)[0])
			require.NoError(t, err)
			p := adapter.Parser(TurnSpec{})
			p.Line([]byte(s.before))
			before := allocated()
			for range 80 {
				p.Line([]byte(s.line))
			}
			require.Less(t, allocated()-before, int64(3*finalMost))
			for line := range strings.Lines(s.after) {
				p.Line([]byte(line))
			}
			o := p.Outcome(ProcessEnd{Cause: string(process.CauseExited)})
			require.Equal(t, record.ClassOK, o.Class, o.Message)
			require.LessOrEqual(t, len(o.Final), finalMost+mostRemarks)
			require.LessOrEqual(t, len(o.Notes), mostRemarks)
		})
	}
	t.Run("claude", func(t *testing.T) {
		p := claude{}.Parser(TurnSpec{})
		for i := range 1000 {
			p.Line(fmt.Appendf(nil, `{"type":"assistant","message":{"model":"m%d","content":[]}}`, i))
		}
		p.Line([]byte(`{"type":"result","subtype":"success","result":"fine"}`))
		o := p.Outcome(ProcessEnd{Cause: string(process.CauseExited)})
		require.Equal(t, 1, len(o.Notes))
		require.Equal(t, mostRemarks, strings.Count(o.Notes[0], "m9"))
	})
}

// allocated is what lives on the heap, in bytes.
func allocated() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
