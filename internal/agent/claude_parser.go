package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"conclave/internal/record"
)

// synthetic is the "model" of error texts that the program itself wrote.
const synthetic = "<synthetic>"

type claudeParser struct {
	target  Target
	now     func() time.Time
	session string
	started bool
	served  string // the main loop's newest served model
	models  []string
	word    string // error word beside the newest synthetic message
	retry   string // the newest retry notice
	fatal   string
	resets  time.Time
	result  *claudeResult
	subtype string
}

func (p *claudeParser) Line(line []byte) []Event {
	var e claudeEvent
	if !object(line, &e) {
		return nil
	}
	if e.SessionID != "" && e.ParentID == "" {
		p.session = e.SessionID
	}
	switch e.Type {
	case "system":
		return p.system(e)
	case "rate_limit_event":
		if e.Limit.Status == "rejected" && e.Limit.ResetsAt > 0 {
			p.resets = time.Unix(e.Limit.ResetsAt, 0)
		}
	case "assistant":
		return p.assistant(e)
	case "result":
		return p.lastWord(e)
	}
	return nil
}

// system reads what the program says of itself.
func (p *claudeParser) system(e claudeEvent) []Event {
	switch e.Subtype {
	case "init":
		p.started = true
		return []Event{{Kind: EventStart, Session: e.SessionID, Model: e.Model}}
	case "api_retry":
		return []Event{p.apiRetry(e)}
	}
	return nil
}

// lastWord keeps the newest result, from which Outcome judges the turn.
func (p *claudeParser) lastWord(e claudeEvent) []Event {
	r := e.claudeResult
	p.result, p.subtype = &r, e.Subtype
	if u := r.usage(); u.Known {
		return []Event{{Kind: EventUsage, Usage: &u}}
	}
	return nil
}

// apiRetry: a refused login stays refused, however often the program asks again.
func (p *claudeParser) apiRetry(e claudeEvent) Event {
	word := text(e.Error)
	status := "no answer"
	if e.ErrorStatus != nil {
		status = fmt.Sprintf("status %d", *e.ErrorStatus)
	}
	p.retry = fmt.Sprintf("attempt %d of %d failed: %s, %s", e.Attempt, e.MaxRetries, status, word)
	event := Event{Kind: EventRetry, Text: p.retry}
	if e.ErrorStatus != nil && (*e.ErrorStatus == 401 || *e.ErrorStatus == 403) {
		event.Fatal = true
		p.fatal = fmt.Sprintf("%s (status %d): log in again, or check the key", orWord(word, "authentication_failed"), *e.ErrorStatus)
		event.Text = p.fatal
	}
	return event
}

func (p *claudeParser) assistant(e claudeEvent) []Event {
	var events []Event
	if word := text(e.Error); word != "" {
		p.word = word
	}
	m := e.Message.Model
	if m != "" && m != synthetic && e.ParentID == "" {
		if m != p.served {
			events = append(events, Event{Kind: EventModel, Model: m})
			p.models = remark(p.models, m)
		}
		p.served = m
	}
	var blocks []struct {
		Type  string          `json:"type"`
		Text  string          `json:"text"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	}
	if json.Unmarshal(e.Message.Content, &blocks) != nil {
		return events
	}
	for _, b := range blocks {
		switch {
		case b.Type == "text" && m == synthetic:
			events = append(events, Event{Kind: EventError, Text: b.Text})
		case b.Type == "text":
			events = append(events, Event{Kind: EventMessage, Text: b.Text})
		case b.Type == "tool_use":
			events = append(events, Event{Kind: EventAction, Text: b.Name, Target: toolTarget(b.Input)})
		}
	}
	return events
}

// toolTarget is what a tool works on, by the usual names of its input.
func toolTarget(input json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return ""
	}
	for _, name := range []string{"command", "file_path", "path", "pattern", "url", "query", "description"} {
		if v := text(fields[name]); v != "" {
			return v
		}
	}
	return ""
}

// text is a JSON string's value, "" for anything else.
func text(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

func orWord(word, other string) string {
	if word == "" {
		return other
	}
	return word
}

func (p *claudeParser) Outcome(end ProcessEnd) Outcome {
	o := Outcome{Session: p.session, TerminalEvent: p.result != nil}
	if p.started {
		o.Reported = reported(p.target, p.served)
	}
	if p.result != nil {
		o.Usage = p.result.usage()
		if !p.result.IsError {
			o.Final, o.Structured = []byte(p.result.Result), p.result.structured()
		}
	}
	if f, bad := p.failure(end); bad {
		f.apply(&o)
		o.NoSession = strings.Contains(o.Message, "No conversation found")
		return o
	}
	o.Class, o.Notes = record.ClassOK, p.notes(end)
	return o
}

// failure judges in this order: what we did, the program's last word, its death without one.
func (p *claudeParser) failure(end ProcessEnd) (failure, bool) {
	now := timeOf(p.now)
	if f, ours := oursFirst(end, p.fatal, p.retry); ours {
		return f, true
	}
	switch {
	case p.result == nil:
		return died(end, claudeSignatures, now), true
	case p.result.IsError || p.subtype != "success":
		return p.errorResult(now), true
	case strings.TrimSpace(p.result.Result) == "" && p.result.structured() == nil:
		return failure{class: record.ClassMalformed, text: "the final message is empty"}, true
	}
	return failure{}, false
}

// errorResult reads a result that is marked as an error; its "subtype" may well be "success".
func (p *claudeParser) errorResult(now time.Time) failure {
	said := firstText(strings.Join(p.result.Errors, "; "), p.result.Result, "the program reports an error: "+p.subtype)
	f := failure{class: record.ClassMalformed, text: said}
	found, ok := match(claudeSignatures, said, now)
	class, known := claudeErrors[p.word]
	switch {
	case strings.HasPrefix(p.result.TerminalReason, "aborted"): // somebody else's interrupt
		f = failure{class: record.ClassAborted, text: "interrupted by a signal"}
	case p.result.TerminalReason == "prompt_too_long", p.subtype == "error_max_turns", p.subtype == "error_max_budget_usd":
		f.class = record.ClassPermanent
	case byStatus(p.result.APIErrorStatus) != "":
		f.class = byStatus(p.result.APIErrorStatus)
	case known:
		f.class = class
	case ok:
		f.class = found.class
	}
	if f.class == record.ClassQuota {
		f.retryAfter = resetIn(said, now)
		if f.retryAfter == 0 && p.resets.After(now) {
			f.retryAfter = p.resets.Sub(now)
		}
	}
	return f
}

// byStatus classifies an HTTP status; "" when there is none that says anything.
func byStatus(status *int) Class {
	switch {
	case status == nil:
		return ""
	case *status == 429:
		return record.ClassQuota
	case *status == 408 || *status == 409 || *status == 425 || *status >= 500:
		return record.ClassTransient
	case *status >= 400:
		return record.ClassPermanent
	}
	return ""
}

func (p *claudeParser) notes(end ProcessEnd) []string {
	notes := exitNote(end)
	if len(p.models) > 1 {
		notes = append(notes, "several models answered: "+strings.Join(p.models, ", "))
	}
	if strings.Contains(end.Stderr, "Sandbox disabled") {
		notes = append(notes, "the program's own sandbox was not available; its commands ran without one")
	}
	if n := len(p.result.Denials); n > 0 {
		notes = append(notes, fmt.Sprintf("%d tool calls were refused", n))
	}
	return notes
}
