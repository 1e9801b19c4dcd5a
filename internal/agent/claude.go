package agent

import (
	"encoding/json"
	"regexp"
	"strings"
	"syscall"

	"conclave/internal/record"
)

// claude is Claude Code, measured with 2.1.197.
type claude struct{}

func (claude) Name() string   { return "claude" }
func (claude) Binary() string { return "claude" }

func (claude) Variables() []string {
	return []string{
		"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS",
		"CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR",
	}
}

func (claude) Facts() Facts {
	return Facts{
		Install: "npm install -g @anthropic-ai/claude-code", MinimumVersion: "2.1.0", VersionArgs: []string{"--version"},
		HelpArgs: []string{"--help"},
		Flags: []string{
			"--output-format", "--setting-sources", "--strict-mcp-config", "--disable-slash-commands", "--tools", "--permission-mode", "--disallowedTools", "--session-id", "--resume",
		},
		State: []StatePath{
			{Variable: "CLAUDE_CONFIG_DIR", Home: ".claude", Login: ".credentials.json"},
			{Variable: "CLAUDE_CONFIG_DIR", Under: ".claude.json", Home: ".claude.json", File: true},
		},
		Keys:  []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"},
		LogIn: "start claude and type /login, or set ANTHROPIC_API_KEY",
	}
}

// claudeFixed: few retries of its own, since backoff is ours to wait; nothing that phones home.
var claudeFixed = map[string]string{
	"CLAUDE_CODE_MAX_RETRIES": "2", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
	"DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1", "DISABLE_AUTOUPDATER": "1",
}

const claudeSandbox = `{"sandbox":{"enabled":true,"autoAllowBashIfSandboxed":true,"allowUnsandboxedCommands":false,"failIfUnavailable":true}}`

var uuidPattern = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// Invocation: the repository's settings, hooks and MCP servers are off (--setting-sources "", --strict-mcp-config), the
// question tool is not among the tools. A writer edits inside its working folder; its shell is sandboxed where the
// program's sandbox works, else merely allowed. A reader has no tool that writes.
func (claude) Invocation(t TurnSpec, s Settings) (Invocation, error) {
	path, err := ResolveBinary(t.Target.Adapter, s)
	if err != nil {
		return Invocation{}, err
	}
	args := append(s.args(t.Target.Adapter, "-p"), "--output-format", "stream-json", "--verbose")
	if m := modelFlag(t.Target); m != "" {
		args = append(args, "--model", m)
	}
	args = append(args, "--setting-sources", "", "--strict-mcp-config", "--disable-slash-commands")
	switch {
	case !t.Writing:
		args = append(args, "--tools", "Read,Glob,Grep", "--permission-mode", "dontAsk")
	case sandboxed(s):
		args = append(args, "--tools", "Bash,Read,Edit,Write,Glob,Grep", "--permission-mode", "acceptEdits", "--settings", claudeSandbox)
	default:
		args = append(args, "--tools", "Bash,Read,Edit,Write,Glob,Grep", "--permission-mode", "acceptEdits", "--allowedTools", "Bash")
	}
	args = append(args, "--disallowedTools", "AskUserQuestion")
	switch {
	case t.Writing && t.Resume != "":
		args = append(args, "--resume", t.Resume)
	case uuidPattern.MatchString(t.SessionID):
		args = append(args, "--session-id", t.SessionID)
	}
	return Invocation{
		Path: path, Args: args, Env: environment(t, s, claude{}.Variables(), claudeFixed), Dir: t.Workspace,
		StdinFile: t.PromptFile, StopSignal: syscall.SIGINT, // TERM leaves its tools running (measured)
	}, nil
}

func (claude) Parser(t TurnSpec) Parser { return &claudeParser{target: t.Target} }

// claudeSignatures read error results and standard error.
var claudeSignatures = append([]signature{
	sign(record.ClassPermanent, `failed to authenticate|not logged in|invalid api key|please run /login|oauth token (has )?(expired|been revoked)|authentication_error|API Error: 40[13]\b`),
	sign(record.ClassPermanent, `credit balance is too low|billing`),
	sign(record.ClassPermanent, `prompt is too long|request too large|context window`),
	sign(record.ClassPermanent, `issue with the selected model|model_not_found`),
	sign(record.ClassPermanent, `unknown option|option .* argument|unknown command|is already in use|no conversation found|cannot be used with root|sandbox required but unavailable`),
	sign(record.ClassPermanent, `exceeded the \d+ output token|unable to respond to this request|reached maximum (number of turns|budget)`),
	sign(record.ClassQuota, `rejected \(429\)|API Error: 429|rate.?limit|usage limit|hit your (\w+ )?limit|limit reached`),
	sign(record.ClassTransient, `API Error: (5\d\d|408|409|425)\b|overloaded|unable to connect|empty or malformed response|internal server error|request timed out`),
	sign(record.ClassPermanent, `API Error: 4\d\d\b`),
}, networkSignatures...)

// claudeErrors classifies the error word that stands beside a synthetic message.
var claudeErrors = map[string]Class{
	"authentication_failed": record.ClassPermanent, "billing_error": record.ClassPermanent, "model_not_found": record.ClassPermanent,
	"invalid_request": record.ClassPermanent, "max_output_tokens": record.ClassPermanent,
	"rate_limit": record.ClassQuota, "server_error": record.ClassTransient, "overloaded": record.ClassTransient,
}

// claudeEvent is the part of an event that matters; everything else is ignored.
type claudeEvent struct {
	Type      string          `json:"type"`
	Subtype   string          `json:"subtype"`
	SessionID string          `json:"session_id"`
	Model     string          `json:"model"`
	ParentID  string          `json:"parent_tool_use_id"`
	Error     json.RawMessage `json:"error"`
	Message   struct {
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	// system/api_retry
	Attempt     int  `json:"attempt"`
	MaxRetries  int  `json:"max_retries"`
	ErrorStatus *int `json:"error_status"`
	// rate_limit_event
	Limit struct {
		Status   string `json:"status"`
		ResetsAt int64  `json:"resetsAt"`
	} `json:"rate_limit_info"`
	claudeResult
}

// claudeResult is the last event.
type claudeResult struct {
	IsError        bool            `json:"is_error"`
	APIErrorStatus *int            `json:"api_error_status"`
	TerminalReason string          `json:"terminal_reason"`
	StopReason     string          `json:"stop_reason"`
	Result         string          `json:"result"`
	Structured     json.RawMessage `json:"structured_output"`
	Errors         []string        `json:"errors"`
	Denials        []struct {
		Tool string `json:"tool_name"`
	} `json:"permission_denials"`
	Cost  *float64 `json:"total_cost_usd"`
	Usage struct {
		Input      int64 `json:"input_tokens"`
		CacheWrite int64 `json:"cache_creation_input_tokens"`
		CacheRead  int64 `json:"cache_read_input_tokens"`
		Output     int64 `json:"output_tokens"`
	} `json:"usage"`
	ModelUsage map[string]struct {
		Input      int64 `json:"inputTokens"`
		CacheWrite int64 `json:"cacheCreationInputTokens"`
		CacheRead  int64 `json:"cacheReadInputTokens"`
		Output     int64 `json:"outputTokens"`
	} `json:"modelUsage"`
}

// usage prefers the table by model, which holds side requests too. All zeros are no report.
func (r claudeResult) usage() Usage {
	u := Usage{
		InputTokens:  r.Usage.Input + r.Usage.CacheWrite + r.Usage.CacheRead,
		CachedTokens: r.Usage.CacheRead, OutputTokens: r.Usage.Output,
	}
	if len(r.ModelUsage) > 0 {
		u = Usage{}
		for _, m := range r.ModelUsage {
			u.InputTokens += m.Input + m.CacheWrite + m.CacheRead
			u.CachedTokens += m.CacheRead
			u.OutputTokens += m.Output
		}
	}
	if u.InputTokens == 0 && u.OutputTokens == 0 {
		return Usage{}
	}
	u.Known = true
	if r.Cost != nil && *r.Cost > 0 {
		u.CostUSD = r.Cost
	}
	return u
}

// structured is the structured output, nil when absent or null.
func (r claudeResult) structured() []byte {
	if text := strings.TrimSpace(string(r.Structured)); text != "" && text != "null" {
		return []byte(text)
	}
	return nil
}
