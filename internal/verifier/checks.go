package verifier

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxLine is the length in bytes to which a line of Checks is cut.
const maxLine = 300

// mark is what a line is to the block of failing checks; a higher one is kept first when not all fits.
type mark uint8

const (
	plainLine mark = iota
	detail         // explains a failure: an assertion, a place, the lines under a failed test
	failing        // names a failing check
)

// checks returns the marked lines in their order, each once, with as many of the strongest as fit.
func checks(lines []string) string {
	marks := markLines(lines)
	kept := fitting(lines, marks)
	var b strings.Builder
	left := 0
	for i, m := range marks {
		switch {
		case m == plainLine:
		case kept[i]:
			b.WriteString(clip(lines[i]))
			b.WriteByte('\n')
		default:
			left++
		}
	}
	if b.Len() == 0 {
		return ""
	}
	if left > 0 {
		fmt.Fprintf(&b, "(%d more lines of failures)\n", left)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// fitting chooses the lines for MaxChecks bytes: failing ones first, then details, both from the top.
func fitting(lines []string, marks []mark) map[int]bool {
	kept := map[int]bool{}
	seen := map[string]bool{}
	room := MaxChecks - len("(000000000 more lines of failures)\n")
	for _, wanted := range []mark{failing, detail} {
		for i, m := range marks {
			if m != wanted {
				continue
			}
			line := clip(lines[i])
			if wanted == failing && seen[line] {
				marks[i] = plainLine // a summary repeats it
				continue
			}
			if len(line)+1 > room {
				break
			}
			seen[line] = true
			kept[i] = true
			room -= len(line) + 1
		}
	}
	return kept
}

// clip cuts a line at a character.
func clip(line string) string {
	line = strings.TrimRight(line, " \t")
	if len(line) <= maxLine {
		return line
	}
	end := maxLine - len("…")
	for end > 0 && !utf8.RuneStart(line[end]) {
		end--
	}
	return line[:end] + "…"
}

// markLines gives every line its mark: that of the first rule that knows it, else that which the rule above it lends
// to the lines under it.
func markLines(lines []string) []mark {
	marks := make([]mark, len(lines))
	var under *rule
	lent := 0
	for i, line := range lines {
		if r := ruleFor(line); r != nil {
			marks[i] = r.mark
			if r.lend > 0 {
				under, lent = r, r.lend
			}
			continue
		}
		if under == nil || lent == 0 || !under.belongs(line) {
			under = nil
			continue
		}
		lent--
		if strings.TrimSpace(line) != "" {
			marks[i] = detail
		}
	}
	return marks
}
