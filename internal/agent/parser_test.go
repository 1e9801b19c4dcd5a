package agent

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"conclave/internal/convergence"
	"conclave/internal/record"
)

// A review may speak of limits and errors as it likes: prose is no error channel.
func TestProseIsNoErrorChannel(t *testing.T) {
	prose := "The handler answers 429: rate limit exceeded, usage limit reached, try again in 5 hours. API Error: 401 invalid api key. Connection refused. VERDICT: PASS"
	claude := fmt.Sprintf(`{"type":"system","subtype":"init","session_id":"s","model":"m"}
{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":%q}]},"session_id":"s"}
{"type":"user","message":{"content":[{"type":"tool_result","is_error":true,"content":%q}]},"session_id":"s"}
{"type":"result","subtype":"success","is_error":false,"result":%q,"session_id":"s"}
`, prose, prose, prose)
	codex := fmt.Sprintf(`{"type":"thread.started","thread_id":"t"}
{"type":"item.completed","item":{"type":"command_execution","aggregated_output":%q,"exit_code":1}}
{"type":"item.completed","item":{"type":"agent_message","text":%q}}
{"type":"turn.completed"}
`, prose, prose)
	for adapter, stream := range map[string]string{"claude": claude, "codex": codex} {
		p := newParser(t, adapter)
		events := feed(p, []byte(stream))
		require.Zero(t, firstFatal(events))
		o := p.Outcome(ProcessEnd{Cause: "exited", Code: 1})
		require.Equal(t, ok, o.Class, o.Message)
		require.Equal(t, prose, string(o.Final))

		// The same prose without a terminal event is malformed, not a limit.
		p = newParser(t, adapter)
		lines := strings.SplitAfter(stream, "\n")
		feed(p, []byte(strings.Join(lines[:len(lines)-2], "")))
		o = p.Outcome(ProcessEnd{Cause: "exited", Code: 0})
		require.Equal(t, malformed, o.Class, o.Message)
		require.Equal(t, convergence.FailResultInvalid, o.Code)
	}
}

// What the measured programs print around these texts is like the captures; the texts of subscriptions could not be captured.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		adapter, stream, stderr string
		class                   Class
		after                   time.Duration
	}{
		{"claude", claudeError("API Error: Request rejected (429)", "rate_limit", "429"), "", quota, 0},
		{"claude", claudeError("Claude AI usage limit reached|1796047200", "rate_limit", "null"), "", quota, time.Unix(1796047200, 0).Sub(captureTime)},
		{"claude", claudeError("5-hour limit reached ∙ resets 3pm (UTC)", "", "null"), "", quota, time.Hour},
		{"claude", claudeError("You've hit your limit · resets 1:30am (UTC)", "rate_limit", "429"), "", quota, 11*time.Hour + 30*time.Minute},
		{"claude", `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1796050800}}` + "\n" +
			claudeError("API Error: Request rejected (429)", "rate_limit", "429"), "", quota, time.Unix(1796050800, 0).Sub(captureTime)},
		{"claude", claudeError("Credit balance is too low", "billing_error", "400"), "", permanent, 0},
		{"claude", claudeError("API Error: 402 payment required", "unknown", "402"), "", permanent, 0},
		{"claude", claudeError("something new", "", "null"), "", malformed, 0},
		{"claude", "", "Error: connect ECONNREFUSED 10.0.0.1:443", transient, 0},
		{"claude", "", "Invalid API key · Please run /login", permanent, 0},
		{"claude", "", "node: not found", malformed, 0},
		{"codex", codexError("exceeded retry limit, last status: 429 Too Many Requests"), "", quota, 0},
		{"codex", codexError("rate limit exceeded: Rate limit reached for gpt-5.5. Please try again in 1.2s."), "", quota, 1200 * time.Millisecond},
		{"codex", codexError("You’ve hit your usage limit. Try again in 3 days 4 hours 5 minutes."), "", quota, 76*time.Hour + 5*time.Minute},
		{"codex", codexError("You've hit your usage limit. try again at 3:05 PM."), "", quota, time.Hour + 5*time.Minute},
		{"codex", codexError("You've hit your usage limit. try again at Dec 1st, 2026 2:00 PM."), "", quota, 24 * time.Hour},
		{"codex", codexError("exceeded retry limit, last status: 503 Service Unavailable"), "", transient, 0},
		{"codex", codexError("something new"), "", malformed, 0},
		{"codex", `{"type":"thread.started","thread_id":"t"}` + "\n" + `{"type":"error","message":"unexpected status 503 Service Unavailable"}`, "", transient, 0},
		{"codex", "", "error: unexpected argument '--nosuch' found", permanent, 0},
		{"codex", "", "Not logged in. Please run codex login", permanent, 0},
	} {
		t.Run(c.adapter+"/"+short(c.stream+c.stderr, 80), func(t *testing.T) {
			p := newParser(t, c.adapter)
			feed(p, []byte(c.stream))
			o := p.Outcome(ProcessEnd{Cause: "exited", Code: 1, Stderr: c.stderr})
			require.Equal(t, c.class, o.Class, o.Message)
			require.Equal(t, c.after, o.RetryAfter)
		})
	}
}

func claudeError(text, word, status string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":%q}]},"error":%q}
{"type":"result","subtype":"success","is_error":true,"api_error_status":%s,"result":%q}
`, text, word, status, text)
}

func codexError(text string) string {
	return fmt.Sprintf(`{"type":"error","message":%q}
{"type":"turn.failed","error":{"message":%q}}
`, text, text)
}

func TestEmptyAnswersAreMalformed(t *testing.T) {
	for adapter, stream := range map[string]string{
		"claude": `{"type":"result","subtype":"success","is_error":false,"result":" \n"}`,
		"codex":  `{"type":"turn.completed","usage":{"input_tokens":5,"output_tokens":5}}`,
		"stub":   `{"type":"end"}`,
	} {
		p := newParser(t, adapter)
		feed(p, []byte(stream))
		o := p.Outcome(ProcessEnd{Cause: "exited"})
		require.Equal(t, malformed, o.Class)
		require.Equal(t, "the final message is empty", o.Message)
	}
}

// A line that was too long to be read is no empty answer.
func TestACommandsLineThatWasDroppedIsTooLong(t *testing.T) {
	o := (&commandParser{}).Outcome(ProcessEnd{Cause: "exited", Dropped: 1})
	require.Equal(t, malformed, o.Class)
	require.Contains(t, o.Message, "longer than")
	o = (&commandParser{inFile: true}).Outcome(ProcessEnd{Cause: "exited", Dropped: 1, LastMessage: []byte("fine")})
	require.Equal(t, ok, o.Class, "what it chatters does not count")
}

func TestCodexPrefersTheFileToTheStream(t *testing.T) {
	stream := []byte(`{"type":"item.completed","item":{"type":"agent_message","text":"from the stream"}}` + "\n" + `{"type":"turn.completed"}`)
	for file, want := range map[string]string{"from the file": "from the file", "": "from the stream", " \n": "from the stream"} {
		p := newParser(t, "codex")
		feed(p, stream)
		require.Equal(t, want, string(p.Outcome(ProcessEnd{Cause: "exited", LastMessage: []byte(file)}).Final))
	}
	p := newParser(t, "codex")
	feed(p, []byte(codexError("Quota exceeded.")))
	o := p.Outcome(ProcessEnd{Cause: "exited", Code: 1, LastMessage: []byte("stale")})
	require.Empty(t, o.Final, "a file beside a failure is stale")
}

func TestSubAgentsDoNotDecideTheModel(t *testing.T) {
	p := newParser(t, "claude")
	feed(p, []byte(`{"type":"system","subtype":"init","session_id":"s"}
{"type":"assistant","message":{"model":"claude-sonnet-4-5","content":[]},"session_id":"s"}
{"type":"assistant","message":{"model":"claude-haiku-4-5","content":[]},"session_id":"s","parent_tool_use_id":"t"}
{"type":"result","subtype":"success","result":"x"}
`))
	o := p.Outcome(ProcessEnd{Cause: "exited"})
	require.Equal(t, "claude-sonnet-4-5", o.Reported.Model)
	require.Empty(t, o.Notes)
}

// Another vendor's model behind the program's own protocol is that vendor's model.
func TestServedModelDecidesTheFamily(t *testing.T) {
	p := newParser(t, "claude")
	feed(p, []byte(`{"type":"system","subtype":"init","session_id":"s"}
{"type":"assistant","message":{"model":"glm-4.6","content":[]},"session_id":"s"}
`))
	r := p.Outcome(ProcessEnd{Cause: "timeout"}).Reported
	require.Equal(t, Identity{"claude", "zhipu", "glm", "glm-4.6"}, r.Identity)
	require.Equal(t, record.SourceServed, r.Source)
}

func TestAConfiguredProviderServesItsFamily(t *testing.T) {
	p := claude{}.Parser(TurnSpec{Target: Target{"claude", "bedrock", "claude", "opus"}})
	feed(p, []byte(`{"type":"system","subtype":"init","session_id":"s"}
{"type":"assistant","message":{"model":"claude-opus-4-1","content":[]},"session_id":"s"}
`))
	require.Equal(t, Identity{"claude", "bedrock", "claude", "claude-opus-4-1"}, p.Outcome(ProcessEnd{Cause: "timeout"}).Reported.Identity)
}

func TestUsageOfClaude(t *testing.T) {
	p := newParser(t, "claude")
	feed(p, []byte(`{"type":"result","subtype":"success","result":"x","total_cost_usd":0.5,"usage":{"input_tokens":1,"output_tokens":2},
"modelUsage":{"a":{"inputTokens":10,"cacheReadInputTokens":100,"cacheCreationInputTokens":1000,"outputTokens":7},"b":{"inputTokens":1,"outputTokens":1}}}`))
	require.False(t, p.Outcome(ProcessEnd{Cause: "exited"}).Usage.Known, "a line feed inside an object is two broken lines")

	p = newParser(t, "claude")
	feed(p, []byte(`{"type":"result","subtype":"success","result":"x","total_cost_usd":0.5,"usage":{"input_tokens":1,"output_tokens":2},"modelUsage":{"a":{"inputTokens":10,"cacheReadInputTokens":100,"cacheCreationInputTokens":1000,"outputTokens":7},"b":{"inputTokens":1,"outputTokens":1}}}`))
	u := p.Outcome(ProcessEnd{Cause: "exited"}).Usage
	require.Equal(t, []int64{1111, 100, 8}, []int64{u.InputTokens, u.CachedTokens, u.OutputTokens})
	require.InDelta(t, 0.5, *u.CostUSD, 1e-9)
	require.Equal(t, u.InputTokens, u.Record().InputTokens)
	require.Nil(t, Usage{}.Record())
}

func TestStrangeLines(t *testing.T) {
	lines := []string{
		"", "{", "null", "[]", "42", `"x"`, `{"type":7}`, `{"type":"assistant"}`, `{"type":"assistant","message":"x"}`, `{"type":"assistant","message":{"content":"text"}}`,
		`{"type":"result","result":7}`, `{"type":"item.completed","item":"x"}`, `{"type":"error"}`, `{"type":"turn.failed"}`, "\x00\xff\xfe", "\x1b[31m{}", strings.Repeat("[", 100_000),
		`{"type":"system","subtype":"api_retry","error_status":"401"}`, `{"type":"assistant","message":{"content":[{"type":"tool_use","name":"X","input":[1]}]}}`,
	}
	for _, adapter := range Names() {
		p := newParser(t, adapter)
		for _, l := range lines {
			p.Line([]byte(l))
		}
		if adapter != CommandName { // for which every line is text of an answer
			require.NotEqual(t, ok, p.Outcome(ProcessEnd{Cause: "exited"}).Class, adapter)
		}
	}
}

func TestMessagesAreShortAndClean(t *testing.T) {
	p := newParser(t, "claude")
	o := p.Outcome(ProcessEnd{Cause: "exited", Code: 3, Stderr: strings.Repeat("\x1b[31mé\x00\u2028bad\x1b[0m\r\n", 2000)})
	require.LessOrEqual(t, len(o.Message), 1024)
	require.True(t, utf8.ValidString(o.Message))
	for _, r := range o.Message {
		require.GreaterOrEqual(t, r, ' ')
	}
	require.Contains(t, o.Message, "exit code 3")

	long := short(strings.Repeat("é", 3000), 100)
	require.True(t, utf8.ValidString(long))
	require.LessOrEqual(t, len(long), 100)
	require.True(t, strings.HasSuffix(long, "..."))
}
