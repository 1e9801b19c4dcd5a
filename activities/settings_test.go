package activities

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/loop"
	"conclave/internal/record"
)

// A hook or an instruction that a turn leaves in the agent's own state would be obeyed by the user's next session.
func TestWhatAnAgentsSessionsObeyIsToldWhenItChanges(t *testing.T) {
	l, first := claudeLab(t)
	require.Empty(t, first.Notes, "logins and sessions are the program's business")
	state := filepath.Join(l.dir, ".claude")
	require.NoError(t, os.MkdirAll(state, 0o700))
	for _, name := range []string{"CLAUDE.md", "settings.json"} {
		require.NoError(t, os.WriteFile(filepath.Join(state, name), []byte("{}"), 0o600))
	}
	l.plays(`echo 2 >> work.go; mkdir -p ~/.claude/hooks ~/.claude/projects; echo evil > ~/.claude/hooks/start; echo '{"hooks":{}}' > ~/.claude/settings.json; echo login > ~/.claude/.credentials.json` + claudeSays)
	out := do[loop.TurnResult](l, l.acts.RunTurn, l.claudeTurn("02", "implement", first.Snapshot, ""))
	require.Equal(t, record.ClassOK, out.Class, out.Message)
	require.Contains(t, strings.Join(out.Notes, "\n"), "step 02: claude made or changed what its own sessions obey: ~/.claude/hooks, ~/.claude/settings.json;")
}
