//go:build linux || darwin

package realagents

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"conclave/internal/fakemodel"
	"conclave/internal/record"
)

// TestFailuresThatPass: the writer's server fails for longer than the program tries, and one reviewer's quota is used up
// for a while. The run waits for both, the other seat does not, and each real attempt is counted.
func TestFailuresThatPass(t *testing.T) {
	bins(t)
	t.Parallel()
	const reset = time.Minute // enough for the other seat to ask, on a busy machine
	l := newLab(t, fakemodel.Script{Turns: []fakemodel.Turn{
		{Role: "implement", Steps: []fakemodel.Step{
			{Say: "I write Sum.", Write: []fakemodel.File{{Path: "calc.go", Content: mended, Existing: true}}, Fail: &fakemodel.Failure{Kind: fakemodel.ServerError, Times: 3}},
			{Say: "There it is."},
		}},
		{Role: "review", Seat: "codex", Steps: []fakemodel.Step{{Say: fakemodel.Pass(), Fail: &fakemodel.Failure{Kind: fakemodel.QuotaReset, Reset: reset, Times: 1}}}},
		{Role: "review", Steps: []fakemodel.Step{{Say: fakemodel.Pass()}}},
	}})
	run := l.run(0, "--preset", "dual-review", "Add Sum")
	require.Equal(t, record.Converged, run.Stop)
	require.Equal(t, 1, run.Iterations)
	attempts := map[string]int{}
	for _, s := range run.Steps {
		if s.Adapter != "" {
			require.Equal(t, record.OK, s.Status, "%s %s: %s", s.ID, s.Adapter, s.Message)
			attempts[s.Turn+" "+s.Adapter] = s.Attempts
			noted(row{s.Adapter, map[int]string{1: "other seat's quota is used up", 2: "failure that passes, in a run"}[s.Attempts], string(s.Class), s.Message, float64(s.DurationMS) / 1000})
		}
	}
	require.Equal(t, map[string]int{"implement claude": 2, "review codex": 2, "review claude": 1}, attempts)
	var asked []time.Time
	var other time.Time
	for _, r := range l.server.Requests() {
		switch {
		case r.Header.Role == "review" && r.API == fakemodel.Responses:
			asked = append(asked, r.At)
		case r.Header.Role == "review":
			other = r.At
		}
	}
	require.Len(t, asked, 2, "codex asks once more, after the reset")
	require.True(t, other.Before(asked[1]), "the other seat waits for nobody")
}

// TestADeclaredSubstitution: an engine whose key is refused is replaced by the next one of its lane.
func TestADeclaredSubstitution(t *testing.T) {
	bins(t)
	t.Parallel()
	l := newLab(t, fakemodel.Script{Turns: []fakemodel.Turn{
		{Role: "implement", Steps: []fakemodel.Step{{Say: "I write Sum.", Write: []fakemodel.File{{Path: "calc.go", Content: mended, Existing: true}}}, {Say: "There it is."}}},
		{Role: "review", API: fakemodel.Responses, Steps: []fakemodel.Step{{Fail: &fakemodel.Failure{Kind: fakemodel.Unauthorized}}}},
		{Role: "review", Steps: []fakemodel.Step{{Say: fakemodel.Pass()}}},
	}})
	l.configure(map[string]any{"seats": map[string]any{"codex": map[string]any{"substitutions": []string{"gemini"}}}})
	run := l.run(0, "--implementer", "claude", "--reviewer", "codex", "Add Sum")
	require.Equal(t, record.Converged, run.Stop)
	seat := run.Steps[len(run.Steps)-1]
	require.Equal(t, "review", seat.Turn)
	require.Equal(t, record.OK, seat.Status, seat.Message)
	require.Equal(t, "gemini", seat.Identity.Reported.Adapter)
	require.Equal(t, "gemini", seat.Identity.Requested.Adapter)
	require.Equal(t, 2, seat.Attempts)
	require.Contains(t, run.Notes[len(run.Notes)-1], "gemini took its place")
	noted(row{"codex", "401 in a run: gemini takes its place", string(seat.Class), seat.Message, float64(seat.DurationMS) / 1000})
}
