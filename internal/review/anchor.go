package review

import (
	"strings"
	"unicode"
)

// anchorLimit bounds an anchor, in runes: it is carried with every finding.
const anchorLimit = 160

// Anchor normalises a line of code, so that the same line is found again after it was indented, quoted in a review,
// shown in a diff or given another comment. An anchor is its own anchor.
func Anchor(line string) string {
	s := strings.Join(strings.Fields(normalise([]byte(strings.ToValidUTF8(line, "\uFFFD")))), " ")
	for {
		next := joinLoose(bareCode(s))
		if next == s {
			return s
		}
		s = next
	}
}

// bareCode removes once what a quote or a diff puts around a line, and a comment at its end.
func bareCode(s string) string {
	s = strings.Trim(s, "` ")
	s = trimNumber(s)
	s = strings.TrimSpace(strings.TrimLeft(s, "+->|"))
	for _, mark := range []string{" //", " #", " /*", " --", ";//"} {
		if at := strings.Index(s, mark); at > 0 {
			s = s[:at]
		}
	}
	s = strings.TrimRight(s, " ;,")
	if runes := []rune(s); len(runes) > anchorLimit {
		s = string(runes[:anchorLimit])
	}
	return strings.TrimSpace(s)
}

// trimNumber removes the line number that a listing puts before a line.
func trimNumber(s string) string {
	n := runOf(s, 7, func(c byte) bool { return c >= '0' && c <= '9' })
	if n == 0 || n == len(s) || s[n] != ':' && s[n] != '|' {
		return s
	}
	return strings.TrimSpace(s[n+1:])
}

// joinLoose removes the blanks that separate no words: formatting does not change a line.
func joinLoose(s string) string {
	runes := []rune(s)
	var b strings.Builder
	for i, r := range runes {
		if r == ' ' && (i == 0 || i == len(runes)-1 || !wordRune(runes[i-1]) || !wordRune(runes[i+1])) {
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func wordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// codeTokens splits an anchor into words and single marks.
func codeTokens(anchor string) []string {
	var tokens []string
	start := -1
	flush := func(end int) {
		if start >= 0 {
			tokens = append(tokens, anchor[start:end])
			start = -1
		}
	}
	for i, r := range anchor {
		switch {
		case wordRune(r):
			if start < 0 {
				start = i
			}
		default:
			flush(i)
			if r != ' ' {
				tokens = append(tokens, string(r))
			}
		}
	}
	flush(len(anchor))
	return tokens
}

func isWord(token string) bool {
	return strings.IndexFunc(token, wordRune) == 0
}

// renamed reports whether two lines differ in names only: one or two words, each the same way everywhere.
func renamed(a, b string) bool {
	left, right := codeTokens(a), codeTokens(b)
	if len(left) != len(right) || len(left) < 3 {
		return false
	}
	there, back := map[string]string{}, map[string]string{}
	names := 0
	for i, l := range left {
		r := right[i]
		known, seen := there[l]
		origin, taken := back[r]
		switch {
		case l != r && (!isWord(l) || !isWord(r)), seen && known != r, taken && origin != l:
			return false
		case l != r && !seen:
			names++
		}
		there[l], back[r] = r, l
	}
	return names == 1 || names == 2
}

// sameAnchor reports whether two anchors are one line of code, also where one of them quotes a part of it.
func sameAnchor(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	if a == b {
		return true
	}
	short, long := a, b
	if len(short) > len(long) {
		short, long = long, short
	}
	return telling(short) && strings.Contains(long, short)
}

// telling reports whether an anchor says enough to identify a place in a file by itself: a brace or a bare return
// stands everywhere.
func telling(anchor string) bool {
	words, letters := 0, 0
	for _, token := range codeTokens(anchor) {
		if isWord(token) && !stockWords[token] {
			words, letters = words+1, letters+len(token)
		}
	}
	return words >= 3 || words == 2 && letters >= 12
}

// stockWords stand on lines that every file repeats.
var stockWords = setOf("if", "else", "for", "return", "err", "nil", "null", "None", "true", "false", "defer", "func", "function",
	"def", "try", "catch", "except", "finally", "end", "break", "continue", "pass", "const", "let", "var", "ok", "ctx", "self", "this",
	"import", "package", "async", "await", "throw", "raise", "not", "in", "is", "and", "or", "public", "private", "static", "void")

func setOf(words ...string) map[string]bool {
	set := make(map[string]bool, len(words))
	for _, w := range words {
		set[w] = true
	}
	return set
}
