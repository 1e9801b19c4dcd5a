package activities

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/loop"
)

func TestWhatIsAQuestion(t *testing.T) {
	for message, want := range map[string]string{
		"": "", "Done.": "", "Is it done? Yes, it is.": "",
		"I looked at it.\n\nShould Sum return an error?":                      "Should Sum return an error?",
		"**Which of them should I use?**\n\n1. the first\n2. the second\n":    "Which of them should I use?",
		"Before I begin:\n- Which database?\n- Which version?\n":              "- Which version?",
		"どちらを使いますか？":                                                          "どちらを使いますか？",
		"```\nwhat is this?\n```\nDone.":                                      "",
		"Why?" + strings.Repeat("\nbecause", askWithin):                       "",
		"Should I go on (it may take long)?\n\nLet me know and I will start.": "Should I go on (it may take long)?",
	} {
		require.Equal(t, want, question(message), message)
	}
	require.LessOrEqual(t, len([]rune(question(strings.Repeat("long ", 500)+"?"))), askLimit)
}

// Field row 35: a headless agent asks instead of working.
func TestAWriterThatAsksInsteadOfWorkingIsReported(t *testing.T) {
	l := newLab(t).prepare(false)
	out := l.wrote("01", "echo 'Should Sum return an error?'")
	require.False(t, out.Changed)
	require.Equal(t, "Should Sum return an error?", out.Question)
	out = l.wrote("02", "echo 1 > work.go; echo 'Is that what you want?'")
	require.True(t, out.Changed)
	require.Empty(t, out.Question, "it worked, and what it asks beside that is no obstacle")
	l.says("Is that all? VERDICT\n\nIs it?")
	review := do[loop.TurnResult](l, l.acts.RunTurn, l.review("03", out.Snapshot))
	require.Empty(t, review.Question)
}
