package main

import (
	"encoding/json"

	"conclave/config"
	"conclave/internal/convergence"
	"conclave/internal/prompt"
)

// resolvePlan binds the definition to its engines and to what carries it out. Every lane runs on what it asks for.
func resolvePlan(m *convergence.Machine, c config.Config) (convergence.Plan, error) {
	pack, err := packageOf(m, c)
	if err != nil {
		return convergence.Plan{}, err
	}
	resolution := convergence.Resolution{Package: pack, Admission: convergence.Admission{Package: pack, Permissions: []convergence.Permission{}}}
	description := m.Describe()
	for _, lane := range description.ExecutionLanes {
		resolution.ExecutionLanes = append(resolution.ExecutionLanes, convergence.LaneResolution{
			ID: lane.ID, Effective: lane.Requested, Fallbacks: append([]convergence.Target{}, lane.KnownSubstitutions...),
		})
	}
	return convergence.ResolvePlan(description, resolution)
}

// packageOf identifies what a plan means beside its definition: the rules, the words that agents are told, and what the
// seats look for. A preset is in it as what it stands for here, so that equal settings have equal plans.
func packageOf(m *convergence.Machine, c config.Config) (convergence.Package, error) {
	lenses := c.Lenses()
	texts := map[string]string{}
	for _, lens := range lenses {
		texts[lens] = prompt.Lens(lens)
	}
	raw, err := json.Marshal(map[string]any{"prompts": prompt.Digest(), "seats": lenses, "lenses": texts, "settings": c.Choices()})
	if err != nil {
		return convergence.Package{}, err
	}
	digest, err := convergence.Digest(raw)
	return convergence.Package{Source: "conclave", Version: m.Rules().Name, Digest: digest}, err
}
