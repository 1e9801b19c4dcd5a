package loop_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/loop"
	"conclave/internal/record"
)

func dollars(amount float64) *float64 { return &amount }

func TestUsageIsSummedByStepSeatRoleAndRun(t *testing.T) {
	w := newWorld(t, input(3))
	tries := 0
	w.answers["implement"] = func(loop.Call) loop.Outcome {
		out := wrote("tree-1", true)
		out.Turn.Usage = &record.Usage{InputTokens: 10, CostUSD: dollars(0.5)}
		if tries++; tries == 1 {
			out = troubled(record.ClassTransient, "EFFECT_FAILED")
			out.Turn.Usage = &record.Usage{InputTokens: 7, CostUSD: dollars(0.25)}
		}
		return out
	}
	w.answers["review codex"] = func(c loop.Call) loop.Outcome {
		out := judged(c, "pass")
		out.Turn.Usage = &record.Usage{InputTokens: 100, OutputTokens: 10, CostUSD: dollars(2), Priced: true}
		return out
	}
	require.Equal(t, loop.CallFinish, w.run())
	run := w.record()
	require.Equal(t, &record.Usage{InputTokens: 17, CostUSD: dollars(0.75), Turns: 2}, run.Steps[0].Usage, "both tries were paid")
	require.Equal(t, map[string]record.Usage{
		"implementer": {InputTokens: 17, CostUSD: dollars(0.75), Turns: 2},
		"reviewer":    {InputTokens: 100, OutputTokens: 10, CostUSD: dollars(2), Priced: true, Turns: 1, Unknown: 1},
	}, run.UsageByRole)
	require.Equal(t, map[string]record.Usage{
		"codex":  {InputTokens: 100, OutputTokens: 10, CostUSD: dollars(2), Priced: true, Turns: 1},
		"claude": {Unknown: 1},
	}, run.UsageBySeat)
	require.Equal(t, &record.Usage{InputTokens: 117, OutputTokens: 10, CostUSD: dollars(2.75), Priced: true, Turns: 3, Unknown: 1}, run.Usage)
}

// What a price table says counts like what an engine says; what nobody knows counts like the mean of what is known.
func TestTheBudgetOfCostCountsPricedAndUnknownTurns(t *testing.T) {
	in := ruledInput(1)
	in.Budget = loop.Budget{CostUSD: 3.5}
	w := newRuled(t, in, 0)
	w.answers["implement"] = func(loop.Call) loop.Outcome {
		out := wrote("tree-1", true)
		out.Turn.Usage = &record.Usage{InputTokens: 10, CostUSD: dollars(1), Priced: true}
		return out
	}
	require.Equal(t, loop.CallWait, w.run())
	run := w.record()
	require.Equal(t, []string{"BUDGET#1"}, w.asked())
	require.Contains(t, run.Questions[0].Text, "$3.0000 of $3.5000 are used, 1 turn may cost $1.0000 more ($2.0000 of it is assumed for 2 turns of unknown cost)")
	require.Equal(t, &record.Spending{MaxCostUSD: 3.5, CostUSD: 1, UnpricedTurns: 2, Tokens: 10}, run.Budget)
}

func TestABudgetOfCostThatBoundsNothingIsSaid(t *testing.T) {
	in := ruledInput(1)
	in.Budget = loop.Budget{CostUSD: 1}
	w := newRuled(t, in, 0)
	using(w, 10)
	require.Equal(t, loop.CallFinish, w.run())
	notes := 0
	for _, note := range w.record().Notes {
		if note == "the budget of cost bounds nothing so far: no turn's cost is known, neither reported nor by a price (`prices` in the host configuration)" {
			notes++
		}
	}
	require.Equal(t, 1, notes)
}

// A try that worked and told nothing was paid all the same, and so was an attempt that died with its worker: the sums say
// that something of them is unknown. A refused try consumed nothing.
func TestWhatFailedTriesAndLostAttemptsConsumedIsUnknown(t *testing.T) {
	w := newWorld(t, input(3))
	tries := 0
	w.answers["implement"] = func(loop.Call) loop.Outcome {
		out := wrote("tree-1", true)
		out.Turn.Lost = 1
		switch tries++; tries {
		case 1:
			out = troubled(record.ClassTransient, "EFFECT_FAILED")
			out.Turn.Worked, out.Turn.Lost = true, 2
		case 2:
			out = troubled(record.ClassTransient, "EFFECT_FAILED")
		}
		return out
	}
	w.answers["review codex"] = func(c loop.Call) loop.Outcome {
		out := judged(c, "pass")
		out.Turn.Usage = &record.Usage{InputTokens: 1}
		return out
	}
	w.answers["review claude"] = w.answers["review codex"]
	require.Equal(t, loop.CallFinish, w.run())
	run := w.record()
	require.Equal(t, &record.Usage{InputTokens: 10, Turns: 1, Unpriced: 1, Unknown: 4}, run.Steps[0].Usage)
	require.Equal(t, record.Usage{InputTokens: 10, Turns: 1, Unpriced: 1, Unknown: 4}, run.UsageByRole["implementer"])
	require.Equal(t, &record.Usage{InputTokens: 12, Turns: 3, Unpriced: 3, Unknown: 4}, run.Usage)
}
