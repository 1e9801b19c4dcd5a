package agent

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"conclave/internal/process"
	"conclave/internal/record"
)

type geminiEvent struct {
	Type       string          `json:"type"`
	SessionID  string          `json:"session_id"`
	Model      string          `json:"model"`
	Role       string          `json:"role"`
	Content    string          `json:"content"`
	Tool       string          `json:"tool_name"`
	Parameters json.RawMessage `json:"parameters"`
	Delta      bool            `json:"delta"`
	Status     string          `json:"status"`
	Severity   string          `json:"severity"`
	Message    string          `json:"message"`
	Error      struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
	Stats *geminiStats `json:"stats"`
}

type geminiTokens struct {
	Total  int64 `json:"total_tokens"`
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
	Cached int64 `json:"cached"`
}

type geminiStats struct {
	geminiTokens
	Models map[string]geminiTokens `json:"models"`
}

// usage counts thoughts, which are in the total only, as output. All zeros are no report; costs are never told.
func (s *geminiStats) usage() Usage {
	if s == nil || s.Input == 0 && s.Output == 0 {
		return Usage{}
	}
	return Usage{InputTokens: s.Input, CachedTokens: s.Cached, OutputTokens: max(s.Output, s.Total-s.Input), Known: true}
}

// served are the models that answered, as the server called them, the busiest first.
func (s *geminiStats) served() []string {
	if s == nil {
		return nil
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(s.Models)), func(name string) bool { return s.Models[name].Total == 0 })
	slices.SortStableFunc(names, func(a, b string) int { return int(s.Models[b].Output - s.Models[a].Output) })
	return names
}

type geminiParser struct {
	target  Target
	now     func() time.Time
	session string
	started bool
	final   strings.Builder // the assistant's words since the newest tool result
	refused int
	errors  []string // of error events
	stopped string   // the error event after which the model was not heard of any more
	result  *geminiEvent
}

func (p *geminiParser) Line(line []byte) []Event {
	var e geminiEvent
	if !object(line, &e) {
		return nil
	}
	switch e.Type {
	case "init":
		p.started, p.session = true, e.SessionID
		return []Event{{Kind: EventStart, Session: e.SessionID, Model: e.Model}}
	case "message":
		return p.message(e)
	case "tool_use":
		p.stopped = ""
		return []Event{{Kind: EventAction, Text: e.Tool, Target: toolTarget(e.Parameters)}}
	case "tool_result":
		p.final.Reset()
		if e.Status == "error" {
			p.refused++
		}
	case "error":
		if e.Severity != "warning" && e.Message != "" {
			p.errors = remark(p.errors, e.Message)
		}
		if e.Severity != "warning" || strings.Contains(e.Message, geminiStops) {
			p.stopped = firstText(e.Message, "an error without a text")
		}
		return []Event{{Kind: EventError, Text: e.Message}}
	case "result":
		return p.lastWord(e)
	}
	return nil
}

// geminiStops is in a warning after which it goes no further: a loop that it noticed.
const geminiStops = "stopping execution"

// message: the prompt is echoed as the user's, whole.
func (p *geminiParser) message(e geminiEvent) []Event {
	if e.Role != "assistant" || e.Content == "" {
		return nil
	}
	p.stopped = ""
	p.final.WriteString(fitting(p.final.Len(), e.Content))
	return []Event{{Kind: EventMessage, Text: e.Content, Part: e.Delta}}
}

func (p *geminiParser) lastWord(e geminiEvent) []Event {
	p.result = &e
	var events []Event
	for _, name := range e.Stats.served() {
		events = append(events, Event{Kind: EventModel, Model: name})
	}
	if u := e.Stats.usage(); u.Known {
		events = append(events, Event{Kind: EventUsage, Usage: &u})
	}
	if e.Status != "success" {
		events = append(events, Event{Kind: EventError, Text: firstText(e.Error.Message, e.Error.Type, e.Status)})
	}
	return events
}

func (p *geminiParser) Outcome(end ProcessEnd) Outcome {
	o := Outcome{Session: p.session, TerminalEvent: p.result != nil}
	var models []string
	if p.result != nil {
		models, o.Usage = p.result.Stats.served(), p.result.Stats.usage()
	}
	if p.started {
		served := ""
		if len(models) > 0 {
			served = models[0]
		}
		o.Reported = reported(p.target, served)
	}
	if f, bad := p.failure(end); bad {
		f.apply(&o)
		o.NoSession = strings.Contains(o.Message, "Invalid session identifier") || strings.Contains(o.Message, "No previous sessions")
		return o
	}
	o.Class, o.Final, o.Notes = record.ClassOK, []byte(p.final.String()), exitNote(end)
	if len(models) > 1 {
		o.Notes = append(o.Notes, "several models answered: "+strings.Join(models, ", "))
	}
	if p.refused > 0 {
		o.Notes = append(o.Notes, refusals(p.refused))
	}
	return o
}

func (p *geminiParser) failure(end ProcessEnd) (failure, bool) {
	now := timeOf(p.now)
	if f, ours := oursFirst(end, "", p.lastError(end)); ours {
		return f, true
	}
	switch {
	case p.result == nil:
		return p.diedEarly(end, now), true
	case p.result.Status != "success":
		return p.errorResult(end, now), true
	case p.stopped != "": // it calls that a success (its turns are used up, a loop), and what was said last is no answer
		return p.cutShort(now), true
	case strings.TrimSpace(p.final.String()) == "":
		return failure{class: record.ClassMalformed, text: firstText(strings.Join(p.errors, "; "), "the final message is empty")}, true
	}
	return failure{}, false
}

func (p *geminiParser) cutShort(now time.Time) failure {
	if found, ok := match(geminiSignatures, p.stopped, now); ok {
		return found
	}
	return failure{class: record.ClassMalformed, text: "it went no further: " + p.stopped}
}

// lastError is the newest thing that went wrong: tries that failed stand on standard error only.
func (p *geminiParser) lastError(end ProcessEnd) string {
	found := ""
	for line := range strings.Lines(process.Clean(end.Stderr)) {
		if strings.HasPrefix(line, "Attempt ") && strings.Contains(line, "failed") {
			found = short(line, actionLimit)
		}
	}
	if found == "" && len(p.errors) > 0 {
		return p.errors[len(p.errors)-1]
	}
	return found
}

// diedEarly: TERM makes it end with exit code 0 and no result (measured), which is no success.
func (p *geminiParser) diedEarly(end ProcessEnd, now time.Time) failure {
	end.Stderr = geminiQuiet(end.Stderr)
	f := died(end, geminiSignatures, now)
	if f.class == record.ClassMalformed && geminiExits[end.Code] {
		f.class = record.ClassPermanent
	}
	return f
}

// geminiNoise begins the lines that every start prints.
var geminiNoise = []string{"Warning: Basic terminal", "Warning: 256-color support", "[STARTUP]", "YOLO mode is enabled", "Ripgrep is not available"}

// geminiQuiet leaves the lines of standard error that say something.
func geminiQuiet(stderr string) string {
	var kept []string
	for line := range strings.Lines(process.Clean(stderr)) {
		if !slices.ContainsFunc(geminiNoise, func(noise string) bool { return strings.HasPrefix(line, noise) }) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// newest is the last of some messages.
func newest(messages []string) string {
	if len(messages) == 0 {
		return ""
	}
	return messages[len(messages)-1]
}

// errorResult: the message names the status mostly, the exit code is its low byte, standard error knows the error's type.
func (p *geminiParser) errorResult(end ProcessEnd, now time.Time) failure {
	said := firstText(p.result.Error.Message, p.result.Error.Type, newest(p.errors), "the program reports an error: "+p.result.Status)
	if found, ok := match(geminiSignatures, said, now); ok {
		return found
	}
	for _, status := range []int{400, 401, 402, 403, 404, 408, 409, 413, 425, 429, 500, 502, 503, 504, 529} {
		if end.Code > 1 && end.Code == status&255 {
			return failure{class: byStatus(&status), text: said, retryAfter: resetIn(said, now)}
		}
	}
	if found, ok := match(geminiSignatures, end.Stderr, now); ok {
		return failure{class: found.class, text: said, retryAfter: found.retryAfter}
	}
	return failure{class: record.ClassMalformed, text: said}
}
