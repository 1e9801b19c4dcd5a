package report

import (
	"fmt"
	"strings"

	"conclave/internal/record"
	"conclave/internal/report/text"
)

// What is the step's kind as a verb: implement, repair, verify, review.
func What(s record.Step) string {
	if s.Turn != "" {
		return text.OneLine(s.Turn, 20)
	}
	switch s.Role {
	case record.RoleDesigner:
		return record.TurnDesign
	case record.RoleImplementer:
		return record.TurnImplement
	case record.RoleVerifier:
		return record.TurnVerify
	case record.RoleReviewer:
		return record.TurnReview
	case record.RoleConfirmer:
		return record.TurnConfirm
	case record.RoleArbiter:
		return record.TurnArbitrate
	}
	return text.OneLine(s.Role, 20)
}

// Who is the step's engine with its seat's lens: "codex", "codex@security".
func Who(s record.Step) string {
	who := text.OneLine(s.Adapter, 40)
	switch {
	case s.Lens != "":
		who += "@" + text.OneLine(s.Lens, 30)
	case s.Seat != "" && s.Seat != s.Adapter:
		who += "/" + text.OneLine(s.Seat, 30)
	}
	return who
}

// Result is the step's result in a word or two: PASS, BLOCK, FAIL, ok, failed, no valid answer.
func Result(s record.Step) string {
	switch {
	case s.Status == record.OK && s.Verdict != "":
		return strings.ToUpper(text.OneLine(s.Verdict, 10))
	case s.Status == record.Failed && s.Verdict == "fail":
		return "FAIL"
	case s.Status == record.Invalid:
		return "no valid answer"
	case s.Status == record.NotRun:
		return "not run"
	}
	return text.OneLine(string(s.Status), 20)
}

// Changes says what changed: "2 files +30 -1", or "no change".
func Changes(s record.Stats) string {
	if s == (record.Stats{}) {
		return "no change"
	}
	return fmt.Sprintf("%s +%d -%d", text.Count(s.Files, "file"), s.Added, s.Removed)
}

// Tokens says what was consumed; unknown is not zero.
func Tokens(u *record.Usage) string {
	if u == nil || *u == (record.Usage{Unknown: u.Unknown}) && u.Unknown > 0 {
		return "unknown"
	}
	out := fmt.Sprintf("%d in (%d cached), %d out", u.InputTokens, u.CachedTokens, u.OutputTokens)
	if u.Unknown > 0 {
		out += fmt.Sprintf(", and %s of unknown usage", text.Count(u.Unknown, "turn"))
	}
	return out
}

// Cost says what it cost. Unknown is not zero, and a sum that leaves turns out says so.
func Cost(u *record.Usage) string {
	if u == nil || u.CostUSD == nil {
		return "unknown"
	}
	out := fmt.Sprintf("$%.4f", *u.CostUSD)
	if u.Priced {
		out += " (priced)"
	}
	if left := u.Unpriced + u.Unknown; left > 0 {
		out += fmt.Sprintf(", and %s of unknown cost", text.Count(left, "turn"))
	}
	return out
}

// Took is how long a run took, and how much of that it waited for people.
func Took(r record.Run) string {
	if r.WaitedMS == 0 {
		return text.Duration(r.TotalMS)
	}
	return fmt.Sprintf("%s (%s of them waiting for people)", text.Duration(r.TotalMS), text.Duration(r.WaitedMS))
}

// Consumed is usage and cost in one line.
func Consumed(u *record.Usage) string {
	tokens := Tokens(u)
	if tokens == "unknown" {
		return "tokens and cost unknown"
	}
	return "tokens: " + tokens + "; cost: " + Cost(u)
}

func engine(e *record.Engine) string {
	if e == nil {
		return "unknown"
	}
	var parts []string
	for _, part := range []string{e.Adapter, e.Provider, e.ModelFamily, e.Model} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	out := strings.Join(parts, " / ")
	if e.Source != "" {
		out += " (" + e.Source + ")"
	}
	return out
}
