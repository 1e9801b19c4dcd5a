//go:build !race

package review

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The race detector multiplies the cost, so `make test` runs this without it.

// TestLongMessagesAreLinear feeds shapes that make careless parsers take time that grows with the square, or a stack
// that grows with the depth. Four times the length may take four times as long, not sixteen times.
func TestLongMessagesAreLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of parsing")
	}
	for name, text := range longMessages(4 * quarter) {
		t.Run(name, func(t *testing.T) {
			one := spent(t, longMessages(quarter)[name])
			four := spent(t, text)
			require.Less(t, four, 10*one+time.Second, "a quarter took %v", one)
		})
	}
}

// quarter is a length whose square is felt and whose multiples are not.
const quarter = 96 << 10

// spent returns the processor time of one review: other programs on the machine do not lengthen it.
func spent(t *testing.T, text string) time.Duration {
	var before, after syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &before))
	ParseReview([]byte(text), nil, AnswerContext{Mode: Heuristic})
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &after))
	return time.Duration(after.Utime.Nano()-before.Utime.Nano()) + time.Duration(after.Stime.Nano()-before.Stime.Nano())
}

// longMessages returns one message of each kind, about size bytes long.
func longMessages(size int) map[string]string {
	staircase := func(mark string) string {
		var b strings.Builder
		for depth := 0; b.Len() < size; depth++ {
			b.WriteString(strings.Repeat(" ", 2*(depth%2000)) + mark + "x\n")
		}
		return b.String()
	}
	return map[string]string{
		"prose":               strings.Repeat("some words of a review\n", size/23),
		"quote marks":         strings.Repeat("> ", size/2),
		"quote lines":         strings.Repeat("> x\n", size/4),
		"item marks":          strings.Repeat("- ", size/2),
		"ordered marks":       strings.Repeat("1. ", size/3),
		"items":               strings.Repeat("- x\n", size/4),
		"staircase":           staircase("- "),
		"quote staircase":     staircase("> "),
		"staircase and blank": staircase("- ")[:size/2] + strings.Repeat("\n", size/2),
		"back-ticks":          strings.Repeat("`", size),
		"comment openers":     "x " + strings.Repeat("<!-- ` ", size/7),
		"comments":            strings.Repeat("x <!-- a\nVERDICT: PASS\n-->\n", size/27),
		"comment blocks":      strings.Repeat("<!-- a -->\n\n", size/12),
		"tag lines":           strings.Repeat("<a b=\"\n", size/7),
		"link definitions":    strings.Repeat("[a]: b\n", size/7),
		"open definitions":    strings.Repeat("[a]: b '\n", size/9),
		"open labels":         strings.Repeat("[a\n", size/3),
		"table rows":          "a|b\n-|-\n" + strings.Repeat("a|b\n", size/4),
		"delimiter rows":      strings.Repeat("a|b\n-|-\n", size/8),
		"wide table":          strings.Repeat("a|", size/4) + "\n" + strings.Repeat("-|", size/4) + "\n",
		"fences":              strings.Repeat("```\nx\n```\n", size/10),
		"open fence":          "```\n" + strings.Repeat("VERDICT: PASS\n", size/14),
		"fence runs":          strings.Repeat("````\n```\n", size/9),
		"verdicts":            strings.Repeat("VERDICT: PASS\n", size/14),
		"headings":            strings.Repeat("# VERDICT: PASS\n", size/16),
		"setext":              strings.Repeat("x\n=\n", size/4),
		"note":                "VERDICT: PASS (" + strings.Repeat("(", size) + ")",
		"escapes":             strings.Repeat("\x1b[", size/2),
		"open command":        strings.Repeat("\x1b]", size/2),
		"feeds":               strings.Repeat("\n", size),
		"invalid bytes":       strings.Repeat("\xff", size),
		"hunk headers":        strings.Repeat("@@ -1,9 +1,9 @@\n", size/16),
		"blocking words":      strings.Repeat("no blockers ", size/12),
		"json openers":        strings.Repeat("{\"a\":", size/5),
	}
}
