package convergence

import (
	"strings"
	"unicode/utf8"
)

// str reads a string literal. A literal without escapes is a slice of the
// source and costs no copy.
func (p *parser) str() (string, bool) {
	p.pos++
	start := p.pos
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; {
		case c == '"':
			text := p.src[start:p.pos]
			p.pos++
			return text, true
		case c == '\\':
			return p.escaped(start)
		case c < 0x20:
			return "", p.fail("has a raw control character in a string at byte %d", p.pos)
		}
		p.pos++
	}
	return "", p.fail("ends inside a string")
}

func (p *parser) escaped(start int) (string, bool) {
	var b strings.Builder
	b.WriteString(p.src[start:p.pos])
	for p.pos < len(p.src) {
		c := p.src[p.pos]
		switch {
		case c == '"':
			p.pos++
			return b.String(), true
		case c < 0x20:
			return "", p.fail("has a raw control character in a string at byte %d", p.pos)
		case c != '\\':
			b.WriteByte(c)
			p.pos++
		default:
			if !p.escape(&b) {
				return "", false
			}
		}
	}
	return "", p.fail("ends inside a string")
}

var shortEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (p *parser) escape(b *strings.Builder) bool {
	at := p.pos
	p.pos++
	if p.pos >= len(p.src) {
		return p.fail("ends inside a string")
	}
	c := p.src[p.pos]
	p.pos++
	if short := shortEscapes[c]; short != 0 {
		b.WriteByte(short)
		return true
	}
	if c != 'u' {
		return p.fail("has an unknown escape at byte %d", at)
	}
	unit, ok := p.hex4()
	if !ok {
		return p.fail("has a malformed \\u escape at byte %d", at)
	}
	b.WriteRune(p.joinSurrogate(unit))
	return true
}

// joinSurrogate completes a surrogate pair. A lone surrogate has no UTF-8 form
// and would change the text silently, so it is an issue.
func (p *parser) joinSurrogate(unit rune) rune {
	if unit < 0xD800 || unit > 0xDFFF {
		return unit
	}
	if unit < 0xDC00 && strings.HasPrefix(p.src[p.pos:], `\u`) {
		back := p.pos
		p.pos += 2
		if low, ok := p.hex4(); ok && low >= 0xDC00 && low <= 0xDFFF {
			return (unit-0xD800)<<10 | (low - 0xDC00) + 0x10000
		}
		p.pos = back
	}
	p.note("holds a lone surrogate")
	return utf8.RuneError
}

func (p *parser) hex4() (rune, bool) {
	if p.pos+4 > len(p.src) {
		return 0, false
	}
	var r rune
	for range 4 {
		c := p.src[p.pos]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
		p.pos++
	}
	return r, true
}
