package secret

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
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

// mostHits bounds what is kept of one change, and blockMost the text of one block of lines, in bytes. A line of longLine
// bytes may have been cut by what reads the patch.
const (
	mostHits  = 200
	blockMost = 64 << 10
	longLine  = 64<<10 - 1
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
	cut              []string // paths
}

type hit struct {
	Hit
	digest [32]byte
	// line is the secret, or of several lines the longest.
	line string
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

// File begins a file; a new name of "" is one that goes. A name is brought in as what stands in the file is.
func (a *Added) File(old, now string) {
	a.flush()
	a.path = cmp.Or(now, old)
	if old == now || now == "" || a.allowed(now) {
		return
	}
	for _, m := range a.s.Find([]byte(now)) {
		a.take(m, []byte(now), func(int) int { return 0 })
	}
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
	if len(text) >= longLine && !slices.Contains(a.cut, a.path) {
		a.cut = append(a.cut, a.path)
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
			if a.removing {
				a.removed[digest(a.block[m.Start:m.End])] = true
				continue
			}
			a.take(m, a.block, func(at int) int {
				line, exact := slices.BinarySearch(a.starts, at)
				if !exact {
					line--
				}
				return a.first + line
			})
		}
	}
	a.block, a.starts = a.block[:0], a.starts[:0]
}

// take notes a secret of a text that the change adds to the file which is being read.
func (a *Added) take(m Match, text []byte, lineOf func(at int) int) {
	switch {
	case m.Guess && a.lenient(a.path):
	case len(a.hits) >= mostHits:
		a.more++
	default:
		hidden := text[m.Start:m.End]
		a.hits = append(a.hits, hit{digest: digest(hidden), line: longestLine(hidden), Hit: Hit{
			Path: a.s.String(a.path), Line: lineOf(m.Start), Rule: m.Rule, Title: a.s.title(m.Rule),
			Masked: Mask(hidden, !m.Guess && !strings.HasPrefix(m.Rule, fromEnvironment) && m.Rule != "private-key"),
		}})
	}
}

// digest tells secrets apart. How lines are broken and indented is no part of one.
func digest(hidden []byte) [32]byte {
	return sha256.Sum256(bytes.Join(bytes.Fields(hidden), nil))
}

// longestLine is the longest line of a secret.
func longestLine(hidden []byte) string {
	var found []byte
	for line := range bytes.FieldsFuncSeq(hidden, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = bytes.TrimSpace(line); len(line) > len(found) {
			found = line
		}
	}
	return string(found)
}

// Cut names the files with lines that are longer than a patch tells: they are looked at by Whole.
func (a *Added) Cut() []string { return a.cut }

// Whole looks at what a patch does not show of a file: its content before and after. It is called behind the patch.
func (a *Added) Whole(path string, before, after []byte) {
	a.flush()
	if a.path = path; a.allowed(path) {
		return
	}
	before, after = readable(before), readable(after)
	for _, m := range a.s.Find(before) {
		a.removed[digest(before[m.Start:m.End])] = true
	}
	told := map[[32]byte]bool{}
	for _, h := range a.hits {
		if h.Path == a.s.String(path) {
			told[h.digest] = true
		}
	}
	for _, m := range a.s.Find(after) {
		if !told[digest(after[m.Start:m.End])] {
			a.take(m, after, func(at int) int { return 1 + bytes.Count(after[:at], []byte("\n")) })
		}
	}
}

// readable is a text in UTF-8 where it was in UTF-16.
func readable(text []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(text, []byte{0xff, 0xfe}):
		order = binary.LittleEndian
	case bytes.HasPrefix(text, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	default:
		return text
	}
	units := make([]uint16, 0, len(text)/2)
	for ; len(text) > 1; text = text[2:] {
		units = append(units, order.Uint16(text))
	}
	return []byte(string(utf16.Decode(units)))
}

// Known lets go what the base has already, wherever: copying or moving it brings nothing in. had reports which of some
// texts, of one line each, the base holds.
func (a *Added) Known(had func(lines []string) (map[string]bool, error)) error {
	a.flush()
	a.hits = slices.DeleteFunc(a.hits, func(h hit) bool { return a.removed[h.digest] })
	var lines []string
	for _, h := range a.hits {
		lines = append(lines, h.line)
	}
	if len(lines) == 0 {
		return nil
	}
	known, err := had(lines)
	a.hits = slices.DeleteFunc(a.hits, func(h hit) bool { return known[h.line] })
	return err
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
