package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"
)

// keyLength is the number of hex digits that a mark's key has at first.
const keyLength = 16

// Fence puts untrusted material between two marks with a key that does not occur in it, so that nothing inside can
// close the marks. Equal material gives equal marks. Bytes that are no text are shown as U+FFFD, with a note.
func Fence(name string, material []byte) string { return enclose("untrusted "+name, material) }

// enclose is Fence with any label: what binds an agent stands between marks too, but is not called untrusted.
func enclose(label string, material []byte) string {
	label = oneLine(label)
	text, note := display(material)
	key := keyFor(label, text)
	var b strings.Builder
	b.Grow(len(text) + 2*len(label) + 128)
	b.WriteString(note)
	fmt.Fprintf(&b, "[begin %s %s]\n", label, key)
	b.WriteString(text)
	if text != "" && !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "[end %s %s]", label, key)
	return b.String()
}

// keyFor derives a key from the material, one that the material does not hold.
func keyFor(label, text string) string {
	seed := label + "\x00" + text
	for {
		sum := sha256.Sum256([]byte(seed))
		digits := hex.EncodeToString(sum[:])
		if n := absentFrom(text, digits); n > 0 {
			return digits[:n]
		}
		seed = digits // the material holds its own digest; take the digest's
	}
}

// absentFrom returns how many digits make a key that text does not hold, 0 if it holds them all.
func absentFrom(text, digits string) int {
	for n := keyLength; n <= len(digits); n += 8 {
		if !strings.Contains(text, digits[:n]) {
			return n
		}
	}
	return 0
}

// display returns bytes as text. It replaces what is no UTF-8, and NUL, and says how often; it changes nothing else,
// but tells of characters that make text look different from what it is.
func display(material []byte) (text, note string) {
	var b strings.Builder
	b.Grow(len(material))
	replaced, turned := 0, 0
	for i := 0; i < len(material); {
		c := material[i]
		if c != 0 && c < utf8.RuneSelf {
			b.WriteByte(c)
			i++
			continue
		}
		r, size := utf8.DecodeRune(material[i:])
		switch {
		case c == 0 || r == utf8.RuneError && size == 1:
			replaced++
			r = utf8.RuneError
		case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			turned++
		}
		b.WriteRune(r)
		i += size
	}
	if replaced > 0 {
		note += fmt.Sprintf("(%d bytes below are not UTF-8 text; each is shown as U+FFFD.)\n", replaced)
	}
	if turned > 0 {
		note += fmt.Sprintf("(%d characters below change the direction of text: it can look different from what it is.)\n", turned)
	}
	return b.String(), note
}

// oneLine makes a name fit for a mark.
func oneLine(name string) string {
	name, _ = display([]byte(name))
	return strings.Map(func(r rune) rune {
		switch {
		case r < ' ' || r == 0x7f || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x85:
			return ' '
		case r == '[' || r == ']':
			return '_'
		}
		return r
	}, name)
}
