package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/record"
)

func TestOutcome(t *testing.T) {
	failed := []record.Step{{ID: "04", Role: "implementer", Adapter: "claude", Status: record.Failed, Message: "timed out\nafter 2s"}, {ID: "05", Status: record.NotRun}}
	cases := []struct {
		name string
		run  record.Run
		want string
	}{
		{"converged", record.Run{Stop: record.Converged, Converged: true, Iterations: 2}, "converged in 2 iterations"},
		{"first time", record.Run{Stop: record.Converged, Converged: true, Iterations: 1}, "converged in 1 iteration"},
		{"marks", record.Run{Stop: record.Converged, Converged: true, Iterations: 1, DryRun: true, SelfReviewed: true}, "converged in 1 iteration [dry run, self-reviewed]"},
		{"a contradiction is no success", record.Run{Stop: record.Converged, Iterations: 1}, "ended after 1 iteration; not converged"},
		{"ruled", record.Run{Stop: record.Ruled, Iterations: 3}, "ended after 3 iterations: every open finding was ruled on"},
		{"max-iters", record.Run{Stop: record.MaxIters, Iterations: 3}, "stopped after 3 iterations (max-iters); not converged"},
		{"stalled", record.Run{Stop: record.Stalled, Iterations: 2}, "stopped after 2 iterations (stalled); not converged"},
		{"failed", record.Run{Stop: record.StepFailed, Steps: failed}, "halted: step 04 failed: timed out after 2s; not converged"},
		{"failed outside a step", record.Run{Stop: record.StepFailed, Message: "no disk"}, "halted: no disk; not converged"},
		{"the run's own words", record.Run{Stop: record.StepFailed, Steps: failed, Message: "step 06 (implementer claude) changed nothing"}, "halted: step 06 (implementer claude) changed nothing; not converged"},
		{"what the program said comes first", record.Run{Stop: record.StepFailed, Message: "step 04 (implementer claude) failed: ended with exit code 7 without a final event; standard error: Invalid API key",
			Steps: []record.Step{{ID: "04", Status: record.Failed, Message: "ended with exit code 7 without a final event; standard error: Invalid API key"}}},
			"halted: step 04 (implementer claude) failed: Invalid API key (ended with exit code 7 without a final event); not converged"},
		{"invalid", record.Run{Stop: record.StepFailed, Steps: []record.Step{{ID: "02", Status: record.Invalid, Message: "m"}}}, "halted: step 02 gave no valid answer: m; not converged"},
		{"nothing known", record.Run{Stop: record.StepFailed}, "halted: a step failed; not converged"},
		{"waits", record.Run{Stop: record.NeedsRuling, Iterations: 6, Waiting: "F1"}, "waits for a person after 6 iterations (needs-ruling): F1; not converged"},
		{"waits for more budget", record.Run{Stop: record.Budget, Iterations: 2, Waiting: "a ruling on BUDGET"}, "waits for a person after 2 iterations (budget): a ruling on BUDGET; not converged"},
		{"a budget that ran out", record.Run{Stop: record.Budget, Iterations: 2}, "stopped after 2 iterations (budget); not converged"},
		{"an advisory run", record.Run{Stop: record.Converged, Converged: true, Iterations: 2, Advisory: true}, "converged in 2 iterations [advisory]"},
		{"trusted reviewers", record.Run{Stop: record.Converged, Converged: true, Iterations: 2, Uncalibrated: []string{"codex"}}, "converged in 2 iterations [uncalibrated]"},
		{"interrupted at a seat", record.Run{Stop: record.StopInterrupted, Iteration: 2, Waiting: "interrupted: codex"}, "interrupted in iteration 2 at codex: it can be resumed; not converged"},
		{"interrupted at a limit", record.Run{Stop: record.StopInterrupted, Iteration: 2, Waiting: "interrupted"}, "interrupted in iteration 2: it can be resumed; not converged"},
		{"interrupted early", record.Run{Stop: record.StopInterrupted, Waiting: "interrupted before the run was prepared"}, "interrupted before the run was prepared: it can be resumed; not converged"},
		{"interrupted while paused", record.Run{Stop: record.StopInterrupted, Waiting: "node fix is paused"}, "interrupted in iteration 1 (node fix is paused): it can be resumed; not converged"},
		{"interrupted", record.Run{Stop: record.StopInterrupted, Iteration: 2}, "interrupted in iteration 2: it can be resumed; not converged"},
		{"cancelled", record.Run{Stop: record.Cancelled, Iterations: 1}, "cancelled after 1 iteration; not converged"},
		{"no review", record.Run{Stop: record.NoReview, Message: "the diff is empty"}, "ended without a review (no-review): the diff is empty; not converged"},
		{"newer", record.Run{Stop: "teleported", Converged: true}, "stopped after 0 iterations (teleported); not converged"},
		{"running", record.Run{Iteration: 2, MaxIters: 3}, "running: iteration 2 of 3"},
		{"waiting", record.Run{Iteration: 2, Waiting: "the quota of codex"}, "running: iteration 2: waits for the quota of codex"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, Outcome(c.run)) })
	}
}

func TestNextSteps(t *testing.T) {
	converged := twoIterations(shelf{})
	with := func(change func(*record.Run)) record.Run {
		run := converged
		change(&run)
		return run
	}
	cases := []struct {
		name string
		run  record.Run
		want []string
	}{
		{"converged", converged, []string{
			"review: git diff 1234567890ab conclave/add-cache-k3f9q", "merge: git merge conclave/add-cache-k3f9q",
			"apply: starter apply add-cache-k3f9q --workdir DIR", "discard: git branch -D conclave/add-cache-k3f9q",
		}},
		{"not converged", with(func(r *record.Run) { r.Stop, r.Converged = record.MaxIters, false }), []string{
			"review: git diff 1234567890ab conclave/add-cache-k3f9q", "details: starter show add-cache-k3f9q",
			"merge anyway: git merge conclave/add-cache-k3f9q", "discard: git branch -D conclave/add-cache-k3f9q",
		}},
		{"a review that could not be made", with(func(r *record.Run) {
			r.Stop, r.Converged = record.StepFailed, false
			r.Steps = append(r.Steps[:6:6], record.Step{ID: "07", Role: "reviewer", Seat: "codex", Status: record.Failed, Class: record.ClassPermanent})
		}), []string{
			"go on with the review: starter review --base 1234567890ab --head conclave/add-cache-k3f9q --seat codex=codex:gpt-5@correctness --seat claude=claude:gpt-5@correctness",
			"review: git diff 1234567890ab conclave/add-cache-k3f9q", "details: starter show add-cache-k3f9q",
			"merge anyway: git merge conclave/add-cache-k3f9q", "discard: git branch -D conclave/add-cache-k3f9q",
		}},
		{"dry run", with(func(r *record.Run) { r.DryRun = true }), []string{
			"review: git diff 1234567890ab conclave/add-cache-k3f9q", "discard: git branch -D conclave/add-cache-k3f9q",
		}},
		{"not landed", with(func(r *record.Run) { r.Landed = false }), []string{
			"review: starter show add-cache-k3f9q --diff", "land: starter resume add-cache-k3f9q", "apply: starter apply add-cache-k3f9q",
		}},
		{"a start of our own", with(func(r *record.Run) { r.LeftOut = nil }), []string{
			"apply: starter apply add-cache-k3f9q", "review: git diff conclave/add-cache-k3f9q~1 conclave/add-cache-k3f9q", "discard: git branch -D conclave/add-cache-k3f9q",
		}},
		{"a start of our own, not converged", with(func(r *record.Run) { r.LeftOut, r.Stop = nil, record.Stalled }), []string{
			"review: git diff conclave/add-cache-k3f9q~1 conclave/add-cache-k3f9q", "details: starter show add-cache-k3f9q",
			"apply anyway: starter apply add-cache-k3f9q --force", "discard: git branch -D conclave/add-cache-k3f9q",
		}},
		{"a dry run that is not landed", with(func(r *record.Run) { r.DryRun, r.Landed, r.Branch = true, false, "" }), []string{
			"review: starter show add-cache-k3f9q --diff", "land: starter resume add-cache-k3f9q",
		}},
		{"nothing changed", with(func(r *record.Run) { r.Changed = nil }), []string{"details: starter show add-cache-k3f9q"}},
		{"no repository", with(func(r *record.Run) {
			r.Branch, r.Landed, r.Stop = "", false, record.Stalled
			r.Notes = []string{"the work directory is no git repository, so there is no branch"}
		}), []string{
			"review: starter show add-cache-k3f9q --diff", "apply: starter apply add-cache-k3f9q --force",
		}},
		{"interrupted", record.Run{RunID: "r", Stop: record.StopInterrupted}, []string{"resume: starter resume r", "cancel: starter cancel r"}},
		{"running", record.Run{RunID: "r"}, []string{"watch: starter watch r", "cancel: starter cancel r"}},
		{"ruling", record.Run{RunID: "r", Stop: record.NeedsRuling, Findings: []record.Finding{
			{ID: "F1", Severity: "high", Disposition: "confirmed"}, {ID: "F2", Severity: "low", Disposition: "open"},
		}}, []string{`rule: starter rule r F1 --stand|--fix|--abort --reason "..."`, "resume: starter resume r", "cancel: starter cancel r"}},
		{"a word of the shell", record.Run{RunID: "a b'c"}, []string{`watch: starter watch 'a b'\''c'`, `cancel: starter cancel 'a b'\''c'`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, NextSteps(c.run)) })
	}
}
