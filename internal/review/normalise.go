package review

import (
	"strings"
	"unicode/utf8"
)

const (
	escape = 0x1b
	bell   = 0x07
	csiC1  = 0x9b // the one-rune form of ESC [
)

// normalise removes what a reader cannot see: byte order marks, carriage returns, terminal sequences, zero-width
// characters and no-break spaces. Line feeds stay where they are, so line numbers stay those of the given text.
func normalise(text []byte) string {
	var out strings.Builder
	out.Grow(len(text))
	for i := 0; i < len(text); {
		b := text[i]
		switch {
		case b == '\r':
			i++
		case b == escape:
			i += escapeLength(text[i:])
		case b < utf8.RuneSelf:
			out.WriteByte(b)
			i++
		default:
			r, size := utf8.DecodeRune(text[i:])
			switch {
			case r == csiC1:
				i += size + csiLength(text[i+size:])
				continue
			case !invisible(r):
				out.Write(text[i : i+size])
			}
			i += size
		}
	}
	return out.String()
}

// invisible reports the characters that take no place or only a blank one that Markdown does not know as a space.
func invisible(r rune) bool {
	switch {
	case r == 0x00a0, r == 0x2007, r == 0x202f: // no-break spaces
		return true
	case r == 0x00ad, r == 0x034f, r == 0x061c, r == 0x180e, r == 0xfeff:
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	}
	return false
}

// escapeLength returns how many bytes the terminal sequence at the start of s has. It never crosses a line feed, so
// an unfinished sequence cannot swallow a line.
func escapeLength(s []byte) int {
	if len(s) < 2 || s[1] == '\n' {
		return 1
	}
	switch s[1] {
	case '[':
		return 2 + csiLength(s[2:])
	case ']', 'P', 'X', '^', '_':
		return 2 + stringLength(s[2:])
	}
	n := 1
	for n < len(s) && s[n] >= 0x20 && s[n] <= 0x2f {
		n++
	}
	if n < len(s) && s[n] >= 0x30 && s[n] <= 0x7e {
		n++
	}
	return n
}

func csiLength(s []byte) int {
	n := 0
	for n < len(s) && s[n] >= 0x20 && s[n] <= 0x3f {
		n++
	}
	if n < len(s) && s[n] >= 0x40 && s[n] <= 0x7e {
		n++
	}
	return n
}

// stringLength measures the body of an operating-system command up to its terminator or the end of the line.
func stringLength(s []byte) int {
	for n := 0; n < len(s); n++ {
		switch {
		case s[n] == '\n':
			return n
		case s[n] == bell:
			return n + 1
		case s[n] == escape && n+1 < len(s) && s[n+1] == '\\':
			return n + 2
		}
	}
	return len(s)
}
