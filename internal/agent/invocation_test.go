package agent

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files")

// program makes an executable file.
func program(t *testing.T, dir, name, script string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755))
	return path
}

// hostile is an environment with things that no agent may see.
var hostile = []string{
	"HOME=/home/u", "USER=u", "LANG=C.UTF-8", "TMPDIR=/tmp/u", "HTTPS_PROXY=http://proxy", "no_proxy=localhost", "NODE_EXTRA_CA_CERTS=/ca.pem",
	"ANTHROPIC_API_KEY=ak", "ANTHROPIC_BASE_URL=http://127.0.0.1:1", "CLAUDE_CODE_OAUTH_TOKEN=ot", "CLAUDE_CONFIG_DIR=/c", "OPENAI_API_KEY=ok",
	"CODEX_API_KEY=ck", "CODEX_HOME=/codex", "GITHUB_TOKEN=gh", "GH_TOKEN=gh", "CLAUDECODE=1", "AWS_SECRET_ACCESS_KEY=aws", "SSH_AUTH_SOCK=/s",
	"GIT_DIR=/g", "GIT_INDEX_FILE=/i", "LD_PRELOAD=/evil.so", "NODE_OPTIONS=--require=/evil.js", "CONCLAVE_STORE=/store", "CI=1", "TERM=xterm", "BASH_ENV=/evil",
	"PYTHONSTARTUP=/evil", "ANTHROPIC_MODEL=other", "TEMPORAL_API_KEY=tk",
}

func TestInvocationsAreGolden(t *testing.T) {
	bin := t.TempDir()
	for _, name := range []string{"claude", "codex", "opencode", "gemini", "mine"} {
		program(t, bin, name, "exit 0\n")
	}
	settings := Settings{
		Environ:  append([]string{"PATH=" + bin}, hostile...),
		Commands: map[string]CommandSettings{"mine": {Argv: []string{"mine", "--in={prompt}", "--out={result}", "-m", "{model}", "{workspace}"}, ResultFile: true, Identity: Identity{Provider: "p", ModelFamily: "f", Model: "m"}}},
		ExtraEnv: map[string]map[string]string{"codex": {"MY_GATEWAY_KEY": "gk", "LANG": "de_DE.UTF-8"}},
	}
	got := map[string]any{}
	for _, c := range []struct {
		adapter, model string
		writing        bool
		sandbox        CLISandbox
	}{
		{"claude", "", false, CLISandboxOff}, {"claude", "opus", true, CLISandboxOff}, {"claude", "opus", true, CLISandboxOn},
		{"codex", "", false, CLISandboxAuto}, {"codex", "gpt-5.5", true, CLISandboxAuto}, {"codex", "gpt-5.5", true, CLISandboxOff},
		{"opencode", "anthropic/claude-sonnet-4-5", false, CLISandboxAuto}, {"opencode", "anthropic/claude-sonnet-4-5", true, CLISandboxAuto},
		{"opencode", "anthropic/claude-sonnet-4-5", true, CLISandboxOff},
		{"gemini", "gemini-2.5-pro", false, CLISandboxAuto}, {"gemini", "gemini-2.5-pro", true, CLISandboxAuto}, {"gemini", "", true, CLISandboxOff},
		{"mine", "m2", true, CLISandboxAuto}, {"mine", "", false, CLISandboxAuto},
	} {
		settings.CLISandbox = c.sandbox
		target, err := TargetFor(c.adapter, c.model, settings)
		require.NoError(t, err)
		a, err := settings.Lookup(c.adapter)
		require.NoError(t, err)
		inv, err := a.Invocation(TurnSpec{
			Role: "review", Writing: c.writing, Workspace: "/ws", Scratch: "/scratch/../scratch/t", PromptFile: "/scratch/t/prompt.md", Target: target,
			SessionID: "11111111-2222-4333-8444-555555555555", Env: map[string]string{"CONCLAVE_DESIGN_CONTRACT": "/ws/DESIGN_CONTRACT.md"},
		}, settings)
		require.NoError(t, err)
		require.Equal(t, filepath.Join(bin, c.adapter), inv.Path)
		inv.Path = "BIN/" + c.adapter
		for i, e := range inv.Env {
			inv.Env[i] = strings.ReplaceAll(e, bin, "BIN")
		}
		got[fmt.Sprintf("%s model=%s writing=%v sandbox=%s", c.adapter, c.model, c.writing, c.sandbox)] = inv
	}
	b, err := json.MarshalIndent(got, "", "  ")
	require.NoError(t, err)
	golden := filepath.Join("testdata", "invocations.json")
	if *update {
		require.NoError(t, os.WriteFile(golden, append(b, '\n'), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), string(b)+"\n")
}

func TestEnvironmentIsAnAllowList(t *testing.T) {
	common := []string{"HOME", "HTTPS_PROXY", "LANG", "NODE_EXTRA_CA_CERTS", "PATH", "TMPDIR", "USER", "no_proxy"}
	names := func(env []string) []string {
		var out []string
		for _, e := range env {
			k, _, _ := strings.Cut(e, "=")
			out = append(out, k)
		}
		return out
	}
	s := Settings{Environ: append([]string{"PATH=/bin"}, hostile...)}
	require.ElementsMatch(t, common, names(CommandEnviron(s.Environ)), "commands see no model keys")
	for adapter, keys := range map[string][]string{
		"claude": {"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR"},
		"codex":  {"OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_HOME"},
	} {
		a, err := Settings{}.Lookup(adapter)
		require.NoError(t, err)
		env := environment(TurnSpec{Target: Target{Adapter: adapter}}, s, a.Variables(), nil)
		require.ElementsMatch(t, append(append([]string{"TERM", "NO_COLOR"}, common...), keys...), names(env))
		require.Contains(t, env, "TERM=dumb")
	}

	s.ExtraEnv = map[string]map[string]string{"claude": {"LANG": "x", "EXTRA": "e"}, "codex": {"OTHER": "o"}}
	env := environment(TurnSpec{Target: Target{Adapter: "claude"}, Env: map[string]string{"EXTRA": "turn"}}, s, nil, map[string]string{"LANG": "fixed"})
	require.Contains(t, env, "LANG=x", "configuration wins over the adapter")
	require.Contains(t, env, "EXTRA=turn", "the turn wins over configuration")
	require.NotContains(t, names(env), "OTHER")
}

func TestStopSignalsAndLimits(t *testing.T) {
	dir := t.TempDir()
	program(t, dir, "claude", "")
	program(t, dir, "codex", "")
	s := Settings{Environ: []string{"PATH=" + dir}, CLISandbox: CLISandboxOff}
	turn := TurnSpec{Workspace: dir, Scratch: dir, PromptFile: "/p", SessionID: "no uuid"}
	for adapter, want := range map[string]Invocation{
		"claude": {StopSignal: syscall.SIGINT}, "codex": {StopSignal: syscall.SIGTERM, PromptLimit: 1048576},
	} {
		turn.Target.Adapter = adapter
		a, _ := Settings{}.Lookup(adapter)
		inv, err := a.Invocation(turn, s)
		require.NoError(t, err)
		require.Equal(t, want.StopSignal, inv.StopSignal)
		require.Equal(t, want.PromptLimit, inv.PromptLimit)
		require.Equal(t, "/p", inv.StdinFile)
		require.NotContains(t, inv.Args, "no uuid")
		require.NotContains(t, strings.Join(inv.Args, " "), "--model")
	}
}

func TestLookup(t *testing.T) {
	require.Equal(t, []string{"claude", "codex", "opencode", "gemini", "command", "stub"}, Names())
	for _, name := range Names() {
		a, err := Settings{}.Lookup(name)
		require.NoError(t, err)
		require.Equal(t, name, a.Name())
	}
	for name, want := range map[string]string{
		"cluade": "did you mean claude?", "codx": "did you mean codex?", "Claude": "did you mean claude?", "gemin": "did you mean gemini?",
		"zzz": "known are claude, codex, opencode, gemini, command, stub", "": "unknown adapter",
	} {
		_, err := Settings{}.Lookup(name)
		require.ErrorContains(t, err, want)
		require.True(t, IsUnavailable(err))
	}
	_, err := Settings{}.Lookup("zzz")
	require.NotContains(t, err.Error(), "did you mean")
	a, err := Settings{Commands: map[string]CommandSettings{"mine": {}}}.Lookup("mine")
	require.NoError(t, err)
	require.Equal(t, CommandName, a.Name())
}

func TestResolveBinary(t *testing.T) {
	dir := t.TempDir()
	claudeFile := program(t, dir, "claude", "")
	other := program(t, dir, "other", "")
	plain := filepath.Join(dir, "plain")
	require.NoError(t, os.WriteFile(plain, nil, 0o644))
	s := Settings{Environ: []string{"PATH=.:" + dir}}

	path, err := ResolveBinary("claude", s)
	require.NoError(t, err)
	require.Equal(t, claudeFile, path)
	for _, named := range []string{other, "other"} {
		s.Binaries = map[string]string{"claude": named}
		path, err = ResolveBinary("claude", s)
		require.NoError(t, err)
		require.Equal(t, other, path)
	}
	for named, want := range map[string]string{
		"nosuch": "nosuch is not on PATH", filepath.Join(dir, "nosuch"): "does not exist", dir: "is a folder", plain: "may not be executed",
	} {
		s.Binaries = map[string]string{"claude": named}
		_, err = ResolveBinary("claude", s)
		var missing *MissingBinary
		require.ErrorAs(t, err, &missing)
		require.Equal(t, named, missing.Binary)
		for _, part := range []string{want, named, "CONCLAVE_CLAUDE_BIN", "starter doctor"} {
			require.ErrorContains(t, err, part)
		}
		require.True(t, IsUnavailable(fmt.Errorf("wrapped: %w", err)))
	}
	_, err = ResolveBinary("codex", s)
	require.ErrorContains(t, err, "codex is not on PATH")
	require.ErrorContains(t, err, "CONCLAVE_CODEX_BIN")
	_, err = ResolveBinary("nosuch", s)
	require.ErrorContains(t, err, "unknown adapter")

	// The workspace is the current folder of an agent: "." on PATH must not find a program there.
	t.Chdir(dir)
	_, err = ResolveBinary("claude", Settings{Environ: []string{"PATH=.:"}})
	require.Error(t, err)
}

func TestTargets(t *testing.T) {
	s := Settings{
		Commands:   map[string]CommandSettings{"mine": {Argv: []string{"x"}, Identity: Identity{Provider: "acme", ModelFamily: "roadrunner", Model: "r1"}}, "bare": {Argv: []string{"x"}}},
		Identities: map[string]Identity{"codex": {Provider: "azure"}},
		Families:   []Family{{"inhouse", "acme", "inhouse"}},
	}
	for _, c := range []struct{ adapter, model, provider, family, name string }{
		{"claude", "", "anthropic", "claude", "default"},
		{"claude", "opus", "anthropic", "claude", "opus"},
		{"claude", "us.anthropic.claude-opus-4-1", "anthropic", "claude", "us.anthropic.claude-opus-4-1"},
		{"claude", "openrouter/z-ai/glm-4.6", "zhipu", "glm", "openrouter/z-ai/glm-4.6"},
		{"claude", "never-heard-of-it", "anthropic", "claude", "never-heard-of-it"},
		{"claude", "inhouse-7b", "acme", "inhouse", "inhouse-7b"},
		{"claude", "gpt-5.5", "openai", "gpt", "gpt-5.5"},
		{"claude", "o3", "openai", "gpt", "o3"},
		{"claude", "opticon", "anthropic", "claude", "opticon"},
		{"claude", "o100", "anthropic", "claude", "o100"},
		{"codex", "", "azure", "gpt", "default"},
		{"codex", "qwen3-coder", "azure", "qwen", "qwen3-coder"},
		{"mine", "", "acme", "roadrunner", "r1"},
		{"mine", "r2", "acme", "roadrunner", "r2"},
		{"stub", "", "conclave", "stub", "default"},
		{"gemini", "", "google", "gemini", "default"},
		{"opencode", "anthropic/claude-sonnet-4-5", "anthropic", "claude", "anthropic/claude-sonnet-4-5"},
	} {
		got, err := TargetFor(c.adapter, c.model, s)
		require.NoError(t, err)
		require.Equal(t, Target{c.adapter, c.provider, c.family, c.name}, got)
	}
	_, err := TargetFor("bare", "", s)
	require.ErrorContains(t, err, "declares no identity")
	_, err = TargetFor("opencode", "", s)
	require.ErrorContains(t, err, "name a well-known model")
	_, err = TargetFor("nosuch", "", s)
	require.Error(t, err)
}

func TestClaudesOwnSandboxNeedsItsTools(t *testing.T) {
	dir := t.TempDir()
	s := Settings{Environ: []string{"PATH=" + dir}}
	require.False(t, sandboxed(s), "no bwrap")
	bwrap := program(t, dir, "bwrap", "exit 1\n")
	require.False(t, sandboxed(s), "no socat")
	program(t, dir, "socat", "")
	require.False(t, sandboxed(s), "bwrap is refused by the kernel")
	delete(bwrapTried, bwrap)
	program(t, dir, "bwrap", "exit 0\n")
	require.True(t, sandboxed(s))
	s.CLISandbox = CLISandboxOff
	require.False(t, sandboxed(s))
}

// TestEffectiveIdentityIsTheAdaptersOwn: a target that declares somebody else does not make the engine somebody else.
func TestEffectiveIdentityIsTheAdaptersOwn(t *testing.T) {
	s := Settings{
		Commands:   map[string]CommandSettings{"mine": {Identity: Identity{Provider: "acme", ModelFamily: "acme-large", Model: "gpt-like"}}},
		Identities: map[string]Identity{"codex": {Provider: "azure"}},
	}
	for _, c := range []struct{ asked, want Target }{
		{Target{"claude", "openai", "gpt", DefaultModel}, Target{"claude", "anthropic", "claude", DefaultModel}},
		{Target{"claude", "openai", "gpt", "opus"}, Target{"claude", "anthropic", "claude", "opus"}},
		{Target{"codex", "openai", "gpt", "gpt-5.5"}, Target{"codex", "azure", "gpt", "gpt-5.5"}},
		{Target{"mine", "acme", "acme-large", "gpt-like"}, Target{"mine", "acme", "acme-large", "gpt-like"}},
		{Target{"mine", "other", "other", DefaultModel}, Target{"mine", "acme", "acme-large", "gpt-like"}},
		{Target{"gemini", "google", "gemini", "gemini-3"}, Target{"gemini", "google", "gemini", "gemini-3"}},
	} {
		got, err := Effective(c.asked, s)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	_, err := Effective(Target{Adapter: "nobody"}, s)
	require.True(t, IsUnavailable(err))
}
