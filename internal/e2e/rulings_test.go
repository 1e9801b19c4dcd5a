package e2e

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	runrecord "conclave/internal/record"
)

// stubborn is a draft with a flaw that both seats see, which no repair removes
// and on which the arbiter wants a person.
func stubborn() []step {
	return []step{
		{Role: "implement", Write: map[string]string{"calc.go": flawed}, Say: "drafted"},
		{Role: "repair", Write: map[string]string{"calc.go": flawed + "\n// mended\n"}, Say: "mended", Fix: object{"*": "fixed"}},
		{Role: "review", Review: blocked(offByOne())},
		{Role: "recheck", Recheck: all("not-addressed")},
		{Role: "arbitrate", Rulings: all("person"), Reason: "it depends on what n means"},
	}
}

// asked lists what the record says is asked.
func asked(run runrecord.Run) []string {
	var subjects []string
	for _, q := range run.Questions {
		subjects = append(subjects, q.Subject)
	}
	return subjects
}

func TestAWaitingRunIsRuledFromTheCommandLine(t *testing.T) {
	t.Parallel()
	l, run := full(t, 3, stubborn(), "--max-iters", "1")
	require.Equal(t, runrecord.NeedsRuling, run.Stop)
	require.Equal(t, []string{"F1"}, asked(run))
	require.Contains(t, run.Questions[0].Text, "Sum(3) is 3 and not 6")

	out := l.starter("rule", "@last", "F9", "--stand", "--reason", "x")
	require.Equal(t, 2, out.code, out.String())
	require.Contains(t, out.stderr, "there is no finding F9; asked now: F1")
	require.Contains(t, out.stderr, "it asks for a ruling on F1")
	out = l.starter("rule", "@last", "F1", "--stand", "--reason", "x", "--head", "0000000000000000000000000000000000000000")
	require.Equal(t, 2, out.code, out.String())
	require.Contains(t, out.stderr, "stale: it is about 0000")

	out = l.starter("rule", "@last", "f1", "--fix", "--reason", "Sum(3) must be 6", "--by", "ann")
	require.Equal(t, 0, out.code, out.String())
	require.Contains(t, out.stdout, "F1: fix\nnothing is asked any more; `starter resume "+run.RunID+"` goes on\n")
	require.Zero(t, l.started("repair"), "a ruling carries no run")
	shown := l.starter("show", "@last")
	require.Equal(t, 0, shown.code, shown.String())
	require.Contains(t, shown.stdout, "stopped: no starter carries it; `starter resume "+run.RunID+"` goes on")
	require.NotContains(t, shown.stdout, "starter rule", "what was answered is not asked any more")

	again := l.resume(3)
	require.Equal(t, 1, l.started("repair"))
	require.Equal(t, []runrecord.Question{{Subject: "F1", Number: 2, Text: again.Questions[0].Text, Since: again.Questions[0].Since, Head: again.Questions[0].Head}}, again.Questions)
	out = l.starter("rule", "@last", "F1", "--stand", "--reason", "n is never negative | and *known*", "--json")
	require.Equal(t, 0, out.code, out.String())
	var answer struct {
		RunID  string `json:"run_id"`
		Status string `json:"status"`
		Number int    `json:"number"`
	}
	require.NoError(t, json.Unmarshal([]byte(out.stdout), &answer))
	require.Equal(t, run.RunID+" applied", answer.RunID+" "+answer.Status)
	require.Equal(t, 2, answer.Number)
	require.Equal(t, runrecord.Ruled, l.shown().Stop, "the bundle says so before anybody lands it")

	ended := l.resume(0)
	require.Equal(t, runrecord.Ruled, ended.Stop)
	require.Len(t, ended.Rulings, 3, "one of the arbiter, two of people")
	require.Equal(t, "ann", ended.Rulings[1].By)
	require.NotEqual(t, ended.Rulings[1].Head, ended.Rulings[2].Head)
	require.Contains(t, l.read(l.bundle(run.RunID, "report.md")), "n is never negative")
	require.Contains(t, l.read(l.bundle(run.RunID, "rulings.json")), "Sum(3) must be 6")
	l.checkBundle(ended)

	out = l.starter("rule", "@last", "F1", "--stand", "--reason", "x")
	require.Equal(t, 2, out.code, out.String())
	require.Contains(t, out.stderr, "has ended, so nothing can be ruled any more")
}

// Any Temporal client can rule; what is no ruling is listed and changes nothing.
func TestAWaitingRunIsRuledByRawSignals(t *testing.T) {
	t.Parallel()
	l, run := full(t, 3, stubborn(), "--max-iters", "1")
	for _, junk := range []any{nil, 7, "F1", []string{"F1"}, object{"finding": "F1"}, object{"finding": 1, "decision": "stand", "reason": "x"},
		object{"finding": "F7", "decision": "stand", "reason": "x"}, object{"finding": "F1", "decision": "stand", "reason": "x", "head": "older"}} {
		l.signal(run.RunID, "ruling", junk)
	}
	ruling := object{"finding": "F1", "decision": "stand", "reason": "plain JSON", "request_id": "r1"}
	l.signal(run.RunID, "ruling", ruling)
	l.signal(run.RunID, "ruling", ruling)
	ended := l.resume(0)
	require.Equal(t, runrecord.Ruled, ended.Stop)
	require.Len(t, ended.Refused, 9)
	require.Equal(t, "signal", ended.Rulings[len(ended.Rulings)-1].By)
	report := l.read(l.bundle(run.RunID, "report.md"))
	require.Contains(t, report, "plain JSON")
	require.Contains(t, report, "there is no finding F7")
}

func TestABudgetThatRunsOutBeforeAFanOutWaits(t *testing.T) {
	t.Parallel()
	l, run := full(t, 5, []step{
		{Role: "implement", Write: map[string]string{"calc.go": mended}, Say: "drafted"},
		{Role: "review", Review: clean()},
	}, "--max-tokens", "100000") // a writer and one seat, by what is assumed
	require.Equal(t, runrecord.Budget, run.Stop)
	require.Equal(t, []string{"BUDGET"}, asked(run))
	require.Zero(t, l.started("review"), "no seat of the batch began")
	out := l.starter("rule", "@last", "BUDGET", "--fix", "--reason", "x")
	require.Equal(t, 2, out.code, out.String())
	out = l.starter("rule", "@last", "BUDGET", "--stand")
	require.Equal(t, 0, out.code, out.String())
	ended := l.resume(0)
	require.Equal(t, runrecord.Converged, ended.Stop)
	require.Equal(t, 1, ended.Budget.Extended)
	require.Positive(t, ended.Budget.AssumedTokens, "bolt reports no usage")
}
