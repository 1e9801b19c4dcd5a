package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"conclave/internal/agent"
	"conclave/internal/runindex"
)

// adapterLine is one adapter of `adapters --json`.
type adapterLine struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"` // built-in or configured
	Provider string `json:"provider,omitempty"`
	Family   string `json:"model_family,omitempty"`
	// Binary is the program's path when it was found; Missing says why it was not.
	Binary  string `json:"binary,omitempty"`
	Missing string `json:"missing,omitempty"`
	// Note says why there is no program to look for.
	Note     string `json:"note,omitempty"`
	Variable string `json:"variable,omitempty"`
}

func (a *app) adaptersCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "adapters", Short: "List the agents that can be used", Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := hostSettings(cmd, runindex.Entry{})
			if err != nil {
				return err
			}
			lines := adapterLines(c.Host.AgentSettings(os.Environ()))
			if asJSON {
				return a.printJSON(map[string]any{"adapters": lines})
			}
			return a.printAdapters(lines)
		},
	}
	addHostFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	cmd.AddCommand(a.explainCommand())
	return cmd
}

func adapterLines(s agent.Settings) []adapterLine {
	var lines []adapterLine
	for _, name := range agent.Names() {
		if _, configured := s.Commands[name]; name != agent.CommandName || configured {
			lines = append(lines, lineOfAdapter(name, "built-in", s))
		} else {
			lines = append(lines, adapterLine{Name: name, Kind: "built-in", Note: "once configured"})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Commands)) {
		if name != agent.CommandName {
			lines = append(lines, lineOfAdapter(name, "configured", s))
		}
	}
	return lines
}

func lineOfAdapter(name, kind string, s agent.Settings) adapterLine {
	line := adapterLine{Name: name, Kind: kind}
	if t, err := agent.TargetFor(name, "", s); err == nil {
		line.Provider, line.Family = t.Provider, t.ModelFamily
	}
	if name == agent.StubName {
		line.Binary = "(this program)"
		return line
	}
	line.Variable = agent.BinVariable(name)
	path, err := agent.ResolveBinary(name, s)
	var missing *agent.MissingBinary
	switch {
	case errors.As(err, &missing):
		line.Missing = missing.Binary + " " + missing.Reason
	case err != nil:
		line.Missing = err.Error()
	default:
		line.Binary = path
	}
	return line
}

func (a *app) printAdapters(lines []adapterLine) error {
	table := a.table()
	fmt.Fprintln(table, "ADAPTER\tKIND\tIDENTITY\tPROGRAM\tVARIABLE")
	for _, l := range lines {
		identity, program := "-", cmp.Or(l.Binary, l.Note)
		if l.Provider != "" {
			identity = l.Provider + "/" + l.Family
		}
		if program == "" {
			program = strings.TrimPrefix(l.Missing, l.Name+" is ")
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", l.Name, l.Kind, identity, program, l.Variable)
	}
	return table.Flush()
}
