package review

import (
	"fmt"
	"slices"
	"strings"
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
	d := newDocument(message)
	found := d.locate(structured, fixReportKey)
	switch {
	case found.problem != "":
		return FixReport{Problems: []string{found.problem}}
	case found.object == nil:
		return FixReport{Problems: []string{`no fix report: the message holds no JSON object with "fix_report"`}}
	}
	r := reader{object: found.object}
	if d.rivals(structured, fixReportKey) {
		r.problem("the message holds more than one fix report and only the last counts: give one with all findings")
	}
	var counted []FixEntry
	said := map[string]string{} // the status of each finding, also of entries that do not count
	torn := map[string]bool{}
	for i, raw := range rawList(&r, fixReportKey) {
		entry, ok := r.fixEntry(fmt.Sprintf("fix_report[%d].", i), raw, findings)
		status, twice := said[entry.Finding]
		switch {
		case twice && status != entry.Status:
			torn[entry.Finding] = true
			r.problem("%q stands with different statuses", entry.Finding)
		case ok && twice:
			r.problem("%q stands twice", entry.Finding)
		case ok:
			counted = append(counted, entry)
		}
		said[entry.Finding] = entry.Status
	}
	answer := FixReport{Entries: slices.DeleteFunc(counted, func(e FixEntry) bool { return torn[e.Finding] })}
	if open := answer.Unanswered(findings); len(open) > 0 {
		r.problem("nothing that counts is said of %s", strings.Join(open, ", "))
	}
	answer.Problems = r.problems
	return answer
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
		Tests:    slices.DeleteFunc(get[[]string](r, o, at, "tests"), func(s string) bool { return strings.TrimSpace(s) == "" }),
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
