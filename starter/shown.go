package main

import (
	"io"
	"text/tabwriter"
)

// shown writes the text of others so that a terminal shows it instead of obeying it: control characters become visible,
// as `cat -v` shows them. Lines and tabs stay.
type shown struct {
	w io.Writer
	// cut is the first byte of a control character whose second byte has not come yet.
	cut bool
}

// leadC1 begins the two bytes that UTF-8 makes of the control characters U+0080 to U+009F.
const leadC1 = 0xC2

// Write implements io.Writer.
func (s *shown) Write(p []byte) (int, error) {
	out := make([]byte, 0, len(p)+8)
	for _, b := range p {
		if s.cut {
			s.cut = false
			if b >= 0x80 && b < 0xA0 {
				out = append(out, 'M', '-', '^', b-0x40)
				continue
			}
			out = append(out, leadC1)
		}
		switch {
		case b == leadC1:
			s.cut = true
		case b == '\n' || b == '\t' || b >= 0x20 && b != 0x7F:
			out = append(out, b)
		default:
			out = append(out, '^', b^0x40)
		}
	}
	if _, err := s.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// onScreen is w for text of others: what goes to a file or another program keeps every byte.
func onScreen(w io.Writer) io.Writer {
	if isScreen(w) {
		return &shown{w: w}
	}
	return w
}

// isScreen is a variable for tests.
var isScreen = func(w io.Writer) bool {
	terminal, _ := terminalOf(w)
	return terminal
}

// table aligns columns that may hold text of others.
func (a *app) table() *tabwriter.Writer {
	return tabwriter.NewWriter(&shown{w: a.out}, 0, 0, 2, ' ', 0)
}
