package activities

import (
	"strings"

	"conclave/internal/loop"
)

// askWithin is how many lines at the end of a message may hold the question: choices often stand below it.
const askWithin = 10

// askLimit bounds the question that is reported, in characters.
const askLimit = 400

// asks notes that a writer that changed nothing ended with a question: it waits for a decision that nobody in the loop can
// give, and is no failure of the program.
func (t *turn) asks(result *loop.TurnResult) {
	if !result.Changed {
		result.Question = question(string(t.outcome.Final))
	}
}

// question is the last question at the end of a message, "" when it ends with none. Lines of code are none.
func question(message string) string {
	var ends []string
	fenced := false
	for line := range strings.Lines(message) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			fenced = !fenced
			continue
		}
		if line != "" && !fenced {
			ends = append(ends, line)
		}
	}
	for i := len(ends) - 1; i >= max(len(ends)-askWithin, 0); i-- {
		line := strings.Trim(ends[i], "*_#`>\"'()[] \t")
		if strings.HasSuffix(line, "?") || strings.HasSuffix(line, "？") {
			return clip(line, askLimit)
		}
	}
	return ""
}
