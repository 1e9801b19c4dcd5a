package loop_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"conclave/internal/loop"
	"conclave/internal/record"
)

func TestReserve(t *testing.T) {
	tokens := loop.Budget{Tokens: 1000, AssumeTokens: 100}
	cost := loop.Budget{CostUSD: 1}
	cases := map[string]struct {
		budget          loop.Budget
		spent           loop.Spent
		turns, extended int
		fits            bool
		why             string
	}{
		"no bound":                               {loop.Budget{}, loop.Spent{Tokens: 1e9, Turns: 1}, 8, 0, true, ""},
		"the first turn":                         {tokens, loop.Spent{}, 1, 0, true, ""},
		"exactly":                                {tokens, loop.Spent{Tokens: 900, Turns: 9}, 1, 0, true, ""},
		"one token too many":                     {tokens, loop.Spent{Tokens: 901, Turns: 10}, 1, 0, false, "901 of 1000 tokens are used, 1 turn may need 100 more"},
		"a fan-out that fits":                    {tokens, loop.Spent{Tokens: 100, Turns: 1}, 9, 0, true, ""},
		"a fan-out that does not fit as a whole": {tokens, loop.Spent{Tokens: 200, Turns: 2}, 9, 0, false, "9 turns may need 900 more"},
		"turns that used more than is assumed":   {tokens, loop.Spent{Tokens: 600, Turns: 2}, 2, 0, false, "2 turns may need 600 more"},
		"unknown turns count as assumed":         {tokens, loop.Spent{Unknown: 10}, 1, 0, false, "1000 of 1000 tokens are used"},
		"unknown turns are never zero":           {loop.Budget{Tokens: 1000, AssumeTokens: 300}, loop.Spent{Tokens: 100, Turns: 1, Unknown: 2}, 2, 0, false, "700 of 1000"},
		"given once more":                        {tokens, loop.Spent{Tokens: 1500, Turns: 30}, 5, 1, true, ""},
		"and once more used up":                  {tokens, loop.Spent{Tokens: 1500, Turns: 30}, 6, 1, false, "1500 of 2000 tokens"},
		"a budget smaller than one turn":         {loop.Budget{Tokens: 10, AssumeTokens: 100}, loop.Spent{}, 1, 0, false, "0 of 10 tokens are used"},
		"nothing assumed":                        {loop.Budget{Tokens: 10}, loop.Spent{}, 1, 0, true, ""},
		"cost unknown":                           {cost, loop.Spent{Turns: 50}, 8, 0, true, ""},
		"cost used up":                           {cost, loop.Spent{CostUSD: 1, Priced: 4}, 1, 0, false, "$1.0000 of $1.0000 are used"},
		"cost reserved":                          {cost, loop.Spent{CostUSD: 0.6, Priced: 2}, 2, 0, false, "2 turns may cost $0.6000 more"},
		"cost fits":                              {cost, loop.Spent{CostUSD: 0.4, Priced: 2}, 3, 0, true, ""},
		"time":                                   {loop.Budget{Duration: time.Hour}, loop.Spent{Elapsed: time.Hour}, 1, 0, false, "1h0m0s of 1h0m0s are used"},
		"time left":                              {loop.Budget{Duration: time.Hour}, loop.Spent{Elapsed: 59 * time.Minute}, 8, 0, true, ""},
		"time once more":                         {loop.Budget{Duration: time.Hour}, loop.Spent{Elapsed: 119 * time.Minute}, 8, 1, true, ""},
		"all that is used up is named": {loop.Budget{Tokens: 10, Duration: time.Hour}, loop.Spent{Tokens: 10, Turns: 1, Elapsed: time.Hour}, 1, 0, false,
			"10 of 10 tokens are used, 1 turn may need 10 more; 1h0m0s of 1h0m0s are used"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			left := c.budget.Reserve(c.spent, c.turns, c.extended)
			require.Equal(t, c.fits, left.Fits, left.Why)
			require.Contains(t, left.Why, c.why)
			require.Equal(t, left.Fits, left.Why == "")
		})
	}
}

// using lets every turn report its consumption.
func using(w *world, tokens int64) {
	for key, play := range w.answers {
		if key == "verify" {
			continue
		}
		w.answers[key] = func(c loop.Call) loop.Outcome {
			out := play(c)
			out.Turn.Usage = &record.Usage{InputTokens: tokens - 1, OutputTokens: 1}
			return out
		}
	}
}

func turnsIn(w *world) string {
	var turns []string
	for _, turn := range w.turns {
		turns = append(turns, strings.TrimSpace(turn.Turn+" "+turn.Seat))
	}
	return strings.Join(turns, ", ")
}

// Field report 54: one review took 66 million tokens, because usage was only displayed.
func TestNoFanOutBeginsThatTheBudgetDoesNotHold(t *testing.T) {
	in := ruledInput(1)
	in.Budget = loop.Budget{Tokens: 250, AssumeTokens: 10}
	w := newRuled(t, in, 0)
	using(w, 100)
	require.Equal(t, loop.CallWait, w.run())
	require.Equal(t, "implement", turnsIn(w), "100 are used; two seats may need 200 more: none of them begins")
	run := w.record()
	require.Equal(t, record.Budget, run.Stop)
	require.False(t, run.Stop.Final())
	require.Equal(t, 5, run.ExitCode)
	require.Equal(t, []string{"BUDGET#1"}, w.asked())
	require.Contains(t, run.Questions[0].Text, "100 of 250 tokens are used, 2 turns may need 200 more")
	require.Equal(t, &record.Spending{MaxTokens: 250, Tokens: 100}, run.Budget)

	w.signal(`{"finding":"BUDGET","decision":"stand"}`)
	require.Empty(t, w.refusals(), "a reason is not needed")
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, record.Converged, w.record().Stop, w.record().Message)
	require.Equal(t, "implement, review codex, review gemini, review final", turnsIn(w))
	require.Equal(t, &record.Spending{MaxTokens: 250, Tokens: 400, Extended: 1}, w.record().Budget)
	w.checkReplay(in)
}

func TestTheSameAmountOnceMoreIsAskedForAgainWhenItIsUsedUp(t *testing.T) {
	in := ruledInput(1)
	in.Budget = loop.Budget{Tokens: 150, AssumeTokens: 10}
	w := newRuled(t, in, 0)
	using(w, 100)
	require.Equal(t, loop.CallWait, w.run())
	w.signal(`{"finding":"BUDGET","decision":"stand"}`)
	require.Equal(t, loop.CallWait, w.run(), "300 hold the seats and not the final review")
	require.Equal(t, []string{"BUDGET#2"}, w.asked())
	require.NotContains(t, turnsIn(w), "final")
	w.signal(`{"finding":"BUDGET","decision":"stand"}`)
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, record.Converged, w.record().Stop)
}

func TestABudgetThatIsNotExtendedEndsTheRun(t *testing.T) {
	in := ruledInput(1)
	in.Budget = loop.Budget{Tokens: 250, AssumeTokens: 10}
	w := newRuled(t, in, 0)
	using(w, 100)
	require.Equal(t, loop.CallWait, w.run())
	w.signal(`{"finding":"BUDGET","decision":"abort","reason":"too dear"}`)
	require.Equal(t, loop.CallFinish, w.run())
	require.Equal(t, record.Aborted, w.record().Stop)
	require.True(t, w.record().Landed, "what was paid for is kept")
}

// Field report 54 again: what nobody reports is unknown and not zero.
func TestUsageThatNobodyReportsIsCountedAndSaidToBeUnknown(t *testing.T) {
	in := ruledInput(1)
	in.Budget = loop.Budget{Tokens: 250, AssumeTokens: 100}
	w := newRuled(t, in, 0)
	w.answers["implement"] = func(loop.Call) loop.Outcome {
		out := wrote("tree-1", true)
		out.Turn.Usage = nil
		return out
	}
	require.Equal(t, loop.CallWait, w.run())
	require.Equal(t, "implement", turnsIn(w))
	require.Equal(t, &record.Spending{MaxTokens: 250, Tokens: 100, AssumedTokens: 100}, w.record().Budget)
	require.Equal(t, 1, w.record().Usage.Unknown)
}

func TestABudgetIsCheckedBeforeTheFirstTurn(t *testing.T) {
	in := ruledInput(1)
	in.Designer = &claude
	in.Budget = loop.Budget{Tokens: 50, AssumeTokens: 100}
	w := newRuled(t, in, 0)
	require.Equal(t, loop.CallWait, w.run())
	require.Empty(t, w.turns, "not even the design")
	require.Equal(t, record.Budget, w.record().Stop)
}

func TestWaitingForPeopleTakesNoTimeOfTheBudget(t *testing.T) {
	in := ruledInput(1)
	in.Budget = loop.Budget{Duration: time.Minute}
	w := newRuled(t, in, 1)
	require.Equal(t, loop.CallWait, w.run())
	require.Equal(t, []string{"F1#1"}, w.asked())
	w.progress.BeginWait(w.now)
	w.now = w.now.Add(72 * time.Hour)
	w.signal(`{"finding":"F1","decision":"fix","reason":"x"}`)
	require.Equal(t, loop.CallWait, w.run())
	require.Equal(t, []string{"F1#2"}, w.asked(), "no time was used up")
	w.now = w.now.Add(time.Minute)
	w.signal(`{"finding":"F1","decision":"fix","reason":"x"}`)
	require.Equal(t, loop.CallWait, w.run())
	require.Equal(t, []string{"BUDGET#1"}, w.asked(), "this minute it was not waiting")
}

func TestARunWithoutABudgetHasNone(t *testing.T) {
	w := newRuled(t, ruledInput(1), 0)
	require.Equal(t, loop.CallFinish, w.run())
	require.Nil(t, w.record().Budget)
}
