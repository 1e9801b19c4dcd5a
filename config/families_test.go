package config

import (
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/agent"
)

func TestFamilies(t *testing.T) {
	load := func(user string) (Config, error) {
		return Load(Sources{User: File{Name: "user.yaml", Content: []byte(user)}})
	}
	c, err := load("families:\n  in: {provider: beta, model_family: in}\n  inhouse: {provider: acme, model_family: inhouse}\n  gpt: {provider: azure, model_family: gpt}\n")
	require.NoError(t, err)
	s := c.Host.AgentSettings(nil)
	for model, want := range map[string]string{"inhouse-7b": "acme/inhouse", "in-3": "beta/in", "gpt-5.5": "azure/gpt", "claude-x": "anthropic/claude"} {
		target, err := agent.TargetFor("codex", model, s)
		require.NoError(t, err)
		require.Equal(t, want, target.Provider+"/"+target.ModelFamily, model)
	}
	require.Contains(t, c.Effective(), Effective{Key: "families.inhouse", Value: "acme/inhouse", Origin: "user.yaml:3"})

	for text, want := range map[string]string{
		"families: {m: 3}": "families.m", "families: {m: {provider: p}}": "both provider and model_family", "families: 3": "no mapping",
		"families: {m: {provider: p, model_family: f, x: 1}}": "unknown key families.m.x", `families: {"": {provider: p, model_family: f}}`: "no beginning",
	} {
		_, err := load(text)
		require.ErrorContains(t, err, want, text)
	}
	_, err = Load(Sources{Repository: File{Name: "conclave.yaml", Content: []byte("families: {m: {provider: p, model_family: f}}")}})
	require.ErrorContains(t, err, "families may not be set by a repository")
}
