package report

import (
	"encoding/json"
	"path"
	"strings"

	"conclave/internal/record"
)

// fixReportStem is the name, without extension, of a repair's report on each finding.
var fixReportStems = []string{"fix-report"}

// fixed is what a writer claims of one finding. None of it was executed by us.
type fixed struct {
	Finding  string   `json:"finding"`
	Status   string   `json:"status"`
	Tests    []string `json:"tests"`
	Command  string   `json:"command"`
	Output   string   `json:"output"`
	Evidence string   `json:"evidence"`
}

// fixReports puts what the writers claim beside what the verifier said of the same tree.
func fixReports(p *page, r record.Run, quoted map[string]quotes) {
	first := true
	for i, s := range r.Steps {
		report := readFixReport(quoted[s.ID].fixReport)
		if len(report) == 0 {
			continue
		}
		if first {
			p.heading(2, "Fix reports")
			p.line("What a writer claims is no proof, and its commands were not run. What was run is the verifier, and its result stands beside each claim.")
			first = false
		}
		p.heading(3, stepTitle(s))
		p.line("After it: %s\n", prose(verifiedAfter(r, i)))
		var rows [][]string
		for _, f := range report {
			rows = append(rows, []string{prose(f.Finding), prose(f.Status), prose(claimOf(f)), code(f.Command), prose(f.Output)})
		}
		p.table([]string{"finding", "the writer says", "its proof", "with the command", "which printed"}, rows)
	}
}

func claimOf(f fixed) string {
	parts := append([]string{}, f.Tests...)
	if f.Evidence != "" {
		parts = append(parts, f.Evidence)
	}
	return strings.Join(parts, ", ")
}

// verifiedAfter is the first verification after a step, in words.
func verifiedAfter(r record.Run, at int) string {
	for _, s := range r.Steps[at+1:] {
		switch {
		case s.Role == record.RoleImplementer:
			return "no verification followed"
		case s.Role != record.RoleVerifier:
		case s.Status == record.NotRun:
			return "no verify command is configured"
		default:
			return "step " + s.ID + ", verify: " + Result(s)
		}
	}
	return "no verification followed"
}

func readFixReport(e *excerpt) []fixed {
	if e == nil || e.cut || path.Ext(e.file) != ".json" {
		return nil
	}
	var document struct {
		Entries []fixed `json:"fix_report"`
	}
	if json.Unmarshal([]byte(e.content), &document) != nil {
		return nil
	}
	return document.Entries
}
