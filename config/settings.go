package config

import (
	"slices"
	"strings"

	"conclave/internal/agent"
	"conclave/internal/convergence"
)

// AgentSettings is what activities need to run agents. environ is the
// process's environment; a NAME under agents.<name>.env is taken from it.
func (h Host) AgentSettings(environ []string) agent.Settings {
	s := agent.Settings{
		Binaries: map[string]string{}, Commands: map[string]agent.CommandSettings{}, Environ: environ,
		ExtraEnv: map[string]map[string]string{}, Identities: map[string]agent.Identity{},
		ExtraArgs: map[string][]string{}, Failures: map[string][]agent.Failure{},
	}
	for _, f := range h.Families {
		s.Families = append(s.Families, f.Family)
	}
	for name, a := range h.Agents {
		id := agent.Identity{Adapter: name, Provider: a.Provider, ModelFamily: a.ModelFamily, Model: a.IdentityModel}
		if a.Bin != "" {
			s.Binaries[name] = a.Bin
		}
		if a.Adapter == agent.CommandName {
			argv := a.Argv
			if len(argv) == 0 {
				argv = []string{a.Bin}
			}
			s.Commands[name] = agent.CommandSettings{Argv: argv, ResultFile: a.Result == "file", Identity: id}
		} else if a.Provider+a.ModelFamily+a.IdentityModel != "" {
			s.Identities[name] = id
		}
		if len(a.Failures) > 0 {
			s.Failures[name] = a.Failures
		}
		if len(a.Args) > 0 {
			s.ExtraArgs[name] = a.Args
		}
		if extra := variables(a.Env, environ); len(extra) > 0 {
			s.ExtraEnv[name] = extra
		}
	}
	return s
}

// variables resolves NAME and NAME=value entries.
func variables(entries, environ []string) map[string]string {
	found := map[string]string{}
	for _, entry := range entries {
		if name, value, ok := strings.Cut(entry, "="); ok {
			found[name] = value
			continue
		}
		for _, e := range slices.Backward(environ) {
			if value, ok := strings.CutPrefix(e, entry+"="); ok {
				found[entry] = value
				break
			}
		}
	}
	return found
}

// Identify gives the identity of every lane of the configuration under these
// settings, or the reason why an engine has none.
func (c Config) Identify(s agent.Settings) (Identify, error) {
	for _, lane := range c.allLanes() {
		if _, err := agent.TargetFor(lane.Adapter, lane.Model, s); err != nil {
			return nil, Problem{What: err.Error(), Remedy: "see `starter adapters`"}
		}
	}
	return func(l Lane) convergence.Target {
		t, err := agent.TargetFor(l.Adapter, l.Model, s)
		if err != nil {
			panic("lane " + l.Adapter + " was checked before: " + err.Error())
		}
		return convergence.Target{Adapter: t.Adapter, Provider: t.Provider, ModelFamily: t.ModelFamily, Model: t.Model, Tools: []string{}}
	}, nil
}

// allLanes lists each lane that the run may use, once.
func (c Config) allLanes() []Lane {
	lanes := []Lane{c.Writer, c.Designer}
	for _, s := range c.Seats {
		lanes = append(append(lanes, s.Lane), s.Substitutions...)
	}
	for _, l := range []*Lane{c.Confirmer, c.Arbiter, c.Escalation} {
		if l != nil {
			lanes = append(lanes, *l)
		}
	}
	slices.SortFunc(lanes, func(a, b Lane) int { return strings.Compare(a.Adapter+":"+a.Model, b.Adapter+":"+b.Model) })
	return slices.Compact(lanes)
}

// Adapters lists the engines that the run calls unless something fails, once
// each, sorted: the writer's, the designer's where there is a design step, the seats'.
func (c Config) Adapters() []string {
	names := []string{c.Writer.Adapter}
	if c.Design {
		names = append(names, c.Designer.Adapter)
	}
	for _, s := range c.Seats {
		names = append(names, s.Adapter)
	}
	for _, l := range []*Lane{c.Confirmer, c.Arbiter} {
		if l != nil && c.full() {
			names = append(names, l.Adapter)
		}
	}
	if c.graph != nil {
		for _, n := range c.graph.machine.Definition().Nodes {
			if n.Data.Lane != nil && n.Data.Role != convergence.RoleEvaluator {
				names = append(names, n.Data.Lane.Requested.Adapter)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
