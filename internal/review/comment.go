package review

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/text"
)

// hiddenLines reports which lines of a paragraph begin inside a comment that was opened in mid-line, or inside a link
// definition. The parser of blocks does not see these: only a comment at the start of a line is a block of its own.
// It returns nil where there is none, which is nearly always.
func hiddenLines(lines *text.Segments, source []byte) []bool {
	first, final := lines.At(0), lines.At(lines.Len()-1)
	raw := source[first.Start:final.Stop]
	defines := raw[0] == '['
	if !defines && !bytes.Contains(raw, []byte("<!--")) {
		return nil
	}
	var body strings.Builder
	starts := make([]int, lines.Len())
	for i := range lines.Len() {
		starts[i] = body.Len()
		segment := lines.At(i)
		body.Write(segment.Value(source))
	}
	hidden := make([]bool, lines.Len())
	hide(hidden, starts, comments(body.String()))
	if defines {
		hide(hidden, starts, definitions(body.String()))
	}
	return hidden
}

// hide marks the lines that begin within one of the spans, which are in order.
func hide(hidden []bool, starts []int, spans [][2]int) {
	next := 0
	for _, span := range spans {
		for ; next < len(starts) && starts[next] < span[1]; next++ {
			hidden[next] = hidden[next] || starts[next] > span[0]
		}
	}
}

// comments returns the [from, to) of each comment that opens and closes in s, leaving out what only looks like one
// because it stands in a code span.
func comments(s string) [][2]int {
	var found [][2]int
	closers := map[int]bool{} // lengths of back-tick runs that are known to have no partner any more
	for i := 0; i < len(s); {
		switch {
		case s[i] == '\\':
			i += 2
		case s[i] == '`':
			run := runLength(s[i:])
			end := -1
			if !closers[run] {
				end = closingRun(s, i+run, run)
				closers[run] = end < 0
			}
			if end < 0 {
				i += run
			} else {
				i = end
			}
		case strings.HasPrefix(s[i:], "<!--"):
			n := strings.Index(s[i+4:], "-->")
			if n < 0 {
				return found
			}
			found = append(found, [2]int{i, i + 4 + n + 3})
			i += 4 + n + 3
		default:
			i++
		}
	}
	return found
}

func runLength(s string) int {
	n := 0
	for n < len(s) && s[n] == '`' {
		n++
	}
	return n
}

// closingRun returns the end of the next run of exactly n back-ticks, -1 for none.
func closingRun(s string, from, n int) int {
	for i := from; i < len(s); {
		next := strings.IndexByte(s[i:], '`')
		if next < 0 {
			return -1
		}
		i += next
		run := runLength(s[i:])
		i += run
		if run == n {
			return i
		}
	}
	return -1
}
