package secret

import "bytes"

// Bounds of a private key in a text: the least of a run of key material, the most that may lie between two of them,
// and how far the headers of an old format reach.
const (
	runLeast   = 16
	gapMost    = 32
	headerMost = 320
)

// privateKey finds the key that a "-----BEGIN" at the start of text begins: what lies between its two lines, in whatever
// text they stand (JSON, a diff, strings that are put together). 0, 0 where there is none: a line alone is no key.
func privateKey(text []byte) (start, end int) {
	line := text[:min(len(text), 80)]
	close := bytes.Index(line[5:], []byte("-----"))
	if close < 0 || !bytes.Contains(line[:5+close], []byte("PRIVATE KEY")) {
		return 0, 0
	}
	start = 5 + close + 5
	at, end := start, start
	for at < len(text) {
		from := gap(text, at)
		if bytes.HasPrefix(text[from:], []byte("-----")) {
			break
		}
		to := skip(text, from, material)
		long := to-from >= runLeast
		switch {
		case to == from: // something else than a key
			return start, end
		case long && from-at > gapMost && end > start:
			return start, end
		case long:
			end = to
		case end == start && to-start > headerMost:
			return 0, 0
		case end > start && to-end > gapMost+runLeast: // words of the text behind a key that has no end
			return start, end
		case end > start && from-at <= gapMost && last(text, to): // a short last line, a checksum
			end = to
		}
		at = to
	}
	return start, end
}

// last reports whether the key's end line follows.
func last(text []byte, at int) bool {
	at = gap(text, at)
	rest := text[at:min(len(text), at+64)]
	end := bytes.Index(rest, []byte("-----END"))
	return end >= 0 && end < gapMost+runLeast
}

func skip(text []byte, at int, of func(byte) bool) int {
	for at < len(text) && of(text[at]) {
		at++
	}
	return at
}

func material(b byte) bool { return alnum(b) || b == '+' || b == '/' || b == '=' }

// gap skips what may lie between two lines of a key. A single dash is what a diff puts in front of a removed line.
func gap(text []byte, at int) int {
	for at < len(text) {
		b := text[at]
		lone := b == '-' && !bytes.HasPrefix(text[at:], []byte("--"))
		removed := b == '-' && bytes.HasPrefix(text[at:], []byte("------")) && at > 0 && text[at-1] == '\n'
		if material(b) || b >= 0x80 || b == '-' && !lone && !removed {
			break
		}
		at++
	}
	return at
}
