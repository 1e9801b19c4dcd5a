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
		to := skip(text, from, material)
		next, goesOn := run(text, start, end, at, from, to)
		if !goesOn {
			return start, next
		}
		at, end = to, next
	}
	return start, end
}

// run judges one run of key material, from to to, behind at: it returns where the key ends now, and whether it may go
// on. A key that has not begun ends where it starts.
func run(text []byte, start, end, at, from, to int) (next int, goesOn bool) {
	begun, long, far := end > start, to-from >= runLeast, from-at > gapMost
	switch {
	case to == from: // its last line, or something else than a key
		return end, false
	case long && (!begun || !far):
		return to, true
	case long:
		return end, false
	case !begun:
		return end, to-start <= headerMost // the headers of an old format
	case to-end > gapMost+runLeast: // words of the text behind a key that has no end
		return end, false
	case !far && last(text, to): // a short last line, a checksum
		return to, true
	}
	return end, true
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
