package view

import (
	"charm.land/lipgloss/v2"

	"conclave/internal/record"
)

// theme is a set of styles from the terminal's own sixteen colours, so that it
// reads on light and dark backgrounds. Without colour every style is empty.
type theme struct {
	good, bad, warn, faint, strong, busy lipgloss.Style
}

func newTheme(color bool) theme {
	if !color {
		return theme{}
	}
	style := lipgloss.NewStyle
	return theme{
		good: style().Foreground(lipgloss.Green), bad: style().Foreground(lipgloss.Red).Bold(true),
		warn: style().Foreground(lipgloss.Yellow), faint: style().Faint(true),
		strong: style().Bold(true), busy: style().Foreground(lipgloss.Cyan),
	}
}

// result is the style of a step's result.
func (t theme) result(s record.Step) lipgloss.Style {
	switch mark(s) {
	case markGood:
		return t.good
	case markBad:
		return t.bad
	case markWarn:
		return t.warn
	}
	return t.faint
}

func (t theme) outcome(r record.Run, line string) string {
	return t.end(r).Render(line)
}

func (t theme) end(r record.Run) lipgloss.Style {
	switch {
	case r.Stop.Final() && r.Stop.ExitCode() == 0:
		return t.good.Bold(t.strong.GetBold())
	case r.Stop == record.NeedsRuling || r.Stop == record.StopInterrupted || r.Stop == "":
		return t.warn
	}
	return t.bad
}

// The marks in front of ended steps; each has one column.
const (
	markGood    = "✓"
	markBad     = "✗"
	markWarn    = "!"
	markNothing = "·"
)

// mark is the sign of an ended step. What is not known to be good is not shown as good.
func mark(s record.Step) string {
	switch {
	case s.Verdict == "block" || s.Verdict == "fail" || s.Status == record.Failed || s.Status == record.Invalid:
		return markBad
	case s.Status == record.OK:
		return markGood
	case s.Status == record.NotRun || s.Status == record.Skipped:
		return markNothing
	}
	return markWarn
}
