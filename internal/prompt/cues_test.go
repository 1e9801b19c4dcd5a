package prompt

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCues(t *testing.T) {
	for pattern, want := range map[string][]string{
		`abc`:                {"abc"},
		`a?`:                 nil,
		`(?:abc|de) x`:       {"abc", "de"},
		`(?:abc|\S+) xyz`:    {" xyz"},
		`(?:abc|a?)`:         nil,
		`(?:ab){2,3}`:        {"ab"},
		`(?:ab){0,3}cde(?:)`: {"cde"},
		`(?:a b)+`:           {"a b"},
	} {
		got := cues(pattern)
		slices.Sort(got)
		require.Equal(t, want, got, pattern)
	}
	for _, r := range steering() {
		require.NotEmpty(t, r.cues, r.phrase)
	}
}
