package agent

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"conclave/internal/record"
)

// expectation is what we make of one captured stream. The table is reviewed case by case.
type expectation struct {
	name     string // file in testdata/captures/<adapter>
	exit     int    // 124: the capture's own time limit; negative: a signal
	class    Class
	final    string // beginning of the final message
	message  string // part of the message
	reported string // model/source; "" is unknown
	tokens   [2]int64
	fatal    int // line after which we would have stopped; 0 is none
	note     string
}

const (
	ok        = record.ClassOK
	malformed = record.ClassMalformed
	transient = record.ClassTransient
	quota     = record.ClassQuota
	permanent = record.ClassPermanent
	timeout   = record.ClassTimeout
	aborted   = record.ClassAborted
)

const (
	done   = "Done.\nVERDICT: PASS"
	review = "Review done.\nVERDICT: FAIL"
	block  = `{"verdict":"fail","findings":[`
	sonnet = "claude-sonnet-4-5/served"
	pinned = "asked-model/pinned"
)

var claudeCaptures = []expectation{
	// a terminal event without an error
	{"impl-ok", 0, ok, done, "", sonnet, [2]int64{2000, 100}, 0, ""},
	{"impl-ok-bare", 0, ok, done, "", sonnet, [2]int64{2000, 100}, 0, ""},
	{"impl-bash-acceptedits", 0, ok, done, "", sonnet, [2]int64{2000, 100}, 0, "1 tool calls were refused"},
	{"impl-bash-allowed", 0, ok, done, "", sonnet, [2]int64{2000, 100}, 0, ""},
	{"impl-bypass-root-issandbox", 0, ok, done, "", sonnet, [2]int64{2000, 100}, 0, ""},
	{"rec-implementer", 0, ok, done, "", sonnet, [2]int64{5000, 250}, 0, "1 tool calls were refused"},
	{"rec-implementer-scrub", 0, ok, done, "", sonnet, [2]int64{5000, 250}, 0, "2 tool calls were refused"},
	{"rec-reviewer", 0, ok, block, "", sonnet, [2]int64{2000, 100}, 0, ""},
	{"review-schema", 0, ok, block, "", sonnet, [2]int64{2000, 100}, 0, ""},
	{"review-schema-nobare", 0, ok, block, "", sonnet, [2]int64{2000, 100}, 0, ""},
	{"review-schema-bad", 0, ok, "I refuse to call the tool.", "", sonnet, [2]int64{3000, 150}, 0, ""}, // the answer's parser decides
	{"ro-default", 0, ok, review, "", sonnet, [2]int64{5000, 250}, 0, "1 tool calls were refused"},
	{"ro-dontask", 0, ok, review, "", sonnet, [2]int64{5000, 250}, 0, "1 tool calls were refused"},
	{"ro-plan", 0, ok, review, "", sonnet, [2]int64{5000, 250}, 0, "1 tool calls were refused"},
	{"hookrepo-bare", 0, ok, review, "", sonnet, [2]int64{5000, 250}, 0, "1 tool calls were refused"},
	{"hookrepo-default", 0, ok, review, "", sonnet, [2]int64{5000, 250}, 0, "2 tool calls were refused"},
	{"hookrepo-nosources", 0, ok, review, "", sonnet, [2]int64{5000, 250}, 0, "2 tool calls were refused"},
	{"hookrepo-safemode", 0, ok, review, "", sonnet, [2]int64{5000, 250}, 0, "2 tool calls were refused"},
	{"edit-outside", 0, ok, done, "", sonnet, [2]int64{3000, 150}, 0, "1 tool calls were refused"},
	{"edit-outside-allowed", 0, ok, done, "", sonnet, [2]int64{3000, 150}, 0, ""},
	{"edit-outside-scoped", 0, ok, done, "", sonnet, [2]int64{3000, 150}, 0, "1 tool calls were refused"},
	{"env-scrub", 0, ok, done, "", sonnet, [2]int64{2000, 100}, 0, ""},
	{"sandbox", 0, ok, done, "", sonnet, [2]int64{5000, 250}, 0, ""},
	{"sandbox-nobare", 0, ok, done, "", sonnet, [2]int64{5000, 250}, 0, ""},
	{"sandbox-nosafe", 0, ok, done, "", sonnet, [2]int64{5000, 250}, 0, ""},
	{"sandbox-missing-bwrap", 0, ok, done, "", sonnet, [2]int64{5000, 250}, 0, "its commands ran without one"},
	{"session-id", 0, ok, done, "", sonnet, [2]int64{1000, 50}, 0, ""},
	{"resume", 0, ok, done, "", sonnet, [2]int64{1000, 50}, 0, ""},
	{"stdin-big", 0, ok, done, "", sonnet, [2]int64{1000, 50}, 0, ""},
	{"stdin-streamjson", 0, ok, done, "", sonnet, [2]int64{1000, 50}, 0, ""},
	{"partial", 0, ok, done, "", sonnet, [2]int64{1000, 50}, 0, ""},
	{"reap-subreaper", 0, ok, done, "", sonnet, [2]int64{2000, 100}, 0, ""},
	{"err-drop-retries2", 0, ok, "This answer is going to be cut", "", sonnet, [2]int64{1000, 50}, 0, ""}, // it asked again without streaming
	{"othermodel", 0, ok, done, "", "other-model-20990101/served", [2]int64{1000, 50}, 0, ""},
	{"json-format", 0, ok, done, "", "", [2]int64{1000, 50}, 0, ""},          // no session-start event in this format
	{"sig-TERM-pid-5s", 0, ok, done, "", sonnet, [2]int64{2000, 100}, 0, ""}, // somebody else's TERM came too late to matter

	// refused: login, money, model, size, flags
	{"err-401-retries0", 1, permanent, "", "Failed to authenticate. API Error: 401", pinned, [2]int64{}, 0, ""},
	{"err-401", 124, permanent, "", "authentication_failed (status 401): log in again", pinned, [2]int64{}, 2, ""},
	{"err-403", 1, permanent, "", "API Error: 403", pinned, [2]int64{}, 0, ""},
	{"no-key", 1, permanent, "", "Not logged in", pinned, [2]int64{}, 0, ""},
	{"err-404", 1, permanent, "", "issue with the selected model", pinned, [2]int64{}, 0, ""},
	{"err-400", 1, permanent, "", "API Error: 400", pinned, [2]int64{}, 0, ""},
	{"err-400-toolong", 1, permanent, "", "Prompt is too long", pinned, [2]int64{}, 0, ""},
	{"err-413", 1, permanent, "", "Request too large", pinned, [2]int64{}, 0, ""},
	{"max-tokens", 1, permanent, "", "exceeded the 32000 output token", sonnet, [2]int64{4000, 200}, 0, ""},
	{"max-turns", 1, permanent, "", "Reached maximum number of turns", sonnet, [2]int64{2000, 100}, 0, ""},
	{"max-budget", 1, permanent, "", "Reached maximum budget", sonnet, [2]int64{1000, 50}, 0, ""},
	{"refusal", 1, permanent, "", "unable to respond to this request", pinned, [2]int64{1000, 50}, 0, ""},
	{"bad-model-flag", 1, permanent, "", "unknown option '--nosuchflag'", "", [2]int64{}, 0, ""},
	{"session-id-again", 1, permanent, "", "already in use", "", [2]int64{}, 0, ""},
	{"resume-unknown", 1, permanent, "", "No conversation found", "", [2]int64{}, 0, ""},
	{"impl-bypass-root", 1, permanent, "", "cannot be used with root", "", [2]int64{}, 0, ""},
	{"sandbox-missing-bwrap-fail", 1, permanent, "", "bubblewrap", "", [2]int64{}, 0, ""},

	// passing trouble
	{"err-500-retries2", 1, transient, "", "API Error: 500", pinned, [2]int64{}, 0, ""},
	{"err-529-default", 1, transient, "", "API Error: 529", pinned, [2]int64{}, 0, ""},
	{"err-529-retries2", 1, transient, "", "API Error: 529", pinned, [2]int64{}, 0, ""},
	{"err-refused-retries2", 1, transient, "", "Unable to connect", pinned, [2]int64{}, 0, ""},
	{"err-streamerr-retries2", 1, transient, "", "empty or malformed response", pinned, [2]int64{3000, 3}, 0, ""},

	// killed
	{"hang-apitimeout5s", 124, timeout, "", "timed out", pinned, [2]int64{}, 0, ""},
	{"hang-idle5s", 124, timeout, "", "timed out", pinned, [2]int64{}, 0, ""},
	{"sig-INT-pid", 1, aborted, "", "interrupted", sonnet, [2]int64{1000, 50}, 0, ""},
	{"sig-INT-pid-5s", 1, aborted, "", "interrupted", sonnet, [2]int64{1000, 50}, 0, ""},
	{"sig-INT-pid-settle0.7", 1, aborted, "", "interrupted", sonnet, [2]int64{1000, 50}, 0, ""},
	{"sig-INT-pid-settle2.5", 1, aborted, "", "interrupted", sonnet, [2]int64{1000, 50}, 0, ""},
	{"sig-KILL-pgrp", -9, transient, "", "was killed by signal 9", sonnet, [2]int64{}, 0, ""},
	{"sig-KILL-pid", -9, transient, "", "was killed by signal 9", sonnet, [2]int64{}, 0, ""},
	{"sig-pidns-KILL", -9, transient, "", "was killed by signal 9", sonnet, [2]int64{}, 0, ""},
	{"sig-sandbox-KILL-pid", -9, transient, "", "was killed by signal 9", sonnet, [2]int64{}, 0, ""},
	{"sig-TERM-pgrp", 143, transient, "", "exit code 143 without a final event", sonnet, [2]int64{}, 0, ""},
	{"sig-TERM-pgrp-settle2.5", 143, transient, "", "exit code 143", sonnet, [2]int64{}, 0, ""},
	{"sig-TERM-pid", 143, transient, "", "exit code 143", sonnet, [2]int64{}, 0, ""},
	{"sig-TERM-pid-5s-slowmodel", 143, transient, "", "exit code 143", sonnet, [2]int64{}, 0, ""},
	{"sig-TERM-pid-settle0.7", 143, transient, "", "exit code 143", sonnet, [2]int64{}, 0, ""},
	{"sig-TERM-pid-settle2.5", 143, transient, "", "exit code 143", sonnet, [2]int64{}, 0, ""},
	{"sig-sandbox-TERM-pid", 143, transient, "", "exit code 143", sonnet, [2]int64{}, 0, ""},

	// no stream at all: exit 0 means nothing
	{"text-format", 0, malformed, "", "exit code 0 without a final event", "", [2]int64{}, 0, ""},
}

var codexCaptures = []expectation{
	{"impl-ok", 0, ok, done, "", pinned, [2]int64{2000, 100}, 0, "Model metadata for"},
	{"impl-patch", 0, ok, done, "", pinned, [2]int64{4000, 200}, 0, ""},
	{"implfull", 0, ok, done, "", pinned, [2]int64{4000, 200}, 0, ""},
	{"ro-schema", 0, ok, block, "", pinned, [2]int64{4000, 200}, 0, ""},
	{"schema-bad", 0, ok, "This is not JSON at all.", "", pinned, [2]int64{1000, 50}, 0, ""}, // codex does not check schemas
	{"ro-failing-commands", 0, ok, done, "", pinned, [2]int64{4000, 200}, 0, ""},
	{"ww-failing-commands", 0, ok, done, "", pinned, [2]int64{4000, 200}, 0, ""},
	{"ephemeral", 0, ok, done, "", pinned, [2]int64{1000, 50}, 0, ""},
	{"session", 0, ok, done, "", pinned, [2]int64{1000, 50}, 0, ""},
	{"resume", 0, ok, done, "", pinned, [2]int64{2000, 100}, 0, ""},
	{"othermodel", 0, ok, done, "", pinned, [2]int64{1000, 50}, 0, ""}, // the served model is nowhere in the stream
	{"stdin-1048000", 0, ok, done, "", pinned, [2]int64{1000, 50}, 0, ""},
	{"review", 0, ok, "because\n\nReview comment:", "", pinned, [2]int64{}, 0, ""}, // usage reported as zero is unknown
	{"hookrepo", 0, ok, block, "", pinned, [2]int64{4000, 200}, 0, ""},
	{"hookrepo-again1", 0, ok, block, "", pinned, [2]int64{4000, 200}, 0, ""},
	{"hookrepo-again2", 0, ok, block, "", pinned, [2]int64{4000, 200}, 0, ""},
	{"hookrepo-nodoc", 0, ok, block, "", pinned, [2]int64{4000, 200}, 0, ""},

	{"err-401", 1, permanent, "", "unexpected status 401", pinned, [2]int64{}, 3, ""},
	{"err-403", 1, permanent, "", "unexpected status 403", pinned, [2]int64{}, 3, ""},
	{"err-404", 1, permanent, "", "unexpected status 404", pinned, [2]int64{}, 3, ""},
	{"err-400", 1, permanent, "", "invalid_request_error", pinned, [2]int64{}, 0, ""},
	{"fail-lastmsg", 1, permanent, "", "invalid_request_error", pinned, [2]int64{}, 0, ""},
	{"err-429-quota", 1, permanent, "", "Quota exceeded", pinned, [2]int64{}, 0, ""},
	{"err-stream-quota", 1, permanent, "", "Quota exceeded", pinned, [2]int64{}, 0, ""},
	{"err-stream-toolong", 1, permanent, "", "ran out of room", pinned, [2]int64{}, 0, ""},
	{"stdin-big", 1, permanent, "", "maximum length of 1048576 characters", pinned, [2]int64{}, 0, ""},
	{"err-429-usagelimit", 1, quota, "", "hit your usage limit", pinned, [2]int64{}, 0, ""},

	{"err-500", 1, transient, "", "high demand", pinned, [2]int64{}, 0, ""},
	{"err-503", 1, transient, "", "unexpected status 503", pinned, [2]int64{}, 0, ""},
	{"err-529", 1, transient, "", "unexpected status 529", pinned, [2]int64{}, 0, ""},
	{"err-drop", 1, transient, "", "stream disconnected", pinned, [2]int64{}, 0, ""},
	{"err-refused-noretry", 1, transient, "", "Connection failed", pinned, [2]int64{}, 0, ""},
	{"err-stream-overloaded", 1, transient, "", "at capacity", pinned, [2]int64{}, 0, ""},
	{"hang-idle3s", 1, transient, "", "idle timeout", pinned, [2]int64{}, 0, ""},

	{"sig-KILL-pgrp", -9, transient, "", "was killed by signal 9", pinned, [2]int64{}, 0, ""},
	{"sig-KILL-pid", -9, transient, "", "was killed by signal 9", pinned, [2]int64{}, 0, ""},
	{"sig-nosandbox-KILL-pgrp", -9, transient, "", "was killed by signal 9", pinned, [2]int64{}, 0, ""},
	{"sig-TERM-pid", -15, transient, "", "was killed by signal 15", pinned, [2]int64{}, 0, ""},
	{"sig-nosandbox-TERM-pid", -15, transient, "", "was killed by signal 15", pinned, [2]int64{}, 0, ""},
	{"sig-INT-pid", 1, malformed, "", "exit code 1 without a final event", pinned, [2]int64{}, 0, ""},
	{"header", 0, malformed, "", "exit code 0 without a final event", "", [2]int64{}, 0, ""}, // not the JSON stream
}

// captureTime is the clock of the tests, in the zone in which the captures were made.
var captureTime = time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC)

// asked is the target of all captures: a name that no stream holds.
func asked(adapter string) Target {
	t, _ := TargetFor(adapter, "asked-model", Settings{})
	return t
}

func newParser(t *testing.T, adapter string) Parser {
	t.Helper()
	a, err := Lookup(adapter)
	require.NoError(t, err)
	p := a.Parser(TurnSpec{Target: asked(adapter)})
	switch p := p.(type) {
	case *claudeParser:
		p.now = func() time.Time { return captureTime }
	case *codexParser:
		p.now = func() time.Time { return captureTime }
	}
	return p
}

// feed gives a stream to a parser and returns the events by line.
func feed(p Parser, stream []byte) [][]Event {
	var events [][]Event
	for line := range bytes.Lines(stream) {
		events = append(events, p.Line(bytes.TrimSuffix(line, []byte("\n"))))
	}
	return events
}

func readCapture(t *testing.T, adapter, name string) (stdout []byte, stderr string) {
	t.Helper()
	base := filepath.Join("testdata", "captures", adapter, name)
	stdout, err := os.ReadFile(base + ".stdout")
	require.NoError(t, err)
	b, err := os.ReadFile(base + ".stderr")
	if err != nil {
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	return stdout, string(b)
}

func eachCapture(t *testing.T, f func(t *testing.T, adapter string, e expectation)) {
	for adapter, table := range map[string][]expectation{"claude": claudeCaptures, "codex": codexCaptures} {
		for _, e := range table {
			t.Run(adapter+"/"+e.name, func(t *testing.T) { f(t, adapter, e) })
		}
	}
}

func TestCaptures(t *testing.T) {
	eachCapture(t, func(t *testing.T, adapter string, e expectation) {
		stdout, stderr := readCapture(t, adapter, e.name)
		p := newParser(t, adapter)
		events := feed(p, stdout)
		o := p.Outcome(EndFromExit(e.exit, stderr))

		require.Equal(t, e.class, o.Class, o.Message)
		require.True(t, strings.HasPrefix(string(o.Final), e.final), "%q", o.Final)
		require.Contains(t, o.Message, e.message)
		require.LessOrEqual(t, len(o.Message), 1024)
		if e.class == ok {
			require.Empty(t, o.Code)
			require.Empty(t, o.Message)
			require.True(t, o.TerminalEvent)
			require.NotEmpty(t, o.Final)
		} else {
			require.NotEmpty(t, o.Code)
			require.Empty(t, o.Final, "a failed turn has no answer")
		}
		if e.reported == "" {
			require.Nil(t, o.Reported)
		} else {
			require.NotNil(t, o.Reported)
			require.Equal(t, e.reported, o.Reported.Model+"/"+o.Reported.Source)
			require.Equal(t, asked(adapter).Provider, o.Reported.Provider)
		}
		require.Equal(t, e.tokens, [2]int64{o.Usage.InputTokens, o.Usage.OutputTokens})
		require.Equal(t, e.tokens != [2]int64{}, o.Usage.Known, "unknown is never zero")
		require.Equal(t, e.fatal, firstFatal(events))
		require.Contains(t, strings.Join(o.Notes, "; "), e.note)
		if e.note == "" {
			require.Empty(t, o.Notes)
		}
	})
}

func firstFatal(events [][]Event) int {
	for i, line := range events {
		if FatalReason(line) != "" {
			return i + 1
		}
	}
	return 0
}

func TestEveryCaptureIsInTheTable(t *testing.T) {
	total := 0
	for adapter, table := range map[string][]expectation{"claude": claudeCaptures, "codex": codexCaptures} {
		files, err := filepath.Glob(filepath.Join("testdata", "captures", adapter, "*.stdout"))
		require.NoError(t, err)
		require.Len(t, table, len(files), adapter)
		total += len(files)
	}
	require.Equal(t, 117, total)
}

// A stream that is cut anywhere before its terminal event is never ok, and what was known at the cut stays known.
func TestCutStreams(t *testing.T) {
	eachCapture(t, func(t *testing.T, adapter string, e expectation) {
		stdout, stderr := readCapture(t, adapter, e.name)
		terminal := terminalLine(stdout)
		for _, n := range cuts(stdout) {
			for _, exit := range []int{0, 1, -9} {
				p := newParser(t, adapter)
				feed(p, stdout[:n])
				o := p.Outcome(EndFromExit(exit, stderr))
				require.NotEmpty(t, o.Class)
				if terminal < 0 || n < terminal {
					require.NotEqual(t, ok, o.Class, "cut at byte %d, exit %d", n, exit)
					require.False(t, o.TerminalEvent)
				}
				if o.Class != ok {
					require.Empty(t, o.Final)
				}
			}
		}
	})
}

// terminalLine is where the terminal event ends, without its line feed; -1 when there is none.
func terminalLine(stream []byte) int {
	pos := 0
	for line := range bytes.Lines(stream) {
		body := bytes.TrimSuffix(line, []byte("\n"))
		for _, mark := range []string{`{"type":"result"`, `{"type":"turn.completed"`, `{"type":"turn.failed"`} {
			if bytes.HasPrefix(body, []byte(mark)) {
				return pos + len(body)
			}
		}
		pos += len(line)
	}
	return -1
}

// cuts are all line ends, and in short streams some places inside each line.
func cuts(stream []byte) []int {
	var at []int
	pos := 0
	for line := range bytes.Lines(stream) {
		for i := 0; i < len(line) && len(stream) <= 32<<10; i += max(1, len(line)/7) {
			at = append(at, pos+i)
		}
		pos += len(line)
		at = append(at, pos-1, pos)
	}
	return at
}

func TestUsageLimitSaysUntilWhen(t *testing.T) {
	stdout, _ := readCapture(t, "codex", "err-429-usagelimit")
	p := newParser(t, "codex")
	feed(p, stdout)
	o := p.Outcome(EndFromExit(1, ""))
	require.Equal(t, time.Date(2033, 5, 18, 3, 33, 0, 0, time.UTC).Sub(captureTime), o.RetryAfter)
}

func TestOurOwnSignalIsNeverOK(t *testing.T) {
	for adapter, name := range map[string]string{"claude": "impl-ok", "codex": "implfull"} {
		stdout, _ := readCapture(t, adapter, name)
		for cause, want := range map[string]Class{
			"timeout": timeout, "idle": timeout, "stopped": aborted, "start-failed": permanent, "lost": transient, "fatal": transient,
			"": malformed, "no such cause": malformed,
		} {
			p := newParser(t, adapter)
			feed(p, stdout)
			o := p.Outcome(ProcessEnd{Cause: cause, Code: 0, Limit: 2 * time.Second, Message: "why"})
			require.Equal(t, want, o.Class, "%s %q", adapter, cause)
		}
	}
}

func TestExitCodeBesideAnAnswer(t *testing.T) {
	for adapter, name := range map[string]string{"claude": "impl-ok", "codex": "implfull"} {
		stdout, _ := readCapture(t, adapter, name)
		for _, end := range []ProcessEnd{{Cause: "exited", Code: 1}, {Cause: "exited", Code: -1, Signal: "SIGKILL"}} {
			p := newParser(t, adapter)
			feed(p, stdout)
			o := p.Outcome(end)
			require.Equal(t, ok, o.Class)
			require.Len(t, o.Notes, 1)
		}
	}
}

func TestSessionsAndModelsAreKnownFromTheFirstEvent(t *testing.T) {
	for adapter, name := range map[string]string{"claude": "impl-ok", "codex": "implfull"} {
		stdout, _ := readCapture(t, adapter, name)
		first, _, _ := bytes.Cut(stdout, []byte("\n"))
		p := newParser(t, adapter)
		events := p.Line(first)
		require.Len(t, events, 1)
		require.Equal(t, EventStart, events[0].Kind)
		require.NotEmpty(t, events[0].Session)
		o := p.Outcome(ProcessEnd{Cause: "timeout"})
		require.Equal(t, SourcePinned, o.Reported.Source)
		require.Equal(t, events[0].Session, o.Session)

		p = newParser(t, adapter)
		require.Nil(t, p.Outcome(ProcessEnd{Cause: "timeout"}).Reported, "a call that died before is unknown")
	}
}

func TestActions(t *testing.T) {
	var actions []string
	for adapter, name := range map[string]string{"claude": "rec-implementer"} {
		stdout, _ := readCapture(t, adapter, name)
		for _, line := range feed(newParser(t, adapter), stdout) {
			for _, e := range line {
				if e.Kind == EventAction {
					actions = append(actions, e.Action())
				}
			}
		}
	}
	require.Equal(t, []string{
		"Write /ws/made.txt", "Write /outside/escape-claude.txt", "Bash go version; echo hi > bashmade.txt && ls",
		"Bash touch /outside/escape-claude-sh; touch .git/x; git commit -qam z",
	}, actions)

	stdout, _ := readCapture(t, "codex", "implfull")
	actions = nil
	for _, line := range feed(newParser(t, "codex"), stdout) {
		for _, e := range line {
			if e.Kind == EventAction {
				actions = append(actions, short(e.Action(), 40))
			}
		}
	}
	require.Equal(t, []string{"edit /ws/main.go /ws/patched.txt", "shell /bin/bash -lc 'echo in > in.txt..."}, actions)
}
