package activities

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/loop"
	"conclave/internal/record"
)

// What a reader changes is seen whatever it is: its answer does not count, and the run's work stays as it was.
func TestAReaderThatChangesAnythingIsNotBelieved(t *testing.T) {
	l := newLab(t).prepare(false)
	change := l.wrote("01", draft).Snapshot
	repo := l.repo().Dir()
	refs, err := l.repo().Refs(t.Context(), "refs/")
	require.NoError(t, err)
	config, err := os.ReadFile(repo + "/config")
	require.NoError(t, err)
	for i, c := range []struct{ script, said string }{
		{"echo mine >> calc.go", `"calc.go"`},
		{"chmod 600 calc.go", `"calc.go"`},
		{"mkdir cache; echo x > cache/x", `"cache/x"`},
		{"touch -r calc.go $LAB/time; sed -i s/n/m/g calc.go; touch -r $LAB/time calc.go", `"calc.go"`},
		{"echo x > note.txt; git add note.txt; git commit -qm mine", `"note.txt"`},
		{"for i in 1 2 3 4 5 6 7 8 9; do echo x > $i.txt; done", `"8.txt"] and 1 more`},
		{"rm -rf \"$PWD\"/* \"$PWD\"/.git*", `".gitignore" "calc.go"`},
		{"rm -rf \"$PWD\"", `["."]`},
		{"chmod 700 .", `["."]`},
		{"ln -s /etc/hostname outside; rm outside; (sleep 60; echo late > late.txt) & ", ""},
		{"git --git-dir=" + repo + " update-ref -d refs/conclave/" + runID + "/01", "in the run's repository, which was put back"},
		{"git --git-dir=" + repo + " config core.fsmonitor 'touch /tmp/x'", `["config"]`},
		{"git config core.fsmonitor 'touch /tmp/x'; echo '*' > .git/info/exclude; rm -r .git/refs", ""},
	} {
		l.plays(c.script + "\nprintf 'looked at it\\n\\nVERDICT: PASS\\n'")
		out := do[loop.TurnResult](l, l.acts.RunTurn, l.review(string(rune('a'+i)), change))
		if c.said == "" {
			require.Equal(t, record.ClassOK, out.Class, "%s: %s", c.script, out.Message)
			continue
		}
		require.Equal(t, record.ClassViolation, out.Class, "%s: %s", c.script, out.Message)
		require.Equal(t, "WORKSPACE_VIOLATION", out.Code)
		require.Contains(t, out.Message, c.said, c.script)
		require.Empty(t, out.Verdict)
		require.Empty(t, out.Findings)
		now, err := l.repo().Refs(t.Context(), "refs/")
		require.NoError(t, err)
		require.Equal(t, refs, now, c.script)
		same, err := os.ReadFile(repo + "/config")
		require.NoError(t, err)
		require.Equal(t, string(config), string(same))
	}
	require.Equal(t, []string{"calc.go"}, l.paths(change.Commit))
}
