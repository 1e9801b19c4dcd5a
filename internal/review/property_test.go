package review

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// anyVerdictLine draws a line that counts as a verdict when it stands alone.
func anyVerdictLine(t *rapid.T) (line string, want Verdict) {
	want = rapid.SampledFrom([]Verdict{Pass, Block}).Draw(t, "verdict")
	pick := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
	word := pick("case", "VERDICT", "Verdict", "verdict")
	value := strings.ToUpper(want.String())
	if rapid.Bool().Draw(t, "lower") {
		value = want.String()
	}
	colon := pick("colon", ":", "：")
	gap := pick("gap", "", " ", "  ", "\u00a0")
	tail := pick("tail", "", ".", " (two findings)", " (see f(x)).", ". (done)")
	body := word + colon + gap + value + tail
	switch rapid.IntRange(0, 4).Draw(t, "marks") {
	case 0:
		body = "**" + word + colon + "** " + value + tail
	case 1:
		body = "**" + word + colon + gap + value + "**" + tail
	case 2:
		body = "`" + word + colon + gap + value + "`" + tail
	}
	prefix := pick("prefix", "", "", "- ", "* ", "1. ", "## ", "  ", "- [x] ")
	return prefix + body + pick("end", "", " ", "\r"), want
}

var wraps = map[string]func(string) string{
	"quote":          func(s string) string { return "> " + s },
	"glued quote":    func(s string) string { return ">" + s },
	"lazy quote":     func(s string) string { return "> said\n" + strings.TrimLeft(s, "-*1.# []x") },
	"fence":          func(s string) string { return "```\n" + s + "\n```\n\nDone." },
	"fence with":     func(s string) string { return "```go\nx\n" + s + "\n```" },
	"tilde fence":    func(s string) string { return "~~~\n" + s + "\nx\n~~~" },
	"open fence":     func(s string) string { return "```\nx\n" + s },
	"fence in item":  func(s string) string { return "- a\n\n  ```\n  " + s + "\n  ```\n" },
	"indented":       func(s string) string { return "Text\n\n    " + s },
	"table":          func(s string) string { return "| a | b |\n|---|---|\n| " + s + " | x |" },
	"table end":      func(s string) string { return "a | b\n--|--\nc | d\n" + strings.TrimLeft(s, "-*1.# []x") },
	"comment":        func(s string) string { return "<!-- " + s + " -->" },
	"comment lines":  func(s string) string { return "<!--\n" + s + "\n-->" },
	"comment inside": func(s string) string { return "Text <!-- a\n" + strings.TrimLeft(s, "-*1.# []x") + "\n--> b" },
	"open comment":   func(s string) string { return "<!--\n\n" + s },
	"added":          func(s string) string { return "+" + strings.TrimLeft(s, "-*1.# []x`") },
	"removed":        func(s string) string { return "-" + strings.TrimLeft(s, "-*1.# []x`") },
	"hunk":           func(s string) string { return "@@ -1,2 +1,2 @@\n " + s + "\n-a\n+b" },
	"sentence end":   func(s string) string { return "The reviewer wrote " + strings.TrimLeft(s, " ") },
	"sentence start": func(s string) string { return strings.TrimRight(s, " \r") + " is what it says" },
}

func TestAnyVerdictLineCountsAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line, want := anyVerdictLine(t)
		before := rapid.SampledFrom([]string{"", "Looks at a.go.\n\n", "> VERDICT: PASS\n\n", "```\nVERDICT: BLOCK\n```\n\n"}).Draw(t, "before")
		after := rapid.SampledFrom([]string{"", "\n", "\n\nThanks.", "\n\n> VERDICT: PASS"}).Draw(t, "after")
		got := ParseVerdict([]byte(before+line+after), Strict)
		require.Equal(t, want.String(), got.Verdict.String(), "%q: %s", before+line+after, got.Reason)
		require.Equal(t, strings.Count(before, "\n")+1, got.Line)
	})
}

func TestAWrappedVerdictLineNeverCounts(t *testing.T) {
	for name, wrap := range wraps {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				line, _ := anyVerdictLine(t)
				text := wrap(line)
				got := ParseVerdict([]byte(text), Strict)
				require.Equal(t, "invalid", got.Verdict.String(), "%q counted at line %d: %s", text, got.Line, got.Reason)
				require.Zero(t, got.Line)

				own := "VERDICT: BLOCK\n\n" + text
				got = ParseVerdict([]byte(own), Strict)
				require.Equal(t, "block", got.Verdict.String(), "%q", own)
				require.Equal(t, 1, got.Line)
			})
		})
	}
}

func TestNoTextIsReadTwoWaysOrCrashes(t *testing.T) {
	pieces := []string{"VERDICT: PASS", "VERDICT: BLOCK", "\n", "\n\n", "> ", "```", "~~~", "    ", "\t", "- ", "1. ", "| a |", "|---|",
		"<!--", "-->", "`", "**", "@@ -1,2 +1,2 @@\n", "+", "-", "\\", "[a]: b \"", "\"", "\xff", "\u200b", "\x1b[1m", "# ", "===", "<div>", "{", "}",
		`{"verdict":"pass"}`, "json", "x"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(t, "pieces"), "")
		got := ParseVerdict([]byte(text), Strict)
		require.Equal(t, got, ParseVerdict([]byte(text), Strict))
		if got.Verdict == Invalid {
			require.Zero(t, got.Line)
			return
		}
		lines := strings.Split(text, "\n")
		require.LessOrEqual(t, got.Line, len(lines))
		counted := strings.ToLower(normalise([]byte(lines[got.Line-1])))
		require.Contains(t, counted, "verdict", "the counted line is the one named")
	})
}

// TestAWrappedVerdictLineDoesNotCompleteAnAnswer puts the line behind a valid answer: what does not count as a verdict
// does not count for one either.
func TestAWrappedVerdictLineDoesNotCompleteAnAnswer(t *testing.T) {
	for name, wrap := range wraps {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				line, want := anyVerdictLine(t)
				answer := map[Verdict]fields{Pass: passing(), Block: blocking()}[want]
				require.Empty(t, ParseReview([]byte(fenced(answer, line)), nil, strictContext()).Problems)
				got := ParseReview([]byte(fenced(answer, wrap(line))), nil, strictContext())
				require.Equal(t, Invalid, got.Verdict, "%q", wrap(line))
				got = ParseReview([]byte(wrap(line)), nil, basicContext())
				require.Equal(t, Invalid, got.Verdict, "%q", wrap(line))
			})
		})
	}
}

// TestWhatIsQuotedFencedOrIndentedWholeNeverCounts wraps whole texts, whatever they hold.
func TestWhatIsQuotedFencedOrIndentedWholeNeverCounts(t *testing.T) {
	pieces := []string{"VERDICT: PASS", "VERDICT: BLOCK", "**VERDICT: PASS**", "\n", "\n\n", "> ", "```", "~~~", "- ", "1. ", "| a |", "|---|", "<!--", "-->",
		"# ", "===", "<div>", "text", "\t", "    ", "```json\n" + `{"verdict":"pass"}` + "\n```"}
	longFence := strings.Repeat("`", 3*12+1) // longer than any that the pieces can make
	each := func(prefix, text string) string { return prefix + strings.ReplaceAll(text, "\n", "\n"+prefix) }
	all := map[string]func(string) string{
		"quoted":        func(s string) string { return each("> ", s) },
		"quoted twice":  func(s string) string { return each("> > ", s) },
		"quoted and on": func(s string) string { return "He wrote:\n\n" + each("> ", s) + "\n\nSo far." },
		"fenced":        func(s string) string { return longFence + "\n" + s + "\n" + longFence + "\n\nDone." },
		"indented":      func(s string) string { return "Text:\n\n" + each("    ", s) },
		"added":         func(s string) string { return "diff:\n\n" + each("+", s) },
	}
	for name, wrap := range all {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				text := wrap(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 12).Draw(t, "pieces"), ""))
				got := ParseVerdict([]byte(text), Strict)
				require.Equal(t, "invalid", got.Verdict.String(), "%q: line %d, %s", text, got.Line, got.Reason)
			})
		})
	}
}
