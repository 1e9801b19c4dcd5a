package config

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// DefaultPreset is used when nobody names one.
const DefaultPreset = "claude-codex"

// Preset is a named combination of agents.
type Preset struct {
	Name        string `json:"name"`
	Implementer string `json:"implementer"`
	// Reviewers are the seats in the grammar of --seat.
	Reviewers  []string `json:"reviewers"`
	Discipline string   `json:"discipline"`
	// SelfReview lets seats of the writer's engine vote.
	SelfReview bool `json:"allow_self_review,omitempty"`
	// Quorum is 0 for every voting seat.
	Quorum    int  `json:"quorum,omitempty"`
	Diversity bool `json:"require_diversity,omitempty"`
}

// Presets lists every preset in the order of the documentation.
func Presets() []Preset {
	return []Preset{
		{Name: "claude-codex", Implementer: "claude", Reviewers: []string{"codex"}, Discipline: "basic"},
		{Name: "codex-claude", Implementer: "codex", Reviewers: []string{"claude"}, Discipline: "basic"},
		{Name: "claude-solo", Implementer: "claude", Reviewers: []string{"claude"}, Discipline: "basic", SelfReview: true},
		{Name: "dual-review", Implementer: "claude", Reviewers: []string{"codex", "claude"}, Discipline: "basic"},
		{Name: "panel", Implementer: "claude", Discipline: "full",
			Reviewers: []string{"codex@correctness", "codex@security", "codex@tests", "codex@conventions", "claude@correctness"}},
		{Name: "strict", Implementer: "claude", Discipline: "full", Quorum: 2, Diversity: true,
			Reviewers: []string{"codex@correctness", "codex@security", "gemini@correctness", "gemini@security"}},
	}
}

func presetNames() []string {
	var all []string
	for _, p := range Presets() {
		all = append(all, p.Name)
	}
	return all
}

func presetNamed(name string) (Preset, bool) {
	all := Presets()
	i := slices.IndexFunc(all, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		return Preset{}, false
	}
	return all[i], true
}

// Named is the preset whose agents review; "" where others do: a name would tell of a reviewer who was not there.
func (c Config) Named() string {
	if c.OwnSeats {
		return ""
	}
	return c.Preset
}

// seats reports whether seats are those of the preset, whatever they are called and whichever models they run.
func (p Preset) seats(seats []Seat) bool {
	var ours, theirs []string
	for _, text := range p.Reviewers {
		s := splitSeat(text)
		ours = append(ours, s.lane.Adapter+"@"+cmp.Or(s.lens, DefaultLens))
	}
	for _, s := range seats {
		theirs = append(theirs, s.Adapter+"@"+cmp.Or(s.Lens, DefaultLens))
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	return slices.Equal(ours, theirs)
}

// values are the settings that a preset stands for: only what its row of the
// table says, so that naming one never weakens a stricter configuration.
func (p Preset) values() map[string]string {
	v := map[string]string{"implementer": p.Implementer, "reviewers": strings.Join(p.Reviewers, ",")}
	if p.Discipline == "full" {
		v["discipline"] = p.Discipline
	}
	if p.SelfReview {
		v["allow_self_review"] = "true"
	}
	if p.Quorum > 0 {
		v["quorum"] = strconv.Itoa(p.Quorum)
	}
	if p.Diversity {
		v["require_diversity"] = "true"
	}
	return v
}
