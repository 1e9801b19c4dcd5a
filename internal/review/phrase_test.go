package review

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHeuristicFollowsPhrasesOnlyWithoutAVerdictLine(t *testing.T) {
	for _, c := range []struct {
		name string
		text string
		want Verdict
		line int
	}{
		{"no phrase", "All good.", Pass, 0},
		{"no blocking findings", "Read it.\nNo blocking findings.", Pass, 2},
		{"blocker", "There is a blocker in a.go.", Block, 1},
		{"must fix", "You must fix the nil case.", Block, 1},
		{"bold must fix", "You **must** fix it.", Block, 1},
		{"over a line's end", "You must\nfix it.", Block, 1},
		{"denied, then said", "No blockers in a.go.\nOne blocker in b.go.", Block, 2},
		{"denied twice", "No blockers.\n\nNo blocking issues either.", Pass, 1},
		{"a line decides", "This is a blocker.\n\nVERDICT: PASS", Pass, 3},
		{"block in an unreadable form", "VERDICT: BLOCKED", Block, 1},
		{"reject", "**VERDICT:** REJECT", Block, 1},
		{"quoted block", "> VERDICT: BLOCK", Block, 1},
		{"all in a fence", "```\nmust fix: a.go\n```", Block, 2},
		{"empty", "", Invalid, 0},
		{"blank", "\n \t\u00a0\n", Invalid, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ParseVerdict([]byte(c.text), Heuristic)
			require.Equal(t, c.want.String(), got.Verdict.String(), got.Reason)
			require.Equal(t, c.line, got.Line)
			require.NotEmpty(t, got.Reason)
		})
	}
	require.Equal(t, Invalid, ParseVerdict([]byte("All good."), Strict).Verdict)
}
