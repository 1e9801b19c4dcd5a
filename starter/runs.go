package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
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
	DryRun     bool        `json:"dry_run"`
	Kind       string      `json:"kind,omitempty"`
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
	line.State, line.Stop, line.Converged, line.Iterations, line.Branch, line.DryRun = run.State(), run.Stop, run.Converged, run.Iterations, run.Branch, run.DryRun
	line.Kind = run.Kind
	if run.Stop == record.StopInterrupted {
		line.State = string(run.Stop) // it waits for its resume, and for nobody's answer
	}
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
	_, width := terminalOf(a.out)
	rows := runRows(lines, time.Now())
	for _, row := range fitRuns(rows, width) {
		a.print("%s", row)
	}
	return nil
}

// The columns of runs, and what may go where they do not fit.
const (
	presetColumn = 3
	sourceColumn = 5
	columnGap    = 2
	// leastSource is how short the source's end may be cut.
	leastSource = 10
)

func runRows(lines []runLine, now time.Time) [][]string {
	rows := [][]string{{"RUN", "STATE", "ITER", "PRESET", "CREATED", "SOURCE"}}
	for _, l := range lines {
		state := stateWords(l)
		if l.DryRun {
			state += " (dry run)"
		}
		rows = append(rows, []string{l.RunID, state, strconv.Itoa(l.Iterations), l.Preset, shortTime(l.Created.Local(), now), printable(l.Source)})
	}
	return rows
}

// stateWords says of a review what its outcome says: it cannot converge, and has no iterations to run out of.
func stateWords(l runLine) string {
	switch {
	case l.Kind != record.KindReview:
	case l.Stop == record.Converged && l.Converged:
		return "clean"
	case l.Stop == record.MaxIters:
		return "blocking"
	}
	return l.State
}

// shortTime is a time to the minute in this year's terms, else a date.
func shortTime(at, now time.Time) string {
	if now.Sub(at) < 300*24*time.Hour {
		return at.Format("01-02 15:04")
	}
	return at.Format("2006-01-02")
}

// fitRuns lays the rows out. Where a terminal is too narrow the source is cut at its front, then the preset goes, then
// the source. A width of 0 is none.
func fitRuns(rows [][]string, width int) []string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	if width > 0 {
		used := -columnGap
		for _, w := range widths {
			used += w + columnGap
		}
		if source := widths[sourceColumn]; used-source+min(source, leastSource) > width {
			used -= widths[presetColumn] + columnGap
			widths[presetColumn] = 0
		}
		if room := widths[sourceColumn] - max(0, used-width); room < min(widths[sourceColumn], leastSource) {
			widths[sourceColumn] = 0
		} else {
			widths[sourceColumn] = room
		}
	}
	out := make([]string, 0, len(rows))
	for _, row := range rows {
		out = append(out, layOut(row, widths))
	}
	return out
}

// layOut is one line; columns of width 0 are left out, a cell that is too long keeps its end.
func layOut(row []string, widths []int) string {
	var cells []string
	for i, cell := range row {
		if widths[i] == 0 {
			continue
		}
		if long := ansi.StringWidth(cell); long > widths[i] {
			cell = ansi.TruncateLeft(cell, long-widths[i]+1, "…")
		}
		cells = append(cells, cell+strings.Repeat(" ", max(0, widths[i]-ansi.StringWidth(cell))))
	}
	return strings.TrimRight(strings.Join(cells, strings.Repeat(" ", columnGap)), " ")
}
