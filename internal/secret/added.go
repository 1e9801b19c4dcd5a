package secret

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
)

// Hit is a secret that a change brings in. It does not hold the secret.
type Hit struct {
	Path string
	Line int
	// Rule is the id of the rule and Title its words; Masked is the secret in a form that can be shown.
	Rule, Title, Masked string
}

// String is one line of a report.
func (h Hit) String() string {
	return fmt.Sprintf("%s:%d: %s (%s), %s", h.Path, h.Line, h.Title, h.Rule, h.Masked)
}

// mostHits bounds what is kept of one change, and blockMost the text of one block of lines, in bytes.
const (
	mostHits  = 200
	blockMost = 64 << 10
)

// Added collects the secrets of the lines that a patch adds. It reads a patch as package guard tells it (File, Hunk,
// Line). What the patch removes elsewhere was there before, and is not brought in by it.
type Added struct {
	s *Scanner
	// allowed paths are not looked at; guessed ones may hold what only a name calls a secret.
	allowed, lenient func(path string) bool
	path             string
	line             int
	block            []byte
	starts           []int // of each line of the block
	first            int   // line of the file where the block begins
	removing         bool
	removed          map[[32]byte]bool
	hits             []hit
	more             int
}

type hit struct {
	Hit
	digest [32]byte
}

// Added returns a reader of one patch. allowed names paths that may hold secrets, lenient those (tests, generated
// files) in which only known shapes count; nil is none.
func (s *Scanner) Added(allowed, lenient func(path string) bool) *Added {
	none := func(string) bool { return false }
	if allowed == nil {
		allowed = none
	}
	if lenient == nil {
		lenient = none
	}
	return &Added{s: s, allowed: allowed, lenient: lenient, removed: map[[32]byte]bool{}}
}

// File begins a file; a new name of "" is one that goes.
func (a *Added) File(old, now string) {
	a.flush()
	a.path = cmp.Or(now, old)
}

// Hunk begins a hunk.
func (a *Added) Hunk(_, _, newStart, _ int) {
	a.flush()
	a.line = newStart
}

// Line is a line of the hunk.
func (a *Added) Line(op byte, text []byte) {
	removing := op == '-'
	if op == ' ' || removing != a.removing || len(a.block) > blockMost {
		a.flush()
	}
	if op != ' ' {
		if len(a.block) == 0 {
			a.first, a.removing = a.line, removing
		}
		a.starts = append(a.starts, len(a.block))
		a.block = append(append(a.block, text...), '\n')
	}
	if !removing {
		a.line++
	}
}

// flush looks at the lines that were gathered.
func (a *Added) flush() {
	if len(a.block) == 0 {
		return
	}
	if a.removing || !a.allowed(a.path) {
		for _, m := range a.s.Find(a.block) {
			a.take(m)
		}
	}
	a.block, a.starts = a.block[:0], a.starts[:0]
}

func (a *Added) take(m Match) {
	hidden := a.block[m.Start:m.End]
	digest := sha256.Sum256(hidden)
	switch {
	case a.removing:
		a.removed[digest] = true
	case m.Guess && a.lenient(a.path):
	case len(a.hits) >= mostHits:
		a.more++
	default:
		at, exact := slices.BinarySearch(a.starts, m.Start)
		if !exact {
			at--
		}
		a.hits = append(a.hits, hit{digest: digest, Hit: Hit{
			Path: a.path, Line: a.first + at, Rule: m.Rule, Title: a.s.title(m.Rule), Masked: Mask(hidden, !m.Guess && !strings.HasPrefix(m.Rule, fromEnvironment) && m.Rule != "private-key"),
		}})
	}
}

// Hits are the secrets that the patch brings in, by path and line, and how many more there were than are kept. It is
// called once, at the patch's end.
func (a *Added) Hits() (hits []Hit, more int) {
	a.flush()
	for _, h := range a.hits {
		if !a.removed[h.digest] {
			hits = append(hits, h.Hit)
		}
	}
	slices.SortStableFunc(hits, func(x, y Hit) int {
		return cmp.Or(strings.Compare(x.Path, y.Path), cmp.Compare(x.Line, y.Line))
	})
	return hits, a.more
}

// title are the words of a rule.
func (s *Scanner) title(id string) string {
	if name, ok := strings.CutPrefix(id, fromEnvironment); ok {
		return "the value of the variable " + name
	}
	for _, r := range s.set.rules {
		if r.ID == id {
			return r.Title
		}
	}
	return id
}
