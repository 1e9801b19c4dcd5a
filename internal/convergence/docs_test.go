package convergence

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestThePageNamesEverything keeps docs/convergence.md complete.
func TestThePageNamesEverything(t *testing.T) {
	page, err := os.ReadFile("../../docs/convergence.md")
	require.NoError(t, err)
	for rule := range sides {
		require.Contains(t, string(page), "`"+rule+"`")
	}
	for _, typ := range hostileTypes[:len(hostileTypes)-1] {
		require.Contains(t, string(page), "`"+typ+"`")
	}
	for _, word := range []string{
		KindDispatch, KindConfirm, KindArbitrate, KindAsk, KindPause, KindComplete, KindFail,
		CodeNodeFailed, CodeExhausted, CodeEvidenceInvalid, CodeEscalated, CodeUnreachable, CodeNoChange, CodeStalled, CodeSeatUnresolved, CodeRulingAbort, CodeInvalidState,
		PauseInterrupted, PauseLimit, PauseNode, PauseUnresolved, PauseUnavailable,
	} {
		require.Contains(t, string(page), "`"+word+"`")
	}
	for _, key := range append(append([]string{}, dataExtensions...), nodeExtensions...) {
		require.Contains(t, string(page), "`"+key+"`")
	}
}
