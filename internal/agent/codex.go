package agent

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"conclave/internal/record"
)

// codex is the Codex CLI, measured with 0.171.0.
type codex struct{}

func (codex) Name() string   { return "codex" }
func (codex) Binary() string { return "codex" }

func (codex) Variables() []string {
	return []string{"OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "OPENAI_BASE_URL", "OPENAI_ORGANIZATION", "OPENAI_PROJECT", "CODEX_HOME"}
}

func (codex) Facts() Facts {
	return Facts{
		Install: "npm install -g @openai/codex", MinimumVersion: "0.170.0", VersionArgs: []string{"--version"},
		State: []StatePath{{Variable: "CODEX_HOME", Home: ".codex", Login: "auth.json"}},
		Keys:  []string{"CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "OPENAI_API_KEY"},
		LogIn: "run codex login, or set CODEX_API_KEY",
	}
}

// codexPromptLimit is the most characters that it takes (measured: 1,048,576 are refused as input_too_large).
const codexPromptLimit = 1 << 20

// Invocation: the user's and the repository's configuration are off, the model's shell sees no keys. A writer may write
// its working folder only; a reader nothing, and it does not load the repository's AGENTS.md.
func (codex) Invocation(t TurnSpec, s Settings) (Invocation, error) {
	path, err := ResolveBinary(t.Target.Adapter, s)
	if err != nil {
		return Invocation{}, err
	}
	last := filepath.Join(filepath.Clean(t.Scratch), "last-message.txt")
	args := append(s.args(t.Target.Adapter, "exec"),
		"--json", "--color", "never", "--skip-git-repo-check", "--ignore-user-config", "--ignore-rules",
		"-C", filepath.Clean(t.Workspace), "-o", last,
	)
	switch {
	case s.CLISandbox == CLISandboxOff:
		args = append(args, "--sandbox", "danger-full-access")
	case t.Writing:
		args = append(args, "--sandbox", "workspace-write",
			"-c", "sandbox_workspace_write.exclude_slash_tmp=true", "-c", "sandbox_workspace_write.exclude_tmpdir_env_var=true",
			"-c", "sandbox_workspace_write.network_access=false")
	default:
		args = append(args, "--sandbox", "read-only")
	}
	if !t.Writing {
		args = append(args, "-c", "project_doc_max_bytes=0")
	}
	args = append(args, "-c", "approval_policy=never", "-c", `shell_environment_policy.inherit="core"`,
		"--disable", "unbounded_connection_retries") // it would wait for a network for ever
	if m := modelFlag(t.Target); m != "" {
		args = append(args, "-m", m)
	}
	return Invocation{
		Path: path, Args: append(args, "-"), Env: environment(t, s, codex{}.Variables(), nil), Dir: t.Workspace,
		StdinFile: t.PromptFile, LastMessageFile: last, StopSignal: syscall.SIGTERM, PromptLimit: codexPromptLimit,
	}, nil
}

func (codex) Parser(t TurnSpec) Parser { return &codexParser{target: t.Target} }

// codexSignatures read error events and standard error. Statuses stand in "unexpected status NNN" and "last status: NNN".
var codexSignatures = append([]signature{
	sign(record.ClassPermanent, `unexpected status 40[134]\b|unexpected status 402\b|not logged in|invalid api key|please (run )?.?codex login|refresh token`),
	sign(record.ClassPermanent, `ran out of room in the model's context|context_length_exceeded|input exceeds the maximum length|input_too_large`),
	sign(record.ClassPermanent, `quota exceeded|insufficient_quota|check your plan and billing`),
	sign(record.ClassPermanent, `model .*(does not exist|not found|not supported)|unexpected argument|invalid value .* for|unrecognized subcommand|error loading config`),
	sign(record.ClassQuota, `usage limit|rate limit|rate_limit|(last|unexpected) status:? 429`),
	sign(record.ClassTransient, `at capacity|high demand|overloaded|(unexpected|last) status:? (5\d\d|408|409|425)|idle timeout|internal server error`),
	sign(record.ClassPermanent, `unexpected status 4\d\d\b|invalid_request_error`),
}, networkSignatures...)

var (
	codexReconnect = regexp.MustCompile(`^Reconnecting\.\.\. \d+/\d+ \((.*)\)$`)
	codexFatal     = regexp.MustCompile(`unexpected status 40[134]\b`)
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
}

func (p *codexParser) Line(line []byte) []Event {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' {
		return nil
	}
	var e codexEvent
	if json.Unmarshal(line, &e) != nil {
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
	u := p.usage
	return []Event{{Kind: EventUsage, Usage: &u}}
}

func (p *codexParser) item(e codexEvent) []Event {
	done := e.Type == "item.completed"
	switch e.Item.Type {
	case "agent_message":
		if done {
			p.last = e.Item.Text
			return []Event{{Kind: EventMessage, Text: e.Item.Text}}
		}
	case "error":
		if done {
			p.notes = append(p.notes, short(e.Item.Message, actionLimit))
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

func (p *codexParser) Outcome(end ProcessEnd) Outcome {
	o := Outcome{Session: p.session, TerminalEvent: p.completed || p.failed, Usage: p.usage}
	if p.session != "" {
		o.Reported = reported(p.target, "")
	}
	if p.completed {
		o.Final = []byte(p.last)
		if len(bytes.TrimSpace(end.LastMessage)) > 0 {
			o.Final = end.LastMessage
		}
	}
	now := time.Now()
	if p.now != nil {
		now = p.now()
	}
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
	return o
}
