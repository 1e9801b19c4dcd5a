package agent

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"syscall"

	"conclave/internal/record"
)

// opencode is OpenCode, measured with 1.18.33. Its models are named provider/model; there is no default identity, since
// it speaks to anybody's models.
type opencode struct{}

func (opencode) Name() string   { return "opencode" }
func (opencode) Binary() string { return "opencode" }

func (opencode) Variables() []string {
	return []string{
		opencodeConfig, "OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_API_KEY", "OPENCODE_AUTH_CONTENT",
		"XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME",
		"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "OPENROUTER_API_KEY",
		"XAI_API_KEY", "DEEPSEEK_API_KEY", "MISTRAL_API_KEY", "GROQ_API_KEY", "MOONSHOT_API_KEY", "ZHIPU_API_KEY",
	}
}

func (opencode) Facts() Facts {
	return Facts{
		Install: "npm install -g opencode-ai", MinimumVersion: "1.18.0", VersionArgs: []string{"--version"},
		HelpArgs: []string{"run", "--help"},
		Flags: []string{
			"--pure", "--format", "--agent", "--title", "--session", "--print-logs", "--log-level",
		},
		State: []StatePath{
			{Variable: "XDG_DATA_HOME", Under: "opencode", Home: ".local/share/opencode", Login: "auth.json"},
			{Variable: "XDG_CONFIG_HOME", Under: "opencode", Home: ".config/opencode", Instructions: []string{"AGENTS.md"}},
			{Variable: "XDG_STATE_HOME", Under: "opencode", Home: ".local/state/opencode"},
			{Variable: "XDG_CACHE_HOME", Under: "opencode", Home: ".cache/opencode"},
		},
		Keys: []string{
			"OPENCODE_API_KEY", "OPENCODE_AUTH_CONTENT", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY",
			"OPENROUTER_API_KEY", "XAI_API_KEY", "DEEPSEEK_API_KEY", "MISTRAL_API_KEY", "GROQ_API_KEY", "MOONSHOT_API_KEY", "ZHIPU_API_KEY",
		},
		LogIn: "run opencode auth login",
	}
}

const (
	opencodeConfig     = "OPENCODE_CONFIG_CONTENT"
	opencodePermission = "OPENCODE_PERMISSION"
)

// opencodeFixed: nothing of the repository's configures it, nothing is fetched and installed, and what belongs to
// another agent's set-up (CLAUDE.md of the home folder, skills) stays out.
var opencodeFixed = map[string]string{
	"OPENCODE_DISABLE_PROJECT_CONFIG": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
	"OPENCODE_DISABLE_CLAUDE_CODE": "1", "OPENCODE_DISABLE_EXTERNAL_SKILLS": "1", "OPENCODE_DISABLE_SHARE": "1",
}

// The permission sets. Nothing is "ask": in run mode that is refused, and the run ends with exit code 0 and no answer
// (measured). The agent "plan" is no reader: its shell writes (measured). A reader has no shell at all: even `git diff`
// writes with --output.
var (
	opencodeReader = map[string]any{
		"*": "deny", "read": "allow", "grep": "allow", "glob": "allow", "list": "allow", "edit": "deny", "bash": "deny",
		"external_directory": "deny", "webfetch": "deny", "websearch": "deny", "task": "deny", "question": "deny",
	}
	opencodeWriter = map[string]any{
		"*": "allow", "read": "allow", "grep": "allow", "glob": "allow", "list": "allow", "edit": "allow", "bash": "allow", "task": "allow",
		"external_directory": "deny", "webfetch": "deny", "websearch": "deny", "question": "deny",
	}
)

// Invocation: the permissions are ours, laid over whatever the user configures (providers, models). OpenCode has no
// sandbox of its own; where ours is off, only its checks of paths hold a writer's shell.
func (o opencode) Invocation(t TurnSpec, s Settings) (Invocation, error) {
	path, err := ResolveBinary(t.Target.Adapter, s)
	if err != nil {
		return Invocation{}, err
	}
	args := append(s.args(t.Target.Adapter, "run"), "--pure", "--format", "json", "--agent", "build", "--print-logs", "--log-level", "ERROR")
	if m := modelFlag(t.Target); m != "" {
		args = append(args, "-m", m)
	}
	if t.Writing && t.Resume != "" {
		args = append(args, "-s", t.Resume)
	} else {
		args = append(args, "--title", "conclave "+t.Role) // else it asks the model for one
	}
	permission := opencodeReader
	if t.Writing {
		permission = maps.Clone(opencodeWriter)
		if s.CLISandbox == CLISandboxOff { // the caller contains it; a writer may read what it builds against
			permission["external_directory"] = "allow"
		}
	}
	config, err := opencodeContent(t, s, permission)
	if err != nil {
		return Invocation{}, err
	}
	rules, err := json.Marshal(permission)
	if err != nil {
		return Invocation{}, err
	}
	// The turn's variables win over all others, so nobody's setting lifts the permissions.
	t.Env = maps.Clone(t.Env)
	if t.Env == nil {
		t.Env = map[string]string{}
	}
	maps.Copy(t.Env, opencodeFixed)
	t.Env[opencodeConfig], t.Env[opencodePermission] = config, string(rules)
	inv := Invocation{
		Path: path, Args: args, Env: environment(t, s, o.Variables(), nil), Dir: t.Workspace,
		StdinFile: t.PromptFile, StopSignal: syscall.SIGTERM,
	}
	if !t.Writing {
		for _, name := range opencodeProject {
			inv.Files = append(inv.Files, File{Path: filepath.Join(t.Workspace, name)})
		}
	}
	return inv, nil
}

// opencodeProject is what it loads from a repository, plugins included, whatever OPENCODE_DISABLE_PROJECT_CONFIG says
// (measured: one of its two loaders does not know the variable). A reader's checkout goes without them.
var opencodeProject = []string{".opencode", "opencode.json", "opencode.jsonc"}

// opencodeContent is the user's OPENCODE_CONFIG_CONTENT, if there is one, with ours laid over it.
func opencodeContent(t TurnSpec, s Settings, permission map[string]any) (string, error) {
	config := map[string]any{}
	given := firstText(t.Env[opencodeConfig], s.ExtraEnv[t.Target.Adapter][opencodeConfig], lookupEnv(s.Environ, opencodeConfig))
	if given != "" && json.Unmarshal([]byte(given), &config) != nil || config == nil {
		return "", Unavailable(opencodeConfig + " is not a JSON object: correct it, or move it to opencode's configuration file")
	}
	maps.Copy(config, map[string]any{
		"autoupdate": false, "share": "disabled", "snapshot": false, "lsp": false, "formatter": false, "permission": permission,
	})
	content, err := json.Marshal(config)
	return string(content), err
}

func (opencode) Parser(t TurnSpec) Parser { return &opencodeParser{target: t.Target} }

// opencodeSignatures read error events and standard error.
var opencodeSignatures = append([]signature{
	sign(record.ClassPermanent, `insufficient_quota|exceeded your current quota|credit balance|billing|payment required`),
	sign(record.ClassPermanent, `context_length_exceeded|maximum context length|prompt is too long|too many tokens|context window`),
	sign(record.ClassPermanent, `invalid api key|incorrect api key|unauthorized|authentication|api key is missing|not logged in`),
	sign(record.ClassPermanent, `model .*(not found|does not exist|is not supported)|(model|provider)NotFoundError|no such model`),
	sign(record.ClassPermanent, `unknown (argument|option|command)|configuration is invalid|failed to parse|session not found`),
	sign(record.ClassQuota, `rate.?limit|too many requests|usage limit|limit reached`),
	sign(record.ClassTransient, `overloaded|at capacity|internal server error|service unavailable|JSON parsing failed|bad gateway|gateway time-?out`),
}, networkSignatures...)

// opencodeErrors classifies errors by their name.
var opencodeErrors = map[string]Class{
	"ContextOverflowError": record.ClassPermanent, "ProviderAuthError": record.ClassPermanent, "MessageAbortedError": record.ClassAborted,
}
