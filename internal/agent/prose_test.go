package agent

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// prose is what a review of retry code says: every word of the failure tables.
const prose = "The client waits for ever on 429: rate limit exceeded, usage limit reached, quota exceeded, insufficient_quota. It says " +
	"\"unexpected status 401 Unauthorized\", API Error: 529 overloaded_error, Failed to authenticate, Invalid API key, Not logged in · Please run /login. " +
	"Prompt is too long. context_length_exceeded; RESOURCE_EXHAUSTED, TerminalQuotaError, ModelNotFoundError, ECONNREFUSED, stream disconnected, " +
	"Credit balance is too low, billing, try again in 3 hours, session not found, auto-rejecting, Reconnecting... 1/5 (unexpected status 401).\nVERDICT: PASS"

// spoken are streams in which an agent says something, reads it from a file, and says it at the end.
func spoken(text string) map[string][]string {
	b, _ := json.Marshal(text)
	q := string(b)
	return map[string][]string{
		"claude": {
			`{"type":"system","subtype":"init","session_id":"s","model":"claude-x"}`,
			fmt.Sprintf(`{"type":"assistant","message":{"model":"claude-x","content":[{"type":"text","text":%s},{"type":"tool_use","name":"Read","input":{"file_path":%s}}]}}`, q, q),
			fmt.Sprintf(`{"type":"user","message":{"content":[{"type":"tool_result","content":%s,"is_error":true}]}}`, q),
			fmt.Sprintf(`{"type":"result","subtype":"success","is_error":false,"result":%s}`, q),
		},
		"codex": {
			`{"type":"thread.started","thread_id":"s"}`, `{"type":"turn.started"}`,
			fmt.Sprintf(`{"type":"item.completed","item":{"type":"command_execution","command":%s,"aggregated_output":%s,"exit_code":1}}`, q, q),
			fmt.Sprintf(`{"type":"item.completed","item":{"type":"agent_message","text":%s}}`, q),
			`{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}`,
		},
		"opencode": {
			`{"type":"step_start","sessionID":"s"}`,
			fmt.Sprintf(`{"type":"tool_use","sessionID":"s","part":{"tool":"read","state":{"status":"error","input":{"filePath":%s},"error":%s}}}`, q, q),
			fmt.Sprintf(`{"type":"text","sessionID":"s","part":{"text":%s}}`, q),
			`{"type":"step_finish","sessionID":"s","part":{"type":"step-finish","reason":"stop"}}`,
		},
		"gemini": {
			`{"type":"init","session_id":"s","model":"m"}`,
			fmt.Sprintf(`{"type":"message","role":"user","content":%s}`, q),
			fmt.Sprintf(`{"type":"tool_result","status":"error","output":%s}`, q),
			fmt.Sprintf(`{"type":"message","role":"assistant","content":%s,"delta":true}`, q),
			`{"type":"result","status":"success","stats":{}}`,
		},
	}
}

// TestWhatAnAgentSaysIsNoFailure is row 33 of the field reports: limits and failures in an agent's words, in the prompt and
// in what its tools print stop nothing and classify nothing.
func TestWhatAnAgentSaysIsNoFailure(t *testing.T) {
	for adapter, stream := range spoken(prose) {
		for _, exit := range []int{0, 1} {
			o, events := lines(newParser(t, adapter), ProcessEnd{Cause: "exited", Code: exit}, stream...)
			require.Equal(t, ok, o.Class, "%s: %s", adapter, o.Message)
			require.Equal(t, prose, string(o.Final))
			require.Zero(t, o.RetryAfter)
			require.Zero(t, firstFatal(events))
			require.False(t, o.NoSession)
		}
		// Without the last word it is malformed, and neither waited for nor given up.
		o, _ := lines(newParser(t, adapter), exited, stream[:len(stream)-1]...)
		require.Equal(t, malformed, o.Class, "%s: %s", adapter, o.Message)
		require.Zero(t, o.RetryAfter)
	}
}
