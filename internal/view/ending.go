package view

import (
	"os"
	"path/filepath"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"conclave/internal/record"
	"conclave/internal/report"
	"conclave/internal/report/text"
)

// box is the end of a run: what it came to and why within a border, and below
// it what can be done. The commands stand outside, because a long one is broken
// by the terminal: so it can be copied whole and breaks no border.
func (s screen) box(final record.Run, extra []string) string {
	width := max(min(s.width, defaultWidth)-1, 1)
	edge := s.theme.end(final)
	bar := edge.Render("│") + " "
	out := []string{edge.Render("╭" + strings.Repeat("─", width-1))}
	out = append(out, hanging(bar, "", edge.Bold(s.theme.strong.GetBold()), report.Outcome(final), width)...)
	for _, reason := range report.Why(final) {
		out = append(out, hanging(bar, edge.Render(markBad)+" ", lipgloss.NewStyle(), reason, width)...)
	}
	if facts := summary(final); facts != "" {
		out = append(out, hanging(bar, "", s.theme.faint, facts, width)...)
	}
	out = append(out, edge.Render("╰"+strings.Repeat("─", width-1)))
	return strings.Join(append(out, s.commands(steps(final, extra))...), "\n")
}

// hanging wraps content right of the border and of its mark into lines, none wider than width.
func hanging(bar, mark string, style lipgloss.Style, content string, width int) []string {
	indent := ansi.StringWidth(mark)
	var out []string
	for line := range strings.SplitSeq(ansi.Wrap(content, max(width-2-indent, 1), ""), "\n") {
		out = append(out, bar+mark+style.Render(line))
		mark = strings.Repeat(" ", indent)
	}
	return out
}

// commands aligns "label: command" lines.
func (s screen) commands(steps []string) []string {
	label := 0
	for _, step := range steps {
		name, _, _ := strings.Cut(step, ": ")
		label = max(label, ansi.StringWidth(name))
	}
	var out []string
	for _, step := range steps {
		name, command, _ := strings.Cut(step, ": ")
		out = append(out, "  "+s.theme.faint.Render(pad(name, label))+"  "+command)
	}
	return out
}

// steps are what can be done now and what the caller adds, as "label: text"
// lines. No command is said twice, and a path below the working directory is
// said from there.
func steps(final record.Run, extra []string) []string {
	here, err := os.Getwd()
	if err != nil {
		here = ""
	}
	var out []string
	said := map[string]bool{}
	for _, step := range append(report.NextSteps(final), extra...) {
		name, content, ok := strings.Cut(text.OneLine(step, 0), ": ")
		if content = nearer(here, content); said[content] {
			continue
		}
		said[content] = true
		if ok {
			name += ": " + content
		}
		out = append(out, name)
	}
	return out
}

// nearer is an absolute path below here as seen from there; all else stays as it is.
func nearer(here, path string) string {
	if here == "" || !filepath.IsAbs(path) {
		return path
	}
	short, err := filepath.Rel(here, path)
	if err != nil || !filepath.IsLocal(short) || short == "." {
		return path
	}
	return short
}
