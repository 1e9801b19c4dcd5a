package review

import (
	"fmt"
	"sort"
	"strings"
)

// clearPhrases deny that anything blocks. They are taken out before the blocking phrases are looked for, since
// "no blockers" contains "blocker".
var clearPhrases = []string{
	"no blocking findings", "no blocking finding", "no blocking issues", "no blocking issue", "no blocking problems",
	"no blockers", "no blocker", "without blockers", "nothing blocking", "non-blocking", "nonblocking", "not blocking",
	"not a blocker",
}

// blockPhrases say that something must be fixed. The list is wide on purpose: a wrong block costs one more look, a
// wrong pass is a wrong green.
var blockPhrases = []string{
	"blocker", "blocking", "must fix", "must be fixed", "must-fix", "request changes", "requesting changes",
	"changes requested", "verdict: block", "verdict: fail", "verdict: reject",
}

// byPhrase is the fallback of the heuristic mode: blocking phrases block, phrases that deny them pass, and any other
// text passes. All lines are searched, quoted and fenced ones too: where no verdict line was written, a doubt blocks.
func byPhrase(lines []string) VerdictLine {
	text, starts := oneText(lines)
	lineOf := func(at int) int { return sort.SearchInts(starts, at+1) }
	said := VerdictLine{Verdict: Pass, Reason: "heuristic: no phrase that blocks"}
	for _, phrase := range clearPhrases {
		if at := strings.Index(text, phrase); at >= 0 {
			said = VerdictLine{Verdict: Pass, Line: lineOf(at), Reason: fmt.Sprintf("heuristic: %q", phrase)}
			text = strings.ReplaceAll(text, phrase, strings.Repeat(" ", len(phrase)))
		}
	}
	for _, phrase := range blockPhrases {
		if at := strings.Index(text, phrase); at >= 0 {
			return VerdictLine{Verdict: Block, Line: lineOf(at), Reason: fmt.Sprintf("heuristic: %q", phrase)}
		}
	}
	return said
}

// oneText joins lines to lower-case words with single blanks, so that a phrase is found over a line's end. starts
// holds the offset of each line.
func oneText(lines []string) (text string, starts []int) {
	var b strings.Builder
	for _, line := range lines {
		starts = append(starts, b.Len())
		for word := range strings.FieldsSeq(strings.ToLower(strings.Map(dropMarks, line))) {
			b.WriteString(word)
			b.WriteByte(' ')
		}
	}
	return b.String(), starts
}

// dropMarks removes emphasis marks, so that "must **fix**" reads as its words, and folds the full-width colon.
func dropMarks(r rune) rune {
	switch r {
	case '*', '`':
		return -1
	case '_':
		return ' '
	case '：':
		return ':'
	}
	return r
}
