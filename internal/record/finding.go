package record

import "conclave/internal/artifact"

// Finding is one problem that a reviewer claims, with its whole life.
type Finding struct {
	ID       string `json:"id"`
	Severity string `json:"severity"`
	Kind     string `json:"kind"`
	Lens     string `json:"lens"`
	Title    string `json:"title"`
	Claim    string `json:"claim"`
	// Evidence points into the snapshot or the base.
	Evidence []Place `json:"evidence"`
	// Disposition is open, confirmed, refuted, addressed, not-addressed, ruled or logged.
	Disposition string   `json:"disposition"`
	RaisedBy    []string `json:"raised_by"`
	// Lenses are what the raisers looked for, in their order.
	Lenses      []string `json:"lenses,omitempty"`
	ConfirmedBy string   `json:"confirmed_by,omitempty"`
	// Proof says how strong the confirmation is: independent, same-engine, two-seats, unconfirmable, or rule for the host's own.
	Proof   string   `json:"proof,omitempty"`
	History []string `json:"history"`
	// Texts are the whole findings as JSON in the store, one per raiser.
	Texts []artifact.Ref `json:"texts,omitempty"`
}

// Place is a line range of a file.
type Place struct {
	Path    string `json:"path"`
	Line    int    `json:"line"`
	EndLine int    `json:"end_line,omitempty"`
	Quote   string `json:"quote,omitempty"`
}

// Ruling is a person's or an arbiter's decision on one question.
type Ruling struct {
	Finding string `json:"finding"`
	// Number says which question on the finding was answered, from 1; 0 for an arbiter's.
	Number    int    `json:"number,omitempty"`
	Decision  string `json:"decision"`
	Reason    string `json:"reason"`
	By        string `json:"by"`
	At        string `json:"at"`
	Head      string `json:"head"`
	RequestID string `json:"request_id"`
}

// RefusedRuling is a ruling that was not applied, and why.
type RefusedRuling struct {
	Raw    string `json:"raw"`
	Reason string `json:"reason"`
	At     string `json:"at"`
}
