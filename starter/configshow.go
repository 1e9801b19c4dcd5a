package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"conclave/config"
)

func (a *app) configCommand() *cobra.Command {
	parent := &cobra.Command{
		Use: "config", Short: "Look at the configuration", Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var f workFlags
	var asJSON bool
	show := &cobra.Command{
		Use: "show", Short: "Print every setting with where it comes from", Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			p := &plan{flags: f, unrun: true}
			if err := refuseLater(cmd.Flags()); err != nil {
				return err
			}
			if err := p.openSource(cmd.Context(), cmd); err != nil {
				return err
			}
			if err := p.load(cmd.Context(), cmd); err != nil {
				return err
			}
			for _, w := range p.config.Warnings {
				a.say("warning: %s", w)
			}
			return a.printSettings(p.config.Effective(), asJSON)
		},
	}
	f.add(show)
	show.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	parent.AddCommand(show)
	return parent
}

func (a *app) printSettings(settings []config.Effective, asJSON bool) error {
	if asJSON {
		return a.printJSON(map[string]any{"settings": settings})
	}
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "KEY\tVALUE\tFROM")
	for _, s := range settings {
		fmt.Fprintf(table, "%s\t%s\t%s\n", s.Key, s.Value, s.Origin)
	}
	return table.Flush()
}
