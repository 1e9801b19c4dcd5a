package loop

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"conclave/internal/artifact"
	"conclave/internal/convergence"
	"conclave/internal/record"
	"conclave/internal/review"
)

// confirmation is who upheld a finding, and how strong that proof is.
type confirmation struct {
	By    string `json:"by,omitempty"`
	Proof string `json:"proof"`
}

// Proofs of a confirmation beyond those of the machine.
const (
	// proofTwoSeats: two voting seats of different families raised it.
	proofTwoSeats = "two-seats"
	// proofUnconfirmable: nobody could give a valid confirmation, so it counts as confirmed.
	proofUnconfirmable = "unconfirmable"
)

// Bounds of what the record keeps of a finding.
const (
	titleBytes  = 160
	claimBytes  = 320
	quoteBytes  = 120
	mostPlaces  = 3
	reasonBytes = 240
	// evidenceBytes bounds a title in events and in the machine's state.
	evidenceBytes = 100
	// correctness is the lens of a seat that names none.
	correctness = "correctness"
)

// full reports whether the run has the full discipline.
func (p *Progress) full() bool {
	return p.machine.Definition().Data.Discipline == convergence.Full
}

// dispositions projects the ledger's texts and the machine's decisions into the
// record: what a finding is stands in the one, what became of it in the other.
func (p *Progress) dispositions() []record.Finding {
	if !p.full() {
		return p.Run.Findings
	}
	out := make([]record.Finding, 0, len(p.Ledger.Entries))
	for i := range p.Ledger.Entries {
		entry := &p.Ledger.Entries[i]
		if st, ok := p.State.Review.Findings.Get(entry.ID); ok { // one of an answer that did not count is none
			out = append(out, p.disposition(entry, st))
		}
	}
	return out
}

func (p *Progress) disposition(entry *review.Entry, st convergence.FindingState) record.Finding {
	proof := p.Confirmations[entry.ID]
	f := record.Finding{
		ID: entry.ID, Severity: cmp.Or(st.Severity, entry.Severity), Kind: cmp.Or(st.Kind, entry.Kind), Title: entry.Title, Claim: entry.Claim,
		Disposition: string(st.Status), ConfirmedBy: proof.By, Proof: proof.Proof,
		History: slices.Clone(entry.History), Texts: recent(entry.Texts),
		Evidence: []record.Place{}, RaisedBy: []string{},
	}
	for _, place := range entry.Places[:min(len(entry.Places), mostPlaces)] {
		f.Evidence = append(f.Evidence, record.Place{Path: place.Path, Line: place.Line, EndLine: place.EndLine, Quote: place.Quote})
	}
	for _, by := range entry.Raisers {
		if !slices.Contains(f.RaisedBy, by.Seat) {
			f.RaisedBy = append(f.RaisedBy, by.Seat)
		}
		if by.Lens != "" && !slices.Contains(f.Lenses, by.Lens) {
			f.Lenses = append(f.Lenses, by.Lens)
		}
	}
	if len(f.Lenses) > 0 {
		f.Lens = f.Lenses[0]
	}
	return f
}

// tell adds a line to the life of a finding.
func (p *Progress) tell(id, format string, args ...any) {
	if entry, ok := p.Ledger.Entry(id); ok {
		p.Ledger.Note(id, clip(fmt.Sprintf(format, args...), reasonBytes+100))
		p.shorten(entry)
	}
}

// shorten keeps what a finding takes in the run's state within bounds, which are
// narrower the more findings there are. How its life began and how it went on
// last is kept; the steps' folders hold every word.
func (p *Progress) shorten(entry *review.Entry) {
	lifeBytes, claim := 6<<10, claimBytes
	switch n := len(p.Ledger.Entries); {
	case n > 200:
		lifeBytes, claim = 640, claimBytes/4
	case n > 50:
		lifeBytes, claim = 1536, claimBytes/2
	}
	entry.Claim = clip(entry.Claim, claim)
	size := 0
	for _, line := range entry.History {
		size += len(line)
	}
	const kept = 2
	for size > lifeBytes && len(entry.History) > kept+2 {
		if entry.History[kept] != leftOut {
			entry.History = slices.Insert(entry.History, kept, leftOut)
			size += len(leftOut)
		}
		size -= len(entry.History[kept+1])
		entry.History = slices.Delete(entry.History, kept+1, kept+2)
	}
}

// leftOut stands in the life of a finding for lines that were too many.
const leftOut = "... (more in the steps between)"

// because appends a reason to a line.
func because(line, reason string) string {
	if reason = clip(reason, reasonBytes); reason == "" {
		return line
	}
	return line + ": " + reason
}

// raise enters what a seat reported into the ledger and returns it as the machine reads it.
func (p *Progress) raise(call Call, result TurnResult) []map[string]any {
	lens := cmp.Or(call.Turn.Lens, correctness)
	if call.Turn.Seat == convergence.FinalSeat {
		lens = "" // it looks for everything
	}
	by := review.Raiser{Seat: call.Turn.Seat, Lens: lens, Step: "step " + call.Step, Round: int(p.State.Restarts)}
	out := make([]map[string]any, 0, len(result.Findings))
	for _, f := range result.Findings {
		severity, kind := severityOf(f), f.Kind
		if kind != convergence.KindDecision {
			kind = convergence.KindPatch // the machine reads no other
		}
		id, _ := p.Ledger.RaiseWhere(review.Raised{
			Severity: severity, Kind: kind, Title: clip(f.Title, titleBytes), Claim: clip(f.Claim, claimBytes),
			Anchor: f.Anchor, File: f.File, Places: places(f.Evidence), Text: textOf(f, result),
		}, by, p.mergesWith(call, severity))
		if entry, ok := p.Ledger.Entry(id); ok {
			p.shorten(entry)
		}
		if f.Outside {
			p.tell(id, "step %s: outside of the fix, so it is logged and opens no round (%s called it %s)", call.Step, call.Turn.Seat, f.Severity)
		}
		out = append(out, map[string]any{"id": id, "kind": kind, "severity": severity, "evidence": clip(f.Title, evidenceBytes)})
	}
	return out
}

// mergesWith says which known findings one that was raised may be. What was refuted or ruled swallows whatever merges
// with it, and in the final review so does what was addressed: that takes the same claim about the same line of code.
// An engine's word that a claim is wrong, or settled, is one about the code that it read: after a change a claim about
// that file is judged anew, and so is what a later repair may have broken again. A ruling holds for the line.
// What was only logged was never judged, so a final review that calls it high raises it anew.
func (p *Progress) mergesWith(call Call, severity string) func(id string) review.Merge {
	final, high := call.Turn.Seat == convergence.FinalSeat, severity == convergence.SeverityHigh
	return func(id string) review.Merge {
		switch st := p.findingState(id).Status; {
		case st == convergence.FindingRuled, p.ruledAhead(id):
			return review.MergeSame
		case st == convergence.FindingRefuted && p.changedSince(id):
			return review.MergeSameFile
		case st == convergence.FindingRefuted:
			return review.MergeSame
		case final && high && st == convergence.FindingAddressed && p.changedSince(id), final && high && st == convergence.FindingLogged:
			return review.MergeNever
		case final && st == convergence.FindingAddressed:
			return review.MergeSame
		}
		return review.MergeAlike
	}
}

// changedSince reports whether the tree is another one than when a finding was settled. Where nobody knows, it is.
func (p *Progress) changedSince(id string) bool { return p.Settled[id] != p.Latest.Tree }

// settled remembers on which tree a finding was refuted or found addressed.
func (p *Progress) settled(id string) { p.Settled[id] = p.Latest.Tree }

// ruledAhead says that a ruling on a finding waits for its question: it is about what was known of it then.
func (p *Progress) ruledAhead(id string) bool {
	return slices.ContainsFunc(p.Desk.Kept, func(k kept) bool { return k.Finding == id })
}

// textOf names a finding's whole text: its own, or the whole message of an
// answer that is no JSON, or whose names are none.
func textOf(f Finding, result TurnResult) artifact.Ref {
	if _, err := f.Text.Hex(); err == nil {
		return f.Text
	}
	return result.Final
}

// severityOf is what the machine is told: what lies outside of a fix is logged,
// and what no one has graded is grave.
func severityOf(f Finding) string {
	switch {
	case f.Outside:
		return convergence.SeverityLow
	case f.Severity == convergence.SeverityLow, f.Severity == convergence.SeverityMedium:
		return f.Severity
	}
	return convergence.SeverityHigh
}

func places(evidence []record.Place) []review.Evidence {
	var out []review.Evidence
	for _, place := range evidence[:min(len(evidence), mostPlaces)] {
		out = append(out, review.Evidence{Path: place.Path, Line: place.Line, EndLine: place.EndLine, Quote: clip(place.Quote, quoteBytes)})
	}
	return out
}

// standing is a finding that stands, and how.
type standing struct {
	id     string
	status convergence.Disposition
}

// standings are the findings that stand now.
func (p *Progress) standings() []standing {
	out := make([]standing, 0, len(p.State.Review.Standing))
	for _, id := range p.State.Review.Standing {
		out = append(out, standing{id, p.findingState(id).Status})
	}
	return out
}

func (p *Progress) findingState(id string) convergence.FindingState {
	st, _ := p.State.Review.Findings.Get(id)
	return st
}

// tellSettled says what an event settled beyond what was said in it: findings
// that everybody finds addressed, and two seats that confirm each other.
func (p *Progress) tellSettled(before []standing, where string) {
	for _, was := range before {
		if st := p.findingState(was.id); st.Status != was.status && st.Status == convergence.FindingAddressed {
			p.settled(was.id)
			p.tell(was.id, "%s: addressed, says everyone who answers for it", where)
		}
	}
	for _, now := range p.standings() {
		if _, known := p.Confirmations[now.id]; known || now.status != convergence.FindingConfirmed || slices.Contains(before, now) {
			continue
		}
		seats := seatsOf(p.findingState(now.id))
		p.confirmed(now.id, confirmation{By: seats, Proof: proofTwoSeats})
		p.tell(now.id, "%s: confirmed, because %s raised it independently", where, seats)
	}
}

func (p *Progress) confirmed(id string, c confirmation) {
	p.Confirmations[id] = c
}

func seatsOf(st convergence.FindingState) string {
	var seats []string
	for _, by := range st.RaisedBy {
		seats = append(seats, by.Seat)
	}
	return strings.Join(seats, " and ")
}

// tellUnconfirmable marks the findings that go to repair although nobody could
// be asked whether they hold: every engine is a writer's.
func (p *Progress) tellUnconfirmable() {
	for _, now := range p.standings() {
		if _, known := p.Confirmations[now.id]; !known && now.status == convergence.FindingOpen {
			p.confirmed(now.id, confirmation{Proof: proofUnconfirmable})
			p.tell(now.id, "nobody can confirm it, because every engine is a writer's: it counts as confirmed")
		}
	}
}
