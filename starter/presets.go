package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"conclave/config"
)

// seatsOfALine is how many seats stand in one line of the table.
const seatsOfALine = 2

func (a *app) presetsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "presets", Short: "List the presets", Args: exactly(),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return a.printJSON(map[string]any{"presets": config.Presets(), "calibration": calibrationOfPresets()})
			}
			table := a.table()
			fmt.Fprintln(table, "PRESET\tIMPLEMENTER\tSEATS\tNOTES")
			for _, p := range config.Presets() {
				seats, notes := p.Reviewers, append(presetNotes(p), calibrationNotes(p)...)
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
	return notes
}

// calibrationOfPresets tells for each preset of discipline full which voting seats may not gate yet, and why.
func calibrationOfPresets() map[string][]string {
	all := map[string][]string{}
	for _, preset := range config.Presets() {
		if preset.Discipline != "full" {
			continue
		}
		missing, err := uncalibratedOf(preset)
		if err != nil {
			continue
		}
		all[preset.Name] = []string{}
		for _, m := range missing {
			all[preset.Name] = append(all[preset.Name], m.String())
		}
	}
	return all
}

func calibrationNotes(preset config.Preset) []string {
	if preset.Discipline != "full" {
		return nil
	}
	missing, err := uncalibratedOf(preset)
	switch {
	case err != nil:
		return nil
	case len(missing) == 0:
		return []string{"calibrated"}
	}
	return []string{fmt.Sprintf("%d seats not calibrated", len(missing))}
}

// uncalibratedOf are the voting seats of a preset, as the user's own configuration completes it, that may not gate yet.
func uncalibratedOf(preset config.Preset) ([]unmeasured, error) {
	user, named, err := config.ReadFiles("")
	if err != nil {
		return nil, err
	}
	flags := pflag.NewFlagSet("preset", pflag.ContinueOnError)
	config.PolicyFlags(flags)
	config.HostFlags(flags)
	if err := flags.Set("preset", preset.Name); err != nil {
		return nil, err
	}
	p := &plan{}
	if p.config, err = config.Load(config.Sources{Flags: flags, User: user, Named: named, Unrun: true}); err != nil {
		return nil, err
	}
	return p.uncalibratedSeats()
}
