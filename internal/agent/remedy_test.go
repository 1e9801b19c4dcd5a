package agent

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhatAPersonCanDoIsSaid: of each failure that a login, another model or a newer program cures, told from what the
// real programs printed. All others say nothing: a wrong remedy costs more than none.
func TestWhatAPersonCanDoIsSaid(t *testing.T) {
	const login, model, version = "check the login", "name another one", "the version that is needed"
	want := map[string]string{
		"claude/err-401": login, "claude/err-401-retries0": login, "claude/err-403": login, "claude/no-key": login,
		"claude/err-404": model, "claude/bad-model-flag": version,
		"codex/err-401": login, "codex/err-403": login, "codex/err-404": model,
		"gemini/err-401": login, "gemini/err-403": login, "gemini/err-badkey": login, "gemini/no-key": login, "gemini/err-404": model,
		"opencode/err-401": login, "opencode/err-403": login, "opencode/err-404": model, "opencode/err-badmodel": model,
	}
	seen := 0
	eachCapture(t, func(t *testing.T, adapter string, e expectation) {
		stdout, stderr := readCapture(t, adapter, e.name)
		p := newParser(t, adapter)
		feed(p, stdout)
		a, err := Settings{}.Lookup(adapter)
		require.NoError(t, err)
		got := Remedy(a, Target{Adapter: adapter, Model: "m-1"}, p.Outcome(EndFromExit(e.exit, stderr)))
		if w, known := want[adapter+"/"+e.name]; known {
			require.Contains(t, got, w)
			seen++
		} else {
			require.Empty(t, got)
		}
	})
	require.Equal(t, len(want), seen, "a capture that is expected is not there")
}

func TestNothingIsSaidOfAProgramOfTheUsers(t *testing.T) {
	require.Empty(t, Remedy(command{}, Target{}, Outcome{Class: permanent, Message: "401 unauthorized"}))
	require.Empty(t, Remedy(claude{}, Target{}, Outcome{Class: transient, Message: "401 unauthorized"}))
	require.Contains(t, Remedy(codex{}, Target{}, Outcome{Class: permanent, Message: "401 unauthorized"}), "codex login")
}
