package agent

import (
	"bytes"
	"strings"
	"time"

	"conclave/internal/record"
)

type codexEvent struct {
	Type     string `json:"type"`
	ThreadID string `json:"thread_id"`
	Message  string `json:"message"`
	Error    struct {
		Message string `json:"message"`
	} `json:"error"`
	Item struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Message string `json:"message"`
		Command string `json:"command"`
		Query   string `json:"query"`
		Tool    string `json:"tool"`
		Changes []struct {
			Path string `json:"path"`
		} `json:"changes"`
	} `json:"item"`
	Usage *struct {
		Input  int64 `json:"input_tokens"`
		Cached int64 `json:"cached_input_tokens"`
		Output int64 `json:"output_tokens"`
	} `json:"usage"`
}

type codexParser struct {
	target    Target
	now       func() time.Time
	session   string
	last      string // newest agent message
	lastError string
	fatal     string
	completed bool
	failed    bool
	usage     Usage
	notes     []string
	resumed   bool
	earlier   Usage // of the resumed session
}

func (p *codexParser) Line(line []byte) []Event {
	var e codexEvent
	if !object(line, &e) {
		return nil
	}
	switch e.Type {
	case "thread.started":
		p.session = e.ThreadID
		return []Event{{Kind: EventStart, Session: e.ThreadID, Model: modelFlag(p.target)}}
	case "turn.started":
		p.completed, p.failed = false, false
	case "item.started", "item.completed":
		return p.item(e)
	case "error":
		return []Event{p.errorEvent(e.Message)}
	case "turn.failed":
		p.failed, p.completed, p.lastError = true, false, firstText(e.Error.Message, p.lastError)
		return []Event{{Kind: EventError, Text: p.lastError}}
	case "turn.completed":
		return p.complete(e)
	}
	return nil
}

func (p *codexParser) complete(e codexEvent) []Event {
	p.completed, p.failed = true, false
	if e.Usage == nil || e.Usage.Input == 0 && e.Usage.Output == 0 {
		return nil // zeros are what it says when it does not know
	}
	p.usage = Usage{InputTokens: e.Usage.Input, CachedTokens: e.Usage.Cached, OutputTokens: e.Usage.Output, Known: true}
	if p.resumed {
		p.usage = p.usage.since(p.earlier)
	}
	if !p.usage.Known {
		return nil
	}
	u := p.usage
	return []Event{{Kind: EventUsage, Usage: &u}}
}

// since takes off what a session had used before: codex reports the session's sum (measured: 2000 after 1000 and 1000).
// Where that is not known the turn's share is not either; a sum that is smaller than what went before is no sum.
func (u Usage) since(earlier Usage) Usage {
	switch {
	case !earlier.Known:
		return Usage{}
	case u.InputTokens < earlier.InputTokens || u.OutputTokens < earlier.OutputTokens:
		return u
	}
	u.InputTokens -= earlier.InputTokens
	u.OutputTokens -= earlier.OutputTokens
	u.CachedTokens = max(u.CachedTokens-earlier.CachedTokens, 0)
	return u
}

func (p *codexParser) item(e codexEvent) []Event {
	done := e.Type == "item.completed"
	switch e.Item.Type {
	case "command_execution", "file_change", "web_search", "mcp_tool_call":
		p.last = "" // what was said before is no final message: the model went on
	}
	switch e.Item.Type {
	case "agent_message":
		if done {
			p.last = e.Item.Text
			return []Event{{Kind: EventMessage, Text: e.Item.Text}}
		}
	case "error":
		if done {
			p.notes = remark(p.notes, short(e.Item.Message, actionLimit))
			return []Event{{Kind: EventError, Text: e.Item.Message}}
		}
	case "command_execution":
		if !done {
			return []Event{{Kind: EventAction, Text: "shell", Target: e.Item.Command}}
		}
	case "file_change":
		if !done {
			var paths []string
			for _, c := range e.Item.Changes {
				paths = append(paths, c.Path)
			}
			return []Event{{Kind: EventAction, Text: "edit", Target: strings.Join(paths, " ")}}
		}
	case "web_search", "mcp_tool_call":
		if !done {
			return []Event{{Kind: EventAction, Text: e.Item.Type, Target: firstText(e.Item.Query, e.Item.Tool)}}
		}
	}
	return nil
}

// errorEvent: five more tries do not make a refused key a good one.
func (p *codexParser) errorEvent(message string) Event {
	p.lastError = message
	event := Event{Kind: EventError, Text: message}
	if m := codexReconnect.FindStringSubmatch(message); m != nil {
		event.Kind = EventRetry
		if event.Fatal = codexFatal.MatchString(m[1]); event.Fatal {
			p.fatal, event.Text = m[1], m[1]
		}
	}
	return event
}

// reported takes the model from the session file: the one that was asked for, also where the program chose it itself. The
// file's provider is a name of the configuration; it says who serves, not whose family a model is of, so it only adds to
// what nobody else knows.
func (p *codexParser) reported(end ProcessEnd) *Reported {
	provider, model := codexSession(end.SessionDir, p.session)
	if model == "" {
		return reported(p.target, "")
	}
	r := reported(p.target, model)
	r.Source, r.Provider = record.SourceSessionFile, firstText(r.Provider, provider)
	return r
}

func (p *codexParser) Outcome(end ProcessEnd) Outcome {
	o := Outcome{Session: p.session, TerminalEvent: p.completed || p.failed, Usage: p.usage}
	if p.session != "" {
		o.Reported = p.reported(end)
	}
	if p.completed {
		o.Final = []byte(p.last)
		if len(bytes.TrimSpace(end.LastMessage)) > 0 {
			o.Final = end.LastMessage
		}
	}
	now := timeOf(p.now)
	switch f, ours := oursFirst(end, p.fatal, p.lastError); {
	case ours:
		f.apply(&o)
	case p.failed:
		f := failure{class: record.ClassMalformed, text: p.lastError}
		if found, ok := match(codexSignatures, p.lastError, now); ok {
			f = found
		}
		f.apply(&o)
	case !p.completed:
		f := died(end, codexSignatures, now)
		if found, ok := match(codexSignatures, p.lastError, now); ok {
			f = found
		}
		f.apply(&o)
	case len(bytes.TrimSpace(o.Final)) == 0:
		failure{class: record.ClassMalformed, text: "the final message is empty"}.apply(&o)
	default:
		o.Class, o.Notes = record.ClassOK, append(exitNote(end), p.notes...)
	}
	o.NoSession = o.Class != record.ClassOK && strings.Contains(o.Message, "no rollout found")
	return o
}
