package prompt

import (
	"fmt"
	"regexp"
	"sort"
	"strings"
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

// steering lists the phrases. Blanks stand for any run of blanks and emphasis marks, also over a line's end.
var steering = compile(
	`(do not|don't|dont|never|must not|should not|shouldn't) (flag|report|raise|mention|block|comment on|complain)`,
	`(no need|not necessary|needless) to (flag|report|raise|mention|block)`,
	`(at most|no (higher|more) than|nothing above) ("|')?(minor|low|medium|a nit|nits?)`,
	`(treat|rate|mark|classify|count|grade) (\S+ ){1,6}(as|at) (minor|low|medium|a nit|nits?|info|informational|non-?blocking|acceptable)`,
	`(only|just) (a )?(minor|nits?|nitpicks?|cosmetic)`,
	`the (plan|design|spec|contract|author|implementer|team) (chose|chooses|decided|decides|wants|prefers|intends)`,
	`(is|are|was|were) (intentional|deliberate|by design|on purpose)`,
	`(ignore|overlook|skip|disregard) (\S+ ){0,4}(findings?|issues?|problems?|warnings?|bugs?|errors?|defects?|vulnerabilit(y|ies))`,
	`(already|previously) (been )?(approved|reviewed|accepted|agreed)`,
	`(please|just|simply|always|must|should) (approve|pass|accept) (this|it|the|all|any)`,
	`(prefer|lean|err) (to|towards?|on the side of) (a )?(pass|passing|approval|approving|accepting)`,
	`(be|stay) (lenient|generous|forgiving)`,
	`give (\S+ )?(it |them )?the benefit of the doubt`,
	`(is|are|counts? as) not (a |an )?(finding|bug|issue|problem|defect|blocker)s? (here|in this|for this|because)`,
)

func compile(phrases ...string) []*regexp.Regexp {
	compiled := make([]*regexp.Regexp, len(phrases))
	for i, phrase := range phrases {
		compiled[i] = regexp.MustCompile(`\b` + phrase + `\b`)
	}
	return compiled
}

// Lint returns every steering phrase of a prompt or a lens file, in order. The marks and line breaks of Markdown do
// not hide a phrase, nor does its case or the kind of its apostrophe.
func Lint(file string, text []byte) []Steering {
	shown, _ := display(text)
	flat, at := flatten(shown)
	var found []Steering
	taken := map[int]bool{}
	for _, pattern := range steering {
		for _, span := range pattern.FindAllStringIndex(flat, -1) {
			if taken[span[0]] {
				continue
			}
			taken[span[0]] = true
			from, to := at[span[0]], at[span[1]-1]+1
			phrase := strings.Join(strings.Fields(shown[from:to]), " ")
			found = append(found, Steering{File: file, Line: 1 + strings.Count(shown[:from], "\n"), Phrase: phrase})
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].Line < found[j].Line })
	return found
}

// flatten lowers text to single blanks and plain apostrophes and drops emphasis. at maps each byte of the result to
// where it came from.
func flatten(text string) (flat string, at []int) {
	var b strings.Builder
	blank := true
	put := func(c string, from int) {
		b.WriteString(c)
		for range len(c) {
			at = append(at, from)
		}
	}
	for i, r := range text {
		switch r {
		case '*', '`', '_', '>', 0x200b, 0xfeff:
		case ' ', '\t', '\n', '\r', 0xa0:
			if !blank {
				put(" ", i)
			}
			blank = true
		case '’', '‘', 'ʼ':
			put("'", i)
			blank = false
		default:
			put(strings.ToLower(string(r)), i)
			blank = false
		}
	}
	return b.String(), at
}
