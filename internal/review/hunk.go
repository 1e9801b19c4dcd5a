package review

import (
	"strconv"
	"strings"
)

// hunkLines marks the lines of hunks that were pasted as plain text: after a header @@ -a,b +c,d @@ as many lines as
// it announces, as long as they look like a hunk's. A context line has a blank before it and a removed one a minus:
// without this they would read as prose and as a list.
func hunkLines(lines []string) []bool {
	marked := make([]bool, len(lines))
	removed, added := 0, 0
	for i, line := range lines {
		if r, a, ok := hunkHeader(line); ok {
			removed, added, marked[i] = r, a, true
			continue
		}
		if removed <= 0 && added <= 0 {
			continue
		}
		switch {
		case line == "" || line[0] == ' ':
			removed, added = removed-1, added-1
		case line[0] == '-':
			removed--
		case line[0] == '+':
			added--
		case line[0] == '\\':
		default:
			removed, added = 0, 0
			continue
		}
		marked[i] = true
	}
	return marked
}

// changedLine reports whether a line is a diff's added or removed line of indented code rather than a list's item: a
// tab stands behind the mark or more blanks than lists have there.
func changedLine(line string) bool {
	if line == "" || line[0] != '+' && line[0] != '-' {
		return false
	}
	most := 3 // some formatters align items so
	if line[0] == '+' {
		most = 1
	}
	rest := line[1:]
	return strings.HasPrefix(trimSpaces(rest), "\t") || len(rest)-len(trimSpaces(rest)) > most
}

func trimSpaces(s string) string { return strings.TrimLeft(s, " ") }

// hunkHeader reads the two line counts of a header; a count that is left out means one line.
func hunkHeader(line string) (removed, added int, ok bool) {
	rest, ok := strings.CutPrefix(line, "@@ -")
	if !ok {
		return 0, 0, false
	}
	before, rest, ok := strings.Cut(rest, " +")
	if !ok {
		return 0, 0, false
	}
	after, _, ok := strings.Cut(rest, " @@")
	if !ok {
		return 0, 0, false
	}
	removed, okBefore := rangeLength(before)
	added, okAfter := rangeLength(after)
	return removed, added, okBefore && okAfter
}

func rangeLength(s string) (int, bool) {
	start, count, counted := strings.Cut(s, ",")
	if _, err := strconv.Atoi(start); err != nil {
		return 0, false
	}
	if !counted {
		return 1, true
	}
	n, err := strconv.Atoi(count)
	return n, err == nil && n >= 0
}
