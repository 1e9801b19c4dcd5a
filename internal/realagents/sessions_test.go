//go:build linux || darwin

package realagents

import (
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/record"
)

// TestRepairsResumeTheWritersSession: with each real program as the writer, the repair goes on with the session of the
// draft, and its usage is its own share, whatever the program counts.
func TestRepairsResumeTheWritersSession(t *testing.T) {
	bins(t)
	for writer, reviewer := range map[string]string{"claude": "codex", "codex": "claude", "gemini": "claude", "opencode": "claude"} {
		t.Run(writer, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, twoIterations())
			run := l.run(0, "--implementer", writer, "--reviewers", reviewer, "--verify-cmd", "grep -q 'func Sum' calc.go", "Add Sum")
			require.Equal(t, record.Converged, run.Stop)
			require.Equal(t, 2, run.Iterations)
			l.checkTurns(run)
			sessions := map[string]string{}
			for _, s := range run.Steps {
				require.Equal(t, s.Turn == "repair", s.Resumed, "%s %s; notes %q", s.ID, s.Turn, run.Notes)
				sessions[s.Turn] = s.Session
			}
			require.Equal(t, sessions["implement"], sessions["repair"])
		})
	}
}
