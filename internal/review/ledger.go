package review

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"conclave/internal/artifact"
)

// Raiser is who raised a finding, where and when.
type Raiser struct {
	Seat string `json:"seat"`
	Lens string `json:"lens,omitempty"`
	// Step names the turn in which it was said: one answer names a finding once.
	Step  string `json:"step,omitempty"`
	Round int    `json:"round"`
}

// Entry is one finding of a run with everything that was said of it.
type Entry struct {
	ID string `json:"id"`
	// Severity is the highest that was stated, Kind the one stated with it.
	Severity string `json:"severity"`
	Kind     string `json:"kind"`
	// Mark identifies the finding as it was raised first, Later as others saw it since, at most four.
	Mark    Mark           `json:"mark"`
	Later   []Mark         `json:"later,omitempty"`
	Title   string         `json:"title"`
	Claim   string         `json:"claim,omitempty"`
	Places  []Evidence     `json:"places,omitempty"`
	Raisers []Raiser       `json:"raisers,omitempty"`
	Texts   []artifact.Ref `json:"texts,omitempty"`
	History []string       `json:"history,omitempty"`
}

// Ledger holds the findings of a run. It is plain JSON, so that a run carries it.
type Ledger struct {
	Entries []Entry `json:"entries,omitempty"`
}

// Raised is a finding as a seat raised it.
type Raised struct {
	Severity, Kind, Title, Claim string
	// Anchor is the line of code at the first place, as Anchor normalises it; File tells the content of its file.
	Anchor, File string
	Places       []Evidence
	// Text is the whole finding in the store.
	Text artifact.Ref
}

// Bounds of what one entry carries; the store holds everything.
const (
	mostLater  = 4
	mostPlaces = 8
	mostTexts  = 8
)

// Raise takes a finding in and returns its id: the next one, or that of the entry that it merges with, and then known.
// A merge keeps the higher severity and adds raiser, text, places and history. Two findings of one answer are merged
// only where they are word for word the same: a reviewer that lists two means two.
func (l *Ledger) Raise(f Raised, by Raiser) (id string, known bool) {
	return l.RaiseWhere(f, by, func(string) Merge { return MergeAlike })
}

// Merge says how sure it must be that a finding is one that is known already. The zero value merges nothing.
type Merge uint8

const (
	// MergeNever keeps a finding apart, whatever it says.
	MergeNever Merge = iota
	// MergeSame takes only the same claim about the same line of code: what was decided about that settles this one
	// too. The same words about other code, or about a line that was changed since, are another finding.
	MergeSame
	// MergeSameFile is MergeSame where nothing else in the file has changed either: a claim that was wrong of the code
	// may be right of what became of it.
	MergeSameFile
	// MergeAlike also takes what is reworded, moved or seen a few lines further: nothing is lost, since the known one is
	// still to be settled.
	MergeAlike
)

// RaiseWhere is Raise, with what each known finding may be merged with.
func (l *Ledger) RaiseWhere(f Raised, by Raiser, may func(id string) Merge) (id string, known bool) {
	f.Severity = strictest(f.Severity)
	if f.Kind == "" {
		f.Kind = Patch.String()
	}
	mark := f.mark()
	at := l.find(f, mark, by, may)
	if at < 0 {
		l.Entries = append(l.Entries, Entry{ID: l.nextID(), Severity: f.Severity, Kind: f.Kind, Mark: mark, Title: f.Title, Claim: f.Claim})
		at = len(l.Entries) - 1
	} else {
		known = true
	}
	l.Entries[at].add(f, mark, by, known)
	return l.Entries[at].ID, known
}

// Entry returns the entry of an id; changes through the pointer are changes of the ledger until the next Raise.
func (l *Ledger) Entry(id string) (*Entry, bool) {
	for i := range l.Entries {
		if l.Entries[i].ID == id {
			return &l.Entries[i], true
		}
	}
	return nil, false
}

// Note adds a line to an entry's history; an id that does not exist has none.
func (l *Ledger) Note(id, line string) {
	if e, ok := l.Entry(id); ok {
		e.History = append(e.History, line)
	}
}

// mark is what identifies a raised finding. A finding without a title is known by how its claim begins.
func (f Raised) mark() Mark {
	m := Mark{Title: f.Title, Anchor: Anchor(f.Anchor), File: f.File}
	if strings.TrimSpace(m.Title) == "" {
		m.Title, _, _ = strings.Cut(strings.TrimSpace(f.Claim), "\n")
	}
	if len(f.Places) > 0 {
		m.Path, m.Line = f.Places[0].Path, f.Places[0].Line
	}
	return m
}

// find returns the index of the entry that a finding merges with, -1 for none: the likest one, of these the first.
func (l *Ledger) find(f Raised, mark Mark, by Raiser, may func(id string) Merge) int {
	best, at := 0.0, -1
	raised := seeing(mark)
	for i := range l.Entries {
		if sure := l.Entries[i].alike(f, raised, by, may(l.Entries[i].ID)); sure > best {
			best, at = sure, i
		}
	}
	return at
}

func (e *Entry) alike(f Raised, mark *seen, by Raiser, may Merge) float64 {
	compare := alike
	switch may {
	case MergeAlike:
	case MergeSame:
		compare = same
	case MergeSameFile:
		compare = sameFile
	default:
		return 0
	}
	placeless := mark.Path == "" || may != MergeAlike && mark.Anchor == ""
	if placeless && plain(e.Claim) != plain(f.Claim) {
		return 0 // a title alone, such as that of a verdict line's block, identifies nothing
	}
	best := compare(mark, seeing(e.Mark))
	for _, later := range e.Later {
		best = max(best, compare(mark, seeing(later)))
	}
	if best < identical && by.Step != "" && slices.ContainsFunc(e.Raisers, func(r Raiser) bool { return r.Step == by.Step && r.Seat == by.Seat }) {
		return 0
	}
	return best
}

func (e *Entry) add(f Raised, mark Mark, by Raiser, known bool) {
	said := "raised by "
	if known {
		said = "raised again by "
		if rank(f.Severity) < rank(e.Severity) {
			e.Severity, e.Kind = f.Severity, f.Kind
		}
		if mark != e.Mark && !slices.Contains(e.Later, mark) {
			e.Later = append(e.Later, mark)
			e.Later = e.Later[max(0, len(e.Later)-mostLater):]
		}
	}
	if !slices.Contains(e.Raisers, by) {
		e.Raisers = append(e.Raisers, by)
	}
	for _, place := range f.Places {
		if !slices.Contains(e.Places, place) && len(e.Places) < mostPlaces {
			e.Places = append(e.Places, place)
		}
	}
	if !f.Text.IsZero() && !slices.Contains(e.Texts, f.Text) && len(e.Texts) < mostTexts {
		e.Texts = append(e.Texts, f.Text)
	}
	e.History = append(e.History, said+by.String()+" as "+f.Severity+" "+f.Kind)
}

// String names a raiser: seat, lens, step and round.
func (r Raiser) String() string {
	s := r.Seat
	if r.Lens != "" {
		s += "@" + r.Lens
	}
	if r.Step != "" {
		s += " in " + r.Step
	}
	return fmt.Sprintf("%s (round %d)", s, r.Round)
}

func (l *Ledger) nextID() string {
	highest := 0
	for _, e := range l.Entries {
		if n, err := strconv.Atoi(strings.TrimPrefix(e.ID, "F")); err == nil {
			highest = max(highest, n)
		}
	}
	return "F" + strconv.Itoa(highest+1)
}

// strictest returns a known severity; what states none is high, as the convergence rules read it.
func strictest(word string) string {
	if severityWords.find(word) == SeverityInvalid {
		return High.String()
	}
	return word
}

// rank orders severities, the highest first.
func rank(word string) Severity { return severityWords.find(strictest(word)) }
