package price_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"conclave/internal/price"
	"conclave/internal/record"
)

func TestTheBuiltInTableReadsAndHoldsNothingTwice(t *testing.T) {
	seen := map[string]bool{}
	for _, entry := range price.Builtin() {
		require.False(t, seen[entry.Pattern], entry.Pattern)
		seen[entry.Pattern] = true
		require.Positive(t, entry.Output, entry.Pattern)
		require.LessOrEqual(t, entry.Cached, entry.Input, entry.Pattern)
		require.LessOrEqual(t, entry.Input, entry.Output, entry.Pattern)
	}
	require.Greater(t, len(seen), 20)
}

func TestWhichPriceAModelHas(t *testing.T) {
	user := price.Table{
		{Pattern: "gpt-5.5", Price: price.Price{Input: 1}},
		{Pattern: "local*", Price: price.Price{}},
		{Pattern: "gpt-5.4*", Price: price.Price{Input: 7}},
		{Pattern: "gpt-5.4-mini", Price: price.Price{Unknown: true}},
		{Pattern: "a*c*e", Price: price.Price{Input: 9}},
	}
	list := price.List{user, price.Builtin()}
	for model, want := range map[string]float64{
		"gpt-5.5": 1, "GPT-5.5": 1, "openai/gpt-5.5": 1, "gpt-5.5-2026-04-01": 1, "gpt-5.5[1m]": 1, "gpt-5.5-20260401[1m]": 1,
		"gpt-5.4": 7, "gpt-5.4-2026-01-01": 7, "gpt-5.4-nano": 7,
		"gpt-6-sol": 2, "claude-sonnet-4-5-20250929": 3, "anthropic/claude-sonnet-4-5": 3, "claude-sonnet-4-5@20250929": 3,
		"gemini-3.1-pro-preview": 2, "local/qwen": 0, "abcde": 9, "ace": 9, "some/where/abcde": 9,
	} {
		got, ok := list.Of(model)
		require.True(t, ok, model)
		require.InDelta(t, want, got.Input, 1e-9, model)
	}
	for _, model := range []string{"", "default", "gpt-5.4-mini", "gpt-7", "gpt-5.55", "xgpt-5.5", "gpt-5.5-pro", "gpt", "/", "aec", "[1m]"} {
		_, ok := list.Of(model)
		require.False(t, ok, model)
	}
}

// Whoever wants other prices alone writes an entry for all models.
func TestATableCanTakeThePlaceOfTheBuiltInOne(t *testing.T) {
	list := price.List{{{Pattern: "*", Price: price.Price{Unknown: true}}, {Pattern: "gpt-5.5", Price: price.Price{Input: 1}}}, price.Builtin()}
	_, ok := list.Of("gpt-6-sol")
	require.False(t, ok)
	got, ok := list.Of("gpt-5.5")
	require.True(t, ok)
	require.InDelta(t, 1, got.Input, 1e-9)
}

func usd(amount float64) *float64 { return &amount }

func TestCost(t *testing.T) {
	list := price.List{{{Pattern: "m", Price: price.Price{Input: 2, Cached: 0.5, Output: 10}}, {Pattern: "free"}}}
	used := record.Usage{InputTokens: 1_000_000, CachedTokens: 400_000, OutputTokens: 100_000}
	with := func(cost *float64) *record.Usage {
		u := used
		u.CostUSD = cost
		return &u
	}
	cases := map[string]struct {
		usage  *record.Usage
		model  string
		cost   *float64
		priced bool
	}{
		"by the table":                     {with(nil), "m", usd(2.4), true},
		"as reported":                      {with(usd(0.07)), "m", usd(0.07), false},
		"not known":                        {with(nil), "other", nil, false},
		"nothing reported for tokens":      {with(usd(0)), "m", usd(2.4), true},
		"nothing reported, no price known": {with(usd(0)), "other", nil, false},
		"free by the table":                {with(usd(0)), "free", usd(0), true},
		"no tokens, no cost":               {&record.Usage{CostUSD: usd(0)}, "m", usd(0), false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := list.Priced(c.usage, c.model)
			require.Equal(t, c.usage.InputTokens, got.InputTokens)
			require.Equal(t, c.priced, got.Priced)
			if c.cost == nil {
				require.Nil(t, got.CostUSD)
				return
			}
			require.NotNil(t, got.CostUSD)
			require.InDelta(t, *c.cost, *got.CostUSD, 1e-9)
		})
	}
	require.Nil(t, list.Priced(nil, "m"), "nobody reported anything")
}

func TestACostIsNeverNegativeAndGrowsWithUse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := price.Price{
			Input: rapid.Float64Range(0, 100).Draw(t, "input"), Cached: rapid.Float64Range(0, 100).Draw(t, "cached"), Output: rapid.Float64Range(0, 100).Draw(t, "output"),
		}
		u := record.Usage{
			InputTokens: rapid.Int64Range(0, 1e9).Draw(t, "in"), CachedTokens: rapid.Int64Range(0, 2e9).Draw(t, "from cache"), OutputTokens: rapid.Int64Range(0, 1e9).Draw(t, "out"),
		}
		cost := p.Cost(u)
		require.GreaterOrEqual(t, cost, 0.0)
		u.OutputTokens += 1000
		require.GreaterOrEqual(t, p.Cost(u), cost)
	})
}

func TestWhatIsNoTable(t *testing.T) {
	for _, text := range []string{"m 1 2", "m 1 2 3 4", "m 1 2 x", "m 1 -2 3", "m NaN 1 1", "m 1 Inf 1"} {
		_, err := price.Parse(text)
		require.ErrorContains(t, err, "line 1", text)
	}
	table, err := price.Parse("# nothing\n\n  m 1 2 3 # note\n")
	require.NoError(t, err)
	require.Equal(t, price.Table{{Pattern: "m", Price: price.Price{Input: 1, Cached: 2, Output: 3}}}, table)
}
