package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/config"
	"conclave/internal/agent"
	"conclave/internal/record"
)

const mine = `
agents:
  codex: {bin: /usr/bin/codex, env: [KEY, MISSING, MODE=fast], args: [-c, model_provider=azure], identity: {provider: azure}, failures: [{class: quota, pattern: "credits .* used up"}]}
  mine:
    adapter: command
    argv: [tool, "{prompt}"]
    result: file
    identity: {provider: acme, model_family: f, model: m1}
`

func TestAgentSettings(t *testing.T) {
	clean(t)
	c, err := load(t, given{user: mine, args: []string{"--reviewers", "codex,mine"}})
	require.NoError(t, err)
	environ := []string{"KEY=old", "KEY=new", "PATH=/bin"}
	s := c.Host.AgentSettings(environ)
	require.Equal(t, map[string]string{"codex": "/usr/bin/codex"}, s.Binaries)
	require.Equal(t, map[string]map[string]string{"codex": {"KEY": "new", "MODE": "fast"}}, s.ExtraEnv)
	require.Equal(t, agent.CommandSettings{Argv: []string{"tool", "{prompt}"}, ResultFile: true,
		Identity: agent.Identity{Adapter: "mine", Provider: "acme", ModelFamily: "f", Model: "m1"}}, s.Commands["mine"])
	require.Equal(t, environ, s.Environ)
	require.Equal(t, map[string][]string{"codex": {"-c", "model_provider=azure"}}, s.ExtraArgs)

	require.Len(t, s.Failures["codex"], 1)
	require.Equal(t, record.ClassQuota, s.Failures["codex"][0].Class)
	require.True(t, s.Failures["codex"][0].Pattern.MatchString("Credits are used up"))

	identify, err := c.Identify(s)
	require.NoError(t, err)
	require.Equal(t, "acme", identify(config.Lane{Adapter: "mine"}).Provider)
	require.Equal(t, "azure", identify(config.Lane{Adapter: "codex"}).Provider)
	require.Equal(t, "anthropic", identify(config.Lane{Adapter: "claude"}).Provider)
	require.Equal(t, []string{"claude", "codex", "mine"}, c.Adapters())
	d, err := c.Definition(identify)
	require.NoError(t, err)
	require.Equal(t, int64(2), d.Data.Quorum)
}

func TestHostSettingsDoNotJudgeARun(t *testing.T) {
	clean(t)
	c, err := config.Load(config.Sources{HostOnly: true, User: config.File{Name: "u", Content: []byte("discipline: full\npreset: strict\nstate_dir: /s\n")}})
	require.NoError(t, err)
	require.Equal(t, "/s/store", c.Host.Store)
}
