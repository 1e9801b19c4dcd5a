package config

import (
	"cmp"
	"slices"

	"go.yaml.in/yaml/v3"

	"conclave/internal/agent"
)

// ModelNames is one entry of `families`: whose models the names with this beginning mean.
type ModelNames struct {
	agent.Family
	// Where names the place that sets it.
	Where string
}

var familyFields = []string{"provider", "model_family"}

const familyRemedy = "write `BEGINNING: {provider: P, model_family: F}`, as in `glm: {provider: zhipu, model_family: glm}`"

// family reads one entry of `families`.
func (r *reader) family(prefix string, k, n *yaml.Node) {
	where := "families." + prefix
	if prefix == "" {
		r.fault(k, familyRemedy, "%q is no beginning of a model's name", prefix)
		return
	}
	var entry struct {
		Provider string `yaml:"provider"`
		Family   string `yaml:"model_family"`
	}
	if !r.fields(where, n, familyFields) || !r.decode(where, n, &entry) {
		return
	}
	if entry.Provider == "" || entry.Family == "" {
		r.fault(n, familyRemedy, "%s needs both provider and model_family", where)
		return
	}
	r.layer.families = append(r.layer.families, ModelNames{
		Family: agent.Family{Prefix: prefix, Provider: entry.Provider, Family: entry.Family}, Where: r.at(k),
	})
}

// families are those of all files: an entry of a stronger file over the same beginning in a weaker one, longer beginnings
// first, since the first that fits counts.
func (l *loading) families() []ModelNames {
	var out []ModelNames
	for _, file := range slices.Backward(l.layers) {
		for _, entry := range file.families {
			if !slices.ContainsFunc(out, func(known ModelNames) bool { return known.Prefix == entry.Prefix }) {
				out = append(out, entry)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b ModelNames) int { return cmp.Compare(len(b.Prefix), len(a.Prefix)) })
	return out
}
