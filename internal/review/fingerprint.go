package review

import (
	"path"
	"strings"
)

// Mark is what identifies a finding over seats and rounds.
type Mark struct {
	Path string `json:"path,omitempty"`
	// Line is 1-based, 0 where the finding names none. It moves with the code and only bounds how far a title is
	// trusted.
	Line  int    `json:"line,omitempty"`
	Title string `json:"title"`
	// Anchor is the line of code at the place, as Anchor normalises it; empty where it is unknown.
	Anchor string `json:"anchor,omitempty"`
	// File tells the content of the whole file that was read from every other one; empty where it is unknown.
	File string `json:"file,omitempty"`
}

// Same reports whether two marks are one finding: in one file, with titles that say the same, at places that agree. It
// is reflexive and symmetric. A wrong yes hides a defect and a wrong no costs a turn, so doubt says no.
func Same(a, b Mark) bool { return alike(seeing(a), seeing(b)) > 0 }

// seen is a mark in comparable form. It is read only as far as a comparison needs it.
type seen struct {
	Mark
	path   string
	anchor string
	plain  string
	title  *titleWords
}

func seeing(m Mark) *seen { return &seen{Mark: m, path: cleanPath(m.Path)} }

// read fills in what every comparison within one file needs.
func (s *seen) read() {
	if s.title == nil {
		words := readTitle(s.Title)
		s.title, s.anchor, s.plain = &words, Anchor(s.Anchor), plain(s.Title)
	}
}

// identical is how sure alike is of marks that say the very same.
const identical = 2

// alike returns how sure it is that two marks are one finding, 0 for not.
func alike(a, b *seen) float64 {
	if a.path != b.path {
		return 0
	}
	a.read()
	b.read()
	if a.plain == b.plain && a.Line == b.Line && a.anchor == b.anchor {
		return identical
	}
	if a.path == "" {
		return 0 // without a file only the very same words are the same finding
	}
	p := comparePlaces(a, b)
	if p.kind == apart {
		return 0
	}
	return p.demand(compareTitles(*a.title, *b.title, lineWords(p.line)), *a.title, *b.title)
}

// sameClaim is how much of two titles must be shared where a decision about one settles the other.
const sameClaim = 0.75

// same is alike where a decision about one is one about the other: nearly the same words about the same line of code,
// which stands where it stood unless it can be told from all others.
func same(a, b *seen) float64 {
	sure := alike(a, b)
	if sure == 0 || sure == identical {
		return sure
	}
	if sure < sameClaim || a.anchor == "" || a.anchor != b.anchor || a.Line != b.Line && !telling(a.anchor) {
		return 0
	}
	return sure
}

// sameFile is same within a file that nobody has changed meanwhile: what a claim was refuted with may stand on any line
// of it.
func sameFile(a, b *seen) float64 {
	if a.File == "" || a.File != b.File {
		return 0
	}
	return same(a, b)
}

// demand returns how sure places that relate so make of titles that match so, 0 for not enough.
func (p relatedPlaces) demand(m match, left, right titleWords) float64 {
	need := needs[p.kind]
	switch {
	case m.opposed, m.vague, m.share < need.share, m.weight < need.weight, need.named && !m.named:
		return 0
	case p.kind != oneLine && !p.half() && !m.pointed:
		return 0 // on two lines that are known, what is said of much is said of each
	case (p.kind != oneLine || p.moved) && properDiffer(left, right), subjectsDiffer(left, right, p.lineA, p.lineB):
		return 0
	}
	return m.share
}

// need is how much two titles must share at places that relate in one way.
type need struct {
	share  float64 // of all weighted words, 0 to 1
	weight float64 // of the shared words together
	named  bool    // a name of the code must be among them
}

var needs = map[relation]need{
	oneLine:   {share: 0.35, weight: 0.5},
	touching:  {share: 0.55, weight: 1},
	near:      {share: 0.6, weight: 1},
	nearOther: {share: 0.6, weight: 2},
	far:       {share: 0.75, weight: 2},
	farOther:  {share: 0.8, weight: 2, named: true},
}

// cleanPath brings a path into the form in which two spellings of it are equal.
func cleanPath(p string) string {
	if p == "" {
		return ""
	}
	return path.Clean(string([]rune(p)))
}

// plain is a text without what writing it twice changes: its words.
func plain(s string) string {
	words := strings.FieldsFunc(strings.ToLower(normalise([]byte(s))), func(r rune) bool { return !wordRune(r) })
	return strings.Join(words, " ")
}
