package secret

import (
	"bytes"
	"fmt"
)

// Mark is what stands in the place of a secret. It holds nothing that means something in JSON, Markdown or a shell.
func Mark(rule string) string { return "[redacted:" + rule + "]" }

// Redact returns the text with a mark in the place of each secret; the same slice where there is none. Line feeds
// within a secret stay, so that lines keep their numbers.
func (s *Scanner) Redact(text []byte) []byte {
	out, _ := s.redact(text)
	return out
}

// String is Redact for strings.
func (s *Scanner) String(text string) string {
	out, changed := s.redact([]byte(text))
	if !changed {
		return text
	}
	return string(out)
}

// Clean reports whether a text holds no secret.
func (s *Scanner) Clean(text []byte) bool { return len(s.Find(text)) == 0 }

func (s *Scanner) redact(text []byte) ([]byte, bool) {
	found := s.Find(text)
	if len(found) == 0 {
		return text, false
	}
	return replace(text, found), true
}

// replace writes marks in the place of what was found.
func replace(text []byte, found []Match) []byte {
	out := make([]byte, 0, len(text))
	at := 0
	for _, m := range found {
		out = append(out, text[at:m.Start]...)
		out = appendMark(out, m, text[m.Start:m.End])
		at = m.End
	}
	return append(out, text[at:]...)
}

// appendMark writes one mark for each line of a secret. What a diff puts in front of a line stays.
func appendMark(out []byte, m Match, hidden []byte) []byte {
	mark := Mark(m.Rule)
	for i := 0; ; i++ {
		line, rest, more := bytes.Cut(hidden, []byte("\n"))
		if i > 0 && len(line) > 0 && bytes.IndexByte([]byte("+- "), line[0]) >= 0 {
			out = append(out, line[0])
			line = line[1:]
		}
		if len(bytes.TrimSpace(line)) > 0 {
			out = append(out, mark...)
		}
		if !more {
			return out
		}
		out = append(out, '\n')
		hidden = rest
	}
}

// Mask is a secret in a form that can be shown: how long it is, and how one of a known shape begins, which says what
// it is.
func Mask(hidden []byte, shaped bool) string {
	shown := 0
	if shaped && len(hidden) >= 16 {
		shown = 4
	}
	return fmt.Sprintf("%s... (%d characters)", printable(hidden[:shown]), len(hidden))
}

func printable(text []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r < 0x21 || r > 0x7e {
			return -1
		}
		return r
	}, text)
}
