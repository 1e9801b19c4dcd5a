package record

import (
	"fmt"
	"strings"
)

// State is one word for where the run stands: running, waiting or its stop reason.
func (r Run) State() string {
	switch {
	case r.Waiting != "":
		return "waiting"
	case r.Stop == "":
		return "running"
	default:
		return string(r.Stop)
	}
}

// OpenFindings counts the findings that still stand.
func (r Run) OpenFindings() int {
	open := 0
	for _, f := range r.Findings {
		if r.Stands(f) {
			open++
		}
	}
	return open
}

// Stands reports whether a finding stands against the end. Under the full
// discipline one that a recheck found again does; under the basic one another
// finding of that recheck has taken its place.
func (r Run) Stands(f Finding) bool {
	switch f.Disposition {
	case "addressed", "refuted", "ruled", "logged":
		return false
	case "not-addressed":
		return r.Discipline == "full"
	}
	return true
}

// What the Web UI shows of a run at once.
const (
	detailSteps     = 12
	detailQuestions = 10
)

// Details is the run as a few lines of Markdown for the Web UI.
func (r Run) Details() string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** · iteration %d of %d · %d open findings\n\n", r.State(), r.Iteration, max(r.MaxIters, r.Iteration), r.OpenFindings())
	if r.Waiting != "" {
		fmt.Fprintf(&b, "Waits for: %s\n\n", r.Waiting)
	}
	for _, q := range r.Questions[:min(len(r.Questions), detailQuestions)] {
		fmt.Fprintf(&b, "- %s: `%s`\n", q.Subject, strings.ReplaceAll(q.Text, "`", "'"))
	}
	if len(r.Questions) > 0 {
		fmt.Fprintf(&b, "\nTo answer, send the signal `ruling`: `{\"finding\":\"%s\",\"decision\":\"stand\",\"reason\":\"...\"}` (or fix, abort)\n\n", r.Questions[0].Subject)
	}
	if r.Message != "" {
		fmt.Fprintf(&b, "%s\n\n", r.Message)
	}
	b.WriteString("| step | what | who | status | verdict |\n| --- | --- | --- | --- | --- |\n")
	for _, s := range r.Steps[max(0, len(r.Steps)-detailSteps):] {
		who := s.Adapter
		if s.Seat != "" {
			who = s.Seat + " (" + s.Adapter + ")"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", s.ID, s.Turn, who, s.Status, s.Verdict)
	}
	return b.String()
}
