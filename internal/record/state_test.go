package record

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatStandsDependsOnTheDiscipline(t *testing.T) {
	for disposition, want := range map[string][2]bool{ // basic, full
		"open": {true, true}, "confirmed": {true, true}, "": {true, true}, "new-word": {true, true},
		"addressed": {}, "refuted": {}, "ruled": {}, "logged": {}, "not-addressed": {false, true},
	} {
		for i, discipline := range []string{"basic", "full"} {
			r := Run{Discipline: discipline, Findings: []Finding{{Disposition: disposition}}}
			require.Equal(t, want[i], r.Stands(r.Findings[0]), disposition+" "+discipline)
			require.Equal(t, want[i], r.OpenFindings() == 1, disposition+" "+discipline)
		}
	}
}

func TestDetailsSayHowToAnswer(t *testing.T) {
	r := Run{Iteration: 7, MaxIters: 6, Waiting: "a ruling on F1", Questions: []Question{{Subject: "F1", Text: "a `tick` too many"}}}
	details := r.Details()
	require.Contains(t, details, "iteration 7 of 7")
	require.Contains(t, details, "- F1: `a 'tick' too many`")
	require.Contains(t, details, `{"finding":"F1","decision":"stand","reason":"..."}`)
	require.NotContains(t, (Run{}).Details(), "ruling")
}
