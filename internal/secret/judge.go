package secret

import (
	"bytes"
	"math"
)

// judged is how much of a value is looked at, in bytes.
const judged = 1 << 10

// judges decides whether what a pattern matched is a secret: an example, a name, a path are none.
func (s *ruleSet) judges(r *rule, text []byte, at, start, end int) bool {
	value := text[start:min(end, start+judged)]
	if (r.Random || r.Kind == kindAssigned) && !random(value) {
		return false
	}
	if entropy(value) < r.Entropy || s.known.any(value, false) {
		return false
	}
	if r.Guess && !r.Shaped && (s.words.any(value, true) || s.guess.Match(value)) {
		return false
	}
	if r.Kind == kindAssigned && (refers(text, start, end) || s.names.Match(nameAt(text, at))) {
		return false
	}
	return r.needs == nil || r.needs.Match(lineBefore(text, at))
}

// entropy is the number of bits per character that the value's own characters tell.
func entropy(value []byte) float64 {
	var counts [256]int
	for _, b := range value {
		counts[b]++
	}
	var bits float64
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(value))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// Bounds of what looks random: how often the kind of character changes, and how much of a value may be one
// word, and words.
const (
	changesLeast = 0.22
	longLeast    = 0.16 // of at least longValue characters
	longValue    = 32
	wordMost     = 0.6
	wordsMost    = 0.74
	// lettersLeast holds where no digit is mixed in, as in names of several words.
	lettersLeast = 0.36
)

// random tells a drawn value from a written one: letters and digits are mixed, and change all the time. Words, even
// those of several parts and with a number behind them, do so rarely.
func random(value []byte) bool {
	var m mixture
	for _, b := range value {
		m.add(kindOf(b))
	}
	m.endWord()
	least := changesLeast
	switch {
	case m.count[digit] == 0:
		least = lettersLeast
	case len(value) >= longValue:
		least = longLeast
	}
	n := float64(len(value))
	switch {
	case m.count[lower]+m.count[upper] == 0, float64(m.changes)/n < least, float64(m.longest)/n > wordMost:
		return false
	}
	if m.count[digit] == 0 { // a name is written of short words, too
		return m.count[upper] == 0 || float64(m.inShort)/n <= wordsMost
	}
	return m.count[upper] == 0 || float64(m.inWords)/n <= wordsMost
}

// mixture is what the characters of a value are.
type mixture struct {
	count   [4]int
	changes int // from one kind to another; what joins words does not count
	last    charKind
	word    int // small letters so far, with a capital before them
	longest int // of these
	inWords int // characters in words of three small letters and more
	inShort int // characters in words of two and more
}

func (m *mixture) add(kind charKind) {
	m.count[kind]++
	if kind != lower {
		m.endWord()
	}
	if kind == lower {
		m.word++
	}
	if kind == other {
		return
	}
	if m.last != other && kind != m.last {
		m.changes++
	}
	m.last = kind
}

func (m *mixture) endWord() {
	m.longest = max(m.longest, m.word)
	if m.word > 2 {
		m.inWords += m.word + 1
	}
	if m.word > 1 {
		m.inShort += m.word + 1
	}
	m.word = 0
}

type charKind int

const (
	other charKind = iota
	lower
	upper
	digit
)

func kindOf(b byte) charKind {
	switch {
	case b >= 'a' && b <= 'z':
		return lower
	case b >= 'A' && b <= 'Z':
		return upper
	case b >= '0' && b <= '9':
		return digit
	}
	return other
}

func alnum(b byte) bool { return kindOf(b) != other }

// nameAt is the name that a keyword at a place is part of.
func nameAt(text []byte, at int) []byte {
	start, end := at, at
	for start > 0 && at-start < 48 && nameByte(text[start-1]) {
		start--
	}
	for end < len(text) && end-at < 64 && nameByte(text[end]) {
		end++
	}
	return text[start:end]
}

func nameByte(b byte) bool { return alnum(b) || b == '_' || b == '-' || b == '.' }

// refers tells a value that stands for another one: a call, an index, a variable of a template or of a shell.
func refers(text []byte, start, end int) bool {
	if end < len(text) && bytes.IndexByte([]byte("([{<"), text[end]) >= 0 {
		return true
	}
	return start > 0 && bytes.IndexByte([]byte("${<%("), text[start-1]) >= 0 || text[start] == '$' || text[start] == '%'
}

// lineBefore is the text of a line before a place, at most 200 bytes of it.
func lineBefore(text []byte, at int) []byte {
	start := max(0, at-200)
	if cut := bytes.LastIndexByte(text[start:at], '\n'); cut >= 0 {
		start += cut + 1
	}
	return text[start:at]
}

// edge reports whether a token may begin at a place: no letter or digit before it but those of an escape sequence, of
// JSON or of a terminal.
func edge(text []byte, at int) bool {
	if at == 0 || !alnum(text[at-1]) {
		return true
	}
	before := text[max(0, at-16):at]
	n := len(before)
	if n >= 2 && before[n-2] == '\\' && bytes.IndexByte([]byte("nrtbf"), before[n-1]) >= 0 {
		return true
	}
	if n >= 6 && before[n-6] == '\\' && before[n-5] == 'u' {
		return true
	}
	return before[n-1] == 'm' && colour(before[:n-1])
}

// colour reports whether a text ends as a terminal's colour begins: "[", then digits and semicolons.
func colour(text []byte) bool {
	i := len(text)
	for i > 0 && (kindOf(text[i-1]) == digit || text[i-1] == ';') {
		i--
	}
	return i > 1 && text[i-1] == '[' && (text[i-2] == 0x1b || kindOf(text[i-2]) == lower || kindOf(text[i-2]) == digit || text[i-2] == 'B')
}
