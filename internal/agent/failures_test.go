package agent

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"conclave/internal/record"
)

func mine(t *testing.T, pairs ...string) []Failure {
	t.Helper()
	var list []Failure
	for i := 0; i < len(pairs); i += 2 {
		f, err := NewFailure(pairs[i], pairs[i+1])
		require.NoError(t, err)
		list = append(list, f)
	}
	return list
}

// Row 37: the words of a limit change with every version, and some stand on standard error alone.
func TestTheUsersPatternsClassifyAFailure(t *testing.T) {
	s := Settings{
		Commands: map[string]CommandSettings{"own": {Argv: []string{"x"}, Identity: Identity{Provider: "p", ModelFamily: "f", Model: "m"}}},
	}
	patterns := mine(t, "quota", "allowance is spent", "transient", "try that later", "permanent", `no seat for \w+@`)
	s.Failures = map[string][]Failure{"own": patterns, "codex": patterns, "claude": patterns}
	judge := func(name, stdout, stderr string, exit int) Outcome {
		a, err := s.Lookup(name)
		require.NoError(t, err)
		require.Equal(t, map[bool]string{true: "command", false: name}[name == "own"], a.Name())
		o, _, err := Explain(a, TurnSpec{Target: Target{Adapter: name}}, Recording{Stdout: strings.NewReader(stdout), Stderr: stderr, Exit: exit})
		require.NoError(t, err)
		return o
	}
	o := judge("own", "", "fatal: your ALLOWANCE is spent, try again in 2 hours\n", 1)
	require.Equal(t, record.ClassQuota, o.Class)
	require.Equal(t, 2*time.Hour, o.RetryAfter)
	require.Contains(t, o.Message, "ALLOWANCE is spent")
	require.Empty(t, o.Final)
	require.Equal(t, record.ClassTransient, judge("own", "", "please try that later", 3).Class)
	require.Equal(t, record.ClassPermanent, judge("own", "", "no seat for ada@example.com", 3).Class)
	require.Equal(t, record.ClassMalformed, judge("own", "", "something else", 3).Class)

	const failed = `{"type":"thread.started","thread_id":"t"}` + "\n" + `{"type":"turn.started"}` + "\n" + `{"type":"error","message":"The allowance is spent for this week."}` + "\n" +
		`{"type":"turn.failed","error":{"message":"The allowance is spent for this week."}}` + "\n"
	require.Equal(t, record.ClassQuota, judge("codex", failed, "", 1).Class)
	require.Equal(t, record.ClassPermanent, judge("codex", "", "error: unexpected argument '--json' found\n", 2).Class, "what ours know they know still")
}

// Rows 33 and 37: an agent may write about limits as it likes.
func TestTheUsersPatternsReadNoProse(t *testing.T) {
	s := Settings{Commands: map[string]CommandSettings{"own": {Argv: []string{"x"}}}, Failures: map[string][]Failure{"own": mine(t, "quota", "allowance is spent")}}
	a, err := s.Lookup("own")
	require.NoError(t, err)
	explain := func(stdout, stderr string, exit int) Outcome {
		o, _, err := Explain(a, TurnSpec{}, Recording{Stdout: strings.NewReader(stdout), Stderr: stderr, Exit: exit})
		require.NoError(t, err)
		return o
	}
	require.Equal(t, record.ClassOK, explain("The test misses that the allowance is spent.\nVERDICT: PASS\n", "the allowance is spent soon", 0).Class)
	require.Equal(t, record.ClassMalformed, explain("The allowance is spent.\n", "", 1).Class, "prose is no error, whatever the exit code")
	require.Equal(t, record.ClassTimeout, explain("", "the allowance is spent", 124).Class, "our own limit ended it")
}

func TestAPatternThatCannotBeUsedIsRefused(t *testing.T) {
	for _, c := range [][2]string{{"ok", "x"}, {"malformed", "x"}, {"", "x"}, {"quota", "("}, {"quota", ""}, {"quota", "x*"}} {
		_, err := NewFailure(c[0], c[1])
		require.Error(t, err, "%v", c)
	}
}
