package review

import (
	"fmt"
	"slices"
)

// fixStatus is a writer's word on a finding that it was to repair. The zero value says nothing.
type fixStatus int

const (
	fixInvalid fixStatus = iota
	fixFixed             // the writer claims to have changed the code
	fixRefuted           // the writer claims that the finding does not hold
)

var fixWords = words[fixStatus]{"status", []string{"invalid", "fixed", "refuted"}}

// FixEntry is a writer's claim about one finding. All of it is evidence for reviewers: the command is text that a
// model wrote, and nothing may execute it.
type FixEntry struct {
	Finding string `json:"finding"`
	// Status is fixed or refuted.
	Status   string   `json:"status"`
	Tests    []string `json:"tests,omitempty"`
	Command  string   `json:"command,omitempty"`
	Output   string   `json:"output,omitempty"`
	Evidence string   `json:"evidence,omitempty"`
}

// FixReport is what a writer says about the findings of a repair. It may be short: a finding without an entry is not
// answered.
type FixReport struct {
	Entries []FixEntry `json:"entries,omitempty"`
	// Problems names what was left out and why, one sentence each, fit for the prompt that asks for the report.
	Problems []string `json:"problems,omitempty"`
}

// Unanswered returns those of the findings that the report does not answer, in their order.
func (f FixReport) Unanswered(findings []string) []string {
	var open []string
	for _, id := range findings {
		if !slices.ContainsFunc(f.Entries, func(e FixEntry) bool { return e.Finding == id }) {
			open = append(open, id)
		}
	}
	return open
}

// ParseFixReport reads a writer's report on the given findings. It never fails: an entry that cannot be read, is
// about another finding, contradicts another one or proves nothing is left out and named in Problems. A fixed finding
// names its tests, the command and its output; a refuted one its evidence.
func ParseFixReport(message []byte, structured []byte, findings []string) FixReport {
	found := newDocument(message).locate(structured, fixReportKey)
	switch {
	case found.problem != "":
		return FixReport{Problems: []string{found.problem}}
	case found.object == nil:
		return FixReport{Problems: []string{`no fix report: the message holds no JSON object with "fix_report"`}}
	}
	r := reader{object: found.object}
	var entries []FixEntry
	for i, raw := range rawList(&r, fixReportKey) {
		if entry, ok := r.fixEntry(fmt.Sprintf("fix_report[%d].", i), raw, findings); ok {
			entries = append(entries, entry)
		}
	}
	report := FixReport{Problems: r.problems}
	for i, entry := range entries {
		same := func(e FixEntry) bool { return e.Finding == entry.Finding }
		switch {
		case slices.ContainsFunc(entries, func(e FixEntry) bool { return same(e) && e.Status != entry.Status }):
			report.Problems = append(report.Problems, fmt.Sprintf("%s stands as fixed and as refuted", entry.Finding))
		case slices.ContainsFunc(entries[:i], same):
			report.Problems = append(report.Problems, fmt.Sprintf("%s stands twice", entry.Finding))
		default:
			report.Entries = append(report.Entries, entry)
		}
	}
	return report
}

// fixEntry reads one entry; ok is false where it does not count.
func (r *reader) fixEntry(at string, raw []byte, findings []string) (entry FixEntry, ok bool) {
	before := len(r.problems)
	o, err := decodeObject(raw)
	if err != nil {
		r.problem("%s cannot be read: %v", at[:len(at)-1], err)
		return FixEntry{}, false
	}
	entry = FixEntry{
		Finding:  get[string](r, o, at, "finding"),
		Status:   get[string](r, o, at, "status"),
		Tests:    get[[]string](r, o, at, "tests"),
		Command:  trimmed(r, o, at, "command"),
		Output:   trimmed(r, o, at, "output"),
		Evidence: trimmed(r, o, at, "evidence"),
	}
	if !slices.Contains(findings, entry.Finding) {
		r.problem("%sfinding %q was not to be repaired", at, entry.Finding)
	}
	switch fixWords.find(entry.Status) {
	case fixFixed:
		if len(entry.Tests) == 0 || entry.Command == "" || entry.Output == "" {
			r.problem("%s a fixed finding names the tests that cover it, the command and its output", at[:len(at)-1])
		}
	case fixRefuted:
		if entry.Evidence == "" {
			r.problem("%sevidence is empty: say what refutes the finding", at)
		}
	default:
		r.problem("%sstatus %q is not fixed or refuted", at, entry.Status)
	}
	return entry, len(r.problems) == before
}
