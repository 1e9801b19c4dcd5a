package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPricesExtendAndReplaceTheBuiltInOnes(t *testing.T) {
	load := func(user, named string) (Config, error) {
		return Load(Sources{User: File{Name: "user.yaml", Content: []byte(user)}, Named: File{Name: "named.yaml", Content: []byte(named)}})
	}
	c, err := load("prices:\n  gpt-5.5: {input: 7, output: 9}\n  local*: {input: 0, output: 0}\n", "prices:\n  gpt-5.5: {input: 1, cached: 0.5, output: 2}\n")
	require.NoError(t, err)
	list := c.Host.PriceList()
	got, ok := list.Of("gpt-5.5")
	require.True(t, ok)
	require.InDelta(t, 1, got.Input, 0, "the named file ranks above the user's")
	got, ok = list.Of("local/qwen")
	require.True(t, ok)
	require.Zero(t, got)
	_, ok = list.Of("gpt-6-sol")
	require.True(t, ok, "built in")

	c, err = load("prices:\n  \"*\": unknown\n  gpt-5.5: {input: 7, output: 9}\n", "")
	require.NoError(t, err)
	_, ok = c.Host.PriceList().Of("gpt-6-sol")
	require.False(t, ok, "the built-in table is replaced")
	got, ok = c.Host.PriceList().Of("gpt-5.5")
	require.True(t, ok)
	require.InDelta(t, 7, got.Cached, 0, "without a price of its own, cached input costs what input costs")
	require.Contains(t, c.Effective(), Effective{Key: "prices.gpt-5.5", Value: "input 7, cached 7, output 9", Origin: "user.yaml:3"})

	for text, want := range map[string]string{
		"prices: {m: 3}": "no price", "prices: {m: {input: 3}}": "both input and output", "prices: {m: {input: 3, output: -1}}": "no price",
		"prices: {m: {input: 3, output: NaN}}": "no price", "prices: {m: {input: 3, output: 1, extra: 1}}": "unknown key prices.m.extra",
		"prices: {\"a b\": unknown}": "no name of a model", "prices: 3": "no mapping",
	} {
		_, err := load(text, "")
		require.ErrorContains(t, err, want, text)
		require.ErrorContains(t, err, "user.yaml:1", text)
	}
	_, err = Load(Sources{Repository: File{Name: "conclave.yaml", Content: []byte("prices: {m: unknown}")}})
	require.ErrorContains(t, err, "prices may not be set by a repository")
}
