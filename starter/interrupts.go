package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// errInterrupted is the cause of a context that ended by Ctrl-C.
var errInterrupted = errors.New("interrupted")

// errSlow is the cause of a context that ended because something took too long.
var errSlow = errors.New("it takes too long")

// leavePatience is how long the last words may take: a terminal that is gone must keep nobody.
const leavePatience = 300 * time.Millisecond

// interrupts watches for Ctrl-C: the first one asks, the second one leaves at once.
type interrupts struct {
	signals chan os.Signal
	first   chan struct{}
	over    chan struct{} // closed when nobody is asked any more

	mu sync.Mutex
	// leaving says the last words before the second one ends this process; nil for none.
	leaving func()
}

func watchInterrupts() *interrupts {
	i := &interrupts{signals: make(chan os.Signal, 2), first: make(chan struct{}), over: make(chan struct{})}
	signal.Notify(i.signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-i.signals:
			case <-i.over:
				return
			}
			if n > 0 {
				i.lastWords()
				os.Exit(exitInterrupt) // supervisors end their agents when this process is gone
			}
			close(i.first)
		}
	}()
	return i
}

// atSecond sets the last words.
func (i *interrupts) atSecond(leaving func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.leaving = leaving
}

func (i *interrupts) lastWords() {
	i.mu.Lock()
	leaving := i.leaving
	i.mu.Unlock()
	if leaving == nil {
		return
	}
	said := make(chan struct{})
	go func() {
		defer close(said)
		leaving()
	}()
	select {
	case <-said:
	case <-time.After(leavePatience):
	}
}

// until gives a context that ends at the first interrupt.
func (i *interrupts) until(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-i.first:
			cancel(errInterrupted)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// asked says that the first interrupt came.
func (i *interrupts) asked() bool {
	select {
	case <-i.first:
		return true
	default:
		return false
	}
}

// stop ends the watch. Who pressed Ctrl-C may press it again while this process ends: that changes nothing any more, least
// of all its exit code.
func (i *interrupts) stop() {
	close(i.over)
	if !i.asked() {
		signal.Stop(i.signals)
	}
}
