package view

import "io"

// Pause takes the live part off the screen while f uses the terminal.
func Pause(v View, f func()) {
	if t, ok := v.(*terminal); ok {
		t.pause(f)
		return
	}
	f()
}

func (t *terminal) pause(f func()) {
	t.mu.Lock() // nothing is painted until f is done
	defer t.mu.Unlock()
	t.measure()
	_, _ = io.WriteString(t.out, t.painter.paint(nil, nil, t.screen.width))
	f()
}
