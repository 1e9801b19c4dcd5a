package convergence

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parser reads one JSON text. What can be read on after (a repeated name, a
// lone surrogate, a number out of range) is collected; a syntax error ends it.
type parser struct {
	src    string
	pos    int
	doc    []cell
	track  bool // keep the path, which only problems need
	path   []string
	issues []Issue
}

// maxDepth is the deepest nesting the JSON layer of the form accepts.
const maxDepth = 256

// parseValue parses strict JSON (RFC 8259, UTF-8, no repeated names). What has
// problems is read a second time, to say where they are.
func parseValue(src string) (value, []Issue) {
	p := parser{src: src, doc: make([]cell, 0, cellsOf(src))}
	if p.document() && len(p.issues) == 0 {
		return value{p.doc}, nil
	}
	p = parser{src: src, track: true}
	p.document()
	return value{}, p.issues
}

// cellsOf is at least the number of values in a JSON text: each container has
// at most one more child than it has commas.
func cellsOf(src string) int {
	return 1 + strings.Count(src, ",") + strings.Count(src, "{") + strings.Count(src, "[")
}

// enter and leave keep the path.
func (p *parser) enter(name string) {
	if p.track {
		p.path = append(p.path, name)
	}
}

func (p *parser) enterIndex(i int) {
	if p.track {
		p.path = append(p.path, strconv.Itoa(i))
	}
}

func (p *parser) leave() {
	if p.track {
		p.path = p.path[:len(p.path)-1]
	}
}

func (p *parser) document() bool {
	if !utf8.ValidString(p.src) {
		return p.fail("is not valid UTF-8")
	}
	if !p.value("", 0) {
		return false
	}
	p.space()
	if p.pos != len(p.src) {
		return p.fail("has text after the end of the JSON value, at byte %d", p.pos)
	}
	return true
}

func (p *parser) pointer() string {
	var b strings.Builder
	for _, step := range p.path {
		b.WriteByte('/')
		b.WriteString(escapePointer(step))
	}
	return b.String()
}

func escapePointer(step string) string {
	return strings.ReplaceAll(strings.ReplaceAll(step, "~", "~0"), "/", "~1")
}

// note records a problem that does not stop the parser.
func (p *parser) note(format string, args ...any) {
	p.issues = append(p.issues, Issue{Code: CodeInvalidJSON, Path: p.pointer(), Message: fmt.Sprintf(format, args...)})
}

func (p *parser) fail(format string, args ...any) bool {
	p.note(format, args...)
	return false
}

func (p *parser) space() {
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

// add appends one cell.
func (p *parser) add(kind valueKind, name, raw string) bool {
	p.doc = append(p.doc, cell{name: name, raw: raw, kind: kind, size: 1})
	return true
}

func (p *parser) value(name string, depth int) bool {
	p.space()
	if p.pos >= len(p.src) {
		return p.fail("ends where a JSON value is expected")
	}
	switch c := p.src[p.pos]; {
	case c == '{':
		return p.object(name, depth+1)
	case c == '[':
		return p.array(name, depth+1)
	case c == '"':
		text, ok := p.str()
		return ok && p.add(kindString, name, text)
	case c == 't':
		return p.word("true") && p.add(kindTrue, name, "")
	case c == 'f':
		return p.word("false") && p.add(kindFalse, name, "")
	case c == 'n':
		return p.word("null") && p.add(kindNull, name, "")
	case c == '-' || c >= '0' && c <= '9':
		return p.num(name)
	}
	return p.fail("has an unexpected character at byte %d", p.pos)
}

func (p *parser) word(word string) bool {
	if !strings.HasPrefix(p.src[p.pos:], word) {
		return p.fail("has an unknown word at byte %d", p.pos)
	}
	p.pos += len(word)
	return true
}

// open begins a container and reports where its cell is; close ends it there.
func (p *parser) open(kind valueKind, name string, depth int) (at int, ok bool) {
	if depth > maxDepth {
		return 0, p.fail("is nested more than %d levels deep", maxDepth)
	}
	p.pos++
	p.add(kind, name, "")
	p.space()
	return len(p.doc) - 1, true
}

func (p *parser) close(at int) bool {
	p.doc[at].size = int32(len(p.doc) - at)
	return true
}

func (p *parser) array(name string, depth int) bool {
	at, ok := p.open(kindArray, name, depth)
	if !ok {
		return false
	}
	if p.take(']') {
		return p.close(at)
	}
	for i := 0; ; i++ {
		p.enterIndex(i)
		if !p.value("", depth) {
			return false
		}
		p.leave()
		p.space()
		if p.take(']') {
			return p.close(at)
		}
		if !p.take(',') {
			return p.fail("lacks a comma or ] at byte %d", p.pos)
		}
	}
}

func (p *parser) object(name string, depth int) bool {
	at, ok := p.open(kindObject, name, depth)
	if !ok {
		return false
	}
	if p.take('}') {
		return p.close(at)
	}
	var seen map[string]bool
	for {
		p.space()
		start := len(p.doc)
		if !p.member(depth) {
			return false
		}
		seen = p.checkRepeat(at, start, seen)
		p.space()
		if p.take('}') {
			return p.close(at)
		}
		if !p.take(',') {
			return p.fail("lacks a comma or } at byte %d", p.pos)
		}
	}
}

func (p *parser) member(depth int) bool {
	if p.pos >= len(p.src) || p.src[p.pos] != '"' {
		return p.fail("lacks a member name at byte %d", p.pos)
	}
	name, ok := p.str()
	if !ok {
		return false
	}
	p.space()
	if !p.take(':') {
		return p.fail("lacks a colon at byte %d", p.pos)
	}
	p.enter(name)
	if !p.value(name, depth) {
		return false
	}
	p.leave()
	return true
}

// manyMembers is where searching the members for a repeated name gives way to
// a set, so that a hostile object costs no quadratic time.
const manyMembers = 16

// checkRepeat notes that the member at last repeats the name of an earlier one
// of the object at open. seen is nil while the object is small.
func (p *parser) checkRepeat(open, last int, seen map[string]bool) map[string]bool {
	name, repeated, n := p.doc[last].name, false, 0
	if seen == nil {
		for at := open + 1; at < last; at += int(p.doc[at].size) {
			repeated = repeated || p.doc[at].name == name
			n++
		}
	}
	if n >= manyMembers {
		seen = make(map[string]bool, 2*n)
		for at := open + 1; at < last; at += int(p.doc[at].size) {
			seen[p.doc[at].name] = true
		}
	}
	if seen != nil {
		repeated = seen[name]
		seen[name] = true
	}
	if repeated {
		p.note("repeats the member %q", name)
	}
	return seen
}

func (p *parser) take(c byte) bool {
	if p.pos < len(p.src) && p.src[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

func (p *parser) num(name string) bool {
	start := p.pos
	p.take('-')
	if !p.take('0') && !p.digits() {
		return p.fail("has a malformed number at byte %d", start)
	}
	if p.take('.') && !p.digits() {
		return p.fail("has a malformed number at byte %d", start)
	}
	if p.take('e') || p.take('E') {
		if !p.take('+') {
			p.take('-')
		}
		if !p.digits() {
			return p.fail("has a malformed number at byte %d", start)
		}
	}
	literal := p.src[start:p.pos]
	if _, err := strconv.ParseFloat(literal, 64); err != nil {
		p.note("holds a number outside the range of a double")
	}
	return p.add(kindNumber, name, literal)
}

func (p *parser) digits() bool {
	start := p.pos
	for p.pos < len(p.src) && p.src[p.pos] >= '0' && p.src[p.pos] <= '9' {
		p.pos++
	}
	return p.pos > start
}
