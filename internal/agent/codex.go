package agent

import (
	"path/filepath"
	"regexp"
	"syscall"

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
		HelpArgs: []string{"exec", "--help"},
		Flags: []string{
			"--json", "--skip-git-repo-check", "--ignore-user-config", "--ignore-rules", "--output-last-message", "--sandbox", "--disable",
		},
		State: []StatePath{{Variable: "CODEX_HOME", Home: ".codex", Login: "auth.json", Instructions: []string{"AGENTS.override.md", "AGENTS.md"}}},
		Keys:  []string{"CODEX_API_KEY", "CODEX_ACCESS_TOKEN"}, // exec sends no OPENAI_API_KEY (measured with 0.171.0)
		LogIn: "run codex login, or set CODEX_API_KEY (it does not read OPENAI_API_KEY)",
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
	if t.Writing && t.Resume != "" {
		args = append(args, "resume", t.Resume)
	}
	env := environment(t, s, codex{}.Variables(), nil)
	return Invocation{
		Path: path, Args: append(args, "-"), Env: env, Dir: t.Workspace, StdinFile: t.PromptFile, LastMessageFile: last,
		StopSignal: syscall.SIGTERM, PromptLimit: codexPromptLimit, SessionDir: codexSessionDir(env),
	}, nil
}

func (codex) Parser(t TurnSpec) Parser {
	return &codexParser{target: t.Target, resumed: t.Writing && t.Resume != "", earlier: t.Earlier}
}

// codexSignatures read error events and standard error. Statuses stand in "unexpected status NNN" and "last status: NNN".
var codexSignatures = append([]signature{
	sign(record.ClassPermanent, `unexpected status 40[134]\b|unexpected status 402\b|not logged in|invalid api key|please (run )?.?codex login|refresh token`),
	sign(record.ClassPermanent, `ran out of room in the model's context|context_length_exceeded|input exceeds the maximum length|input_too_large`),
	sign(record.ClassPermanent, `quota exceeded|insufficient_quota|check your plan and billing`),
	sign(record.ClassPermanent, `model .*(does not exist|not found|not supported)|unexpected argument|invalid value .* for|unrecognized subcommand|error loading config|no rollout found`),
	sign(record.ClassQuota, `usage limit|rate limit|rate_limit|(last|unexpected) status:? 429`),
	sign(record.ClassTransient, `at capacity|high demand|overloaded|(unexpected|last) status:? (5\d\d|408|409|425)|idle timeout|internal server error`),
	sign(record.ClassPermanent, `unexpected status 4\d\d\b|invalid_request_error`),
}, networkSignatures...)

var (
	codexReconnect = regexp.MustCompile(`^Reconnecting\.\.\. \d+/\d+ \((.*)\)$`)
	codexFatal     = regexp.MustCompile(`unexpected status 40[134]\b`)
)
