package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"conclave/internal/record"
)

// lines feeds a parser with lines of its stream and returns the outcome of an end.
func lines(p Parser, end ProcessEnd, stream ...string) (Outcome, [][]Event) {
	events := feed(p, []byte(strings.Join(stream, "\n")+"\n"))
	return p.Outcome(end), events
}

var exited = ProcessEnd{Cause: "exited"}

func TestTheSecondOverflowStopsOpencode(t *testing.T) {
	overflow := `{"type":"error","sessionID":"s1","error":{"name":"ContextOverflowError","data":{"message":"too long for the model"}}}`
	step := `{"type":"step_start","sessionID":"s1","part":{"type":"step-start"}}`

	o, events := lines(newParser(t, "opencode"), exited, overflow)
	require.Zero(t, firstFatal(events), "the first one may be mended by compacting")
	require.Equal(t, permanent, o.Class)

	o, events = lines(newParser(t, "opencode"), ProcessEnd{Cause: "fatal"}, overflow, step, overflow)
	require.Equal(t, 3, firstFatal(events))
	require.Equal(t, permanent, o.Class)
	require.Contains(t, o.Message, "too long for the model")

	// As measured: the summary is a step that stops, and words of opencode's own follow it.
	stop := `{"type":"step_finish","sessionID":"s1","part":{"type":"step-finish","reason":"stop"}}`
	summary := []string{overflow, step, `{"type":"text","sessionID":"s1","part":{"text":"VERDICT: PASS"}}`, stop}
	o, _ = lines(newParser(t, "opencode"), exited, summary...)
	require.Equal(t, malformed, o.Class, "a summary is no answer")
	require.False(t, o.TerminalEvent)
	summary = append(summary, `{"type":"text","sessionID":"s1","part":{"metadata":{"compaction_continue":true},"synthetic":true,"text":"VERDICT: PASS"}}`)
	o, _ = lines(newParser(t, "opencode"), exited, summary...)
	require.Equal(t, malformed, o.Class, "nor are its own words")
	o, _ = lines(newParser(t, "opencode"), exited, append(summary, step, `{"type":"text","sessionID":"s1","part":{"text":"VERDICT: BLOCK"}}`, stop)...)
	require.Equal(t, ok, o.Class, "compacted, and went on")
	require.Equal(t, "VERDICT: BLOCK", string(o.Final))
	o, _ = lines(newParser(t, "opencode"), exited, step, `{"type":"text","sessionID":"s1","part":{"text":"a summary in time"}}`, stop, summary[4])
	require.Equal(t, malformed, o.Class, "it would have gone on")
}

func TestOpencodesErrors(t *testing.T) {
	for _, c := range []struct {
		name, err string
		class     Class
		after     time.Duration
	}{
		{"a limit with a reset", `{"name":"APIError","data":{"message":"slow down","statusCode":429,"isRetryable":true,"responseHeaders":{"retry-after":"40"}}}`, quota, 40 * time.Second},
		{"a limit that says when", `{"name":"APIError","data":{"message":"Rate limit reached. Please try again in 20s.","statusCode":429,"isRetryable":true}}`, quota, 20 * time.Second},
		{"no money", `{"name":"APIError","data":{"message":"You exceeded your current quota","statusCode":429,"responseBody":"{\"error\":{\"code\":\"insufficient_quota\"}}"}}`, permanent, 0},
		{"no login", `{"name":"ProviderAuthError","data":{"message":"no key","providerID":"p"}}`, permanent, 0},
		{"aborted", `{"name":"MessageAbortedError","data":{"message":"aborted"}}`, aborted, 0},
		{"overloaded", `{"name":"APIError","data":{"message":"busy","statusCode":529,"isRetryable":true}}`, transient, 0},
		{"network", `{"name":"APIError","data":{"message":"Unable to connect","isRetryable":true}}`, transient, 0},
		{"a model of nobody", `{"name":"APIError","data":{"message":"model x does not exist","statusCode":400}}`, permanent, 0},
		{"a name alone", `{"name":"StrangeError"}`, malformed, 0},
		{"nothing", `{}`, malformed, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, _ := lines(newParser(t, "opencode"), ProcessEnd{Cause: "exited", Code: 1}, `{"type":"step_start","sessionID":"s1"}`, `{"type":"error","sessionID":"s1","error":`+c.err+`}`)
			require.Equal(t, c.class, o.Class, o.Message)
			require.Equal(t, c.after, o.RetryAfter)
			require.NotEmpty(t, o.Message)
		})
	}
}

func TestOpencodeCountsCachedAndReasoningTokens(t *testing.T) {
	o, _ := lines(newParser(t, "opencode"), exited,
		`{"type":"step_start","sessionID":"s1"}`, `{"type":"text","sessionID":"s1","part":{"text":"a"}}`, `{"type":"text","sessionID":"s1","part":{"text":"b"}}`,
		`{"type":"step_finish","sessionID":"s1","part":{"reason":"stop","tokens":{"input":10,"output":5,"reasoning":3,"cache":{"read":100,"write":7}},"cost":0}}`)
	require.Equal(t, ok, o.Class)
	require.Equal(t, "a\nb", string(o.Final))
	require.Equal(t, Usage{InputTokens: 117, CachedTokens: 100, OutputTokens: 8, Known: true}, o.Usage, "a cost of zero is a model without a price")
}

func TestGeminisResults(t *testing.T) {
	result := func(message string) string {
		return `{"type":"result","status":"error","error":{"type":"unknown","message":"` + message + `"}}`
	}
	for _, c := range []struct {
		line, stderr string
		exit         int
		class        Class
		after        time.Duration
	}{
		{result("[API Error: Please retry in 34.5s]"), "", 173, quota, 34500 * time.Millisecond},
		{result("[API Error: gone]"), "", 429 & 255, quota, 0},
		{result("[API Error: odd]"), "", 503 & 255, transient, 0},
		{result("[API Error: odd]"), "", 1, malformed, 0},
		{result("[API Error: odd]"), "x _ApiError: {\"error\":{\"code\":503,\"status\":\"UNAVAILABLE\"}}", 1, transient, 0},
		{result(`[API Error: {\"error\":{\"code\":400,\"message\":\"The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).\"}}]`), "", 144, permanent, 0},
		{result("[API Error: exception TypeError: fetch failed sending request]"), "", 1, transient, 0},
		{`{"type":"result","status":"success","stats":{"models":{}}}`, "", 0, malformed, 0},
		{"", "Unknown arguments: foo", 1, permanent, 0},
		{"", "", 53, permanent, 0},
	} {
		end := ProcessEnd{Cause: "exited", Code: c.exit, Stderr: c.stderr}
		o, _ := lines(newParser(t, "gemini"), end, `{"type":"init","session_id":"s","model":"m"}`, c.line)
		require.Equal(t, c.class, o.Class, "%s %d: %s", c.line, c.exit, o.Message)
		require.Equal(t, c.after, o.RetryAfter)
	}
	o, _ := lines(newParser(t, "gemini"), exited, `{"type":"init","session_id":"s"}`, `{"type":"message","role":"assistant","content":"x"}`,
		`{"type":"result","status":"success","stats":{"total_tokens":60,"input_tokens":40,"output_tokens":5,"cached":30,"models":{"small":{"total_tokens":5,"output_tokens":1},"large":{"total_tokens":55,"output_tokens":4},"idle":{"total_tokens":0}}}}`)
	require.Equal(t, Usage{InputTokens: 40, CachedTokens: 30, OutputTokens: 20, Known: true}, o.Usage, "thoughts are output")
	require.Equal(t, "large", o.Reported.Model)
	require.Contains(t, strings.Join(o.Notes, ";"), "several models answered: large, small")
}

// TestCodexReportsASessionsSum: a resumed turn's share is the sum without what went before.
func TestCodexReportsASessionsSum(t *testing.T) {
	known := func(in, cached, out int64) Usage {
		return Usage{InputTokens: in, CachedTokens: cached, OutputTokens: out, Known: true}
	}
	for _, c := range []struct {
		name          string
		spec          TurnSpec
		earlier, want Usage
	}{
		{"a fresh session", TurnSpec{Writing: true}, known(900, 90, 9), known(3000, 200, 30)},
		{"after one turn", TurnSpec{Writing: true, Resume: "s"}, known(1000, 50, 10), known(2000, 150, 20)},
		{"after turns of unknown usage", TurnSpec{Writing: true, Resume: "s"}, Usage{}, Usage{}},
		{"no sum after all", TurnSpec{Writing: true, Resume: "s"}, known(5000, 50, 10), known(3000, 200, 30)},
		{"a reader resumes nothing", TurnSpec{Resume: "s"}, known(1000, 50, 10), known(3000, 200, 30)},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.spec.Target, c.spec.Earlier = asked("codex"), c.earlier
			o, events := lines(codex{}.Parser(c.spec), exited, `{"type":"thread.started","thread_id":"s"}`,
				`{"type":"item.completed","item":{"type":"agent_message","text":"x"}}`,
				`{"type":"turn.completed","usage":{"input_tokens":3000,"cached_input_tokens":200,"output_tokens":30}}`)
			require.Equal(t, ok, o.Class)
			require.Equal(t, c.want, o.Usage)
			require.Equal(t, c.want.Known, len(events[2]) == 1)
		})
	}
}

const thread = "01a22df3-23e8-7d30-a514-573433fa52ba"

func TestCodexSessionFile(t *testing.T) {
	dir := t.TempDir()
	day := filepath.Join(dir, "2026", "11", "30")
	require.NoError(t, os.MkdirAll(day, 0o755))
	path := filepath.Join(day, "rollout-2026-11-30T14-00-00-"+thread+".jsonl")
	outcome := func(target Target) *Reported {
		o, _ := lines(codex{}.Parser(TurnSpec{Target: target}), ProcessEnd{Cause: "exited", SessionDir: dir}, `{"type":"thread.started","thread_id":"`+thread+`"}`)
		return o.Reported
	}
	none := Target{Adapter: "codex", Provider: "openai", ModelFamily: "gpt", Model: DefaultModel}
	require.Equal(t, &Reported{none, record.SourceAdapter}, outcome(none), "no file")

	meta := `{"type":"session_meta","payload":{"model_provider":"fake","base_instructions":"` + strings.Repeat("x", 200_000) + `"}}` + "\n"
	context := func(model string) string { return `{"type":"turn_context","payload":{"model":"` + model + `"}}` + "\n" }
	noise := "no JSON \"turn_context\"\n" + `{"type":"event","payload":{"model":"no","text":"\"turn_context\""}}` + "\n"
	for content, want := range map[string]string{
		meta + context("gpt-5.5") + noise:                      "openai/gpt/gpt-5.5",
		meta + context("gpt-5.5") + noise + context("gpt-6-x"): "openai/gpt/gpt-6-x",
		meta + context("qwen3"):                                "alibaba/qwen/qwen3",
		context("unheard-of"):                                  "openai/gpt/unheard-of",
		context("cut")[:30]:                                    "openai/gpt/default",
		meta:                                                   "openai/gpt/default",
		"":                                                     "openai/gpt/default",
	} {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		r := outcome(none)
		require.Equal(t, want, r.Provider+"/"+r.ModelFamily+"/"+r.Model)
		require.Equal(t, map[bool]string{true: record.SourceAdapter, false: record.SourceSessionFile}[r.Model == DefaultModel], r.Source)
	}

	// What the program's tools may have put there is not followed, waited for or believed.
	require.NoError(t, os.Remove(path))
	require.NoError(t, unix.Mkfifo(path, 0o600))
	require.Equal(t, record.SourceAdapter, outcome(none).Source)
	require.NoError(t, os.Remove(path))
	other := filepath.Join(t.TempDir(), "other")
	require.NoError(t, os.WriteFile(other, []byte(context("gpt-5.5")), 0o600))
	require.NoError(t, os.Symlink(other, path))
	require.Equal(t, record.SourceAdapter, outcome(none).Source)
	require.Empty(t, codexSessionDir([]string{"CODEX_HOME=relative"}))
	require.Equal(t, "/c/sessions", codexSessionDir([]string{"HOME=/h", "CODEX_HOME=/c"}))
	require.Equal(t, "/h/.codex/sessions", codexSessionDir([]string{"HOME=/h"}))
}

// TestOnlyWritersResume: a reviewer has a fresh context, whatever it is told.
func TestOnlyWritersResume(t *testing.T) {
	dir := t.TempDir()
	for adapter, want := range map[string]string{"claude": "--resume OLD", "codex": "resume OLD -", "opencode": "-s OLD", "gemini": "--resume OLD"} {
		program(t, dir, adapter, "")
		for _, writing := range []bool{true, false} {
			a, err := Settings{}.Lookup(adapter)
			require.NoError(t, err)
			inv, err := a.Invocation(TurnSpec{Writing: writing, Resume: "OLD", Workspace: dir, Scratch: dir, SessionID: thread, Target: asked(adapter)},
				Settings{Environ: []string{"PATH=" + dir}, CLISandbox: CLISandboxOff})
			require.NoError(t, err)
			args := strings.Join(inv.Args, " ")
			require.Equal(t, writing, strings.Contains(args+" ", want), args)
			require.Equal(t, writing, strings.Contains(args, "OLD"), args)
			require.False(t, writing && strings.Contains(args, "--session-id"), "both are refused by the programs")
		}
	}
}

func TestASessionThatIsGoneIsTold(t *testing.T) {
	for adapter, stderr := range map[string]string{
		"claude": "No conversation found with session ID: x", "codex": "Error: thread/resume: thread/resume failed: no rollout found for thread id x (code -32600)",
		"opencode": "\x1b[91m\x1b[1mError: \x1b[0mSession not found", "gemini": "Error resuming session: No previous sessions found for this project.",
	} {
		o := newParser(t, adapter).Outcome(ProcessEnd{Cause: "exited", Code: 1, Stderr: stderr})
		require.True(t, o.NoSession, "%s: %s", adapter, o.Message)
		require.Equal(t, permanent, o.Class)
		require.False(t, newParser(t, adapter).Outcome(ProcessEnd{Cause: "exited", Code: 1, Stderr: "rate limit"}).NoSession)
	}
}

func TestAWaitThatNobodyCanMean(t *testing.T) {
	for said, want := range map[string]time.Duration{
		"try again in 99999999999999999999 hours": 0, "try again in 1e9 s": 0, "try again in 2 days and 3 hours": 51 * time.Hour, "try again in 99999 days": 99999 * 24 * time.Hour,
	} {
		require.Equal(t, want, resetIn(said, captureTime), said)
	}
}

// TestAClockThatJustPassedIsNotTomorrows: codex leaves out the seconds of a reset, and a limit that is lifted within this
// minute must not be waited out for a day.
func TestAClockThatJustPassedIsNotTomorrows(t *testing.T) {
	at := func(hour, minute, second int) time.Time {
		return time.Date(2026, 11, 30, hour, minute, second, 0, time.UTC)
	}
	for _, c := range []struct {
		said string
		now  time.Time
		want time.Duration
	}{
		{"try again at 3:05 PM.", at(15, 4, 50), 10 * time.Second},
		{"try again at 3:05 PM.", at(15, 5, 0), time.Minute},
		{"try again at 3:05 PM.", at(15, 5, 20), 40 * time.Second},
		{"try again at 3:05 PM.", at(15, 6, 20), time.Second},
		{"try again at 3:05 PM.", at(16, 5, 1), 22*time.Hour + 59*time.Minute + 59*time.Second},
		{"try again at 11:59 PM.", at(0, 0, 20), time.Second},
		{"try again at 11:59 PM.", at(1, 0, 20), 22*time.Hour + 58*time.Minute + 40*time.Second},
		{"try again at 12:00 AM.", at(23, 59, 20), 40 * time.Second},
		{"resets 3pm (Europe/Paris)", at(14, 0, 30), 30 * time.Second},
	} {
		require.Equal(t, c.want, resetIn(c.said, c.now), "%s at %s", c.said, c.now)
	}
}
