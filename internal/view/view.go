// Package view shows a run while it goes on: a few live lines on a terminal,
// plain lines elsewhere. It is fed whole run records and finds out itself what
// is new in them. It reads no input and handles no signals.
package view

import (
	"fmt"
	"io"
	"time"

	"conclave/internal/record"
)

// Options say where and how to show a run.
type Options struct {
	// Out is where everything goes; never the place of a --json document.
	Out io.Writer
	// Terminal says that Out is a terminal that moves its cursor.
	Terminal bool
	// Width is the terminal's width in columns until it reports its own; 0 means 80.
	Width int
	Color bool
	// Quiet shows the outcome only, NoProgress plain lines on a terminal too.
	Quiet      bool
	NoProgress bool
	// Watching says that somebody else carries the run: Ctrl-C ends the view only.
	Watching bool
}

// Update is the run as it is now.
type Update struct {
	Run record.Run
	// Actions is what each running step's agent did last, by step id.
	Actions map[string]string
	Now     time.Time
}

// View shows a run. Its methods may be called from several goroutines.
type View interface {
	// Update shows what is new since the last one. The view keeps the record:
	// the caller must not change its steps afterwards.
	Update(Update)
	// Message shows one line above the live part.
	Message(string)
	// Close shows the rest, the outcome and extra ("label: text" lines), and
	// gives the terminal back. Later calls do nothing.
	Close(final record.Run, extra []string)
}

// New returns the view that fits the options.
func New(o Options) View {
	switch {
	case o.Quiet:
		return &quiet{out: o.Out}
	case o.Terminal && !o.NoProgress:
		t := newTerminal(o)
		go t.spin()
		return t
	default:
		return newPlain(o)
	}
}

// UseColor decides about colour from --color (auto, always or never), whether
// the output is a terminal, and the environment (NO_COLOR, TERM=dumb).
func UseColor(mode string, terminal bool, getenv func(string) string) (bool, error) {
	switch mode {
	case "always":
		return true, nil
	case "never":
		return false, nil
	case "auto", "":
		return terminal && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb", nil
	}
	return false, fmt.Errorf("--color %q: use auto, always or never", mode)
}
