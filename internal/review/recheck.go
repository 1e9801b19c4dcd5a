package review

import (
	"fmt"
	"slices"
	"strings"
)

// ParseRecheck reads a seat's answer after a repair. It is held to every rule of ParseReview and must state each
// finding of c.Recheck once and no other; where there are any, a verdict line alone is no answer, because it does not
// say which of them it means. It never fails: an unreadable answer has Problems.
func ParseRecheck(message []byte, structured []byte, c AnswerContext) Answer {
	c.RequireFindings = c.RequireFindings || len(c.Recheck) > 0
	return parse(message, structured, c, func(a Answer, c AnswerContext) []string {
		return append(judge(a, c), judgeRechecked(a.Rechecked, c.Recheck)...)
	})
}

// judgeRechecked demands one statement on each finding that was asked for.
func judgeRechecked(said []Recheck, asked []string) []string {
	ids := make([]string, len(said))
	for i, r := range said {
		ids[i] = r.Finding
	}
	return judgeIDs("rechecked", ids, asked)
}

// judgeIDs demands that a list states each id that was asked for, once, and no other.
func judgeIDs(list string, stated, asked []string) []string {
	var problems []string
	seen := map[string]bool{}
	for i, id := range stated {
		switch {
		case id == "": // the reader said so
		case !slices.Contains(asked, id):
			problems = append(problems, fmt.Sprintf("%s[%d]: %q was not asked for", list, i, id))
		case seen[id]:
			problems = append(problems, fmt.Sprintf("%s[%d]: %s stands twice", list, i, id))
		}
		seen[id] = true
	}
	missing := slices.DeleteFunc(slices.Clone(asked), func(id string) bool { return seen[id] })
	if len(missing) > 0 {
		problems = append(problems, fmt.Sprintf("%s leaves out %s", list, strings.Join(missing, ", ")))
	}
	return problems
}
