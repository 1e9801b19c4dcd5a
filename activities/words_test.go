package activities

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/loop"
	"conclave/internal/review"
)

func TestFindingsFitTheHistoryAndHighOnesAreNeverCut(t *testing.T) {
	var answer review.Answer
	for i := range 100 {
		answer.Findings = append(answer.Findings, review.Finding{Severity: review.Low, Kind: review.Patch, Title: fmt.Sprintf("low %d", i)})
	}
	for i := range review.MostHigh {
		answer.Findings = append(answer.Findings, review.Finding{
			Severity: review.High, Kind: review.Patch, Title: fmt.Sprintf("high %d %s", i, strings.Repeat("<", 500)), Claim: strings.Repeat("<", 5000),
			Evidence: []review.Evidence{{Path: strings.Repeat("long/", 400) + "a.go", Line: 1}, {Path: "b.go", Line: 2}},
		})
	}
	kept := worst(answer)
	require.Len(t, kept, review.MostHigh)
	found := findings(kept)
	for i := range found {
		found[i].Anchor = strings.Repeat("<", anchorLimit)
		found[i] = small(found[i])
		require.True(t, strings.HasPrefix(found[i].Title, fmt.Sprintf("high %d ", i)), "the order is the reviewer's")
		require.NotEmpty(t, found[i].Anchor)
	}
	require.Less(t, jsonSize(t, found), 40<<10)

	answer.Findings = answer.Findings[:len(answer.Findings)-review.MostHigh+1]
	kept = worst(answer)
	require.Len(t, kept, mostFindings)
	require.Equal(t, review.High, kept[0].Severity, "a cut never drops it")
	require.Equal(t, "low 0", kept[1].Title)
}

func TestASmallFindingStaysWhole(t *testing.T) {
	whole := loop.Finding{Severity: "high", Kind: "patch", Title: "Sum is off", Claim: strings.Repeat("word ", 100), Anchor: "return a"}
	require.Equal(t, whole, small(whole))
}

func TestReasonsOfOneAnswerFitTogether(t *testing.T) {
	for _, n := range []int{1, 5, 200} {
		var out []string
		for range n {
			out = append(out, fit(strings.Repeat("<é", 5000), share(n)))
		}
		require.Less(t, jsonSize(t, out), 16<<10, n)
		require.NotEmpty(t, strings.TrimRight(out[0], "…"), n)
	}
	require.Equal(t, "short", fit(" short\n", share(3)))
}

func jsonSize(t *testing.T, value any) int {
	raw, err := json.Marshal(value)
	require.NoError(t, err)
	return len(raw)
}
