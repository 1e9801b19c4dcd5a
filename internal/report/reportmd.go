package report

import (
	"fmt"
	"slices"
	"strings"

	"conclave/internal/record"
	"conclave/internal/report/text"
)

// markdown is report.md. missing are notes about the bundle itself.
func markdown(r record.Run, missing []string, quoted map[string]quotes, claims map[string][]claim) []byte {
	p := &page{}
	head(p, r)
	questions(p, r)
	next(p, r)
	p.heading(2, "Requirement")
	p.fence(r.Requirement)
	steps(p, r)
	failures(p, r, quoted)
	verification(p, r, quoted)
	findings(p, r, claims)
	fixReports(p, r, quoted)
	decisions(p, r)
	reviews(p, r, quoted) // whole answers, JSON and all: behind what they came to
	changed(p, r)
	engines(p, r)
	warnings(p, r, missing)
	facts(p, r)
	return []byte(p.String())
}

func head(p *page, r record.Run) {
	if isReview(r) {
		p.heading(1, "Review "+prose(r.RunID))
	} else {
		p.heading(1, "Run "+prose(r.RunID))
	}
	p.line("**%s%s**\n", prose(sentence(r)), marks(r))
	for _, reason := range Why(r) {
		p.line("- %s", prose(reason))
	}
	p.gap()
	summary := []string{"exit code " + fmt.Sprint(r.ExitCode), Changes(record.Total(r.Changed)), Took(r)}
	if r.Stop == "" {
		summary = summary[1:]
	}
	if r.Preset != "" {
		summary = append(summary, "preset "+code(r.Preset))
	}
	p.line("%s", strings.Join(append(summary, "discipline "+code(r.Discipline)), " · "))
	if !messageTold(r) {
		p.gap()
		p.fence(r.Message)
	}
	if r.DryRun {
		p.paragraph("This was a **dry run**: a stub stood for every agent, and nothing in here is a review.")
	}
	if r.SelfReviewed {
		p.paragraph("This run is **self-reviewed**: the engine that wrote the change also judged it.")
	}
	if r.Advisory {
		p.paragraph("This run is **advisory**: its reviewers' findings were repaired and are reported, but could not stop the end.")
	}
	if len(r.Uncalibrated) > 0 {
		p.paragraph("**Uncalibrated** reviewers gate this run (`--trust-reviewers`): %s. Nobody has measured what they miss.", prose(strings.Join(r.Uncalibrated, ", ")))
	}
	if spent := Spent(r.Budget); spent != "" {
		p.paragraph("Budget: %s.", prose(spent))
	}
}

// messageTold says whether the run's message adds nothing to the report: it
// stands in the outcome, among its reasons, or as the message of a failed step.
func messageTold(r record.Run) bool {
	if r.Stop == record.MaxIters {
		return true // the outcome names the limit
	}
	message := text.OneLine(r.Message, 0)
	step, failed := FailedStep(r)
	_, ofStep := tells(message, step)
	return strings.Contains(Outcome(r), message) || slices.Contains(Why(r), message) || (failed && ofStep)
}

func next(p *page, r record.Run) {
	p.heading(2, "What to do next")
	for _, step := range NextSteps(r) {
		label, command, _ := strings.Cut(step, ": ")
		p.line("- %s: %s", label, code(command))
	}
}

func steps(p *page, r record.Run) {
	p.heading(2, "Steps")
	if len(r.Steps) == 0 {
		p.line("No step has begun.")
	}
	for start := 0; start < len(r.Steps); {
		end := start
		for end < len(r.Steps) && r.Steps[end].Iteration == r.Steps[start].Iteration {
			end++
		}
		p.heading(3, fmt.Sprintf("Iteration %d", r.Steps[start].Iteration))
		var rows [][]string
		for _, s := range r.Steps[start:end] {
			rows = append(rows, stepRow(s))
		}
		p.table([]string{"step", "what", "who", "result", "time", "change", "tries"}, rows)
		remarks(p, r.Steps[start:end])
		start = end
	}
}

// remarks are the messages of steps that went well; the others have sections of their own.
func remarks(p *page, steps []record.Step) {
	p.gap()
	for _, s := range steps {
		if s.Message != "" && s.Status == record.OK && s.Role != record.RoleReviewer && s.Role != record.RoleVerifier {
			p.line("- step %s: %s", prose(s.ID), prose(s.Message))
		}
	}
}

func stepRow(s record.Step) []string {
	change := ""
	if s.Stats != nil {
		change = Changes(*s.Stats)
	}
	who := code(Who(s))
	if s.Voting != nil && !*s.Voting {
		who += " (non-voting)"
	}
	result := prose(Result(s))
	if s.Verdict == "block" || s.Verdict == "fail" || s.Status == record.Failed || s.Status == record.Invalid {
		result = "**" + result + "**"
	}
	took := text.Duration(s.DurationMS)
	if s.Status == record.Running || s.Status == record.NotRun || s.Status == record.Skipped {
		took = ""
	}
	return []string{prose(s.ID), prose(What(s)), who, result, took, change, fmt.Sprint(max(s.Attempts, 1))}
}

// stepTitle is a heading's text: made of our words and escaped names.
func stepTitle(s record.Step) string {
	parts := []string{"Step " + prose(s.ID), prose(What(s))}
	if who := Who(s); who != "" {
		parts = append(parts, prose(who))
	}
	return strings.Join(append(parts, prose(Result(s))), " · ")
}

func failures(p *page, r record.Run, quoted map[string]quotes) {
	first := true
	for _, s := range r.Steps {
		if s.Role == record.RoleVerifier { // told under Verification
			continue
		}
		if s.Status != record.Failed && s.Status != record.Invalid && s.Status != record.Interrupted {
			continue
		}
		if first {
			p.heading(2, "Failed steps")
			first = false
		}
		p.heading(3, stepTitle(s))
		class(p, s)
		quote(p, "The end of its standard error", quoted[s.ID].stderr)
		quote(p, "The end of the setup command's output", quoted[s.ID].setup)
		if !answers(s) { // its answer stands under Reviews
			quote(p, "Its last message", quoted[s.ID].result)
		}
	}
}

// class says how a step failed, in the class's word and the step's own.
func class(p *page, s record.Step) {
	words := []string{string(s.Class), s.Code}
	if strings.EqualFold(words[0], words[1]) {
		words = words[:1]
	}
	if class := strings.TrimSpace(strings.Join(words, " ")); class != "" {
		p.paragraph("Class: %s", code(class))
	}
	if Reason(s) != "" {
		p.fence(s.Message)
	}
}

func reviews(p *page, r record.Run, quoted map[string]quotes) {
	first := true
	for _, s := range r.Steps {
		answer := quoted[s.ID].result
		if !answers(s) || (s.Verdict == "" && answer == nil) {
			continue
		}
		if first {
			p.heading(2, "Reviews")
			first = false
		}
		p.heading(3, fmt.Sprintf("%s · iteration %d", stepTitle(s), s.Iteration))
		switch {
		case answer != nil:
			quote(p, "", answer)
		case s.Message != "":
			p.fence(s.Message)
		default:
			p.line("No message is kept.")
		}
	}
}

// answers reports whether a step's last message is a judgement: a review, a
// confirmation or an arbiter's rulings.
func answers(s record.Step) bool {
	return s.Role == record.RoleReviewer || s.Role == record.RoleConfirmer || s.Role == record.RoleArbiter
}

func verification(p *page, r record.Run, quoted map[string]quotes) {
	first := true
	for _, s := range r.Steps {
		if s.Role != record.RoleVerifier {
			continue
		}
		if first {
			p.heading(2, "Verification")
			first = false
		}
		p.heading(3, fmt.Sprintf("%s · iteration %d", stepTitle(s), s.Iteration))
		switch {
		case s.Status == record.NotRun:
			p.line("No verify command was given (`--verify-cmd`), so nothing was run.")
		case s.ExitCode != nil:
			p.line("Exit code %d after %s.", *s.ExitCode, text.Duration(s.DurationMS))
		}
		if s.Status == record.Failed {
			class(p, s)
		}
		if s.Verdict != "pass" {
			failing(p, quoted[s.ID])
		}
		paths(p, "It left these paths in the workspace; they were taken out again:", s.Restored)
	}
}

// failing quotes the failing checks; the whole output stands in only where there are none.
func failing(p *page, q quotes) {
	if q.failure != nil {
		quote(p, "Failing checks", q.failure)
		return
	}
	quote(p, "The end of the setup command's output", q.setup)
	quote(p, "The end of its output", q.output)
	quote(p, "The end of its standard error", q.stderr)
}

// quote writes an excerpt with a line about it.
func quote(p *page, title string, e *excerpt) {
	if e == nil {
		return
	}
	if title != "" {
		p.paragraph("%s:", title)
	}
	p.fence(e.content)
	if e.cut {
		p.paragraph("The whole text is in %s.", codeUpTo(e.file, 0))
	}
}

func paths(p *page, title string, list []string) {
	const most = 100
	if len(list) == 0 {
		return
	}
	p.paragraph("%s", title)
	for _, path := range list[:min(len(list), most)] {
		p.line("- %s", codeUpTo(path, 0))
	}
	if len(list) > most {
		p.line("- and %d more", len(list)-most)
	}
}
