package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"conclave/internal/record"
	"conclave/internal/report"
	"conclave/internal/report/text"
)

const (
	defaultWidth  = 80
	defaultHeight = 24
	// narrow is the width below which a step's line leaves out its number and most of its seat.
	narrow    = 60
	whatWidth = 9
	timeWidth = 6
)

// spinner has one sign per tick, each of one column.
var spinner = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// screen is what a line is made for.
type screen struct {
	theme         theme
	width, height int
	// watching says that Ctrl-C ends the view only.
	watching bool
}

// fit cuts a line to the screen, leaving the last column free: some terminals
// wrap when it is used.
func (s screen) fit(line string) string {
	return ansi.Truncate(line, max(s.width-1, 1), "…")
}

// whoWidth is the column for the engine and its lens.
func (s screen) whoWidth() int {
	if s.width < narrow {
		return 8
	}
	return 18
}

// pad fills or cuts s to exactly width columns.
func pad(s string, width int) string {
	s = ansi.Truncate(s, width, "…")
	return s + strings.Repeat(" ", width-ansi.StringWidth(s))
}

// columns is the part that a running and an ended step share, so that a line
// stays in place when its step ends.
func (s screen) columns(sign string, step record.Step, elapsed string) string {
	columns := fmt.Sprintf("%s %s %*s", pad(report.What(step), whatWidth), pad(report.Who(step), s.whoWidth()), timeWidth, elapsed)
	if s.width < narrow {
		return " " + sign + " " + columns + " "
	}
	return "  " + sign + " " + s.theme.faint.Render(text.OneLine(step.ID, 4)) + " " + columns + "  "
}

// running is the live line of a step.
func (s screen) running(step record.Step, elapsed time.Duration, action string, tick int) string {
	sign := s.theme.busy.Render(spinner[tick%len(spinner)])
	line := s.columns(sign, step, whole(elapsed))
	if action = text.OneLine(action, lineLimit); action != "" {
		line += s.theme.faint.Render(action)
	}
	return s.fit(line)
}

// ended is the line that a step leaves, with what a reviewer objects to.
func (s screen) ended(step record.Step, objection string) string {
	elapsed := ""
	if took(step) {
		elapsed = text.Duration(step.DurationMS)
	}
	style := s.theme.result(step)
	line := s.columns(style.Render(mark(step)), step, elapsed)
	var parts []string
	if result := report.Result(step); result != "ok" || step.Stats == nil {
		parts = append(parts, style.Render(result))
	}
	if details := details(step, objection); details != "" {
		parts = append(parts, details)
	}
	return s.fit(line + strings.Join(parts, "  "))
}

// line is an event as a line that stays; empty when the live part shows it.
func (s screen) line(e event) string {
	switch e.kind {
	case iterationBegan:
		return s.header(iterationTitle(e))
	case stepAgain:
		return s.fit(s.theme.warn.Render("  ! ") + fmt.Sprintf("%s started again (attempt %d)", stepName(e.step), e.step.Attempts))
	case stepWaits:
		return s.wrapped(s.theme.warn.Render("  ! "), stepName(e.step)+": "+text.OneLine(e.text, lineLimit))
	case stepEnded:
		return s.ended(e.step, e.text)
	case noted:
		return s.wrapped(s.theme.warn.Render("  ! "), text.OneLine(e.text, lineLimit))
	case waiting:
		return s.wrapped(s.theme.warn.Render("  ! "), "waits: "+text.OneLine(e.text, lineLimit))
	}
	return ""
}

// header is the title of an iteration with a rule to the right.
func (s screen) header(title string) string {
	title = strings.ToUpper(title[:1]) + title[1:]
	rule := max(min(s.width, defaultWidth)-ansi.StringWidth(title)-3, 0)
	return s.fit(" " + s.theme.strong.Render(title) + " " + s.theme.faint.Render(strings.Repeat("─", rule)))
}

// wrapped breaks a long text into lines under its sign.
func (s screen) wrapped(sign, content string) string {
	room := max(s.width-ansi.StringWidth(sign)-1, 10)
	lines := strings.Split(ansi.Wrap(content, room, ""), "\n")
	return sign + strings.Join(lines, "\n"+strings.Repeat(" ", ansi.StringWidth(sign)))
}

// frame is the live part: the running steps and a line about the run.
func (s screen) frame(u Update, now time.Time, tick int) string {
	var lines []string
	for _, step := range u.Run.Steps {
		if step.Status == record.Running {
			lines = append(lines, s.running(step, since(u.Run, step.StartedMS, now), u.Actions[step.ID], tick))
		}
	}
	if room := max(s.height-4, 1); len(lines) > room {
		hidden := len(lines) - room + 1
		lines = append(lines[:room-1], s.fit(s.theme.faint.Render(fmt.Sprintf("    and %d more", hidden))))
	}
	return strings.Join(append(lines, s.footer(u, now, tick, len(lines) > 0)), "\n")
}

func (s screen) footer(u Update, now time.Time, tick int, busy bool) string {
	sign := " "
	if !busy {
		sign = s.theme.busy.Render(spinner[tick%len(spinner)])
	}
	words, indent := []string{whole(since(u.Run, 0, now)), s.hint()}, "  " // the hint stands before the run id, which may be long
	if u.Run.DryRun {
		words = append(words, "dry run")
	}
	if s.width < narrow {
		indent = " "
	} else {
		words = append(words, phase(u.Run, busy))
	}
	return s.fit(indent + sign + " " + s.theme.faint.Render(strings.Join(words, " · ")))
}

// hint says what Ctrl-C does.
func (s screen) hint() string {
	switch {
	case s.watching:
		return "Ctrl-C ends the watching"
	case s.width < narrow:
		return "Ctrl-C stops"
	}
	return "Ctrl-C stops; the run can be resumed"
}

// phase names the run, or says what goes on while no step runs.
func phase(r record.Run, busy bool) string {
	switch {
	case busy && r.RunID != "":
		return text.OneLine(r.RunID, 60)
	case r.Waiting != "":
		return "waiting"
	case len(r.Steps) == 0:
		return "preparing"
	case r.Stop != "":
		return "finishing"
	}
	return "working"
}

// since is the time from a moment of the run, given in milliseconds after its
// start, until now. Another machine's clock never makes it negative.
func since(r record.Run, ms int64, now time.Time) time.Duration {
	started, err := time.Parse(time.RFC3339, r.StartedAt)
	if err != nil {
		return 0
	}
	return max(now.Sub(started)-time.Duration(ms)*time.Millisecond, 0)
}

// whole is a running time in whole seconds: decimals would only flicker.
func whole(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
	return text.Duration(d.Milliseconds())
}
