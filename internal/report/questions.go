package report

import (
	"fmt"
	"strings"

	"conclave/internal/record"
	"conclave/internal/report/text"
)

// hostSubjects are what a person is asked besides findings: they cannot be fixed.
var hostSubjects = map[string]string{"SIZE": "the size of the change", "PROTECTED": "protected paths", "BUDGET": "the budget"}

// questions lists what the run waits for, with the commands that answer.
func questions(p *page, r record.Run) {
	if len(r.Questions)+len(r.Unresolved) == 0 || r.Stop.Final() {
		return
	}
	p.heading(2, "What a person is asked")
	for _, q := range r.Questions {
		p.heading(3, questionTitle(q))
		if q.Text != "" {
			p.fence(q.Text)
		}
		p.gap()
		for _, command := range ruleCommands(r, q.Subject) {
			p.line("- %s", code(command))
		}
	}
	for _, seat := range r.Unresolved {
		p.heading(3, "The seat "+prose(seat)+" gave no valid answer")
		p.line("Ask it again with a fresh count of attempts, or let the run end without it; either is on record.\n")
		for _, command := range seatCommands(r, seat) {
			p.line("- %s", code(command))
		}
	}
}

func questionTitle(q record.Question) string {
	title := prose(q.Subject)
	if what, ok := hostSubjects[q.Subject]; ok {
		title += ": " + what
	}
	if q.Number > 1 {
		title += fmt.Sprintf(", asked for the %s time", text.Ordinal(q.Number))
	}
	if q.Since != "" {
		title += ", since " + prose(q.Since)
	}
	if q.Head != "" {
		title += ", on " + code(short(q.Head))
	}
	return title
}

// ruleCommands are the commands that answer one question, each fit for a shell.
func ruleCommands(r record.Run, subject string) []string {
	decisions := []string{"--stand", "--fix", "--abort"}
	if _, ok := hostSubjects[subject]; ok {
		decisions = []string{"--stand", "--abort"}
	}
	var out []string
	for _, decision := range decisions {
		out = append(out, fmt.Sprintf(`starter rule %s %s %s --reason "..."`, shellWord(r.RunID), shellWord(subject), decision))
	}
	return out
}

func seatCommands(r record.Run, seat string) []string {
	run := "starter resume " + shellWord(r.RunID)
	return []string{run + " --reopen " + shellWord(seat), run + " --waive " + shellWord(seat) + ` --reason "..."`}
}

// answerSteps are the next steps of a run that waits for somebody's word.
func answerSteps(r record.Run) []string {
	const most = 5
	var out []string
	for _, q := range r.Questions[:min(len(r.Questions), most)] {
		commands := ruleCommands(r, q.Subject)
		others := "or --fix, --abort"
		if len(commands) == 2 {
			others = "or --abort"
		}
		out = append(out, fmt.Sprintf("rule %s (%s): %s", text.OneLine(q.Subject, 20), others, commands[0]))
	}
	for _, seat := range r.Unresolved[:min(len(r.Unresolved), most)] {
		commands := seatCommands(r, seat)
		out = append(out, "ask "+text.OneLine(seat, 30)+" again: "+commands[0], "go on without it: "+commands[1])
	}
	if more := len(r.Questions) - most; more > 0 {
		out = append(out, fmt.Sprintf("%d more questions: starter show %s", more, shellWord(r.RunID)))
	}
	return out
}

// asked has a line for each question that a person is asked.
func asked(r record.Run) []string {
	var out []string
	for _, q := range r.Questions[:min(len(r.Questions), mostReasons)] {
		again := ""
		if q.Number > 1 {
			again = fmt.Sprintf(" (asked for the %s time)", text.Ordinal(q.Number))
		}
		out = append(out, text.OneLine(q.Subject, 20)+again+": "+text.OneLine(q.Text, reasonLimit))
	}
	if more := len(r.Questions) - mostReasons; more > 0 {
		out = append(out, "and "+text.Count(more, "question")+" more")
	}
	return out
}

// Spent says in one line what of the budget is used; empty where nothing bounds the run.
func Spent(b *record.Spending) string {
	if b == nil || b.MaxTokens == 0 && b.MaxCostUSD == 0 && b.MaxDuration == "" {
		return ""
	}
	var parts []string
	if b.MaxTokens > 0 {
		tokens := fmt.Sprintf("%d of %d tokens", b.Tokens, b.MaxTokens*int64(1+b.Extended))
		if b.AssumedTokens > 0 {
			tokens += fmt.Sprintf(" (%d assumed for turns that reported none)", b.AssumedTokens)
		}
		parts = append(parts, tokens)
	}
	if b.MaxCostUSD > 0 {
		cost := fmt.Sprintf("$%.4f of $%.4f", b.CostUSD, b.MaxCostUSD*float64(1+b.Extended))
		if b.UnpricedTurns > 0 {
			cost += fmt.Sprintf(" (without %s of unknown cost)", text.Count(b.UnpricedTurns, "turn"))
		}
		parts = append(parts, cost)
	}
	if b.MaxDuration != "" {
		parts = append(parts, "at most "+text.OneLine(b.MaxDuration, 20))
	}
	if b.Extended > 0 {
		parts = append(parts, "the budget was given once more "+text.Count(b.Extended, "time"))
	}
	return strings.Join(parts, ", ")
}
