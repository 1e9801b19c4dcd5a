package process

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExitCodesThatBubblewrapMadeOfSignals: a code that some program chooses for itself stays one.
func TestExitCodesThatBubblewrapMadeOfSignals(t *testing.T) {
	for code, signal := range map[int]string{137: "SIGKILL", 139: "SIGSEGV", 134: "SIGABRT"} {
		require.Equal(t, report{Code: -1, Signal: signal}, translated(report{Code: code}))
	}
	statuses := []int{0, 1, 130, 143} // a shell's, INT and TERM
	for _, status := range []int{400, 401, 402, 403, 404, 408, 409, 413, 425, 429, 500, 502, 503, 504, 529} {
		statuses = append(statuses, status&255) // gemini's
	}
	for _, code := range statuses {
		require.Equal(t, report{Code: code}, translated(report{Code: code}))
	}
}
