package report

import (
	"conclave/internal/record"
	"conclave/internal/report/text"
)

// isReview says that the record is of `starter review`: a change that existed before, reviewed and not repaired.
func isReview(r record.Run) bool { return r.Kind == record.KindReview }

// reviewEnd is how a review ended, where a run's words would be wrong of it.
func reviewEnd(r record.Run) (line string, ok bool) {
	if !isReview(r) {
		return "", false
	}
	switch r.Stop {
	case record.Converged:
		if succeeded(r) {
			return "clean review" + rangeWords(r), true
		}
	case record.MaxIters:
		return "blocking findings" + rangeWords(r), true
	case record.NeedsRuling:
		return withReason("the review waits for a person (needs-ruling)", text.OneLine(r.Waiting, messageLimit)), true
	case record.Aborted, record.Budget:
		return withReason("the review ended ("+string(r.Stop)+")", text.OneLine(r.Message, messageLimit)), true
	}
	return "", false
}

// notSucceeded is what every end that is no success says.
func notSucceeded(r record.Run) string {
	switch {
	case !isReview(r):
		return "; not converged"
	case r.Stop == record.MaxIters:
		return "" // said
	}
	return "; not clean"
}

// rangeWords names what was reviewed.
func rangeWords(r record.Run) string {
	if r.Base == "" || r.Head == "" {
		return ""
	}
	return " of " + short(r.Base) + ".." + short(r.Head)
}

// reviewSteps says what can be done after a review that ended. There is nothing to land: the change is there.
func reviewSteps(r record.Run) []string {
	out := []string{"details: starter show " + shellWord(r.RunID)}
	if r.Base != "" && r.Head != "" {
		out = append(out, "diff: git diff "+short(r.Base)+"..."+short(r.Head))
	}
	return out
}
