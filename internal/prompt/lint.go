package prompt

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode"
)

// Steering is a phrase of a prompt that decides a review before it is done.
type Steering struct {
	File   string `json:"file"`
	Line   int    `json:"line"`   // 1-based: where the phrase begins
	Phrase string `json:"phrase"` // as written, on one line
}

// Error names file, line and phrase.
func (s Steering) Error() string {
	return fmt.Sprintf("%s:%d: steers the review: %q", s.File, s.Line, s.Phrase)
}

// Lint returns every steering phrase of a prompt or a lens file, in order. The marks and line breaks of Markdown do
// not hide a phrase, nor does its case, the kind of its apostrophe, or what is invisible.
func Lint(file string, text []byte) []Steering { return lintBut(nil, file, text) }

// lintBut is Lint that leaves out sentences known to be clean, and adds those that it finds clean; nil knows none.
func lintBut(clean map[string]bool, file string, text []byte) []Steering {
	shown, _ := display(text)
	flat, at := flatten(shown)
	var spans [][2]int
	for from, sentence := range sentences(flat) {
		if clean[sentence] {
			continue
		}
		before := len(spans)
		for _, rule := range steering() {
			spans = rule.find(spans, sentence, from)
		}
		if clean != nil && len(spans) == before {
			clean[sentence] = true
		}
	}
	slices.SortFunc(spans, func(a, b [2]int) int { return cmp.Or(a[0]-b[0], b[1]-a[1]) })
	var found []Steering
	end, line, counted := 0, 1, 0
	for _, span := range spans {
		if span[0] < end {
			continue // inside of what is named already
		}
		end = span[1]
		from, to := at[span[0]], at[span[1]-1]+1
		line += strings.Count(shown[counted:from], "\n")
		counted = from
		found = append(found, Steering{File: file, Line: line, Phrase: strings.Join(strings.Fields(shown[from:to]), " ")})
	}
	return found
}

// boundary stands in flat text where one sentence cannot go on: at a blank line, a list item, a heading, a table row.
const boundary = '\n'

// sentences yields the parts of flat text that a phrase cannot reach over, with where each begins. Short pieces also
// keep the search quick.
func sentences(flat string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		from := 0
		for i := range len(flat) {
			ends := flat[i] == boundary || strings.IndexByte(".;!?", flat[i]) >= 0 && (i+1 == len(flat) || flat[i+1] == ' ' || flat[i+1] == boundary)
			if ends && !yield(from, flat[from:i]) {
				return
			}
			if ends {
				from = i + 1
			}
		}
		yield(from, flat[from:])
	}
}

// flatten lowers text to single blanks and plain apostrophes and drops emphasis and what is invisible. at maps each
// byte of the result to where it came from.
func flatten(text string) (flat string, at []int) {
	f := flattener{last: boundary}
	for i := 0; i < len(text); {
		end := i + strings.IndexByte(text[i:], '\n') + 1
		if end == i {
			end = len(text)
		}
		f.line(text[i:end], i)
		i = end
	}
	return f.b.String(), f.at
}

type flattener struct {
	b    strings.Builder
	at   []int
	last rune // what was put last
}

func (f *flattener) line(line string, from int) {
	if startsAnew(line) && f.last != boundary {
		f.put(boundary, from)
	}
	for i, r := range line {
		switch {
		case strings.ContainsRune("*`_>", r), unicode.Is(unicode.Cf, r):
		case unicode.IsSpace(r):
			if f.last != ' ' && f.last != boundary {
				f.put(' ', from+i)
			}
		case strings.ContainsRune("’‘ʼ´", r):
			f.put('\'', from+i)
		case strings.ContainsRune("“”„«»", r):
			f.put('"', from+i)
		case strings.ContainsRune("‐‑–—", r):
			f.put('-', from+i)
		default:
			for _, low := range strings.ToLower(string(r)) {
				f.put(low, from+i)
			}
		}
	}
}

func (f *flattener) put(r rune, from int) {
	n, _ := f.b.WriteRune(r)
	for range n {
		f.at = append(f.at, from)
	}
	f.last = r
}

// startsAnew says whether a line of Markdown cannot continue the sentence of the line before. A quote mark does not
// count: it stands before every line of a quote.
func startsAnew(line string) bool {
	line = strings.TrimLeft(line, " \t>")
	trimmed := strings.TrimSpace(line)
	if trimmed == "" || line[0] == '|' {
		return true
	}
	mark, _, ok := strings.Cut(line, " ")
	if !ok {
		return false
	}
	digits := strings.TrimRight(mark, ".)")
	return mark == "-" || mark == "*" || mark == "+" || strings.Trim(mark, "#") == "" ||
		digits != mark && strings.Trim(digits, "0123456789") == ""
}
