package agent

import (
	"maps"
	"path/filepath"
	"slices"
	"syscall"

	"conclave/internal/record"
)

// gemini is the Gemini CLI, measured with 0.61.0.
type gemini struct{}

func (gemini) Name() string   { return "gemini" }
func (gemini) Binary() string { return "gemini" }

func (gemini) Variables() []string {
	return []string{
		"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA",
		"GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_APPLICATION_CREDENTIALS", "GEMINI_CLI_HOME",
	}
}

func (gemini) Facts() Facts {
	return Facts{
		Install: "npm install -g @google/gemini-cli", MinimumVersion: "0.60.0", VersionArgs: []string{"--version"},
		HelpArgs: []string{"--help"},
		Flags: []string{
			"--output-format", "--skip-trust", "--extensions", "--allowed-mcp-server-names", "--approval-mode", "--admin-policy", "--session-id", "--resume",
		},
		State: []StatePath{{Variable: "GEMINI_CLI_HOME", Under: ".gemini", Home: ".gemini", Login: "oauth_creds.json", Instructions: []string{"GEMINI.md"}}},
		Keys:  []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"},
		LogIn: "start gemini once and choose a login, or set GEMINI_API_KEY",
	}
}

// geminiFixed: one process, so that the stop signal reaches it; nothing that phones home.
var geminiFixed = map[string]string{"GEMINI_CLI_NO_RELAUNCH": "true", "GEMINI_TELEMETRY_ENABLED": "false"}

// geminiBlank are variables that .env files of the repository would set otherwise, since it takes from them what the
// environment lacks: where the key is sent, through whom, and what the system prompt is.
var geminiBlank = []string{
	"GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "CODE_ASSIST_ENDPOINT", "GEMINI_SYSTEM_MD", "GEMINI_WRITE_SYSTEM_MD", "GEMINI_SANDBOX",
	"NODE_TLS_REJECT_UNAUTHORIZED", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy",
}

// geminiReaderPolicy leaves a reader the tools that read. It beats the user's and the repository's rules.
const geminiReaderPolicy = `[[rule]]
toolName = "*"
decision = "deny"
priority = 900

[[rule]]
toolName = ["read_file", "read_many_files", "list_directory", "glob", "grep_search"]
decision = "allow"
priority = 950
`

// geminiTrust makes it read our settings in a reader's checkout; --skip-trust alone skips the questions and leaves the
// settings of the folder out (measured).
const geminiTrust = "GEMINI_CLI_TRUST_WORKSPACE=true"

// geminiPromptLimit: it echoes its prompt in one event, and ends without waiting for its output to be taken (with 4 MiB the
// events behind that one were lost; measured).
const geminiPromptLimit = 1 << 20

// geminiTask follows what stands on standard input.
const geminiTask = "The task is what stands above."

// Invocation: extensions and MCP servers are off. A reader's tools cannot write, and settings of ours take the place of
// the repository's in its throw-away checkout (system settings, which would do for writers too, must be root's files). A
// writer has a shell only where our sandbox holds it, for the program's own needs a container runtime.
func (g gemini) Invocation(t TurnSpec, s Settings) (Invocation, error) {
	path, err := ResolveBinary(t.Target.Adapter, s)
	if err != nil {
		return Invocation{}, err
	}
	fixed := maps.Clone(geminiFixed)
	if t.Scratch != "" { // it leaves requests that failed, prompt and all, in the folder for temporary files
		fixed["TMPDIR"] = filepath.Clean(t.Scratch)
	}
	inv := Invocation{
		Path: path, Dir: t.Workspace, StdinFile: t.PromptFile, StopSignal: syscall.SIGTERM, PromptLimit: geminiPromptLimit,
		Env: blank(environment(t, s, g.Variables(), fixed), geminiBlank),
	}
	args := append(s.args(t.Target.Adapter), "-o", "stream-json", "--skip-trust", "-e", "none", "--allowed-mcp-server-names", "none")
	switch {
	case !t.Writing:
		inv.Env = append(inv.Env, geminiTrust)
		slices.Sort(inv.Env)
		policy := filepath.Join(filepath.Clean(t.Scratch), "gemini-reader.toml")
		own := filepath.Join(t.Workspace, ".gemini") // the repository's agents, commands and .env go, for ours is trusted
		inv.Files = []File{{policy, []byte(geminiReaderPolicy)}, {own, nil}, {filepath.Join(own, "settings.json"), []byte(geminiReaderSettings)}}
		args = append(args, "--approval-mode", "default", "--admin-policy", policy)
	case s.CLISandbox == CLISandboxOff:
		args = append(args, "--approval-mode", "yolo")
	default:
		args = append(args, "--approval-mode", "auto_edit")
	}
	if m := modelFlag(t.Target); m != "" {
		args = append(args, "-m", m)
	}
	switch {
	case t.Writing && t.Resume != "":
		args = append(args, "--resume", t.Resume)
	case uuidPattern.MatchString(t.SessionID):
		args = append(args, "--session-id", t.SessionID)
	}
	args = append(args, "-p", geminiTask)
	inv.Args = args
	return inv, nil
}

// geminiReaderSettings: no hooks, no .env, and few tries of its own, since backoff is ours to wait
// (by default it tries ten times, for minutes, silently).
const geminiReaderSettings = `{
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false, "maxAttempts": 3},
  "privacy": {"usageStatisticsEnabled": false},
  "hooksConfig": {"enabled": false},
  "advanced": {"ignoreLocalEnv": true},
  "ide": {"enabled": false}
}
`

func (gemini) Parser(t TurnSpec) Parser { return &geminiParser{target: t.Target} }

// geminiSignatures read error results and standard error.
var geminiSignatures = append([]signature{
	sign(record.ClassPermanent, `API_KEY_INVALID|api key not valid|UNAUTHENTICATED|PERMISSION_DENIED|"code":40[13]\b|must specify the GEMINI_API_KEY|set an auth method|please set .*auth|login required`),
	sign(record.ClassPermanent, `not running in a trusted directory`),
	sign(record.ClassPermanent, `billing|"code":402\b`),
	sign(record.ClassPermanent, `input token count .*exceeds|exceeds the maximum number of tokens|context window|prompt is too long|request payload size exceeds`),
	sign(record.ClassPermanent, `ModelNotFoundError|models?/?\S* (is )?not found|"code":404\b|not_found`),
	sign(record.ClassPermanent, `unknown arguments?|invalid values|invalid session identifier|no previous sessions|session .*(not found|already exists)`),
	sign(record.ClassPermanent, `maximum session turns|max session turns`),
	sign(record.ClassQuota, `TerminalQuotaError|RetryableQuotaError|RESOURCE_EXHAUSTED|exhausted your|quota|rate.?limit|"code":429\b|status 429`),
	sign(record.ClassTransient, `"code":(5\d\d|408|409|425)\b|"status":"(INTERNAL|UNAVAILABLE)"|overloaded|status 5\d\d|fetch failed|incomplete|invalid stream|empty response|(no|without a) finish reason|terminated`),
	sign(record.ClassPermanent, `INVALID_ARGUMENT|"code":4\d\d\b`),
}, networkSignatures...)

// geminiExits are exit codes of its own: no key, bad input, a sandbox that fails, bad configuration, an untrusted folder.
var geminiExits = map[int]bool{41: true, 42: true, 44: true, 52: true, 53: true, 55: true}
