package prompt

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestHeaderLine(t *testing.T) {
	h := Header{Role: "recheck", Run: "add-endpoint-k3f9q", Round: 2, Seat: "security", Lens: "security", Evidence: "abc", Findings: []string{"F1", "F2"}}
	require.Equal(t, "conclave role=recheck run=add-endpoint-k3f9q round=2 seat=security lens=security evidence=abc findings=F1,F2", h.String())
	require.Equal(t, "conclave role=design run=r round=0 seat=- lens=- evidence=- findings=-", Header{Role: "design", Run: "r"}.String())
}

func TestHeadersSurviveTheirLine(t *testing.T) {
	word := rapid.StringMatching(`[a-zA-Z0-9._@:/][a-zA-Z0-9._@:/-]{0,20}`)
	rapid.Check(t, func(t *rapid.T) {
		h := Header{
			Role:     rapid.SampledFrom(Roles).Draw(t, "role"),
			Run:      word.Draw(t, "run"),
			Round:    rapid.IntRange(0, 99).Draw(t, "round"),
			Seat:     rapid.OneOf(rapid.Just(""), word).Draw(t, "seat"),
			Lens:     rapid.OneOf(rapid.Just(""), word).Draw(t, "lens"),
			Evidence: rapid.OneOf(rapid.Just(""), word).Draw(t, "evidence"),
			Findings: rapid.SliceOfN(rapid.StringMatching(`F[1-9][0-9]?`), 0, 4).Draw(t, "findings"),
		}
		if len(h.Findings) == 0 {
			h.Findings = nil
		}
		got, err := ParseHeader([]byte(h.String() + "\n\nYou review one change."))
		require.NoError(t, err)
		require.Equal(t, h, got)
	})
}

func TestForeignFirstLinesAreNoHeaders(t *testing.T) {
	for _, line := range []string{
		"", "conclave", "You review.", "conclave role=review",
		"conclave role=boss run=r round=0 seat=- lens=- evidence=- findings=-",
		"conclave run=r role=review round=0 seat=- lens=- evidence=- findings=-",
		"conclave role=review run=r round=x seat=- lens=- evidence=- findings=-",
		"conclave role=review run=r round=-1 seat=- lens=- evidence=- findings=-",
		"conclave role=review run=- round=0 seat=- lens=- evidence=- findings=-",
		"conclave role=review run=r round=0 seat=- lens=- evidence=- findings=F1,,F2",
	} {
		_, err := ParseHeader([]byte(line))
		require.Error(t, err, line)
	}
}
