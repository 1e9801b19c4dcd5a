package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"conclave/internal/agent"
	"conclave/internal/process"
	"conclave/internal/sandbox"
)

func TestMain(m *testing.M) {
	process.Main() // does not return in a supervisor of a program that doctor looks at
	if os.Getenv(twiceVariable) != "" {
		interruptedTwice()
	}
	os.Exit(m.Run())
}

// withoutAgents leaves only git and the shell's own folder on the path.
func (c *cli) withoutAgents() {
	bin := filepath.Join(c.t.TempDir(), "bin")
	require.NoError(c.t, os.Mkdir(bin, 0o755))
	require.NoError(c.t, os.Symlink(lookPath(c.t, "git"), filepath.Join(bin, "git")))
	c.t.Setenv("PATH", bin)
	for _, name := range []string{
		"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR", "OPENAI_API_KEY", "CODEX_API_KEY",
		"CODEX_ACCESS_TOKEN", "CODEX_HOME", "GEMINI_API_KEY", "GOOGLE_API_KEY", "XDG_DATA_HOME",
	} {
		c.t.Setenv(name, "")
	}
}

// agentNamed puts a shell script in an agent's place.
func (c *cli) agentNamed(name, variable, script string) string {
	path := filepath.Join(c.t.TempDir(), name)
	require.NoError(c.t, os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	c.t.Setenv(variable, path)
	return path
}

// checks are doctor's, by name.
func (c *cli) checks(args ...string) (map[string]check, answered) {
	got := c.run("", append([]string{"doctor", "--json"}, args...)...)
	var doc struct{ Checks []check }
	require.NoError(c.t, json.Unmarshal([]byte(got.out), &doc), got.err)
	by := map[string]check{}
	for _, line := range doc.Checks {
		by[line.Name] = line
	}
	return by, got
}

// Must show of issue 5: what to install, exit 1, in less than 2 s on a machine that has nothing else to do (it takes 0.3).
func TestDoctorOnAMachineWithoutAnyAgentNamesWhatToInstall(t *testing.T) {
	c := newCLI(t)
	c.withoutAgents()
	began := time.Now()
	got := c.run("", "doctor")
	require.Less(t, time.Since(began), time.Minute, "nothing is waited for")
	require.Equal(t, exitFailed, got.code)
	for _, text := range []string{
		"MISSING  agent claude", "npm install -g @anthropic-ai/claude-code", "CONCLAVE_CLAUDE_BIN",
		"MISSING  agent codex", "npm install -g @openai/codex", "note     agent gemini", "note     agent opencode", "--dry-run` needs no agent",
	} {
		require.Contains(t, got.out, text)
	}
	require.NotContains(t, got.out, "login of", "what is not installed needs no login yet")
	by, _ := c.checks("--preset", "codex-claude", "--reviewers", "gemini")
	require.True(t, by["agent codex"].Needed)
	require.True(t, by["agent gemini"].Needed)
	require.False(t, by["agent claude"].Needed)
}

func TestDoctorTellsPathVersionAndLogin(t *testing.T) {
	c := newCLI(t)
	c.withoutAgents()
	claude := c.agentNamed("claude", "CONCLAVE_CLAUDE_BIN", `echo "2.1.197 (Claude Code)"`)
	c.agentNamed("codex", "CONCLAVE_CODEX_BIN", `echo "codex-cli 0.171.0"`)
	home := os.Getenv("HOME")
	require.NoError(t, os.MkdirAll(filepath.Join(home, ".codex"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(home, ".codex/auth.json"), []byte(`{"token":"very secret"}`), 0o600))
	by, got := c.checks()
	require.Equal(t, agentState{Path: claude, Version: "2.1.197", Minimum: "2.1.0", Reader: by["agent claude"].Agent.Reader}, *by["agent claude"].Agent)
	require.True(t, by["agent claude"].OK, by["agent claude"].Says)
	require.False(t, by["login of claude"].OK)
	require.False(t, by["login of claude"].Needed, "it may be in a keychain")
	require.Contains(t, by["login of claude"].Says, "/login")
	require.True(t, by["login of codex"].OK)
	require.Contains(t, by["login of codex"].Says, ".codex/auth.json")
	require.NotContains(t, got.out, "very secret")

	t.Setenv("ANTHROPIC_API_KEY", "also secret")
	by, got = c.checks("--isolate-home")
	require.Equal(t, "ANTHROPIC_API_KEY", by["agent claude"].Agent.Login)
	require.False(t, by["login of codex"].OK, "its file is not seen there")
	require.Contains(t, by["login of codex"].Says, "CODEX_API_KEY")
	require.NotContains(t, got.out, "also secret")
}

// A key that codex does not read is no login of it.
func TestDoctorTakesNoKeyOfAnotherProgramForALogin(t *testing.T) {
	c := newCLI(t)
	c.withoutAgents()
	c.agentNamed("codex", "CONCLAVE_CODEX_BIN", `echo "codex-cli 0.171.0"`)
	t.Setenv("OPENAI_API_KEY", "secret")
	by, _ := c.checks()
	require.False(t, by["login of codex"].OK)
	require.Contains(t, by["login of codex"].Says, "does not read OPENAI_API_KEY")
}

// To install a program again that is only slow would help nobody.
func TestDoctorTellsSlowFromBroken(t *testing.T) {
	require.ErrorIs(t, tooSlow("timeout", ""), errNoVersion)
	require.Contains(t, cure(fmt.Errorf("probe: %w", errNoVersion), agent.Facts{Install: "npm install"}), "try again")
	require.Contains(t, cure(errors.New("exit status 127"), agent.Facts{Install: "npm install"}), "npm install")
	require.EqualError(t, tooSlow("lost", ""), "it ended early (lost): for no known reason")
}

func TestDoctorNamesProgramsThatAreOldOrBroken(t *testing.T) {
	c := newCLI(t)
	c.withoutAgents()
	c.agentNamed("claude", "CONCLAVE_CLAUDE_BIN", `echo "1.0.3 (Claude Code)"`)
	c.agentNamed("codex", "CONCLAVE_CODEX_BIN", `echo "no node here" >&2; exit 127`)
	c.agentNamed("gemini", "CONCLAVE_GEMINI_BIN", `echo "hello"`)
	by, got := c.checks()
	require.Equal(t, exitFailed, got.code)
	require.False(t, by["agent claude"].OK)
	require.Contains(t, by["agent claude"].Says, "version 1.0.3, older than 2.1.0: install it with `npm")
	require.False(t, by["agent codex"].OK)
	require.Contains(t, by["agent codex"].Says, "cannot be run")
	require.Contains(t, by["agent codex"].Says, "no node here")
	require.Contains(t, by["agent gemini"].Says, "does not tell its version")
}

// What a reviewer's turn may do is tried with the program itself, without a model.
func TestDoctorTriesAReviewersConditions(t *testing.T) {
	c := newCLI(t)
	c.withoutAgents()
	kind := sandbox.Detect(context.Background()).Kind()
	if kind == sandbox.None {
		t.Skip("no sandbox holds here; internal/sandbox says whether that is a failure")
	}
	c.agentNamed("claude", "CONCLAVE_CLAUDE_BIN", `echo "2.1.197 (Claude Code)"; (echo x > written) 2> /dev/null; true`)
	c.agentNamed("codex", "CONCLAVE_CODEX_BIN", `cat "$HOME/.ssh/id" 2> /dev/null && exit 1; echo "codex-cli 0.171.0"`)
	home := os.Getenv("HOME")
	require.NoError(t, os.MkdirAll(filepath.Join(home, ".ssh"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(home, ".ssh/id"), []byte("secret"), 0o600))
	by, _ := c.checks()
	require.Equal(t, string(kind), by["agent claude"].Agent.Reader, by["reviews by claude"].Says)
	require.True(t, by["reviews by claude"].OK)
	require.Contains(t, by["reviews by claude"].Says, "cannot write what it reviews")
	require.True(t, by["agent codex"].OK, by["agent codex"].Says)

	by, _ = c.checks("--sandbox", "off")
	require.Equal(t, "none", by["agent claude"].Agent.Reader)
	require.False(t, by["reviews by claude"].OK)
	require.False(t, by["reviews by claude"].Needed)
}

func TestDoctorSaysThatGitIsTooOldOrMissing(t *testing.T) {
	c := newCLI(t)
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	git := filepath.Join(bin, "git")
	for _, says := range []struct{ script, want string }{
		{"", "not found: install git 2.34 or newer"},
		{"#!/bin/sh\necho git version 2.20.1\n", "git 2.20.1 is too old: install git 2.34 or newer"},
	} {
		if says.script != "" {
			require.NoError(t, os.WriteFile(git, []byte(says.script), 0o755))
		}
		checks, got := c.checks("--implementer", "stub", "--reviewers", "stub", "--allow-self-review")
		require.Equal(t, exitFailed, got.code)
		require.Equal(t, check{Name: "git", Needed: true, Says: says.want}, checks["git"])
	}
}

func TestDoctorFailsWithoutTheAgentsOfThePreset(t *testing.T) {
	c := newCLI(t)
	t.Setenv("PATH", filepath.Dir(lookPath(t, "git")))
	t.Setenv("CONCLAVE_CLAUDE_BIN", filepath.Join(c.repo, "none"))
	got := c.run("", "doctor")
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.out, "CONCLAVE_CLAUDE_BIN")
	got = c.run("", "doctor", "--json", "--implementer", "stub", "--reviewers", "stub", "--allow-self-review")
	var doc struct{ Checks []check }
	require.NoError(t, json.Unmarshal([]byte(got.out), &doc))
	for _, line := range doc.Checks {
		if strings.HasPrefix(line.Name, "agent ") {
			require.False(t, line.Needed, line.Name)
		}
	}
}

func TestDoctorTellsOfAServerThatAgentsCanReach(t *testing.T) {
	for name, open := range map[string]bool{"temporal": true, "devserver": runtime.GOOS != "linux"} {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755))
		t.Setenv("CONCLAVE_DEVSERVER_BIN", path)
		ok, says := serverBinary(t.TempDir())
		require.True(t, ok)
		require.Equal(t, open, strings.Contains(says, "can reach it"), says)
	}
}
