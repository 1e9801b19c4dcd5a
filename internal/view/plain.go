package view

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"conclave/internal/record"
	"conclave/internal/report"
	"conclave/internal/report/text"
)

// lineLimit bounds a line of foreign text, in characters.
const lineLimit = 300

// quiet shows the outcome only.
type quiet struct {
	out  io.Writer
	once sync.Once
}

func (q *quiet) Update(Update)  {}
func (q *quiet) Message(string) {}

func (q *quiet) Close(final record.Run, _ []string) {
	q.once.Do(func() { fmt.Fprintln(q.out, strings.Join(brief(final), " · ")) })
}

// brief is the outcome, the first reason for it, and where the change is.
func brief(final record.Run) []string {
	out := []string{report.Outcome(final)}
	if why := report.Why(final); len(why) > 0 {
		out = append(out, why[0])
	}
	if final.Landed && final.Branch != "" {
		out = append(out, text.OneLine(final.Branch, 0))
	}
	return out
}

// plain writes one line per event and moves no cursor.
type plain struct {
	mu     sync.Mutex
	out    io.Writer
	theme  theme
	seen   seen
	closed bool
}

func newPlain(o Options) *plain {
	return &plain{out: o.Out, theme: newTheme(o.Color), seen: nothing()}
}

func (p *plain) Update(u Update) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.show(u.Run)
}

func (p *plain) show(run record.Run) {
	if p.closed {
		return
	}
	events, next := diff(p.seen, run)
	p.seen = next
	for _, e := range events {
		fmt.Fprintln(p.out, plainLine(e, p.theme))
	}
}

func (p *plain) Message(message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if line := text.OneLine(message, lineLimit); line != "" && !p.closed {
		fmt.Fprintln(p.out, line)
	}
}

func (p *plain) Close(final record.Run, extra []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.show(final)
	if p.closed {
		return
	}
	p.closed = true
	fmt.Fprintln(p.out, p.theme.outcome(final, report.Outcome(final)))
	for _, reason := range report.Why(final) {
		fmt.Fprintln(p.out, "  "+reason)
	}
	if facts := summary(final); facts != "" {
		fmt.Fprintln(p.out, "  "+facts)
	}
	for _, step := range steps(final, extra) {
		fmt.Fprintln(p.out, "  "+step)
	}
}

// plainLine is an event as one line.
func plainLine(e event, t theme) string {
	switch e.kind {
	case iterationBegan:
		return t.strong.Render(iterationTitle(e))
	case stepBegan:
		return stepName(e.step) + ": started"
	case stepAgain:
		return fmt.Sprintf("%s: started again (attempt %d)", stepName(e.step), e.step.Attempts)
	case stepWaits:
		return stepName(e.step) + ": " + text.OneLine(e.text, lineLimit)
	case stepEnded:
		return stepName(e.step) + ": " + t.result(e.step).Render(report.Result(e.step)) + plainDetails(e.step, e.text)
	case noted:
		return "note: " + text.OneLine(e.text, lineLimit)
	case waiting:
		return t.warn.Render("waits: ") + text.OneLine(e.text, lineLimit)
	}
	return ""
}

func iterationTitle(e event) string {
	switch {
	case e.of > 0 && e.iteration > e.of: // a ruling gave it one more repair
		return fmt.Sprintf("iteration %d, beyond the %d by a ruling", e.iteration, e.of)
	case e.of > 0:
		return fmt.Sprintf("iteration %d of %d", e.iteration, e.of)
	}
	return fmt.Sprintf("iteration %d", e.iteration)
}

// stepName is "03 review codex@security".
func stepName(s record.Step) string {
	return strings.TrimSpace(text.OneLine(s.ID, 10) + " " + report.What(s) + " " + report.Who(s))
}

func plainDetails(s record.Step, objection string) string {
	var out strings.Builder
	if took(s) {
		out.WriteString(" in " + text.Duration(s.DurationMS))
	}
	if details := details(s, objection); details != "" {
		out.WriteString(", " + details)
	}
	return out.String()
}

// took says whether the step's duration means anything.
func took(s record.Step) bool {
	return s.Status == record.OK || s.Status == record.Failed || s.Status == record.Invalid
}

// details are the step's stats, and what a reviewer objects to or else the reason that the step gives.
func details(s record.Step, objection string) string {
	var parts []string
	if s.Stats != nil {
		parts = append(parts, report.Changes(*s.Stats))
	}
	if objection == "" {
		objection = report.Reason(s)
	}
	if objection = text.OneLine(objection, lineLimit); objection != "" {
		parts = append(parts, objection)
	}
	return strings.Join(parts, ", ")
}

// summary is what a run came to, in one line.
func summary(r record.Run) string {
	var parts []string
	if stats := record.Total(r.Changed); stats.Files > 0 {
		parts = append(parts, report.Changes(stats))
	}
	if r.TotalMS > 0 {
		parts = append(parts, report.Took(r))
	}
	if r.Stop != "" {
		parts = append(parts, fmt.Sprintf("exit code %d", r.ExitCode))
	}
	if r.Usage != nil && !r.DryRun {
		parts = append(parts, report.Consumed(r.Usage))
	}
	if spent := report.Spent(r.Budget); spent != "" {
		parts = append(parts, "budget: "+spent)
	}
	return strings.Join(parts, ", ")
}
