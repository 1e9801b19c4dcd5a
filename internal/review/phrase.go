package review

import (
	"fmt"
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
// text passes. An empty text is no review and stays invalid.
func byPhrase(lines []string) VerdictLine {
	empty := true
	cleared := VerdictLine{Verdict: Pass, Reason: "heuristic: no phrase that blocks"}
	for i, line := range lines {
		s := strings.ToLower(strings.Map(dropMarks, line))
		empty = empty && strings.TrimSpace(s) == ""
		for _, phrase := range clearPhrases {
			if rest := strings.ReplaceAll(s, phrase, " "); rest != s {
				s = rest
				cleared = VerdictLine{Verdict: Pass, Line: i + 1, Reason: fmt.Sprintf("heuristic: %q", phrase)}
			}
		}
		for _, phrase := range blockPhrases {
			if strings.Contains(s, phrase) {
				return VerdictLine{Verdict: Block, Line: i + 1, Reason: fmt.Sprintf("heuristic: %q", phrase)}
			}
		}
	}
	if empty {
		return VerdictLine{Reason: "the text is empty"}
	}
	return cleared
}

// dropMarks removes emphasis marks, so that "must **fix**" reads as its words, and folds the full-width colon.
func dropMarks(r rune) rune {
	switch r {
	case '*', '_', '`':
		return -1
	case '：':
		return ':'
	}
	return r
}
