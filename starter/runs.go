package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"conclave/internal/record"
	"conclave/internal/runindex"
)

// runLine is one run of `runs --json`.
type runLine struct {
	RunID      string      `json:"run_id"`
	Created    time.Time   `json:"created"`
	State      string      `json:"state"`
	Stop       record.Stop `json:"stop_reason"`
	Converged  bool        `json:"converged"`
	Iterations int         `json:"iterations"`
	Preset     string      `json:"preset"`
	Title      string      `json:"title"`
	Source     string      `json:"source"`
	Bundle     string      `json:"bundle"`
	Branch     string      `json:"branch,omitempty"`
	Address    string      `json:"address,omitempty"`
	// Carried says that a starter on this machine is at work on it.
	Carried bool `json:"carried"`
}

func (a *app) runsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "runs", Short: "List the runs, newest first", Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			lines, err := runLines(cmd)
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(map[string]any{"runs": lines})
			}
			return a.printRuns(lines)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

func runLines(cmd *cobra.Command) ([]runLine, error) {
	index, err := openIndex(cmd)
	if err != nil {
		return nil, err
	}
	entries, err := index.List()
	if err != nil {
		return nil, err
	}
	lines := make([]runLine, 0, len(entries))
	for _, e := range entries {
		lines = append(lines, lineOf(index, e))
	}
	return lines, nil
}

// lineOf is the entry with what its bundle says; a bundle that was removed leaves the state unknown.
func lineOf(index runindex.Index, e runindex.Entry) runLine {
	line := runLine{RunID: e.RunID, Created: e.Created, State: "unknown", Preset: e.Preset, Title: e.Title, Source: e.Source,
		Bundle: e.Bundle, Address: e.Address, Carried: index.Carried(e.RunID)}
	run, err := readRecord(e)
	if err != nil {
		if line.Carried {
			line.State = "running"
		}
		return line
	}
	line.State, line.Stop, line.Converged, line.Iterations, line.Branch = run.State(), run.Stop, run.Converged, run.Iterations, run.Branch
	if line.State == "running" && e.Local() && !line.Carried {
		line.State = "stopped" // killed: resume goes on
	}
	return line
}

// readRecord reads run.json of a run's bundle.
func readRecord(e runindex.Entry) (record.Run, error) {
	var run record.Run
	content, err := os.ReadFile(filepath.Join(e.Bundle, "run.json"))
	if err != nil {
		return run, err
	}
	if err := json.Unmarshal(content, &run); err != nil {
		return run, fmt.Errorf("%s: %w", filepath.Join(e.Bundle, "run.json"), err)
	}
	return run, nil
}

func (a *app) printRuns(lines []runLine) error {
	if len(lines) == 0 {
		a.say("no runs yet; start one with `starter run REQUIREMENT`")
		return nil
	}
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "RUN\tSTATE\tITERATIONS\tPRESET\tCREATED\tSOURCE")
	for _, l := range lines {
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%s\t%s\n", l.RunID, l.State, l.Iterations, l.Preset, l.Created.Local().Format("2006-01-02 15:04"), l.Source)
	}
	return table.Flush()
}
