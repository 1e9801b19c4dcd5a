package review

import "strings"

// Limits of the nesting that is parsed. Nobody writes a verdict behind 64 quote marks; a text that does so would
// only cost the parser time and stack.
const (
	maxMarks  = 64
	maxIndent = 256
)

// parseable prepares lines for the Markdown parser so that its cost stays linear: runs of blank lines become one,
// indentation and nesting are bounded. None of this moves a reasonable line into another block.
func parseable(lines []string) (source []byte, starts, origin []int) {
	blank := false
	for i, line := range lines {
		bare := strings.TrimLeft(line, " \t")
		if bare == "" {
			if blank {
				continue
			}
			line = ""
		}
		blank = bare == ""
		starts = append(starts, len(source))
		origin = append(origin, i)
		source = append(source, bounded(line, bare)...)
		source = append(source, '\n')
	}
	return source, starts, origin
}

// bounded cuts the indentation of a line and replaces a line that nests too deep by an empty quote.
func bounded(line, bare string) string {
	if marks(bare) > maxMarks {
		return ">"
	}
	if len(line)-len(bare) > maxIndent {
		return strings.Repeat(" ", maxIndent) + bare
	}
	return line
}

// marks counts the container marks that a line begins with.
func marks(s string) int {
	n := 0
	for {
		s = trimBlanks(s)
		if rest, ok := strings.CutPrefix(s, ">"); ok {
			s, n = rest, n+1
		} else if size := leader(s); size > 0 && s[0] != '#' && s[0] != '[' {
			s, n = s[size:], n+1
		} else {
			return n
		}
	}
}
