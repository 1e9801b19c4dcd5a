package agent

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"conclave/internal/record"
)

// captureTime is the clock of the tests, in the zone in which the captures were made.
var captureTime = time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC)

// asked is the target of all captures: a name that no stream holds.
func asked(adapter string) Target {
	t, err := TargetFor(adapter, "asked-model", Settings{})
	if err != nil { // opencode has no identity of its own
		return Target{Adapter: adapter, Provider: "acme", ModelFamily: "roadrunner", Model: "asked-model"}
	}
	return t
}

func newParser(t *testing.T, adapter string) Parser {
	t.Helper()
	a, err := Settings{}.Lookup(adapter)
	require.NoError(t, err)
	p := a.Parser(TurnSpec{Target: asked(adapter)})
	switch p := p.(type) {
	case *claudeParser:
		p.now = func() time.Time { return captureTime }
	case *opencodeParser:
		p.now = func() time.Time { return captureTime }
	case *geminiParser:
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
	for adapter, table := range captureTables {
		if adapter == "qwen" {
			continue
		}
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
		require.Equal(t, streamSession(stdout), o.Session)
		cost := 0.0
		if o.Usage.CostUSD != nil {
			cost = *o.Usage.CostUSD
		}
		require.Equal(t, streamCost(adapter, stdout), fmt.Sprintf("%.5f", cost))
		require.Equal(t, e.tokens, [2]int64{o.Usage.InputTokens, o.Usage.OutputTokens})
		require.Equal(t, e.tokens != [2]int64{}, o.Usage.Known, "unknown is never zero")
		require.Equal(t, e.fatal, firstFatal(events))
		require.Contains(t, strings.Join(o.Notes, "; "), e.note)
		if e.note == "" {
			require.Empty(t, o.Notes)
		}
	})
}

var (
	sessionPattern = regexp.MustCompile(`"(?:session_id|thread_id|sessionID)":"([^"]+)"`)
	finishPattern  = regexp.MustCompile(`"type":"step_finish".*"cost":([0-9.]+)`)
	totalPattern   = regexp.MustCompile(`"type":"result".*"total_cost_usd":([0-9.]+)`)
)

// streamSession is the first session that a stream names.
func streamSession(stream []byte) string {
	for line := range bytes.Lines(stream) {
		if m := sessionPattern.FindSubmatch(line); m != nil && line[0] == '{' {
			return string(m[1])
		}
	}
	return ""
}

// streamCost is what a stream says of costs: the only two programs that do have it in one number, or one per step.
func streamCost(adapter string, stream []byte) string {
	pattern := map[string]*regexp.Regexp{"claude": totalPattern, "opencode": finishPattern}[adapter]
	sum := 0.0
	if pattern != nil {
		for _, m := range pattern.FindAllSubmatch(stream, -1) {
			v, _ := strconv.ParseFloat(string(m[1]), 64)
			sum += v
		}
	}
	return fmt.Sprintf("%.5f", sum)
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
	for adapter, table := range captureTables {
		files, err := filepath.Glob(filepath.Join("testdata", "captures", adapter, "*.stdout"))
		require.NoError(t, err)
		require.Len(t, table, len(files), adapter)
		total += len(files)
	}
	require.Equal(t, 181, total)
}

// A stream that is cut anywhere before its terminal event is never ok, and what was known at the cut stays known.
func TestCutStreams(t *testing.T) {
	eachCapture(t, func(t *testing.T, adapter string, e expectation) {
		stdout, stderr := readCapture(t, adapter, e.name)
		terminal := terminalLine(stdout)
		for i, n := range cuts(stdout) {
			exit := []int{0, 1, -9}[i%3]
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
	})
}

// terminalLine is where the terminal event ends, without its line feed; -1 when there is none.
func terminalLine(stream []byte) int {
	pos := 0
	for line := range bytes.Lines(stream) {
		body := bytes.TrimSuffix(line, []byte("\n"))
		for _, mark := range []string{`{"type":"result"`, `{"type":"turn.completed"`, `{"type":"turn.failed"`, `{"type":"error","timestamp"`} {
			if bytes.HasPrefix(body, []byte(mark)) || bytes.Contains(body, []byte(`"type":"step-finish"`)) && bytes.Contains(body, []byte(`"reason":"stop"`)) {
				return pos + len(body)
			}
		}
		pos += len(line)
	}
	return -1
}

// cuts are both sides of each line end, and a place inside each line.
func cuts(stream []byte) []int {
	var at []int
	pos := 0
	for line := range bytes.Lines(stream) {
		at = append(at, pos+(pos*7919)%len(line))
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
			"timeout": timeout, "idle": timeout, "stopped": aborted, "start-failed": permanent, "lost": transient, "fatal": transient, "flood": permanent,
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
		require.Equal(t, record.SourcePinned, o.Reported.Source)
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
