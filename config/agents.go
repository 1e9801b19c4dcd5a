package config

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"conclave/internal/agent"
)

// builtIn lists the adapters that need no configuration.
func builtIn() []string {
	return slices.DeleteFunc(agent.Names(), func(name string) bool { return name == agent.CommandName })
}

// planned lists the adapters whose names are known and which are not built yet.
func planned() []string { return agent.Planned() }

func binFromEnvironment(adapter string) string { return os.Getenv(agent.BinVariable(adapter)) }

// adapter checks that an engine of this name can be run.
func (l *loading) adapter(c Config, name, where string) error {
	known := append(builtIn(), slices.Sorted(maps.Keys(c.Host.Agents))...)
	slices.Sort(known)
	known = slices.Compact(known)
	switch {
	case slices.Contains(planned(), name) && c.Host.Agents[name].Adapter != agent.CommandName: // a program of the user's may have the name
		if l.planned == nil {
			l.planned = map[string]string{}
		}
		l.planned[name] = cmp.Or(l.planned[name], where) // judged when all lanes are known
		return nil
	case slices.Contains(known, name):
		return nil
	case name == agent.CommandName:
		return Problem{What: where + ": the adapter command is not configured",
			Remedy: "describe the program under agents.command in the configuration file: argv, result, identity"}
	}
	return Problem{What: fmt.Sprintf("%s: unknown adapter %q", where, name), Remedy: oneOf(name, append(known, planned()...))}
}

// withoutPlanned says which engines are missing, and what the run lacks without them.
func (l *loading) withoutPlanned(c Config) {
	for _, name := range slices.Sorted(maps.Keys(l.planned)) {
		what := fmt.Sprintf("%s: the adapter %s is not yet supported", l.planned[name], name)
		var seats, left []string
		for _, s := range c.Seats {
			if s.Adapter == name {
				seats = append(seats, s.Name)
			} else if !slices.Contains(left, s.Adapter) && l.planned[s.Adapter] == "" {
				left = append(left, s.Adapter)
			}
		}
		if len(seats) > 0 {
			what += "; seats that need it: " + strings.Join(seats, ", ")
		}
		if c.RequireDiversity && len(seats) > 0 && len(left) < c.Quorum {
			what += fmt.Sprintf("; without it the quorum of %d cannot differ in provider and model family: left is %s", c.Quorum, cmp.Or(strings.Join(left, ", "), "no engine"))
		}
		known := append(builtIn(), slices.Sorted(maps.Keys(c.Host.Agents))...)
		l.unsupported(Problem{What: what, Remedy: "try it with --dry-run, or name another adapter: " + oneOf("", slices.Compact(slices.Sorted(slices.Values(known))))})
	}
}

// checkAgent checks one configured agent after merging.
func checkAgent(a Agent, e agentEntry) error {
	prefix := e.Where + ": agents." + e.Name
	kinds := agent.Names()
	if slices.Contains(planned(), a.Adapter) {
		return nil // refused where a lane uses it
	}
	if !slices.Contains(kinds, a.Adapter) {
		if e.Adapter == "" {
			return Problem{What: prefix + " names no adapter", Remedy: "add `adapter: command` with argv and identity, or " + oneOf(e.Name, kinds)}
		}
		return Problem{What: fmt.Sprintf("%s.adapter: unknown adapter %q", prefix, a.Adapter), Remedy: oneOf(a.Adapter, kinds)}
	}
	if a.Adapter == agent.CommandName && len(a.Args) > 0 {
		return Problem{What: prefix + ".args: a program of its own has argv only", Remedy: "add the arguments to argv"}
	}
	if a.Adapter != agent.CommandName {
		if a.Adapter != e.Name {
			return Problem{What: fmt.Sprintf("%s.adapter: %s cannot be renamed", prefix, a.Adapter), Remedy: "configure it under agents." + a.Adapter}
		}
		return nil
	}
	switch {
	case len(a.Argv) == 0 && a.Bin == "":
		return Problem{What: prefix + " has no argv", Remedy: "name the program and its arguments: argv: [PROGRAM, ARGUMENT]"}
	case a.Provider == "" || a.ModelFamily == "" || a.IdentityModel == "":
		return Problem{What: prefix + " has no complete identity", Remedy: "declare identity: {provider, model_family, model}; independence of reviewers is judged by it"}
	}
	return nil
}
