package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	runrecord "conclave/internal/record"
)

// twoSeats are of two families, so that each can confirm what the other raised.
var twoSeats = []string{"--discipline", "full", "--trust-reviewers", "--seat", "a=codex", "--seat", "b=claude@tests", "--quorum", "2"}

func TestAConfirmedFindingBlocksAFullReview(t *testing.T) {
	t.Parallel()
	l := newGate(t, []step{
		{Role: "review", Seat: "a", Review: blocked(offByOne())}, {Role: "review", Seat: "b", Review: clean()},
		{Role: "confirm", As: "claude", Confirm: yes()},
	})
	run, _ := l.review(1, twoSeats...)
	require.Equal(t, runrecord.MaxIters, run.Stop, run.Message)
	require.Contains(t, run.Message, "blocking findings: F1 (high) Sum stops before n")
	require.Len(t, run.Findings, 1)
	require.Equal(t, "confirmed", run.Findings[0].Disposition)
	for _, s := range run.Steps {
		require.NotContains(t, []string{"implementer", "arbiter"}, s.Role, "nobody repairs and nobody arbitrates")
	}
	require.Contains(t, l.read(l.bundle(run.RunID, "report.md")), "blocking findings of")
	_, said := l.review(1, twoSeats...)
	require.Contains(t, said, "re-used")
}

func TestARefutedFindingDoesNotBlockAFullReview(t *testing.T) {
	t.Parallel()
	l := newGate(t, []step{
		{Role: "review", Seat: "final", Contains: "Sum stops before n", Review: clean()},
		{Role: "review", Seat: "a", Review: blocked(offByOne())}, {Role: "review", Seat: "b", Review: clean()},
		{Role: "confirm", As: "claude", Confirm: no()},
	})
	run, _ := l.review(0, twoSeats...)
	require.Equal(t, runrecord.Converged, run.Stop, run.Message)
	require.Equal(t, "refuted", run.Findings[0].Disposition)
	require.Equal(t, "final", run.Steps[len(run.Steps)-1].Seat)
}

// Without rulings a finding of kind decision has nobody to go to: it blocks.
func TestADecisionBlocksAFullReviewAtOnce(t *testing.T) {
	t.Parallel()
	finding := offByOne()
	finding["kind"] = "decision"
	l := newGate(t, []step{
		{Role: "review", Seat: "a", Review: blocked(finding)}, {Role: "review", Seat: "b", Review: clean()},
		{Role: "confirm", Confirm: yes()},
	})
	run, _ := l.review(1, twoSeats...)
	require.Equal(t, runrecord.MaxIters, run.Stop, run.Message)
	require.Empty(t, run.Questions)
}

// A run waits for a resume, a review says that it is none.
func TestASeatThatNeverAnswersIsNoFullReview(t *testing.T) {
	t.Parallel()
	l := newGate(t, []step{{Role: "review", Seat: "a", Review: clean()}, {Role: "review", Seat: "b", Say: "Looks fine."}})
	run, _ := l.review(6, twoSeats...)
	require.Equal(t, runrecord.NoReview, run.Stop)
	require.Contains(t, run.Message, "b (RESULT_INVALID)")
}

func TestAnAdvisoryReviewReportsAndDoesNotBlock(t *testing.T) {
	t.Parallel()
	l := newGate(t, []step{
		{Role: "review", Seat: "final", Review: clean()},
		{Role: "review", Seat: "a", Review: blocked(offByOne())}, {Role: "review", Seat: "b", Review: clean()},
		{Role: "confirm", Confirm: yes()},
	})
	run, _ := l.review(0, append(append([]string{}, twoSeats...), "--advisory")...)
	require.True(t, run.Advisory)
	require.Contains(t, l.read(l.bundle(run.RunID, "report.md")), "advisory")
}

func TestABudgetThatRunsOutEndsAReviewWithFive(t *testing.T) {
	t.Parallel()
	l := newGate(t, []step{{Role: "review", Say: passes}})
	run, _ := l.review(5, "--max-tokens", "10")
	require.Equal(t, runrecord.Budget, run.Stop)
	require.Zero(t, l.turns(), "the budget was looked at before the first turn")
	l.review(0, "--max-tokens", "1000000")
}
