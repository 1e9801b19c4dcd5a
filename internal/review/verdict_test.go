package review

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseVerdictShapes(t *testing.T) {
	for _, c := range verdictShapes {
		t.Run(c.name, func(t *testing.T) {
			got := ParseVerdict([]byte(c.text), Strict)
			require.Equal(t, c.want.String(), got.Verdict.String(), got.Reason)
			require.Equal(t, c.line, got.Line, got.Reason)
			require.NotEmpty(t, got.Reason)
		})
	}
}
