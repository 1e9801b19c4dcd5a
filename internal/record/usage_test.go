package record

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func cost(amount float64) *float64 { return &amount }

func TestSumsKeepApartWhatIsKnownAndWhatIsNot(t *testing.T) {
	var total *Usage
	for _, turn := range []*Usage{
		{InputTokens: 10, OutputTokens: 1, CostUSD: cost(0.5)},
		nil,
		{InputTokens: 20, CachedTokens: 5, OutputTokens: 2},
		{InputTokens: 40, OutputTokens: 4, CostUSD: cost(0.25), Priced: true},
	} {
		total = Sum(total, turn)
	}
	require.Equal(t, &Usage{
		InputTokens: 70, CachedTokens: 5, OutputTokens: 7, CostUSD: cost(0.75), Priced: true, Unknown: 1, Turns: 3, Unpriced: 1,
	}, total)
	reported, priced, unknown := total.Counts()
	require.Equal(t, [3]int{3, 2, 1}, [3]int{reported, priced, unknown})
	require.Equal(t, &Usage{Unknown: 1}, Sum(nil, nil), "unknown is not zero")
	require.Nil(t, Sum(nil, &Usage{InputTokens: 1}).CostUSD)
}

// However the steps are grouped, the sums of the groups are the whole.
func TestSumsBySeatAndRoleAddUpToTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var steps []Step
		var whole *Usage
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			step := Step{Role: rapid.SampledFrom([]string{"implementer", "reviewer"}).Draw(t, "role"), Status: OK}
			for tries := rapid.IntRange(1, 3).Draw(t, "tries"); tries > 0; tries-- {
				used := &Usage{InputTokens: rapid.Int64Range(0, 100).Draw(t, "in")}
				if rapid.Bool().Draw(t, "priced") {
					used.CostUSD = cost(float64(rapid.IntRange(0, 8).Draw(t, "cost")))
				}
				if tries == 1 && rapid.Bool().Draw(t, "unknown") {
					used = nil
				}
				whole = Sum(whole, used)
				if step.Usage == nil {
					step.Usage = used
				} else {
					step.Usage = Sum(step.Usage, used)
				}
			}
			steps = append(steps, step)
		}
		by := UsageBy(steps, func(s Step) string { return s.Role })
		var sum *Usage
		for _, role := range []string{"implementer", "reviewer"} {
			if u, ok := by[role]; ok {
				if sum == nil {
					sum = &u
				} else {
					sum = Sum(sum, &u)
				}
			}
		}
		require.Equal(t, whole, sum)
	})
}

func TestWhatHasNoEngineHasNoUsage(t *testing.T) {
	steps := []Step{
		{Role: "verifier", Status: OK}, {Role: "reviewer", Seat: "a", Status: Running}, {Role: "reviewer", Seat: "b", Status: NotRun},
		{Role: "reviewer", Seat: "c", Status: Failed},
	}
	require.Equal(t, map[string]Usage{"c": {Unknown: 1}}, UsageBy(steps, func(s Step) string { return s.Seat }))
	require.Nil(t, UsageBy(steps[:3], func(s Step) string { return s.Role }))
}
