package agent

import (
	"strings"

	"conclave/internal/record"
)

// Family says whose model a name means.
type Family struct {
	Prefix   string // of the model's name, in lower case, without a leading provider or region
	Provider string
	Family   string
}

// families are well-known model names. The first match counts.
var families = []Family{
	{"claude", "anthropic", "claude"}, {"opus", "anthropic", "claude"}, {"sonnet", "anthropic", "claude"}, {"haiku", "anthropic", "claude"},
	{"gpt", "openai", "gpt"}, {"codex", "openai", "gpt"}, {"o1", "openai", "gpt"}, {"o3", "openai", "gpt"}, {"o4", "openai", "gpt"}, {"chatgpt", "openai", "gpt"},
	{"gemini", "google", "gemini"}, {"gemma", "google", "gemma"},
	{"grok", "xai", "grok"}, {"deepseek", "deepseek", "deepseek"},
	{"qwen", "alibaba", "qwen"}, {"qwq", "alibaba", "qwen"},
	{"kimi", "moonshot", "kimi"}, {"moonshot", "moonshot", "kimi"},
	{"glm", "zhipu", "glm"}, {"minimax", "minimax", "minimax"},
	{"llama", "meta", "llama"},
	{"mistral", "mistral", "mistral"}, {"codestral", "mistral", "mistral"}, {"devstral", "mistral", "mistral"}, {"magistral", "mistral", "mistral"},
}

// homes are the identities of the adapters themselves.
var homes = map[string]Family{
	"claude": {Provider: "anthropic", Family: "claude"},
	"codex":  {Provider: "openai", Family: "gpt"},
	"gemini": {Provider: "google", Family: "gemini"},
	StubName: {Provider: "conclave", Family: "stub"},
}

// TargetFor is the identity of an adapter with a model; model "" is DefaultModel. A known model name decides provider
// and family; what the configuration says about the adapter decides over both.
func TargetFor(adapter, model string, s Settings) (Target, error) {
	if _, err := s.Lookup(adapter); err != nil {
		return Target{}, err
	}
	home := homes[adapter]
	id := Identity{Adapter: adapter, Provider: home.Provider, ModelFamily: home.Family, Model: DefaultModel}
	if c, ok := s.Commands[adapter]; ok {
		id = overlay(id, c.Identity)
	}
	if model != "" {
		id.Model = model
		id = byModel(id, model, s)
	}
	id = overlay(id, s.Identities[adapter])
	if model != "" {
		id.Model = model
	}
	if id.Provider == "" || id.ModelFamily == "" {
		return Target{}, Unavailable("the adapter " + adapter + " declares no identity: name a well-known model, or set its provider, model_family and model in the configuration")
	}
	return id, nil
}

// Effective is the identity that an adapter reports when it is asked for a target. Who wrote the target does not matter:
// provider and family come from the adapter's table and the configuration, never from a definition's word for them.
func Effective(t Target, s Settings) (Target, error) {
	own, err := TargetFor(t.Adapter, "", s)
	if model := modelFlag(t); err != nil || model != "" && model != own.Model {
		return TargetFor(t.Adapter, model, s) // a model's name may say more than the adapter
	}
	return own, nil
}

// byModel sets provider and family of a known model name.
func byModel(id Identity, model string, s Settings) Identity {
	if f, ok := familyOf(model, s.Families); ok {
		id.Provider, id.ModelFamily = f.Provider, f.Family
	}
	return id
}

// familyOf looks a name up. Gateways put a provider or a region in front ("openrouter/anthropic/claude-x",
// "us.anthropic.claude-x"), so each part is tried.
func familyOf(model string, first []Family) (Family, bool) {
	parts := strings.FieldsFunc(strings.ToLower(model), func(r rune) bool { return r == '/' || r == '.' || r == ':' || r == '@' })
	for _, table := range [][]Family{first, families} {
		for _, part := range parts {
			for _, f := range table {
				if startsWith(part, strings.ToLower(f.Prefix)) {
					return f, true
				}
			}
		}
	}
	return Family{}, false
}

// startsWith wants the prefix to end where a word ends: "o1-mini" and "gpt5" match, "o100" and "optic" do not.
func startsWith(part, prefix string) bool {
	rest, ok := strings.CutPrefix(part, prefix)
	if !ok || prefix == "" {
		return false
	}
	if rest == "" {
		return true
	}
	letter := rest[0] >= 'a' && rest[0] <= 'z'
	digit := rest[0] >= '0' && rest[0] <= '9'
	endsInDigit := prefix[len(prefix)-1] >= '0' && prefix[len(prefix)-1] <= '9'
	return !letter && (!digit || !endsInDigit)
}

func overlay(id, over Identity) Identity {
	for _, f := range []struct {
		to   *string
		from string
	}{{&id.Provider, over.Provider}, {&id.ModelFamily, over.ModelFamily}, {&id.Model, over.Model}} {
		if f.from != "" {
			*f.to = f.from
		}
	}
	return id
}

// reported is what a program's session tells: its target, with the served model where the stream has it.
func reported(t Target, served string) *Reported {
	r := &Reported{Identity: t, Source: record.SourcePinned}
	switch {
	case served != "":
		r.Source, r.Model = record.SourceServed, served
		// A name that the table does not know says nothing against the target's provider and family; one of the same
		// family says nothing against a provider that the configuration names (a cloud's gateway).
		if f, ok := familyOf(served, nil); ok && f.Family != t.ModelFamily {
			r.Provider, r.ModelFamily = f.Provider, f.Family
		}
	case t.Model == "" || t.Model == DefaultModel:
		r.Source = record.SourceAdapter
	}
	return r
}

// modelFlag is the model to name in arguments; "" when the program shall choose.
func modelFlag(t Target) string {
	if t.Model == DefaultModel {
		return ""
	}
	return t.Model
}
