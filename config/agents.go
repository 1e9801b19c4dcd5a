package config

import (
	"fmt"
	"maps"
	"os"
	"slices"

	"conclave/internal/agent"
)

// builtIn lists the adapters that need no configuration.
func builtIn() []string {
	return slices.DeleteFunc(agent.Names(), func(name string) bool { return name == agent.CommandName })
}

func binFromEnvironment(adapter string) string { return os.Getenv(agent.BinVariable(adapter)) }

// adapter checks that an engine of this name can be run.
func (l *loading) adapter(c Config, name, where string) error {
	known := append(builtIn(), slices.Sorted(maps.Keys(c.Host.Agents))...)
	slices.Sort(known)
	known = slices.Compact(known)
	switch {
	case slices.Contains(known, name):
		return nil
	case name == agent.CommandName:
		return Problem{What: where + ": the adapter command is not configured",
			Remedy: "describe the program under agents.command in the configuration file: argv, result, identity"}
	}
	return Problem{What: fmt.Sprintf("%s: unknown adapter %q", where, name), Remedy: oneOf(name, known)}
}

// checkAgent checks one configured agent after merging.
func checkAgent(a Agent, e agentEntry) error {
	prefix := e.Where + ": agents." + e.Name
	kinds := agent.Names()
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
