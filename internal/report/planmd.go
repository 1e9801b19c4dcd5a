package report

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"conclave/internal/record"
	"conclave/internal/report/text"
)

// definitionFile is the run's artifact with its convergence definition.
const definitionFile = "definition.json"

// definition is the part of the convergence definition that the plan tells.
type definition struct {
	Data  map[string]any `json:"data"`
	Nodes []node         `json:"nodes"`
}

type node struct {
	ID   string `json:"id"`
	Data struct {
		Role string `json:"role"`
		Lane *struct {
			Requested     record.Engine   `json:"requested"`
			Substitutions []record.Engine `json:"knownSubstitutions"`
		} `json:"lane"`
		EvidencePaths []string `json:"evidencePaths"`
	} `json:"data"`
}

// definition reads the definition from the bundle; nil when it is not there.
func (f *folder) definition() *definition {
	content, err := f.root.ReadFile(path.Join(f.dir, definitionFile))
	if err != nil {
		return nil
	}
	var d definition
	if err := json.Unmarshal(content, &d); err != nil {
		return nil
	}
	return &d
}

// plan is plan.md: what the run was asked to do, and how far it is.
func plan(r record.Run, d *definition) []byte {
	p := &page{}
	title := "Plan of run " + prose(r.RunID)
	if r.DryRun {
		title += " (dry run)"
	}
	p.heading(1, title)
	p.heading(2, "Requirement")
	p.fence(r.Requirement)
	p.heading(2, "Limits")
	p.line("- discipline %s, rules %s", code(r.Discipline), code(r.Rules))
	if isReview(r) {
		p.line("- %s; nothing is written or repaired", prose("one review"+rangeWords(r)))
	} else if r.MaxIters > 0 {
		p.line("- at most %s of write, verify and review", text.Count(r.MaxIters, "iteration"))
	}
	p.line("- between %d and %d dispatches, at most %d at once", r.Bounds.MinDispatches, r.Bounds.MaxDispatches, r.Bounds.MaxConcurrency)
	if r.PlanDigest != "" {
		p.line("- plan digest %s", code(r.PlanDigest))
	}
	if d != nil {
		d.limits(p)
		d.nodes(p)
	}
	p.heading(2, "Steps so far")
	if len(r.Steps) == 0 {
		p.line("None.")
	}
	for _, s := range r.Steps {
		p.line("- %s", stepTitle(s))
	}
	return []byte(p.String())
}

func (d *definition) limits(p *page) {
	for _, limit := range []struct{ key, words string }{
		{"quorum", "seats that must accept"},
		{"requireDiversity", "the quorum needs different providers and families"},
		{"maxReviewRestarts", "repairs at most"},
		{"retryCapPerNode", "repeated askings at most"},
		{"seatConcurrency", "seats at once"},
		{"skippableSeats", "seats that may be missing"},
	} {
		if value, ok := d.Data[limit.key]; ok {
			p.line("- %s: %s", limit.words, code(fmt.Sprint(value)))
		}
	}
}

func (d *definition) nodes(p *page) {
	p.heading(2, "Who does what")
	var rows [][]string
	for _, n := range d.Nodes {
		if n.Data.Lane == nil && (n.Data.Role == "generator" || n.Data.Role == "repair") {
			continue // of a review: nobody writes
		}
		who, instead := "", ""
		if n.Data.Lane != nil {
			who = code(engine(&n.Data.Lane.Requested))
			var names []string
			for _, s := range n.Data.Lane.Substitutions {
				names = append(names, code(engine(&s)))
			}
			instead = strings.Join(names, ", ")
		}
		rows = append(rows, []string{prose(n.ID), prose(n.Data.Role), who, instead})
	}
	p.table([]string{"node", "role", "engine", "substitutes"}, rows)
}
