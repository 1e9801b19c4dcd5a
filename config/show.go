package config

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"conclave/internal/agent"
)

// effective lists every setting with its origin. Values of variables for agents are not shown: they may be secrets.
func (l *loading) effective(c *Config) {
	for _, k := range keys {
		if k.later != "" {
			continue
		}
		c.effective = append(c.effective, l.setting(*c, k))
	}
	for _, e := range l.seatEntries() {
		c.effective = append(c.effective, Effective{Key: "seats." + e.Name, Value: "(refines the seat)", Origin: e.Where})
	}
	for _, f := range c.LensFiles {
		c.effective = append(c.effective, Effective{Key: "lenses." + f.Name, Value: f.Path, Origin: f.Where})
	}
	for _, f := range c.PromptFiles {
		c.effective = append(c.effective, Effective{Key: "prompts." + f.Name, Value: f.Path, Origin: f.Where})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Models)) {
		c.effective = append(c.effective, Effective{Key: "models." + name, Value: c.Models[name], Origin: "files"})
	}
	for _, p := range c.Host.Prices {
		c.effective = append(c.effective, Effective{Key: "prices." + p.Pattern, Value: p.shown(), Origin: p.Where})
	}
	for _, f := range c.Host.Families {
		c.effective = append(c.effective, Effective{Key: "families." + f.Prefix, Value: f.Provider + "/" + f.Family.Family, Origin: f.Where})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Host.Agents)) {
		c.effective = append(c.effective, l.agentLines(name, c.Host.Agents[name])...)
	}
}

// setting is one key as it holds.
func (l *loading) setting(c Config, k key) Effective {
	e := Effective{Key: k.name, Value: l.text(k.name), Origin: cmp.Or(l.where[k.name], "default")}
	switch k.name {
	case "preset":
		if !l.named {
			e.Origin = "default"
		}
	case "reviewers":
		e.Value = strings.Join(c.seatTexts(), ",")
	case "review.require_findings":
		e.Value = strconv.FormatBool(c.RequireFindings)
	case "max_iters":
		e.Value = strconv.Itoa(c.MaxIters)
	case "review.generated", "review.protected", "review.allow_secrets":
		e.Value = strings.Join(splitGlobs(e.Value), ",")
	case "store":
		e.Value = c.Host.Store
	case "state_dir":
		e.Value = c.Host.StateDir
	case "timeout":
		if e.Value == "" {
			e.Value = "30m (writers), 15m (others)"
		}
	}
	if c.graph != nil && k.decided != "" {
		e.Value, e.Origin = c.decided(k.name), l.sources.Definition.Name
	}
	return e
}

// decided is what the definition file says instead of a key; "" for the preset, which there is none of.
func (c Config) decided(key string) string {
	escalation := ""
	if c.Escalation != nil {
		escalation = c.Escalation.Model
	}
	return map[string]string{
		"implementer": c.Writer.text(), "reviewers": strings.Join(c.seatTexts(), ","), "discipline": c.Discipline, "review.when": c.ReviewWhen,
		"allow_self_review": strconv.FormatBool(c.AllowSelfReview), "review.require_findings": strconv.FormatBool(c.RequireFindings),
		"require_diversity": strconv.FormatBool(c.RequireDiversity), "max_iters": strconv.Itoa(c.MaxIters), "quorum": strconv.Itoa(c.Quorum),
		"seat_concurrency": strconv.Itoa(c.SeatConcurrency), "advisory": strconv.FormatBool(c.Advisory),
		"review.confirmer": c.Confirmer.shown(), "review.arbiter": c.Arbiter.shown(), "escalation.model": escalation,
	}[key]
}

func (c Config) seatTexts() []string {
	var all []string
	for _, s := range c.Seats {
		all = append(all, s.Name+"="+s.text()+"@"+s.Lens)
	}
	return all
}

// text is the lane as one writes it.
func (l Lane) text() string {
	if l.Model == "" {
		return l.Adapter
	}
	return l.Adapter + ":" + l.Model
}

func (l *Lane) shown() string {
	if l == nil {
		return ""
	}
	return l.text()
}

func (l *loading) agentLines(name string, a Agent) []Effective {
	origin := ""
	for _, file := range l.layers {
		for _, e := range file.agents {
			if e.Name == name {
				origin = e.Where
			}
		}
	}
	binOrigin := origin
	if binFromEnvironment(name) != "" {
		binOrigin = agent.BinVariable(name)
	}
	var names []string
	for _, e := range a.Env {
		variable, _, _ := strings.Cut(e, "=")
		names = append(names, variable)
	}
	var lines []Effective
	for _, field := range []struct{ key, value, origin string }{
		{"adapter", a.Adapter, origin}, {"bin", a.Bin, binOrigin}, {"model", a.Model, origin},
		{"env", strings.Join(names, ","), origin}, {"args", strings.Join(a.Args, " "), origin}, {"argv", strings.Join(a.Argv, " "), origin},
		{"provider", a.Provider, origin}, {"model_family", a.ModelFamily, origin},
	} {
		if field.value != "" && (field.key != "adapter" || a.Adapter != name) {
			lines = append(lines, Effective{Key: "agents." + name + "." + field.key, Value: field.value, Origin: field.origin})
		}
	}
	return lines
}
