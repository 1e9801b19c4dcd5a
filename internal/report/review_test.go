package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/record"
)

func reviewed(stop record.Stop, message string) record.Run {
	return record.Run{
		Kind: "review", RunID: "review-add-sum-abcde", Base: strings.Repeat("a", 40), Head: strings.Repeat("b", 40), Discipline: "basic",
		Stop: stop, Converged: stop == record.Converged, ExitCode: stop.ExitCode(), Message: message, Iterations: 1, Iteration: 1,
		Changed: []record.Change{{Path: "calc.go", Added: 1, Status: "modified"}},
	}
}

func TestWhatAReviewCameTo(t *testing.T) {
	of := " of aaaaaaaaaaaa..bbbbbbbbbbbb"
	for _, c := range []struct {
		stop    record.Stop
		message string
		want    string
	}{
		{record.Converged, "", "clean review" + of},
		{record.MaxIters, "blocking findings: F1 (high) off by one", "blocking findings" + of},
		{record.NoReview, "codex (RESULT_INVALID)", "ended without a review (no-review): codex (RESULT_INVALID); not clean"},
		{record.StepFailed, "the verifier does not pass", "halted: the verifier does not pass; not clean"},
		{record.Aborted, "too large", "the review ended (aborted): too large; not clean"},
		{record.Budget, "10 tokens", "the review ended (budget): 10 tokens; not clean"},
		{record.Cancelled, "", "cancelled after 1 iteration; not clean"},
	} {
		require.Equal(t, c.want, Outcome(reviewed(c.stop, c.message)))
	}
	waits := reviewed(record.NeedsRuling, "")
	waits.Waiting = "a ruling on SIZE"
	require.Equal(t, "the review waits for a person (needs-ruling): a ruling on SIZE; not clean", Outcome(waits))
	lie := reviewed(record.Converged, "")
	lie.Converged = false
	require.NotContains(t, Outcome(lie), "clean review", "a record that contradicts itself is no success")
}

func TestAReviewOffersNothingToLand(t *testing.T) {
	for _, stop := range []record.Stop{record.Converged, record.MaxIters, record.NoReview, record.StepFailed} {
		steps := strings.Join(NextSteps(reviewed(stop, "")), "\n")
		require.Contains(t, steps, "git diff aaaaaaaaaaaa...bbbbbbbbbbbb")
		for _, word := range []string{"land", "apply", "merge", "branch"} {
			require.NotContains(t, steps, word)
		}
	}
	require.Contains(t, string(plan(reviewed(record.Converged, ""), nil)), "- one review of aaaaaaaaaaaa..bbbbbbbbbbbb; nothing is written or repaired")
	page := string(markdown(reviewed(record.MaxIters, "blocking findings: F1"), nil, nil, nil))
	require.Contains(t, page, "# Review review-add-sum-abcde")
	require.Contains(t, page, "blocking findings of aaaaaaaaaaaa..bbbbbbbbbbbb")
}
