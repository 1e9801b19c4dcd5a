package report

import (
	"fmt"
	"slices"
	"strings"

	"conclave/internal/record"
	"conclave/internal/report/text"
)

const (
	// reasonLimit bounds one reason, in characters.
	reasonLimit = 200
	// mostReasons bounds how many objections are told one by one.
	mostReasons = 5
	// untitled is the title that a finding gets when its review is a text without one.
	untitled = "blocking review"
	// stderrMark stands in a step's message between how a program ended and what it wrote last.
	stderrMark = "; standard error: "
)

// Why says in a few lines what kept a run from success: what its end itself
// says, a failing verifier, and what each blocking reviewer objects to; of an
// advisory run what stands in spite of its good end. It is empty where the outcome says everything. The lines hold no control characters.
func Why(r record.Run) []string {
	switch r.Stop {
	case record.Converged:
		return advised(r)
	case "", record.Ruled, record.StepFailed, record.StopInterrupted, record.Cancelled:
		return nil
	}
	message := text.OneLine(r.Message, reasonLimit)
	if strings.Contains(Outcome(r), message) {
		message = ""
	}
	out := append(failingVerifier(r), objections(r)...)
	if len(r.Questions) > 0 && !r.Stop.Final() {
		return append(failingVerifier(r), asked(r)...)
	}
	// That a limit was reached is told already; any other end has its own reason.
	if message != "" && (r.Stop != record.MaxIters || len(out) == 0) {
		out = append([]string{message}, out...)
	}
	return out
}

// advised are the findings that stand at the good end of an advisory run: whoever sees the outcome must see them too.
func advised(r record.Run) []string {
	message := text.OneLine(r.Message, reasonLimit)
	if !r.Advisory || message == "" {
		return nil
	}
	return append([]string{message}, standing(r, func(f record.Finding) string { return f.ID })...)
}

// failingVerifier is a line about the last verification when that failed.
func failingVerifier(r record.Run) []string {
	for i := len(r.Steps) - 1; i >= 0; i-- {
		s := r.Steps[i]
		if s.Role != record.RoleVerifier {
			continue
		}
		if s.Verdict != "fail" {
			return nil
		}
		return []string{withReason("verify fails", text.OneLine(Reason(s), reasonLimit))}
	}
	return nil
}

// objections has a line for each finding that stands.
func objections(r record.Run) []string {
	return standing(r, func(f record.Finding) string { return raiser(r, f) })
}

// standing has a line for each finding that stands, up to mostReasons, which begins with who or what name says.
func standing(r record.Run, name func(record.Finding) string) []string {
	var out []string
	more := 0
	for _, f := range r.Findings {
		switch {
		case !r.Stands(f):
		case len(out) < mostReasons:
			out = append(out, name(f)+": "+headline(f)+at(f))
		default:
			more++
		}
	}
	if more > 0 {
		out = append(out, "and "+text.Count(more, "finding")+" more")
	}
	return out
}

// raiser names who objects: the engine and its lens, as the steps do.
func raiser(r record.Run, f record.Finding) string {
	if len(f.RaisedBy) == 0 {
		return "an objection"
	}
	for i := len(r.Steps) - 1; i >= 0; i-- {
		if s := r.Steps[i]; s.Seat == f.RaisedBy[0] && s.Role == record.RoleReviewer {
			if s.Voting != nil && !*s.Voting {
				return Who(s) + " (non-voting) objects"
			}
			return Who(s) + " blocks"
		}
	}
	return text.OneLine(f.RaisedBy[0], 40) + " blocks"
}

// at is the first place that a finding names, in brackets.
func at(f record.Finding) string {
	if len(f.Evidence) == 0 || f.Evidence[0].Path == "" {
		return ""
	}
	return " (" + text.OneLine(placeWords(f.Evidence[0]), reasonLimit) + ")"
}

// headline is a finding's title, or the first words of its claim where it has none.
func headline(f record.Finding) string {
	title := text.OneLine(f.Title, reasonLimit)
	if title != "" && title != untitled {
		return title
	}
	for line := range strings.SplitSeq(text.Block(f.Claim), "\n") {
		line = text.OneLine(strings.TrimLeft(line, "#*-> \t"), reasonLimit)
		if line != "" && !strings.HasPrefix(line, "VERDICT:") {
			return line
		}
	}
	return untitled
}

// Objection is the first finding that a review raised, with the number of its
// others; empty when it raised none.
func Objection(r record.Run, review record.Step) string {
	first, more := "", 0
	for _, f := range r.Findings {
		switch {
		case !slices.ContainsFunc(f.History, func(line string) bool { return raisedIn(line, review.ID) }):
		case first == "":
			first = headline(f)
		default:
			more++
		}
	}
	if more > 0 {
		return fmt.Sprintf("%s (and %d more)", first, more)
	}
	return first
}

// raisedIn reports whether a line of a finding's life says that a step raised it.
func raisedIn(line, step string) bool {
	return strings.HasPrefix(line, "raised") && (strings.HasSuffix(line, " in step "+step) || strings.Contains(line, " in step "+step+" "))
}

// Reason is a step's message as one line with the useful part first: what the
// program said stands before how it ended. It is empty when it says no more
// than Result does.
func Reason(s record.Step) string {
	message := text.OneLine(s.Message, 0)
	if s.Status == record.Interrupted && (message == "interrupted" || message == "cancelled") {
		return ""
	}
	if s.ExitCode != nil && *s.ExitCode != 0 {
		return withExit(message, fmt.Sprintf("exit code %d", *s.ExitCode))
	}
	if how, said, ok := strings.Cut(message, stderrMark); ok && said != "" {
		return said + " (" + how + ")"
	}
	return message
}

// withExit says a command's exit code once, behind what is known besides.
func withExit(message, exit string) string {
	if rest, ok := strings.CutPrefix(message, "failed with "+exit); ok {
		message = strings.TrimLeft(rest, ":;, ")
	}
	switch {
	case message == "":
		return exit
	case strings.Contains(message, exit):
		return message
	}
	return message + " (" + exit + ")"
}
