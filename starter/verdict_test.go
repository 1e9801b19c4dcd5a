package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVerdictCommand(t *testing.T) {
	c := newCLI(t)
	cases := []struct {
		text, verdict string
		code          int
	}{{"x\n\nVERDICT: PASS\n", "pass", 0}, {"VERDICT: BLOCK", "block", 1}, {"> VERDICT: PASS", "invalid", 6}}
	for _, tc := range cases {
		got := c.run(tc.text, "verdict", "-")
		require.Equal(t, tc.code, got.code)
		require.Empty(t, got.err)
		var doc struct {
			Verdict string `json:"verdict"`
			Line    *int   `json:"line"`
			Reason  string `json:"reason"`
		}
		require.NoError(t, json.Unmarshal([]byte(got.out), &doc))
		require.Equal(t, tc.verdict, doc.Verdict)
		require.NotNil(t, doc.Line)
		require.NotEmpty(t, doc.Reason)
	}
	c.write("review.md", "no blocking findings")
	require.Equal(t, 0, c.run("", "verdict", "--mode", "heuristic", "review.md").code)
	require.Equal(t, 6, c.run("", "verdict", "review.md").code)
}
