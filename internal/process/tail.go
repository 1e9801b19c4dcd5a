package process

import (
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
)

// StderrTail returns the last bytes of a file, at most max, as clean text: valid UTF-8, no terminal sequences, no
// control characters but newlines and tabs, beginning at a line where the file is longer. A file that cannot be read
// gives "".
func StderrTail(path string, max int) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || max <= 0 {
		return ""
	}
	from := info.Size() - int64(max)
	if from < 0 {
		from = 0
	}
	b, err := io.ReadAll(io.NewSectionReader(f, from, int64(max)))
	if err != nil {
		return ""
	}
	text := string(b)
	if from > 0 {
		if i := strings.IndexByte(text, '\n'); i >= 0 && i < len(text)-1 {
			text = text[i+1:]
		}
	}
	text = Clean(text)
	for len(text) > max { // replacement characters are longer than what they replace
		_, size := utf8.DecodeRuneInString(text)
		text = text[size:]
	}
	return text
}

// Clean makes text of a program fit for a report: invalid UTF-8 becomes U+FFFD, terminal sequences and control
// characters other than newline and tab are removed.
func Clean(text string) string {
	text = strings.ToValidUTF8(text, "�")
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		if n := sequence(text[i:]); n > 0 {
			i += n
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == '\n' || r == '\t' || !unicode.IsControl(r) && r != '\u2028' && r != '\u2029' {
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// sequence measures the terminal sequence that text begins with: CSI (ESC [ ... letter) and OSC (ESC ] ... BEL or
// ESC \), else a lone ESC with the byte behind it. 0 when there is none.
func sequence(text string) int {
	if text == "" || text[0] != 0x1b {
		return 0
	}
	if len(text) == 1 {
		return 1
	}
	switch c := text[1]; {
	case c == '[':
		return controlSequence(text)
	case c == ']':
		return systemCommand(text)
	case c >= 0x20 && c < 0x80:
		return 2
	}
	return 1
}

// controlSequence measures ESC [ ... up to its last letter, or to the control character or end that cuts it short.
func controlSequence(text string) int {
	for i := 2; i < len(text); i++ {
		switch c := text[i]; {
		case c >= 0x40 && c <= 0x7e:
			return i + 1
		case c < 0x20:
			return i
		}
	}
	return len(text)
}

// systemCommand measures ESC ] ... up to BEL or ESC \, or to the line's end or the text's that cuts it short.
func systemCommand(text string) int {
	for i := 2; i < len(text); i++ {
		switch {
		case text[i] == 0x07:
			return i + 1
		case strings.HasPrefix(text[i:], "\x1b\\"):
			return i + 2
		case text[i] == '\n':
			return i
		}
	}
	return len(text)
}
