package review

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// pair is two findings of the corpus and whether they are one. Anchors are lines as they stand in files and quotes.
type pair struct {
	Name string `json:"name"`
	Same bool   `json:"same"`
	// Missed marks one finding that the rule takes for two, which costs a turn. There is no mark for the reverse.
	Missed bool `json:"missed"`
	A      Mark `json:"a"`
	B      Mark `json:"b"`
}

func corpus(t *testing.T) []pair {
	t.Helper()
	text, err := os.ReadFile("testdata/pairs.json")
	require.NoError(t, err)
	var pairs []pair
	require.NoError(t, json.Unmarshal(text, &pairs))
	return pairs
}

func TestPairsOfFindings(t *testing.T) {
	pairs := corpus(t)
	same, missed := 0, 0
	names := map[string]bool{}
	for _, p := range pairs {
		require.False(t, names[p.Name], "%q stands twice", p.Name)
		names[p.Name] = true
		if p.Same && !p.Missed {
			same++
		}
		if p.Missed {
			missed++
		}
		t.Run(p.Name, func(t *testing.T) {
			want := p.Same && !p.Missed
			require.Equal(t, want, Same(p.A, p.B), "%+v\n%+v", p.A, p.B)
			require.Equal(t, want, Same(p.B, p.A), "the other way round")
			require.True(t, Same(p.A, p.A))
		})
	}
	require.GreaterOrEqual(t, len(pairs)-missed, 140)
	require.GreaterOrEqual(t, min(same, len(pairs)-missed-same), 60, "both answers are tested")
	require.LessOrEqual(t, missed, 5)
}
