package verifier

import (
	"strings"
	"unicode/utf8"
)

// Bounds in bytes. They keep a prompt readable whatever a verifier prints; the whole output is in the store.
const (
	MaxChecks = 4 << 10
	MaxTail   = 8 << 10
)

// Failure is what is told of a failed verification.
type Failure struct {
	// Checks names the failing checks with the lines that explain them, at most MaxChecks bytes; "" where nothing in
	// the output was recognised.
	Checks string `json:"checks"`
	// Tail is the end of the output, at most MaxTail bytes of valid UTF-8, beginning at a line.
	Tail string `json:"tail"`
	// Truncated is set where Tail is not the whole output.
	Truncated bool `json:"truncated"`
}

// Extract reads the output of a failed verification. It knows go test (plain and -json), pytest, cargo, jest and
// node's test runner, and takes from everything else the lines that speak of a failure.
func Extract(output []byte) Failure {
	lines := strings.Split(plain(output), "\n")
	text := strings.Trim(strings.Join(lines, "\n"), "\n")
	tail, truncated := tailOf(text)
	return Failure{Checks: checks(lines), Tail: tail, Truncated: truncated}
}

// Text returns the failing checks and then the end of the output, in the form in which a prompt shows them; "" where
// the output was empty.
func (f Failure) Text() string {
	var b strings.Builder
	if f.Checks != "" {
		b.WriteString("Failing checks:\n")
		b.WriteString(f.Checks)
		b.WriteString("\n")
	}
	if f.Tail != "" {
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		if f.Truncated {
			b.WriteString("End of the output (its beginning is left out):\n")
		} else {
			b.WriteString("Output:\n")
		}
		b.WriteString(f.Tail)
		b.WriteString("\n")
	}
	return b.String()
}

// tailOf returns the last lines of text that fit into MaxTail. A single line that does not fit is cut at a character.
func tailOf(text string) (tail string, truncated bool) {
	if len(text) <= MaxTail {
		return text, false
	}
	cut := text[len(text)-MaxTail:]
	if text[len(text)-MaxTail-1] == '\n' {
		return cut, true
	}
	if _, rest, found := strings.Cut(cut, "\n"); found {
		return rest, true
	}
	for len(cut) > 0 && !utf8.RuneStart(cut[0]) {
		cut = cut[1:]
	}
	return cut, true
}
