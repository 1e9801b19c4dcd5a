package main

import (
	"encoding/json"
	"maps"
	"slices"

	"conclave/internal/convergence"
	"conclave/internal/prompt"
)

// resolvePlan binds the definition to its engines and to what carries it out. Every lane runs on what it asks for.
func resolvePlan(p *plan) (convergence.Plan, error) {
	pack, err := packageOf(p)
	if err != nil {
		return convergence.Plan{}, err
	}
	resolution := convergence.Resolution{Package: pack, Admission: convergence.Admission{Package: pack, Permissions: []convergence.Permission{}}}
	description := p.machine.Describe()
	for _, lane := range description.ExecutionLanes {
		resolution.ExecutionLanes = append(resolution.ExecutionLanes, convergence.LaneResolution{
			ID: lane.ID, Effective: lane.Requested, Fallbacks: append([]convergence.Target{}, lane.KnownSubstitutions...),
		})
	}
	return convergence.ResolvePlan(description, resolution)
}

// packageOf identifies what a plan means beside its definition: the rules, the words that agents are told, what the
// seats look for, what is asked of a change and of answers, and what bounds the run. A preset is in it as what it stands
// for here, so that equal settings have equal plans. How often a run reminds is in none: it changes no outcome.
func packageOf(p *plan) (convergence.Package, error) {
	raw, err := json.Marshal(map[string]any{
		"prompts": p.words(slices.Collect(maps.Values(p.config.Lenses()))), "seats": p.config.Lenses(), "settings": p.config.Choices(),
		"review": p.config.Review, "generated": generatedGlobs(p.config), "protected": protectedGlobs(p.config),
		"allow_protected": p.config.AllowProtected,
		"deadline":        p.config.Rulings.Deadline.String() + " " + p.config.Rulings.DeadlineDecision, "budget": p.budget(),
	})
	if err != nil {
		return convergence.Package{}, err
	}
	digest, err := convergence.Digest(raw)
	return convergence.Package{Source: "conclave", Version: p.machine.Rules().Name, Digest: digest}, err
}

// words identifies what agents are told: every template, and the texts of some lenses.
func (p *plan) words(lenses []string) string {
	texts, templates := map[string]string{}, map[string]string{}
	for _, lens := range lenses {
		texts[lens] = p.lensText(lens)
	}
	for _, t := range p.templates {
		templates[t.name] = string(t.text)
	}
	return prompt.Digest(templates, texts)
}

// lensText is what prompts say about a lens: the user's words, else ours.
func (p *plan) lensText(name string) string {
	for _, t := range p.lenses {
		if t.name == name {
			return string(t.text)
		}
	}
	return prompt.Lens(name)
}
