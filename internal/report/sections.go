package report

import (
	"fmt"
	"maps"
	"slices"

	"conclave/internal/record"
	"conclave/internal/report/text"
)

// decisions tells who ruled what, when, why and on which tree, and what was refused.
func decisions(p *page, r record.Run) {
	if len(r.Rulings) > 0 {
		p.heading(2, "Rulings")
		var rows [][]string
		for _, d := range r.Rulings {
			subject := prose(d.Finding)
			if d.Number > 1 {
				subject += fmt.Sprintf(" (%s time)", text.Ordinal(d.Number))
			}
			tree := ""
			if d.Head != "" {
				tree = code(short(d.Head))
			}
			rows = append(rows, []string{subject, prose(d.Decision), prose(d.Reason), prose(d.By), prose(d.At), tree})
		}
		p.table([]string{"on", "decision", "reason", "by", "at", "tree"}, rows)
	}
	if len(r.Refused) > 0 {
		p.heading(2, "Refused rulings")
		for _, d := range r.Refused {
			p.line("- %s: %s (%s)", prose(d.At), prose(d.Reason), code(d.Raw))
		}
		if r.RefusedMore > 0 {
			p.line("- and %d more, which are not listed", r.RefusedMore)
		}
	}
}

func changed(p *page, r record.Run) {
	const most = 300
	p.heading(2, "Changed files")
	if len(r.Changed) == 0 {
		p.line("None.")
		return
	}
	p.line("%s in all; the whole change is in `changes.diff`.\n", Changes(record.Total(r.Changed)))
	if r.ChangedLines > 0 {
		p.line("%d lines count towards the size limit.\n", r.ChangedLines)
	}
	paths(p, "Generated and vendored paths, which do not count:", r.Exempt)
	p.gap()
	var rows [][]string
	for _, c := range r.Changed[:min(len(r.Changed), most)] {
		lines := fmt.Sprintf("+%d -%d", c.Added, c.Removed)
		if c.Binary {
			lines = "binary"
		}
		rows = append(rows, []string{codeUpTo(pathLine(c.Path), 0), prose(c.Status), lines})
	}
	p.table([]string{"path", "status", "lines"}, rows)
	if len(r.Changed) > most {
		p.paragraph("And %d more in `changed-files.txt`.", len(r.Changed)-most)
	}
}

func engines(p *page, r record.Run) {
	var rows [][]string
	for _, s := range r.Steps {
		if s.Identity.Requested == nil && s.Identity.Reported == nil {
			continue
		}
		reported := code(engine(s.Identity.Reported))
		if r.DryRun { // the stub reports the engine that it stands for
			reported = "none: a stub answered (dry run)"
		}
		rows = append(rows, []string{
			prose(s.ID), code(engine(s.Identity.Requested)), reported, prose(Tokens(s.Usage)), prose(Cost(s.Usage)), prose(s.Sandbox),
		})
	}
	if len(rows) == 0 {
		return
	}
	p.heading(2, "Engines and usage")
	p.table([]string{"step", "requested", "reported", "tokens", "cost", "sandbox"}, rows)
	sums(p, r)
}

// sums tells what the run consumed by role and by seat, and in all.
func sums(p *page, r record.Run) {
	var rows [][]string
	add := func(kind string, by map[string]record.Usage) {
		for _, name := range slices.Sorted(maps.Keys(by)) {
			u := by[name]
			reported, _, unknown := u.Counts()
			rows = append(rows, []string{kind + " " + prose(name), fmt.Sprint(reported + unknown), prose(Tokens(&u)), prose(Cost(&u))})
		}
	}
	add("role", r.UsageByRole)
	add("seat", r.UsageBySeat)
	if len(rows) > 0 {
		p.gap()
		p.table([]string{"of", "turns", "tokens", "cost"}, rows)
	}
	p.paragraph("In all: %s.", Consumed(r.Usage))
	if r.Usage != nil && r.Usage.Priced {
		p.paragraph("Costs marked \"priced\" are computed from tokens by the price table of the worker; all others are what the engine reported.")
	}
}

func warnings(p *page, r record.Run, missing []string) {
	if len(r.Notes)+len(missing) > 0 {
		p.heading(2, "Notes")
		for _, note := range append(append([]string{}, r.Notes...), missing...) {
			p.line("- %s", prose(note))
		}
	}
	if len(r.LeftOut) > 0 {
		p.heading(2, "Left out")
		paths(p, "These uncommitted paths are not part of what the run started from (`--include-dirty` takes them in):", r.LeftOut)
	}
}

func facts(p *page, r record.Run) {
	p.heading(2, "Facts")
	var rows [][]string
	for _, fact := range [][2]string{
		{"run", r.RunID}, {"workflow", r.WorkflowID}, {"started", r.StartedAt}, {"base", r.Base}, {"head", r.Head},
		{"branch", r.Branch}, {"rules", r.Rules}, {"plan digest", r.PlanDigest},
	} {
		if fact[1] != "" {
			rows = append(rows, []string{fact[0], code(fact[1])})
		}
	}
	rows = append(rows, []string{"stop reason", code(string(r.Stop))}, []string{"landed", fmt.Sprint(r.Landed)})
	p.table([]string{"fact", "value"}, rows)
}
