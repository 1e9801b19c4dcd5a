package view

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"

	"conclave/internal/record"
	"conclave/internal/report/text"
)

// tickEvery is how often the spinner turns.
const tickEvery = 100 * time.Millisecond

// terminal keeps the running steps live at the bottom; everything else is
// printed above them once and scrolls like any output.
type terminal struct {
	mu      sync.Mutex
	options Options
	program *tea.Program
	ended   chan struct{}
	seen    seen
	closed  bool
	// size is the terminal's width and height, as the program last saw them.
	size *size
}

type size struct{ width, height atomic.Int64 }

func newTerminal(o Options) *terminal {
	width, height := o.Width, defaultHeight
	if f, ok := o.Out.(term.File); ok {
		if w, h, err := term.GetSize(f.Fd()); err == nil && w > 0 && h > 0 {
			width, height = w, h
		}
	}
	if width <= 0 {
		width = defaultWidth
	}
	t := &terminal{options: o, seen: nothing(), size: &size{}, ended: make(chan struct{})}
	t.size.width.Store(int64(width))
	t.size.height.Store(int64(height))
	profile := colorprofile.ASCII
	if o.Color {
		profile = colorprofile.ANSI
	}
	t.program = tea.NewProgram(&model{size: t.size, theme: newTheme(o.Color)},
		tea.WithOutput(o.Out), tea.WithInput(nil), tea.WithoutSignalHandler(),
		tea.WithColorProfile(profile), tea.WithWindowSize(width, height), tea.WithFPS(20))
	go func() {
		defer close(t.ended)
		_, _ = t.program.Run() // without it lines are still printed, see print
	}()
	return t
}

func (t *terminal) Update(u Update) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.show(u)
	}
}

// show takes ended steps out of the live part before it prints their lines.
func (t *terminal) show(u Update) {
	events, next := diff(t.seen, u.Run)
	t.seen = next
	t.program.Send(u)
	var lines []string
	for _, e := range events {
		if line := t.screen().line(e); line != "" {
			lines = append(lines, line)
		}
	}
	t.print(strings.Join(lines, "\n"))
}

func (t *terminal) Message(message string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if line := text.OneLine(message, lineLimit); line != "" && !t.closed {
		t.print(t.screen().wrapped("  ", line))
	}
}

// print writes above the live part. Send keeps the order; a command returned
// by the model would not.
func (t *terminal) print(lines string) {
	if lines == "" {
		return
	}
	select {
	case <-t.ended: // the terminal was lost: lines still tell what happens
		fmt.Fprintln(t.options.Out, lines)
	default:
		t.program.Send(tea.Println(lines)())
	}
}

func (t *terminal) Close(final record.Run, extra []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	t.closed = true
	t.show(Update{Run: final})
	t.program.Send(finished{})
	t.program.Quit()
	<-t.ended
	fmt.Fprintln(t.options.Out, t.screen().box(final, extra))
}

func (t *terminal) screen() screen {
	return screen{theme: newTheme(t.options.Color), width: int(t.size.width.Load()), height: int(t.size.height.Load())}
}
