package prompt

// Part is material with a name: a constraint file, a review's text.
type Part struct {
	Name string
	Text []byte
}

// Finding is a finding of the ledger as a prompt shows it. All of it is untrusted.
type Finding struct {
	ID          string // F1, F2, ...
	Text        []byte // the whole JSON of one or more raisers, one after the other
	Disposition string // where it stands, "" to leave it out
	Note        string // what was said and done about it, "" for nothing
}

// Design is what the designer is told.
type Design struct {
	Header      Header
	Requirement string
	Constraints []Part
	Overrides   *Overrides // nil for the built-in templates, here and below
}

// Implement is what the implementer is told.
type Implement struct {
	Header        Header
	Requirement   string
	Contract      []byte // the design contract, nil for none
	ContractPath  string // where it stands in the workspace, "" for nowhere
	Constraints   []Part
	VerifyCommand string // "" for none
	Overrides     *Overrides
}

// Repair is what the writer of a repair is told.
type Repair struct {
	Implement
	Iteration int       // the iteration that the repair opens; the first repair opens iteration 2
	Blocks    []Part    // the whole text of each review that blocks; Name is the seat
	Findings  []Finding // the open findings, each of which the fix report must answer
	Failure   string    // the verifier's failing checks and tail, "" when it passed
	// Full demands a fix report in JSON for the findings.
	Full bool
	// Escalated tells a new writer that earlier repairs failed and the task is its own.
	Escalated bool
	// ReportOnly asks for the fix report that the last answer left out, and for no change.
	ReportOnly bool
	Reask      string // what was wrong with that report, "" where nothing was said
}

// Disciplines of a review prompt.
const (
	Basic = "basic" // findings as text, then the verdict line
	Full  = "full"  // findings as JSON, then the verdict line
)

// Review is what a reviewer is told. It has no place for the writer's reasoning.
type Review struct {
	Header       Header
	Requirement  string
	Untrusted    bool // the requirement is not the user's own text, but taken from commit messages
	Contract     []byte
	Constraints  []Part
	Diff         []byte // complete, against the merge base
	DiffFile     string // file of the workspace that holds the diff, which is then named and not shown
	ChangedFiles []string
	Generated    []string  // those of them that are generated or vendored, for the manifest
	Manifest     *Manifest // of a diff that stands in a file only; of others it is made here
	Lint         []byte    // the linter's output on the changed files, nil for none
	// VerifySummary is what the verifier said, "" where there is none.
	VerifySummary string
	// StructuredOutput is set where the engine returns the JSON answer by a channel of its own.
	StructuredOutput bool
	Discipline       string // Basic or Full
	// RequireFindings is set where an answer without JSON does not count; under Full none does.
	RequireFindings bool
	// Final makes it the final review of a run: the whole change, with the Log of all findings.
	Final bool
	Log   []Finding
	// LensText is the text of a user's own lens, "" for the built-in one that the header names.
	LensText string
	// Reask is why the seat's last answer did not count, "" where it is asked for the first time.
	Reask     string
	Overrides *Overrides
}

// Recheck is what a reviewer of a repair is told: the findings that were to be repaired and the fix diff, nothing else.
type Recheck struct {
	Header        Header
	Requirement   string
	Untrusted     bool // as in Review
	Constraints   []Part
	Contract      []byte
	Findings      []Finding // those of the header, in its order
	Diff          []byte    // the fix diff: from the tree that the seat judged last to the one of now
	DiffFile      string    // as in Review
	ChangedFiles  []string  // of the fix diff
	Generated     []string  // as in Review
	Manifest      *Manifest // as in Review
	Report        []byte    // the writer's fix report as JSON; its prose is left out, and so are other findings' entries
	Lint          []byte
	VerifySummary string
	// StructuredOutput, LensText and Reask are as in Review.
	StructuredOutput bool
	LensText         string
	Reask            string
	Overrides        *Overrides
}

// Confirm is what a confirmer is told about one finding.
type Confirm struct {
	Header       Header
	Requirement  string
	Untrusted    bool // as in Review
	Constraints  []Part
	Contract     []byte
	Finding      Finding // the one of the header
	Rebuttal     []byte  // why the writer refutes it: its fix report as JSON or its words, nil where it does not
	Diff         []byte  // as in Review
	DiffFile     string
	ChangedFiles []string
	Generated    []string
	Manifest     *Manifest
	// StructuredOutput and Reask are as in Review.
	StructuredOutput bool
	Reask            string
	Overrides        *Overrides
}

// Arbitrate is what an arbiter is told about the findings that no repair settled.
type Arbitrate struct {
	Header        Header
	Requirement   string
	Untrusted     bool // as in Review
	Constraints   []Part
	Contract      []byte
	Findings      []Finding // those of the header, in its order, each with its history as the note
	Diff          []byte    // as in Review
	DiffFile      string
	ChangedFiles  []string
	Generated     []string
	Manifest      *Manifest
	VerifySummary string
	// StructuredOutput and Reask are as in Review.
	StructuredOutput bool
	Reask            string
	Overrides        *Overrides
}
