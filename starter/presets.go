package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"conclave/config"
)

func (a *app) presetsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "presets", Short: "List the presets", Args: exactly(),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return a.printJSON(map[string]any{"presets": config.Presets()})
			}
			table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "PRESET\tIMPLEMENTER\tSEATS\tNOTES")
			var later []string
			for _, p := range config.Presets() {
				if p.Discipline == "full" {
					later = append(later, p.Name)
					continue
				}
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", p.Name, p.Implementer, strings.Join(p.Reviewers, ", "), strings.Join(presetNotes(p), "; "))
			}
			if err := table.Flush(); err != nil || len(later) == 0 {
				return err
			}
			a.print("\nnot yet supported (discipline full): %s; `starter plan` shows them", strings.Join(later, ", "))
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

func presetNotes(p config.Preset) []string {
	var notes []string
	if p.Name == config.DefaultPreset {
		notes = append(notes, "default")
	}
	if p.SelfReview {
		notes = append(notes, "self-reviewed")
	}
	if p.Quorum > 0 {
		notes = append(notes, fmt.Sprintf("quorum %d", p.Quorum))
	}
	if p.Diversity {
		notes = append(notes, "diverse")
	}
	return notes
}
