package loop

import (
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/record"
)

func TestAnUnknownOutcomeIsNoSuccess(t *testing.T) {
	for output, want := range map[string]record.Stop{
		`{"outcome":"converged"}`: record.Converged, `{"outcome":"ruled"}`: record.Ruled,
		`{"outcome":"advisory"}`: record.Converged, `{"outcome":"later"}`: record.StepFailed, `{}`: record.StepFailed,
	} {
		require.Equal(t, want, stopOfOutput([]byte(output)), output)
	}
}
