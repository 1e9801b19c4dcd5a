//go:build linux || darwin

package process

import (
	"errors"
	"io"
	"os"
	"time"
)

// After the tree's end the output is read until it has been silent for drainPause (only a process that could not be
// killed still holds it open), at most for drainLimit.
const (
	drainPause = 200 * time.Millisecond
	drainLimit = 3 * time.Second
)

// readOutput copies the command's output to disk and hands on its lines until nobody holds the other end.
func (t *turn) readOutput() {
	stopWatch := t.interruptWhenOver()
	err := t.copyOutput()
	if err == nil {
		err = t.lines.end()
	}
	if errClose := t.file.Close(); err == nil {
		err = errClose
	}
	stopWatch()
	_ = t.stdout.Close()
	t.read <- err // the last: whoever hears it finds nothing open any more
}

// copyOutput returns the first error of ours, but reads on after it, so that the command can end in its own way.
func (t *turn) copyOutput() error {
	buf := make([]byte, 64<<10)
	var ours error
	var until time.Time // set once the tree is gone
	for {
		n, err := t.stdout.Read(buf)
		if n > 0 && ours == nil {
			if ours = t.lines.add(buf[:n]); ours != nil {
				close(t.broken)
			}
		}
		over := errors.Is(err, os.ErrDeadlineExceeded)
		switch {
		case err == nil && until.IsZero():
		case errors.Is(err, io.EOF), over && !until.IsZero() && n == 0:
			return ours
		case err != nil && !over:
			return errors.Join(ours, err)
		default:
			if until.IsZero() {
				until = time.Now().Add(drainLimit)
			}
			if time.Now().After(until) {
				return ours
			}
			_ = t.stdout.SetReadDeadline(time.Now().Add(drainPause))
		}
	}
}

// interruptWhenOver wakes the reader when the tree is gone.
func (t *turn) interruptWhenOver() (stop func()) {
	finished, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		select {
		case <-t.over:
			_ = t.stdout.SetReadDeadline(time.Now().Add(drainPause))
		case <-finished:
		}
	}()
	return func() { close(finished); <-gone }
}
