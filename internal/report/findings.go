package report

import (
	"fmt"
	"slices"
	"strings"

	"conclave/internal/record"
	"conclave/internal/report/text"
)

// mostLives bounds how many findings are told at length.
const mostLives = 300

// groups are the ends that a finding can have, as headings, in the order in
// which a reader wants them.
var groups = []struct {
	title string
	holds func(record.Run, record.Finding) bool
}{
	{"Open", func(r record.Run, f record.Finding) bool { return r.Stands(f) }},
	{"Ruled to stand", ends("ruled")},
	{"Addressed", ends("addressed")},
	{"Refuted", ends("refuted")},
	{"Log: medium and low", ends("logged")},
}

func ends(disposition string) func(record.Run, record.Finding) bool {
	return func(_ record.Run, f record.Finding) bool { return f.Disposition == disposition }
}

// findings lists what the reviewers claim. Under the full discipline every
// finding has a life, which is told; under the basic one a review speaks for itself.
func findings(p *page, r record.Run, claims map[string][]claim) {
	if len(r.Findings) == 0 {
		return
	}
	p.heading(2, "Findings")
	if r.Discipline != "full" {
		basicFindings(p, r)
		return
	}
	for _, group := range groups {
		var rows [][]string
		for _, f := range r.Findings {
			if group.holds(r, f) {
				rows = append(rows, findingRow(f))
			}
		}
		if len(rows) > 0 {
			p.heading(3, group.title)
			p.table([]string{"id", "severity", "lens", "finding", "where", "raised by", "confirmed by"}, rows)
		}
	}
	p.heading(2, "What became of each finding")
	for _, f := range r.Findings[:min(len(r.Findings), mostLives)] {
		life(p, f, claims[f.ID])
	}
	if more := len(r.Findings) - mostLives; more > 0 {
		p.paragraph("And %d more in `findings.json`.", more)
	}
}

func findingRow(f record.Finding) []string {
	severity := prose(f.Severity)
	if f.Kind == "decision" {
		severity += ", decision"
	}
	return []string{
		prose(f.ID), severity, prose(strings.Join(lenses(f), ", ")), prose(f.Title), place(f), prose(strings.Join(f.RaisedBy, ", ")), proof(f),
	}
}

func lenses(f record.Finding) []string {
	if len(f.Lenses) > 0 {
		return f.Lenses
	}
	return []string{f.Lens}
}

func place(f record.Finding) string {
	if len(f.Evidence) == 0 {
		return ""
	}
	return code(placeWords(f.Evidence[0]))
}

func placeWords(at record.Place) string {
	switch {
	case at.Line == 0:
		return at.Path
	case at.EndLine > at.Line:
		return fmt.Sprintf("%s:%d-%d", at.Path, at.Line, at.EndLine)
	}
	return fmt.Sprintf("%s:%d", at.Path, at.Line)
}

// proof says who confirmed a finding, and how much that is worth.
func proof(f record.Finding) string {
	words := map[string]string{
		"independent":   "an engine that did not raise it",
		"same-engine":   "the weaker proof: a raiser's engine in a fresh context",
		"two-seats":     "two seats raised it independently",
		"unconfirmable": "nobody could; it counts as confirmed",
		"rule":          "a rule has seen it, no model is needed",
	}[f.Proof]
	who := prose(f.ConfirmedBy)
	switch {
	case words == "":
		return who
	case who == "":
		return words
	}
	return who + " (" + words + ")"
}

// life tells one finding: what was claimed, where, and what became of it.
func life(p *page, f record.Finding, claims []claim) {
	p.heading(3, fmt.Sprintf("%s · %s · %s · %s", prose(f.ID), prose(f.Severity), prose(f.Disposition), prose(text.OneLine(f.Title, 120))))
	var told []string
	for _, c := range claims {
		words := c.Text
		if words == "" {
			words = c.Claim
		}
		if words = strings.TrimSpace(words); words == "" || slices.Contains(told, words) {
			continue
		}
		if told = append(told, words); len(told) == 2 {
			p.paragraph("In other words:")
		}
		p.fence(words)
		details(p, c)
	}
	if len(told) == 0 && f.Claim != "" {
		p.fence(f.Claim)
	}
	p.gap()
	for _, at := range f.Evidence {
		if at.Quote != "" {
			p.line("- at %s: %s", code(placeWords(at)), code(at.Quote))
		} else {
			p.line("- at %s", code(placeWords(at)))
		}
	}
	for _, line := range f.History {
		p.line("- %s", prose(line))
	}
}

func details(p *page, c claim) {
	p.gap()
	for _, detail := range []struct{ name, words string }{
		{"breaks", c.Rule}, {"affects", strings.Join(c.Affects, ", ")}, {"suggests", c.Suggestion},
	} {
		if strings.TrimSpace(detail.words) != "" {
			p.line("- %s: %s", detail.name, prose(detail.words))
		}
	}
}

func basicFindings(p *page, r record.Run) {
	var rows [][]string
	for _, f := range r.Findings {
		where := ""
		if len(f.Evidence) > 0 {
			where = code(fmt.Sprintf("%s:%d", f.Evidence[0].Path, f.Evidence[0].Line))
		}
		rows = append(rows, []string{
			prose(f.ID), prose(f.Severity), prose(f.Disposition), prose(f.Title), where, prose(strings.Join(f.RaisedBy, ", ")),
		})
	}
	p.table([]string{"id", "severity", "disposition", "finding", "where", "raised by"}, rows)
}
