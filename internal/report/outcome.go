package report

import (
	"fmt"
	"strings"

	"conclave/internal/record"
	"conclave/internal/report/text"
)

// messageLimit bounds a message inside a one-line outcome, in characters.
const messageLimit = 200

// Outcome says in one line how the run ended, or that it goes on. Every end
// that is no success says "not converged". The line holds no control characters.
func Outcome(r record.Run) string { return sentence(r) + marks(r) }

// sentence is the outcome without its marks.
func sentence(r record.Run) string {
	line := end(r)
	if r.Stop != "" && !succeeded(r) {
		line += notSucceeded(r)
	}
	return line
}

// succeeded needs both the reason and the flag: a record that contradicts
// itself is no success.
func succeeded(r record.Run) bool {
	return r.Stop == record.Ruled || (r.Stop == record.Converged && r.Converged)
}

func end(r record.Run) string {
	if line, ok := reviewEnd(r); ok {
		return line
	}
	message := text.OneLine(r.Message, messageLimit)
	iterations := text.Count(r.Iterations, "iteration")
	switch r.Stop {
	case "":
		return running(r)
	case record.Converged:
		if succeeded(r) {
			return "converged in " + iterations
		}
		return "ended after " + iterations
	case record.Ruled:
		return fmt.Sprintf("ended after %s: every open finding was ruled on", iterations)
	case record.StepFailed:
		return "halted: " + failure(r)
	case record.NeedsRuling, record.Budget:
		if r.Stop == record.Budget && r.Waiting == "" {
			return fmt.Sprintf("stopped after %s (budget)", iterations)
		}
		return withReason(fmt.Sprintf("waits for a person after %s (%s)", iterations, r.Stop), text.OneLine(r.Waiting, messageLimit))
	case record.StopInterrupted:
		return interruption(r) + ": it can be resumed"
	case record.NoReview:
		return withReason("ended without a review (no-review)", message)
	case record.Cancelled:
		return "cancelled after " + iterations
	default: // max-iters, stalled, aborted, budget, and whatever a newer version writes
		return fmt.Sprintf("stopped after %s (%s)", iterations, text.OneLine(string(r.Stop), 40))
	}
}

// interruption says where the run was interrupted, and says that word once
// whatever the wait is called: "interrupted", "interrupted: codex", or a reason of its own.
func interruption(r record.Run) string {
	where := fmt.Sprintf("interrupted in iteration %d", max(r.Iteration, 1))
	waiting := text.OneLine(r.Waiting, messageLimit)
	rest, same := strings.CutPrefix(waiting, "interrupted")
	switch {
	case waiting == "", waiting == "resume", same && rest == "":
		return where
	case strings.HasPrefix(rest, ": ") && same:
		return where + " at " + strings.TrimPrefix(rest, ": ")
	case same:
		return waiting
	}
	return where + " (" + waiting + ")"
}

func running(r record.Run) string {
	line := "running"
	if r.Iteration > 0 {
		line = "running: iteration " + fmt.Sprint(r.Iteration)
		if r.MaxIters >= r.Iteration { // a ruling may have given it more
			line += fmt.Sprintf(" of %d", r.MaxIters)
		}
	}
	return withReason(line, prefixed("waits for ", text.OneLine(r.Waiting, messageLimit)))
}

// failure says what halted the run: in the run's own words, else those of the failed step.
func failure(r record.Run) string {
	step, ok := FailedStep(r)
	if message := text.OneLine(r.Message, 0); message != "" {
		if before, told := tells(message, step); told {
			message = before + Reason(step)
		}
		return text.OneLine(message, messageLimit)
	}
	switch {
	case !ok:
		return "a step failed"
	case step.Status == record.Invalid:
		return withReason("step "+step.ID+" gave no valid answer", text.OneLine(Reason(step), messageLimit))
	default:
		return withReason("step "+step.ID+" failed", text.OneLine(Reason(step), messageLimit))
	}
}

// tells says whether a message ends with the step's own, and what stands before that.
func tells(message string, step record.Step) (before string, ok bool) {
	own := text.OneLine(step.Message, 0)
	if own == "" {
		return "", false
	}
	return strings.CutSuffix(text.OneLine(message, 0), own)
}

// FailedStep is the last step that failed or gave no valid answer.
func FailedStep(r record.Run) (record.Step, bool) {
	for i := len(r.Steps) - 1; i >= 0; i-- {
		if s := r.Steps[i]; s.Status == record.Failed || s.Status == record.Invalid {
			return s, true
		}
	}
	return record.Step{}, false
}

// marks are what a reader must know before trusting the outcome, in our own words.
func marks(r record.Run) string {
	var out []string
	if r.DryRun {
		out = append(out, "dry run")
	}
	if r.SelfReviewed {
		out = append(out, "self-reviewed")
	}
	if r.Advisory {
		out = append(out, "advisory")
	}
	if len(r.Uncalibrated) > 0 {
		out = append(out, "uncalibrated")
	}
	if len(out) == 0 {
		return ""
	}
	return " [" + strings.Join(out, ", ") + "]"
}

func withReason(line, reason string) string {
	if reason == "" {
		return line
	}
	return line + ": " + reason
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}
