package view

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"conclave/internal/record"
)

var began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// script is a run that is told one update at a time.
type script struct {
	run     record.Run
	now     time.Time
	actions map[string]string
	updates []Update
}

func newScript() *script {
	return &script{now: began, actions: map[string]string{}, run: record.Run{
		RunID: "add-endpoint-k3f9q", StartedAt: began.Format(time.RFC3339), MaxIters: 3, Base: "1234567890abcdef1234567890abcdef12345678",
	}}
}

// after lets time pass and tells what the run is then.
func (s *script) after(d time.Duration, change func(*record.Run)) *script {
	s.now = s.now.Add(d)
	if change != nil {
		change(&s.run)
	}
	s.run.TotalMS = s.now.Sub(began).Milliseconds()
	u := Update{Run: s.run, Now: s.now, Actions: map[string]string{}}
	u.Run.Steps = append([]record.Step{}, s.run.Steps...)
	for id, action := range s.actions {
		u.Actions[id] = action
	}
	s.updates = append(s.updates, u)
	return s
}

func (s *script) begin(r *record.Run, iteration int, role, turn, adapter, lens string) {
	r.Iteration = iteration
	r.Steps = append(r.Steps, record.Step{
		ID: fmt.Sprintf("%02d", len(r.Steps)+1), Role: role, Turn: turn, Adapter: adapter, Seat: adapter, Lens: lens, Iteration: iteration,
		Status: record.Running, StartedMS: s.now.Sub(began).Milliseconds(), Attempts: 0,
	})
}

// end finishes a step, given by its number from 1.
func (s *script) end(r *record.Run, number int, status record.StepStatus, verdict, message string, stats *record.Stats) {
	step := &r.Steps[number-1]
	step.Status, step.Verdict, step.Message, step.Stats, step.Attempts = status, verdict, message, stats, max(step.Attempts, 1)
	step.DurationMS = s.now.Sub(began).Milliseconds() - step.StartedMS
}

// converging is blocked in its first iteration and converges in its second.
func converging() *script {
	s, exit := newScript(), 1
	s.after(time.Second, nil)
	s.after(time.Second, func(r *record.Run) { s.begin(r, 1, "implementer", "implement", "claude", "") })
	s.actions["01"] = "Reading \x1b[31mroutes.go\x07\u202e and more"
	s.after(62*time.Second, nil)
	s.after(0, func(r *record.Run) {
		s.end(r, 1, record.OK, "", "", &record.Stats{Files: 3, Added: 120, Removed: 4})
		s.begin(r, 1, "verifier", "verify", "", "")
	})
	s.after(12*time.Second, func(r *record.Run) {
		s.end(r, 2, record.OK, "fail", "2 tests failed", nil)
		r.Steps[1].ExitCode = &exit
		s.begin(r, 1, "reviewer", "review", "codex", "correctness")
		s.begin(r, 1, "reviewer", "review", "claude", "correctness")
	})
	s.actions["03"], s.actions["04"] = "$ git diff --stat", "日本語のファイルを読んでいます日本語のファイルを読んでいます"
	s.after(40*time.Second, nil)
	s.after(0, func(r *record.Run) { s.end(r, 4, record.OK, "pass", "", nil) })
	s.after(2*time.Second, func(r *record.Run) {
		s.end(r, 3, record.OK, "block", "The body is never closed;\nsee routes.go:42 and everything else that follows from it", nil)
		r.Notes = []string{"2 protected paths changed: .github/workflows/ci.yml, conclave.yaml (only reported under basic)"}
	})
	s.after(0, func(r *record.Run) { s.begin(r, 2, "implementer", "repair", "claude", "") })
	s.after(5*time.Second, func(r *record.Run) { r.Steps[4].Attempts = 2 })
	s.after(5*time.Second, func(r *record.Run) {
		s.end(r, 5, record.OK, "", "", &record.Stats{Files: 1, Added: 3, Removed: 1})
		s.begin(r, 2, "verifier", "verify", "", "")
	})
	s.after(9*time.Second, func(r *record.Run) {
		s.end(r, 6, record.OK, "pass", "", nil)
		s.begin(r, 2, "reviewer", "review", "codex", "correctness")
		s.begin(r, 2, "reviewer", "review", "claude", "correctness")
	})
	s.after(30*time.Second, func(r *record.Run) {
		s.end(r, 7, record.OK, "pass", "", nil)
		s.end(r, 8, record.OK, "pass", "", nil)
	})
	return s.after(time.Second, func(r *record.Run) {
		r.Stop, r.Converged, r.Iterations, r.Landed, r.Branch = record.Converged, true, 2, true, "conclave/add-endpoint-k3f9q"
		r.Changed = []record.Change{{Path: "a.go", Added: 121, Removed: 4}, {Path: "b.go"}, {Path: "c.go"}}
	})
}

// failing ends because its writer timed out.
func failing() *script {
	s := newScript()
	s.after(time.Second, func(r *record.Run) { s.begin(r, 1, "implementer", "implement", "claude", "") })
	return s.after(2*time.Second, func(r *record.Run) {
		s.end(r, 1, record.Failed, "", "timed out after 2s", nil)
		r.Stop, r.ExitCode, r.Iterations = record.StepFailed, 4, 1
		r.Message = "step 01 (implementer claude) failed: timed out after 2s"
	})
}

// blocked uses up its iterations; its run id is as long as they get.
func blocked() *script {
	s, exit := newScript(), 1
	s.run.RunID, s.run.MaxIters = "replace-the-legacy-session-store-with-a-signed-cookie-k3f9q", 1
	s.after(time.Second, func(r *record.Run) { s.begin(r, 1, "verifier", "verify", "", "") })
	s.after(time.Second, func(r *record.Run) {
		s.end(r, 1, record.OK, "fail", "failed with exit code 1", nil)
		r.Steps[0].ExitCode = &exit
		s.begin(r, 1, "reviewer", "review", "codex", "security")
		s.begin(r, 1, "reviewer", "review", "claude", "tests")
		s.begin(r, 1, "reviewer", "review", "pi", "")
	})
	s.after(3*time.Second, func(r *record.Run) {
		s.end(r, 2, record.OK, "block", "", nil)
		s.end(r, 3, record.OK, "block", "", nil)
		s.end(r, 4, record.Failed, "", "ended with exit code 7 without a final event; standard error: Invalid API key", nil)
		r.Findings = []record.Finding{
			{Title: "The cookie is not signed, so that anybody can be anybody and nobody is ever logged out", Disposition: "open", RaisedBy: []string{"codex"}, History: []string{"raised in step 02"}},
			{Title: "No key rotation", Disposition: "open", RaisedBy: []string{"codex"}, History: []string{"raised in step 02"}},
			{Title: "Nothing tests the expiry", Disposition: "open", RaisedBy: []string{"claude"}, History: []string{"raised in step 03"}},
		}
	})
	return s.after(time.Second, func(r *record.Run) {
		r.Stop, r.ExitCode, r.Iterations, r.Landed, r.Branch = record.MaxIters, 1, 1, true, "conclave/"+r.RunID
		r.Message = "no convergence within the limits: iteration 1, 0 repairs"
		r.Changed = []record.Change{{Path: "a.go", Added: 12, Removed: 4}}
	})
}

// interrupted is stopped by Ctrl-C while two seats review.
func interrupted() *script {
	s := newScript()
	s.after(0, func(r *record.Run) {
		s.begin(r, 1, "verifier", "verify", "", "")
		s.end(r, 1, record.NotRun, "", "", nil)
		s.begin(r, 1, "reviewer", "review", "codex", "")
		s.begin(r, 1, "reviewer", "review", "claude", "")
	})
	return s.after(3*time.Second, func(r *record.Run) {
		for i := range r.Steps[1:] {
			r.Steps[i+1].Status, r.Steps[i+1].Message = record.Interrupted, "cancelled"
		}
		r.Stop, r.ExitCode, r.Waiting = record.StopInterrupted, 130, "interrupted"
	})
}

// asked ends with a person who has to rule on what an arbiter would not.
func asked() *script {
	s := newScript()
	s.run.Discipline, s.run.MaxIters, s.run.Uncalibrated = "full", 2, []string{"gemini"}
	finding := record.Finding{
		ID: "F1", Severity: "high", Title: "The body is never closed", Disposition: "open", RaisedBy: []string{"codex"},
		History: []string{"raised by codex@correctness in step 01 (round 0) as high patch"},
	}
	s.after(time.Second, func(r *record.Run) { s.begin(r, 1, "reviewer", "review", "codex", "correctness") })
	s.after(9*time.Second, func(r *record.Run) {
		r.Findings = []record.Finding{finding}
		s.end(r, 1, record.OK, "block", "", nil)
		s.begin(r, 1, "confirmer", "confirm", "gemini", "")
	})
	s.after(4*time.Second, func(r *record.Run) {
		r.Findings[0].Disposition = "confirmed"
		s.end(r, 2, record.OK, "", "F1: confirmed by gemini: the early return in serve leaks it", nil)
		s.begin(r, 2, "implementer", "repair", "claude", "")
	})
	s.after(30*time.Second, func(r *record.Run) {
		s.end(r, 3, record.OK, "", "reports F1 fixed", &record.Stats{Files: 1, Added: 1})
		s.begin(r, 2, "reviewer", "recheck", "codex", "correctness")
	})
	s.after(8*time.Second, func(r *record.Run) {
		r.Findings[0].Disposition = "not-addressed"
		s.end(r, 4, record.OK, "block", "not addressed: F1", nil)
		s.begin(r, 2, "arbiter", "arbitrate", "codex", "")
	})
	s.after(8*time.Second, func(r *record.Run) { s.end(r, 5, record.OK, "", "F1: person", nil) })
	s.after(0, func(r *record.Run) { s.begin(r, 3, "implementer", "repair", "claude", "") })
	s.after(time.Second, func(r *record.Run) { s.end(r, 6, record.OK, "", "reports F1 refuted", nil) })
	return s.after(time.Second, func(r *record.Run) {
		r.Stop, r.ExitCode, r.Iterations, r.Waiting = record.NeedsRuling, 3, 3, "a ruling on F1, BUDGET"
		r.Questions = []record.Question{
			{Subject: "F1", Number: 2, Text: "routes.go:42: The body is never closed"},
			{Subject: "BUDGET", Number: 1, Text: "the budget does not hold the next step: 900 of 1000 tokens are used"},
		}
		r.Budget = &record.Spending{MaxTokens: 1000, Tokens: 900}
	})
}

func stories() map[string]func() *script {
	return map[string]func() *script{"converging": converging, "failing": failing, "interrupted": interrupted, "blocked": blocked, "asked": asked}
}

// play feeds a view and closes it with the last record.
func play(v View, s *script) {
	v.Message("server: started")
	for _, u := range s.updates[:len(s.updates)-1] {
		v.Update(u)
	}
	v.Close(s.updates[len(s.updates)-1].Run, []string{"bundle: .conclave/runs/add-endpoint-k3f9q"})
	v.Close(s.run, nil)
	v.Update(s.updates[0])
	v.Message("after the end")
}

// update rewrites the golden files: UPDATE=1 go test ./internal/view
var update = os.Getenv("UPDATE") != ""

func requireGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}
