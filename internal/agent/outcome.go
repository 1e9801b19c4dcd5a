package agent

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"conclave/internal/convergence"
	"conclave/internal/process"
	"conclave/internal/record"
)

// messageLimit bounds Outcome.Message.
const messageLimit = 1 << 10

// short makes text one line of at most limit bytes without control characters.
func short(text string, limit int) string {
	if len(text) > 16*limit { // the rest could not be shown anyway
		text = text[:16*limit]
	}
	text = strings.Join(strings.Fields(process.Clean(text)), " ")
	if len(text) <= limit {
		return text
	}
	const more = "..."
	text = text[:limit-len(more)]
	for len(text) > 0 {
		if r, size := utf8.DecodeLastRuneInString(text); r != utf8.RuneError || size > 1 {
			break
		}
		text = text[:len(text)-1]
	}
	return text + more
}

// failure is a class with what belongs to it.
type failure struct {
	class      Class
	text       string
	retryAfter time.Duration
}

func (f failure) code() string {
	switch f.class {
	case record.ClassOK:
		return ""
	case record.ClassPermanent:
		return convergence.FailEngineUnavailable
	case record.ClassTimeout:
		return convergence.FailTimeout
	case record.ClassAborted:
		return convergence.FailAborted
	case record.ClassTransient, record.ClassQuota:
		return convergence.FailEffect
	}
	return convergence.FailResultInvalid
}

// apply writes a failure into an outcome. What the turn said is in the transcript; it is no answer.
func (f failure) apply(o *Outcome) {
	o.Class, o.Code, o.Message, o.RetryAfter = f.class, f.code(), short(f.text, messageLimit), f.retryAfter
	o.Final, o.Structured = nil, nil
	if f.class == record.ClassOK || f.class == "" {
		o.Class, o.Code = record.ClassMalformed, convergence.FailResultInvalid // a failure is never ok, whatever a table says
	}
}

// oursFirst judges ends that we caused, or that came before the program could say anything; false for all others.
// fatal is a notice in the stream after which going on was of no use: it says more than the limit that ended the turn.
// lastError is the newest error of the stream, which often explains a silence.
func oursFirst(end ProcessEnd, fatal, lastError string) (failure, bool) {
	because := ""
	if lastError != "" {
		because = "; its last error: " + lastError
	}
	switch process.Cause(end.Cause) {
	case process.CauseExited:
		return failure{}, false
	case process.CauseStopped:
		return failure{class: record.ClassAborted, text: "cancelled"}, true
	case process.CauseStartFailed, process.CauseFlood: // a flood would come again, and the disk is everybody's
		return failure{class: record.ClassPermanent, text: end.Message}, true
	case process.CauseLost:
		return failure{class: record.ClassTransient, text: firstText(end.Message, "the supervisor was lost")}, true
	case process.CauseTimeout, process.CauseIdle, process.CauseFatal:
		if fatal != "" {
			return failure{class: record.ClassPermanent, text: fatal}, true
		}
	}
	switch process.Cause(end.Cause) {
	case process.CauseTimeout:
		limit := ""
		if end.Limit > 0 {
			limit = " after " + end.Limit.String()
		}
		return failure{class: record.ClassTimeout, text: "timed out" + limit + because}, true
	case process.CauseIdle:
		return failure{class: record.ClassTimeout, text: "timed out: no sign of life within the idle limit" + because}, true
	case process.CauseFatal: // stopped by the reader of the stream for a reason of its own
		return failure{class: record.ClassTransient, text: firstText(end.Message, "stopped")}, true
	}
	return failure{class: record.ClassMalformed, text: fmt.Sprintf("the turn ended for an unknown cause %q", end.Cause)}, true
}

// signalExit is what a shell or a runtime makes of a death by signal.
func signalExit(code int) bool { return code == 128+2 || code == 128+9 || code == 128+15 }

// EndFromExit reconstructs an end from an exit code alone, for streams that were recorded elsewhere: 124 and 137 mean
// that a limit ended the program, a negative number is a signal.
func EndFromExit(code int, stderr string) ProcessEnd {
	end := ProcessEnd{Code: code, Cause: string(process.CauseExited), Stderr: stderr}
	switch {
	case code == 124 || code == 137:
		end.Cause = string(process.CauseTimeout)
	case code < 0:
		end.Code, end.Signal = -1, fmt.Sprintf("signal %d", -code)
	}
	return end
}

// died is the failure of a program that ended without its last word.
func died(end ProcessEnd, table []signature, now time.Time) failure {
	how := fmt.Sprintf("ended with exit code %d", end.Code)
	if end.Signal != "" {
		how = "was killed by " + end.Signal
	}
	text := how + " without a final event"
	if end.Stderr != "" {
		text += "; standard error: " + lastLines(end.Stderr, 600)
	}
	if f, ok := match(table, end.Stderr, now); ok {
		f.text = text
		return f
	}
	if end.Signal != "" || signalExit(end.Code) { // not by us: short of memory, or somebody's kill
		return failure{class: record.ClassTransient, text: text}
	}
	return failure{class: record.ClassMalformed, text: text}
}

// lastLines is the end of a text, from a line's start.
func lastLines(text string, limit int) string {
	text = strings.TrimSpace(text)
	if len(text) <= limit {
		return text
	}
	text = text[len(text)-limit:]
	if i := strings.IndexByte(text, '\n'); i >= 0 && i < len(text)-1 {
		text = text[i+1:]
	}
	return text
}

func firstText(texts ...string) string {
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			return t
		}
	}
	return ""
}

// exitNote tells of an exit that does not fit a good answer.
func exitNote(end ProcessEnd) []string {
	switch {
	case end.Signal != "":
		return []string{"the program was killed by " + end.Signal + " after its answer"}
	case end.Code != 0:
		return []string{fmt.Sprintf("the program ended with exit code %d after a valid answer", end.Code)}
	}
	return nil
}

// timeOf is the time, or a test's.
func timeOf(now func() time.Time) time.Time {
	if now == nil {
		return time.Now()
	}
	return now()
}

// refusals is the note about tool calls that came to nothing.
func refusals(n int) string {
	if n == 1 {
		return "1 tool call failed or was refused"
	}
	return fmt.Sprintf("%d tool calls failed or were refused", n)
}
