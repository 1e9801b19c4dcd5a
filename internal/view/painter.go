package view

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// painter turns lines into what a terminal must be sent. It repaints the whole
// live part each time, from where the cursor rests: whatever a user types, a
// shell prints after Ctrl-Z, or a resize breaks is gone with the next frame.
// The cursor is never hidden and no mode is set beyond one frame, so that a
// killed process leaves nothing to repair.
type painter struct {
	// live holds the width of each line of the live part that is on the screen.
	live []int
}

const (
	// A terminal that knows these shows a frame at once; others ignore them.
	frameBegin = "\x1b[?2026h"
	frameEnd   = "\x1b[?2026l"
	eraseBelow = "\r\x1b[J"
)

// paint prints the lines above, which stay, and the live lines below them. It
// leaves the cursor on an empty line below: there stands what the terminal
// echoes and what a shell says when the process is stopped or killed.
func (p *painter) paint(above, live []string, width int) string {
	if len(above) == 0 && len(live) == 0 && len(p.live) == 0 {
		return ""
	}
	var out strings.Builder
	out.WriteString(frameBegin)
	if up := p.rows(width); up > 0 {
		fmt.Fprintf(&out, "\x1b[%dA", up)
	}
	out.WriteString(eraseBelow)
	for _, line := range append(above, live...) {
		out.WriteString(strings.ReplaceAll(line, "\n", "\r\n") + "\r\n")
	}
	out.WriteString(frameEnd)
	p.live = p.live[:0]
	for _, line := range live {
		p.live = append(p.live, ansi.StringWidth(line))
	}
	return out.String()
}

// rows is how far above the cursor the live part begins. Terminals break
// lines again that became too long by a resize.
func (p *painter) rows(width int) int {
	rows := 0
	for _, w := range p.live {
		rows += max((w+width-1)/width, 1)
	}
	return rows
}
