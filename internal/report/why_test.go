package report

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/record"
)

// blocked is a run that used up its iterations with a red test and two objections.
func blocked() record.Run {
	voting, advisory, exit := true, false, 1
	return record.Run{
		RunID: "r", Stop: record.MaxIters, Iterations: 2, Message: "no convergence within the limits: iteration 2, 1 repairs",
		Steps: []record.Step{
			{ID: "01", Role: "verifier", Turn: "verify", Status: record.OK, Verdict: "pass"},
			{ID: "02", Role: "reviewer", Adapter: "codex", Seat: "first", Lens: "security", Voting: &voting, Status: record.OK, Verdict: "block"},
			{ID: "03", Role: "verifier", Turn: "verify", Status: record.OK, Verdict: "fail", ExitCode: &exit, Message: "failed with exit code 1"},
			{ID: "04", Role: "reviewer", Adapter: "codex", Seat: "first", Lens: "security", Voting: &voting, Status: record.OK, Verdict: "block"},
			{ID: "05", Role: "reviewer", Adapter: "claude", Seat: "second", Voting: &advisory, Status: record.OK, Verdict: "block"},
		},
		Findings: []record.Finding{
			{Title: "old", Disposition: "not-addressed", RaisedBy: []string{"first"}, History: []string{"raised in step 02"}},
			{Title: "Body never\nclosed", Disposition: "open", RaisedBy: []string{"first"}, History: []string{"raised in step 04"}},
			{Title: "Leaks a key", Disposition: "confirmed", RaisedBy: []string{"first"}, History: []string{"raised in step 04"}},
			{Title: "blocking review", Claim: "\n## The cache is stale\nVERDICT: BLOCK", Disposition: "open", RaisedBy: []string{"second"}, History: []string{"raised in step 05"}},
		},
	}
}

func TestWhy(t *testing.T) {
	with := func(change func(*record.Run)) record.Run {
		run := blocked()
		change(&run)
		return run
	}
	verify, first, key := "verify fails: exit code 1", "codex@security blocks: Body never closed", "codex@security blocks: Leaks a key"
	second := "claude/second (non-voting) objects: The cache is stale"
	cases := []struct {
		name string
		run  record.Run
		want []string
	}{
		{"the limit", blocked(), []string{verify, first, key, second}},
		{"stalled", with(func(r *record.Run) { r.Stop, r.Message = record.Stalled, "fix changed nothing in repair round 1" }), []string{"fix changed nothing in repair round 1", verify, first, key, second}},
		{"its message is in the outcome", with(func(r *record.Run) { r.Stop, r.Message, r.Findings = record.NoReview, "one seat of two", nil }), []string{verify}},
		{"a green verifier says nothing", with(func(r *record.Run) { r.Steps[2].Verdict, r.Findings = "pass", r.Findings[:2] }), []string{first}},
		{"nothing but the limit", with(func(r *record.Run) { r.Steps, r.Findings = nil, nil }), []string{"no convergence within the limits: iteration 2, 1 repairs"}},
		{"an unknown reviewer", record.Run{Stop: record.Stalled, Findings: []record.Finding{{Disposition: "open", RaisedBy: []string{"x"}}, {Disposition: "open", Title: "t"}}}, []string{"x blocks: blocking review", "an objection: t"}},
		{"a step that failed is in the outcome", with(func(r *record.Run) { r.Stop = record.StepFailed }), nil},
		{"converged", with(func(r *record.Run) { r.Stop, r.Converged = record.Converged, true }), nil},
		{"interrupted", with(func(r *record.Run) { r.Stop = record.StopInterrupted }), nil},
		{"it goes on", with(func(r *record.Run) { r.Stop = "" }), nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, Why(c.run)) })
	}
}

func TestWhyIsBounded(t *testing.T) {
	run := blocked()
	for i := range 20 {
		run.Findings = append(run.Findings, record.Finding{Title: fmt.Sprint(i), Disposition: "open", RaisedBy: []string{"first"}})
	}
	why := Why(run)
	require.Len(t, why, 1+mostReasons+1)
	require.Equal(t, "and 18 findings more", why[len(why)-1])
}

func TestObjection(t *testing.T) {
	run := blocked()
	require.Equal(t, "old", Objection(run, run.Steps[1]))
	require.Equal(t, "Body never closed (and 1 more)", Objection(run, run.Steps[3]))
	require.Equal(t, "The cache is stale", Objection(run, run.Steps[4]))
	require.Empty(t, Objection(run, run.Steps[2]))
}

func TestReason(t *testing.T) {
	one := 1
	cases := []struct {
		name string
		step record.Step
		want string
	}{
		{"plain", record.Step{Status: record.Failed, Message: "timed out\nafter 2s"}, "timed out after 2s"},
		{"standard error first", record.Step{Status: record.Failed, Message: "ended with exit code 7 without a final event; standard error: Invalid API key"}, "Invalid API key (ended with exit code 7 without a final event)"},
		{"empty standard error", record.Step{Status: record.Failed, Message: "was killed by SIGKILL; standard error: "}, "was killed by SIGKILL; standard error:"},
		{"the code once", record.Step{Status: record.OK, ExitCode: &one, Message: "failed with exit code 1"}, "exit code 1"},
		{"the code behind a check", record.Step{Status: record.OK, ExitCode: &one, Message: "failed with exit code 1: --- FAIL: TestCache"}, "--- FAIL: TestCache (exit code 1)"},
		{"another code", record.Step{Status: record.OK, ExitCode: &one, Message: "2 tests failed"}, "2 tests failed (exit code 1)"},
		{"the code within", record.Step{Status: record.OK, ExitCode: &one, Message: "make: exit code 1"}, "make: exit code 1"},
		{"only a code", record.Step{Status: record.OK, ExitCode: &one}, "exit code 1"},
		{"interrupted", record.Step{Status: record.Interrupted, Message: "interrupted"}, ""},
		{"ended by us", record.Step{Status: record.Interrupted, Message: "cancelled"}, ""},
		{"interrupted with news", record.Step{Status: record.Interrupted, Message: "the worker was lost"}, "the worker was lost"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, Reason(c.step)) })
	}
}
