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

// A sandbox keeps a file of settings, and cannot keep a link to one, as who manages such files with a program has them.
func TestALinkToSettingsIsPutBack(t *testing.T) {
	l, first := claudeLab(t)
	for _, dir := range []string{".claude", ".gradle", "dotfiles"} {
		require.NoError(t, os.MkdirAll(filepath.Join(l.dir, dir), 0o700))
	}
	require.NoError(t, os.WriteFile(filepath.Join(l.dir, "dotfiles", "s"), []byte("mine"), 0o600))
	links := []string{".claude/settings.json", ".claude/hooks", ".gradle/init.gradle"}
	for _, link := range links {
		require.NoError(t, os.Symlink("../dotfiles/s", filepath.Join(l.dir, link)))
	}
	replace := `rm -f ~/.gradle/init.gradle; echo evil > ~/.gradle/init.gradle; `
	l.plays(`echo 2 >> work.go; cd ~/.claude; rm settings.json hooks; mkdir hooks; echo evil > hooks/start; echo evil > settings.json; cd - > /dev/null; ` + replace + claudeSays)
	out := do[loop.TurnResult](l, l.acts.RunTurn, l.claudeTurn("02", "implement", first.Snapshot, ""))
	require.Equal(t, record.ClassOK, out.Class, out.Message)
	require.Equal(t, []string{"step 02: claude replaced links to what its own sessions obey: ~/.claude/hooks, ~/.claude/settings.json, ~/.gradle/init.gradle; they were put back, and what stood there lies beside them"}, out.Notes)
	do[loop.VerifyResult](l, l.acts.Verify, l.verify("03", out.Snapshot, replace))
	for _, link := range links {
		require.Equal(t, "mine", l.read(link), link)
	}
	aside, err := filepath.Glob(filepath.Join(l.dir, ".*", ".conclave-aside-*"))
	require.NoError(t, err)
	require.Len(t, aside, 4)
}
