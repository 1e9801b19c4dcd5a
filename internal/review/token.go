package review

import "strings"

// readVerdict reports the verdict that a line states under its Markdown marks. boxed is set where an unticked
// box stands before it. The words are compared in ASCII only: Unicode folding would let look-alikes in.
func readVerdict(line string) (v Verdict, boxed, ok bool) {
	s, boxed := trimLeaders(line)
	s = trimMarks(s)
	if s, ok = cutWord(s, "verdict"); !ok {
		return Invalid, boxed, false
	}
	s = trimMarks(s)
	if rest, found := strings.CutPrefix(s, ":"); found {
		s = rest
	} else if rest, found := strings.CutPrefix(s, "："); found {
		s = rest
	} else {
		return Invalid, boxed, false
	}
	s = trimMarks(trimBlanks(trimMarks(s)))
	if rest, found := cutWord(s, "pass"); found {
		return Pass, boxed, endsThere(rest)
	}
	if rest, found := cutWord(s, "block"); found {
		return Block, boxed, endsThere(rest)
	}
	return Invalid, boxed, false
}

// endsThere allows marks, a full stop and a note in parentheses behind the verdict, and nothing else.
func endsThere(s string) bool {
	s = trimBlanks(trimMarks(s))
	s = strings.TrimRight(s, " \t*_`")
	stopped := false
	if rest, found := strings.CutPrefix(s, "."); found {
		s, stopped = trimBlanks(trimMarks(rest)), true
	}
	if s == "" {
		return true
	}
	if !stopped {
		s = strings.TrimRight(strings.TrimSuffix(s, "."), " \t*_`")
	}
	return isNote(s)
}

// isNote reports whether s is one pair of parentheses with whatever it holds.
func isNote(s string) bool {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 {
			return i > 0 && i == len(s)-1
		}
	}
	return false
}

// trimLeaders removes list marks, heading marks and boxes from the front. A plus or minus glued to the word is a
// diff's mark and stays, and with it the line is no verdict.
func trimLeaders(s string) (rest string, boxed bool) {
	for {
		s = trimBlanks(s)
		n := leader(s)
		if n == 0 {
			return s, boxed
		}
		boxed = boxed || strings.HasPrefix(s, "[ ]")
		s = s[n:]
	}
}

// leader returns the length of the list mark, heading mark or box that s begins with, 0 for none.
func leader(s string) int {
	for _, measure := range []func(string) int{boxMark, listMark, headingMark, numberMark} {
		if n := measure(s); n > 0 && blankAt(s, n) {
			return n
		}
	}
	return 0
}

func boxMark(s string) int {
	for _, box := range []string{"[ ]", "[x]", "[X]"} {
		if strings.HasPrefix(s, box) {
			return len(box)
		}
	}
	return 0
}

func listMark(s string) int {
	if s != "" && strings.IndexByte("-+*", s[0]) >= 0 {
		return 1
	}
	return 0
}

// headingMark measures one to six number signs.
func headingMark(s string) int { return runOf(s, 6, func(c byte) bool { return c == '#' }) }

// numberMark measures at most nine digits and the full stop or parenthesis behind them.
func numberMark(s string) int {
	n := runOf(s, 9, func(c byte) bool { return c >= '0' && c <= '9' })
	if n == 0 || n == len(s) || s[n] != '.' && s[n] != ')' {
		return 0
	}
	return n + 1
}

// runOf counts the bytes of one class that s begins with, at most limit.
func runOf(s string, limit int, class func(byte) bool) int {
	n := 0
	for n < len(s) && n < limit && class(s[n]) {
		n++
	}
	return n
}

func blankAt(s string, i int) bool { return i < len(s) && (s[i] == ' ' || s[i] == '\t') }

func trimBlanks(s string) string { return strings.TrimLeft(s, " \t") }
func trimMarks(s string) string  { return strings.TrimLeft(s, "*_`") }

// cutWord removes an ASCII word, in any case, from the front. The word must end there: PASSED is not PASS.
func cutWord(s, word string) (string, bool) {
	if len(s) < len(word) {
		return s, false
	}
	for i := range len(word) {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != word[i] {
			return s, false
		}
	}
	return s[len(word):], true
}
