package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRuleRefusesWhatIsNoRulingBeforeItAsksAnybody(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"no decision":       {[]string{"rule", "x", "F1", "--reason", "y"}, "a ruling has one decision; 0 are given"},
		"two decisions":     {[]string{"rule", "x", "F1", "--stand", "--fix", "--reason", "y"}, "2 are given"},
		"no reason":         {[]string{"rule", "x", "F1", "--stand"}, "reason is missing"},
		"fix for the size":  {[]string{"rule", "x", "size", "--fix"}, "SIZE cannot be answered with fix"},
		"no finding":        {[]string{"rule", "x"}, "FINDING is missing"},
		"an unknown run":    {[]string{"rule", "nosuch", "F1", "--stand", "--reason", "y"}, "nosuch"},
		"one word too many": {[]string{"rule", "x", "F1", "F2", "--stand"}, "one argument too many"},
	} {
		t.Run(name, func(t *testing.T) {
			out := newCLI(t).run("", c.args...)
			require.Equal(t, exitUsage, out.code, out.err)
			require.Contains(t, out.err, c.says)
		})
	}
}

func TestWhoRules(t *testing.T) {
	request, err := ruleFlags{fix: true, reason: " why "}.request(" f2 ")
	require.NoError(t, err)
	require.Equal(t, "F2", request.Finding)
	require.Equal(t, "fix", request.Decision)
	require.Equal(t, "why", request.Reason)
	require.NotEmpty(t, request.By)
	require.Empty(t, request.RequestID, "the question is the key: the same ruling twice is one")
	other, err := ruleFlags{stand: true, by: "ann"}.request("BUDGET")
	require.NoError(t, err)
	require.Equal(t, "ann", other.By)
}
