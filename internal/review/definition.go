package review

import "strings"

// maxLabel is the longest label that a link definition has in Markdown.
const maxLabel = 999

// definitions returns the [from, to) of each link definition at the start of a paragraph. A reader does not see them:
// the title of one is a common way to hide a comment. The Markdown parser's own pass takes time that grows with the
// square of their number, so it is not used.
func definitions(s string) [][2]int {
	var found [][2]int
	missing := map[byte]bool{} // title marks that do not occur any more
	for at := 0; at < len(s); {
		end := definition(s, at, missing)
		if end < 0 {
			break
		}
		found = append(found, [2]int{at, end})
		at = end
	}
	return found
}

// definition returns the end of the definition that begins at a line's start, -1 where there is none.
func definition(s string, at int, missing map[byte]bool) int {
	at += len(s[at:]) - len(trimBlanks(s[at:]))
	if at >= len(s) || s[at] != '[' {
		return -1
	}
	label := s[at+1 : min(len(s), at+maxLabel+2)]
	closing := strings.IndexByte(label, ']')
	for closing > 0 && label[closing-1] == '\\' {
		next := strings.IndexByte(label[closing+1:], ']')
		if next < 0 {
			return -1
		}
		closing += 1 + next
	}
	at += 1 + closing + 1
	if closing <= 0 || at >= len(s) || s[at] != ':' {
		return -1
	}
	at = skipGap(s, at+1)
	target := at
	for at < len(s) && !strings.ContainsRune(" \t\n", rune(s[at])) {
		at++
	}
	if at == target {
		return -1
	}
	return title(s, at, missing)
}

// title returns the end of a definition whose target ends at: behind its title where it has a whole one, else the end
// of the line if nothing else stands there.
func title(s string, at int, missing map[byte]bool) int {
	bare := lineEnd(s, at)
	opening := skipGap(s, at)
	if opening == at || opening >= len(s) {
		return bare
	}
	mark := s[opening]
	switch mark {
	case '"', '\'':
	case '(':
		mark = ')'
	default:
		return bare
	}
	if missing[mark] {
		return bare
	}
	length := strings.IndexByte(s[opening+1:], mark)
	if length < 0 {
		missing[mark] = true
		return bare
	}
	if end := lineEnd(s, opening+1+length+1); end >= 0 {
		return end
	}
	return bare
}

// skipGap skips blanks and at most one line feed.
func skipGap(s string, at int) int {
	for fed := false; at < len(s); at++ {
		if s[at] == '\n' && fed || s[at] != ' ' && s[at] != '\t' && s[at] != '\n' {
			break
		}
		fed = fed || s[at] == '\n'
	}
	return at
}

// lineEnd returns the start of the next line if only blanks stand before it, else -1.
func lineEnd(s string, at int) int {
	for ; at < len(s) && s[at] != '\n'; at++ {
		if s[at] != ' ' && s[at] != '\t' {
			return -1
		}
	}
	return min(len(s), at+1)
}
