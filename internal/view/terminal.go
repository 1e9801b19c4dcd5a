package view

import (
	"io"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"conclave/internal/record"
	"conclave/internal/report/text"
)

// tickEvery is how often the live part is painted.
const tickEvery = 100 * time.Millisecond

// terminal keeps the running steps live at the bottom; everything else is
// printed above them once and scrolls like any output.
type terminal struct {
	mu      sync.Mutex
	out     io.Writer
	screen  screen
	painter painter
	clock   func() time.Time
	seen    seen
	last    Update
	// at is when last came, by the clock; zero before the first update.
	at     time.Time
	ticks  int
	closed bool
	stop   chan struct{}
	ended  chan struct{}
}

func newTerminal(o Options) *terminal {
	width := o.Width
	if width <= 0 {
		width = defaultWidth
	}
	return &terminal{
		out: o.Out, screen: screen{theme: newTheme(o.Color), width: width, height: defaultHeight, watching: o.Watching},
		clock: time.Now, seen: nothing(), stop: make(chan struct{}), ended: make(chan struct{}),
	}
}

// spin paints until Close.
func (t *terminal) spin() {
	defer close(t.ended)
	ticker := time.NewTicker(tickEvery)
	defer ticker.Stop()
	for {
		select {
		case <-t.stop:
			return
		case <-ticker.C:
			t.mu.Lock()
			t.ticks++
			t.paint(nil)
			t.mu.Unlock()
		}
	}
}

func (t *terminal) Update(u Update) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.show(u)
	}
}

func (t *terminal) show(u Update) {
	events, next := diff(t.seen, u.Run)
	t.seen, t.last, t.at = next, u, t.clock()
	t.measure()
	var above []string
	for _, e := range events {
		if line := t.screen.line(e); line != "" {
			above = append(above, line)
		}
	}
	t.paint(above)
}

func (t *terminal) Message(message string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if line := text.OneLine(message, lineLimit); line != "" && !t.closed {
		t.measure()
		t.paint([]string{t.screen.wrapped("  ", line)})
	}
}

// paint writes one frame in one call, so that it is never seen half.
func (t *terminal) paint(above []string) {
	t.measure()
	var live []string
	if !t.at.IsZero() && !t.closed {
		now := t.last.Now.Add(t.clock().Sub(t.at))
		live = strings.Split(t.screen.frame(t.last, now, t.ticks), "\n")
	}
	// A terminal that is gone cannot be told about it; the run goes on.
	_, _ = io.WriteString(t.out, t.painter.paint(above, live, t.screen.width))
}

// measure asks the terminal for its size, which a user changes at any time.
func (t *terminal) measure() {
	if f, ok := t.out.(interface{ Fd() uintptr }); ok {
		if width, height, err := term.GetSize(int(f.Fd())); err == nil && width > 0 && height > 0 {
			t.screen.width, t.screen.height = width, height
		}
	}
}

func (t *terminal) Close(final record.Run, extra []string) {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return
	}
	t.closed = true
	t.show(Update{Run: final, Now: t.clock()})
	t.paint([]string{t.screen.box(final, extra)})
	close(t.stop)
	t.mu.Unlock()
	<-t.ended
}
