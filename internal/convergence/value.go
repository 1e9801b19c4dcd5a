package convergence

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"
)

// valueKind is the JSON type of a value. Its zero value is no JSON type at all,
// so a forgotten value is never taken for null.
type valueKind uint8

const (
	kindAbsent valueKind = iota
	kindNull
	kindFalse
	kindTrue
	kindNumber
	kindString
	kindArray
	kindObject
)

// value is one parsed JSON value: a window on the cells of its document. The
// first cell is its own, those of its items or members follow. A whole
// document is one allocation. The zero value is absent.
type value struct{ doc []cell }

// cell is one value of a document, in the order of the text.
type cell struct {
	name string // of a member
	raw  string // of a string its text, of a number its literal
	kind valueKind
	size int32 // cells of this value, its own included
}

// maxDepth is the deepest nesting the JSON layer of the form accepts.
const maxDepth = 256

func (v value) kind() valueKind {
	if len(v.doc) == 0 {
		return kindAbsent
	}
	return v.doc[0].kind
}

// name is the member name the value was found under.
func (v value) name() string { return v.doc[0].name }

// items yields the items of an array or the members of an object with their
// indexes; nothing for any other value.
func (v value) items() iter.Seq2[int, value] {
	return func(yield func(int, value) bool) {
		for i, at := 0, 1; at < len(v.doc); i++ {
			next := at + int(v.doc[at].size)
			if !yield(i, value{v.doc[at:next]}) {
				return
			}
			at = next
		}
	}
}

// count is the number of items or members.
func (v value) count() int {
	n := 0
	for at := 1; at < len(v.doc); at += int(v.doc[at].size) {
		n++
	}
	return n
}

// get returns the member with that exact name; absent when there is none or the
// value is no object. encoding/json would match names without regard to case.
func (v value) get(name string) value {
	if v.kind() != kindObject {
		return value{}
	}
	for at := 1; at < len(v.doc); {
		next := at + int(v.doc[at].size)
		if v.doc[at].name == name {
			return value{v.doc[at:next]}
		}
		at = next
	}
	return value{}
}

func (v value) isText() bool { return v.kind() == kindString }

func (v value) isTrue() bool { return v.kind() == kindTrue }

// text returns a string's text; "" when the value is none.
func (v value) text() string {
	if v.kind() != kindString {
		return ""
	}
	return v.doc[0].raw
}

// number returns a number as a double; 0 when the value is none. The parser
// made sure that it is in range.
func (v value) number() float64 {
	if v.kind() != kindNumber {
		return 0
	}
	n, _ := strconv.ParseFloat(v.doc[0].raw, 64)
	return n
}

func (v value) isBool() bool { return v.kind() == kindTrue || v.kind() == kindFalse }

// maxSafe is the largest integer that ECMAScript holds exactly.
const maxSafe = 1<<53 - 1

// safeInteger returns the value as an integer when it is one ECMAScript would
// call safe.
func (v value) safeInteger() (int64, bool) {
	n := v.number()
	if v.kind() != kindNumber || n > maxSafe || n < -maxSafe || n != float64(int64(n)) {
		return 0, false
	}
	return int64(n), true
}

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
