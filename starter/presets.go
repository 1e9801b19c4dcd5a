package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"conclave/config"
	"conclave/internal/agent"
)

// seatsOfALine is how many seats stand in one line of the table.
const seatsOfALine = 2

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
			for _, p := range config.Presets() {
				seats, notes := p.Reviewers, presetNotes(p)
				if len(seats) <= seatsOfALine {
					seats, notes = []string{strings.Join(seats, ", ")}, []string{strings.Join(notes, "; ")}
				}
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", p.Name, p.Implementer, seats[0], nth(notes, 0))
				for i := 1; i < max(len(seats), len(notes)); i++ {
					fmt.Fprintf(table, "\t\t%s\t%s\n", nth(seats, i), nth(notes, i))
				}
			}
			return table.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// nth is an entry of a list, "" beyond its end.
func nth(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}

func presetNotes(p config.Preset) []string {
	var notes []string
	if p.Name == config.DefaultPreset {
		notes = append(notes, "default")
	}
	if p.Discipline == "full" {
		notes = append(notes, "discipline full")
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
	for _, name := range agent.Planned() {
		if slices.ContainsFunc(p.Reviewers, func(seat string) bool { return seat == name || strings.HasPrefix(seat, name+"@") }) {
			notes = append(notes, name+" not yet supported")
		}
	}
	return notes
}
