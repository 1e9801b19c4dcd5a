package agent

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"conclave/internal/process"
	"conclave/internal/record"
)

type opencodeEvent struct {
	Type      string `json:"type"`
	Timestamp int64  `json:"timestamp"` // milliseconds
	SessionID string `json:"sessionID"`
	Part      struct {
		Text      string `json:"text"`
		Synthetic bool   `json:"synthetic"`
		Tool      string `json:"tool"`
		Reason    string `json:"reason"`
		State     struct {
			Status string          `json:"status"`
			Input  json.RawMessage `json:"input"`
			Error  string          `json:"error"`
		} `json:"state"`
		Tokens *struct {
			Input     int64 `json:"input"`
			Output    int64 `json:"output"`
			Reasoning int64 `json:"reasoning"`
			Cache     struct {
				Read  int64 `json:"read"`
				Write int64 `json:"write"`
			} `json:"cache"`
		} `json:"tokens"`
		Cost *float64 `json:"cost"`
	} `json:"part"`
	Error opencodeError `json:"error"`
}

type opencodeError struct {
	Name string `json:"name"`
	Data struct {
		Message   string                     `json:"message"`
		Status    *int                       `json:"statusCode"`
		Retryable *bool                      `json:"isRetryable"`
		Body      string                     `json:"responseBody"`
		Headers   map[string]json.RawMessage `json:"responseHeaders"`
	} `json:"data"`
}

// opencodeParser: there is no event for the end of a run. A step that finishes for the reason "stop" is the last one, so
// that counts as the terminal event; a run that ends after any other step has no answer, whatever its exit code says.
type opencodeParser struct {
	target   Target
	now      func() time.Time
	session  string
	texts    []string  // of the newest step
	size     int       // of the texts
	stepped  bool      // a step began
	worked   time.Time // when the model was last heard of: a step may begin without it
	finish   string    // reason of the newest finished step; "" while a step is going on
	usage    Usage
	cost     float64
	priced   bool
	refused  int
	failed   *opencodeError // the newest error; a step that begins after it takes it back
	last     *opencodeError // the newest error, for a silence that it explains
	overflow int
	compacts bool // the step that comes, or goes on, sums the conversation up
	fatal    string
}

func (p *opencodeParser) Line(line []byte) []Event {
	var e opencodeEvent
	if !object(line, &e) {
		return nil
	}
	var events []Event
	if e.SessionID != "" && p.session == "" { // sub-agents have sessions of their own, which come later
		p.session = e.SessionID
		events = append(events, Event{Kind: EventStart, Session: e.SessionID, Model: modelFlag(p.target)})
	}
	if e.Type == "text" || e.Type == "tool_use" || e.Type == "step_finish" {
		p.worked = time.UnixMilli(e.Timestamp)
	}
	return append(events, p.event(e)...)
}

func (p *opencodeParser) event(e opencodeEvent) []Event {
	switch e.Type {
	case "step_start":
		p.stepped, p.finish, p.texts, p.size, p.failed = true, "", nil, 0, nil
	case "text":
		if e.Part.Synthetic { // its own words to the model after it summed up: it goes on
			p.finish, p.texts, p.size = "", nil, 0
			return nil
		}
		if strings.TrimSpace(e.Part.Text) != "" {
			if part := fitting(p.size, e.Part.Text); part != "" {
				p.texts, p.size = append(p.texts, part), p.size+len(part)+1
			}
			return []Event{{Kind: EventMessage, Text: e.Part.Text}}
		}
	case "tool_use":
		if e.Part.State.Status == "error" {
			p.refused++
		}
		return []Event{{Kind: EventAction, Text: e.Part.Tool, Target: toolTarget(e.Part.State.Input)}}
	case "step_finish":
		return p.finished(e)
	case "error":
		return []Event{p.errorEvent(e.Error)}
	}
	return nil
}

func (p *opencodeParser) finished(e opencodeEvent) []Event {
	p.finish = orWord(e.Part.Reason, "unknown")
	if p.compacts { // a summary is no answer, though it stops too
		p.compacts, p.finish = false, "compaction"
	}
	t := e.Part.Tokens
	if t == nil {
		return nil
	}
	in := t.Input + t.Cache.Read + t.Cache.Write
	out := t.Output + t.Reasoning
	if in == 0 && out == 0 {
		return nil // zeros are no report
	}
	p.usage.Known = true
	p.usage.InputTokens += in
	p.usage.CachedTokens += t.Cache.Read
	p.usage.OutputTokens += out
	if e.Part.Cost != nil && *e.Part.Cost > 0 { // zero is what it says of a model without a price
		p.cost, p.priced = p.cost+*e.Part.Cost, true
	}
	u := p.sum()
	return []Event{{Kind: EventUsage, Usage: &u}}
}

func (p *opencodeParser) sum() Usage {
	u := p.usage
	if p.priced {
		cost := p.cost
		u.CostUSD = &cost
	}
	return u
}

// errorEvent: it answers an overflow of the context by compacting without end (measured: 425 requests in two minutes), so
// the second overflow is fatal.
func (p *opencodeParser) errorEvent(e opencodeError) Event {
	p.failed, p.last = &e, &e
	event := Event{Kind: EventError, Text: e.text()}
	if e.Name == "ContextOverflowError" {
		p.compacts = true
		if p.overflow++; p.overflow > 1 {
			event.Fatal = true
			p.fatal = e.text()
		}
	}
	return event
}

// text is what an error says, with its status.
func (e opencodeError) text() string {
	said := firstText(e.Data.Message, e.Name, "an error without a text")
	if e.Name != "" && e.Name != "APIError" && e.Name != said {
		said = e.Name + ": " + said
	}
	if e.Data.Status != nil {
		said += fmt.Sprintf(" (status %d)", *e.Data.Status)
	}
	return said
}

func (p *opencodeParser) Outcome(end ProcessEnd) Outcome {
	o := Outcome{Session: p.session, TerminalEvent: p.finish == "stop" && p.failed == nil || p.failed != nil, Usage: p.sum()}
	o.UsageOpen = p.stepped && p.finish == "" && p.failed == nil
	if p.session != "" {
		o.Reported = reported(p.target, "")
	}
	if f, bad := p.failure(end); bad {
		f.apply(&o)
		o.NoSession = strings.Contains(strings.ToLower(o.Message), "session not found")
		return o
	}
	o.Class, o.Final, o.Notes = record.ClassOK, []byte(strings.Join(p.texts, "\n")), exitNote(end)
	if p.refused > 0 {
		o.Notes = append(o.Notes, refusals(p.refused))
	}
	return o
}

func (p *opencodeParser) failure(end ProcessEnd) (failure, bool) {
	now := timeOf(p.now)
	said := ""
	if p.last != nil {
		said = p.last.text()
	}
	if f, waits := opencodeWaits(end, p.worked, now); waits && p.fatal == "" {
		return f, true
	}
	if f, ours := oursFirst(end, p.fatal, said); ours {
		return f, true
	}
	switch {
	case p.failed != nil:
		return p.errorFailure(now), true
	case p.finish == "length":
		return failure{class: record.ClassMalformed, text: "the answer was cut off at the model's output limit"}, true
	case p.finish != "stop":
		return p.unfinished(end, now), true
	case len(p.texts) == 0:
		return failure{class: record.ClassMalformed, text: "the final message is empty"}, true
	}
	return failure{}, false
}

// opencodeLogged is an error in its log on standard error, with its time.
var opencodeLogged = regexp.MustCompile(`(?m)^timestamp=(\S+) level=ERROR .*message="stream error".* error\.error="((?:[^"\\]|\\.)*)"`)

// opencodeWaits reads what a run that we ended was waiting for. Between its tries the stream is silent, also where the
// server said that the next one makes sense in hours; only the log tells. An error after which the model was heard of again
// is over: what ended the run then is the limit.
func opencodeWaits(end ProcessEnd, worked, now time.Time) (failure, bool) {
	if cause := process.Cause(end.Cause); cause != process.CauseIdle && cause != process.CauseTimeout {
		return failure{}, false
	}
	found := opencodeLogged.FindAllStringSubmatch(process.Clean(end.Stderr), -1)
	if len(found) == 0 {
		return failure{}, false
	}
	newest := found[len(found)-1]
	if at, err := time.Parse(time.RFC3339, newest[1]); err == nil && worked.After(at) {
		return failure{}, false
	}
	f, ok := match(opencodeSignatures, newest[2], now)
	f.text = "ended while it waited to try again: " + f.text
	return f, ok
}

// unfinished is a run that ended between steps or within one.
func (p *opencodeParser) unfinished(end ProcessEnd, now time.Time) failure {
	f := died(end, opencodeSignatures, now)
	if strings.Contains(process.Clean(end.Stderr), "auto-rejecting") { // its own words, on standard error
		f.text = "a question about permissions was refused, which ends a run; " + f.text
	}
	return f
}

// errorFailure reads the newest error event: its name, the body and the words first, which say more than the status.
func (p *opencodeParser) errorFailure(now time.Time) failure {
	e := p.failed
	said := e.text() + " " + e.Data.Body
	f := failure{class: record.ClassMalformed, text: e.text()}
	found, ok := match(opencodeSignatures, said, now)
	switch named := opencodeErrors[e.Name]; {
	case named != "":
		f.class = named
	case ok && found.class == record.ClassPermanent:
		f.class = found.class
	case byStatus(e.Data.Status) != "":
		f.class = byStatus(e.Data.Status)
	case e.Data.Retryable != nil && *e.Data.Retryable:
		f.class = record.ClassTransient
	case ok:
		f.class = found.class
	case e.Name == "UnknownError" && !p.stepped: // all that it says about a model that it does not know
		f.class = record.ClassPermanent
		f.text += "; it never began: does it know the model " + orWord(modelFlag(p.target), "that it is set to") + "?"
	}
	if f.class == record.ClassQuota || f.class == record.ClassTransient {
		f.retryAfter = e.retryAfter(said, now)
	}
	return f
}

// retryAfter is until when a limit holds: as the error says, else as the server's header did.
func (e opencodeError) retryAfter(said string, now time.Time) time.Duration {
	if d := resetIn(said, now); d > 0 {
		return d
	}
	seconds, err := strconv.Atoi(text(e.Data.Headers["retry-after"]))
	if err != nil || seconds < 0 || seconds > 1e6 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
