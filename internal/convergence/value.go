package convergence

import (
	"fmt"
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

// value is one parsed JSON value. Arrays keep their items in members with empty
// names: one slice serves both kinds and keeps the struct small.
type value struct {
	kind    valueKind
	raw     string // of a string its text, of a number its literal
	members []member
}

type member struct {
	name  string
	value value
}

// maxDepth is the deepest nesting the JSON layer of the form accepts.
const maxDepth = 256

// get returns the member with that exact name; absent when there is none or the
// value is no object. encoding/json would match names without regard to case.
func (v value) get(name string) value {
	if v.kind == kindObject {
		for i := range v.members {
			if v.members[i].name == name {
				return v.members[i].value
			}
		}
	}
	return value{}
}

func (v value) isText() bool { return v.kind == kindString }

func (v value) isTrue() bool { return v.kind == kindTrue }

// text returns a string's text; "" when the value is none.
func (v value) text() string {
	if v.kind != kindString {
		return ""
	}
	return v.raw
}

// number returns a number as a double; 0 when the value is none. The parser
// made sure that it is in range.
func (v value) number() float64 {
	if v.kind != kindNumber {
		return 0
	}
	n, _ := strconv.ParseFloat(v.raw, 64)
	return n
}

func (v value) isBool() bool { return v.kind == kindTrue || v.kind == kindFalse }

// maxSafe is the largest integer that ECMAScript holds exactly.
const maxSafe = 1<<53 - 1

// safeInteger returns the value as an integer when it is one ECMAScript would
// call safe.
func (v value) safeInteger() (int64, bool) {
	n := v.number()
	if v.kind != kindNumber || n > maxSafe || n < -maxSafe || n != float64(int64(n)) {
		return 0, false
	}
	return int64(n), true
}

// parser reads one JSON text. What can be read on after (a repeated name, a
// lone surrogate, a number out of range) is collected; a syntax error ends it.
type parser struct {
	src    string
	pos    int
	track  bool // keep the path, which only problems need
	path   []string
	issues []Issue
}

// parseValue parses strict JSON (RFC 8259, UTF-8, no repeated names). What has
// problems is read a second time, to say where they are.
func parseValue(src string) (value, []Issue) {
	p := parser{src: src}
	v, ok := p.document()
	if ok && len(p.issues) == 0 {
		return v, nil
	}
	p = parser{src: src, track: true}
	p.document()
	return value{}, p.issues
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

func (p *parser) document() (value, bool) {
	if !utf8.ValidString(p.src) {
		return value{}, p.fail("is not valid UTF-8")
	}
	v, ok := p.value(0)
	if !ok {
		return value{}, false
	}
	p.space()
	if p.pos != len(p.src) {
		return value{}, p.fail("has text after the end of the JSON value, at byte %d", p.pos)
	}
	return v, true
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

func (p *parser) value(depth int) (value, bool) {
	p.space()
	if p.pos >= len(p.src) {
		return value{}, p.fail("ends where a JSON value is expected")
	}
	switch c := p.src[p.pos]; {
	case c == '{':
		return p.object(depth + 1)
	case c == '[':
		return p.array(depth + 1)
	case c == '"':
		text, ok := p.str()
		return value{kind: kindString, raw: text}, ok
	case c == 't':
		return p.word("true", kindTrue)
	case c == 'f':
		return p.word("false", kindFalse)
	case c == 'n':
		return p.word("null", kindNull)
	case c == '-' || c >= '0' && c <= '9':
		return p.num()
	}
	return value{}, p.fail("has an unexpected character at byte %d", p.pos)
}

func (p *parser) word(word string, kind valueKind) (value, bool) {
	if !strings.HasPrefix(p.src[p.pos:], word) {
		return value{}, p.fail("has an unknown word at byte %d", p.pos)
	}
	p.pos += len(word)
	return value{kind: kind}, true
}

func (p *parser) tooDeep(depth int) bool {
	if depth > maxDepth {
		p.note("is nested more than %d levels deep", maxDepth)
		return true
	}
	return false
}

func (p *parser) array(depth int) (value, bool) {
	if p.tooDeep(depth) {
		return value{}, false
	}
	p.pos++
	v := value{kind: kindArray}
	for first := true; ; first = false {
		p.space()
		if first && p.take(']') {
			return v, true
		}
		p.enterIndex(len(v.members))
		item, ok := p.value(depth)
		if !ok {
			return value{}, false
		}
		p.leave()
		v.members = append(v.members, member{value: item})
		p.space()
		if p.take(']') {
			return v, true
		}
		if !p.take(',') {
			return value{}, p.fail("lacks a comma or ] at byte %d", p.pos)
		}
	}
}

func (p *parser) object(depth int) (value, bool) {
	if p.tooDeep(depth) {
		return value{}, false
	}
	p.pos++
	v := value{kind: kindObject}
	var seen map[string]bool
	p.space()
	if p.pos < len(p.src) && p.src[p.pos] != '}' {
		v.members = make([]member, 0, 3)
	}
	for first := true; ; first = false {
		p.space()
		if first && p.take('}') {
			return v, true
		}
		m, ok := p.member(depth)
		if !ok {
			return value{}, false
		}
		seen = p.checkRepeat(v.members, m.name, seen)
		v.members = append(v.members, m)
		p.space()
		if p.take('}') {
			return v, true
		}
		if !p.take(',') {
			return value{}, p.fail("lacks a comma or } at byte %d", p.pos)
		}
	}
}

func (p *parser) member(depth int) (member, bool) {
	if p.pos >= len(p.src) || p.src[p.pos] != '"' {
		return member{}, p.fail("lacks a member name at byte %d", p.pos)
	}
	name, ok := p.str()
	if !ok {
		return member{}, false
	}
	p.space()
	if !p.take(':') {
		return member{}, p.fail("lacks a colon at byte %d", p.pos)
	}
	p.enter(name)
	v, ok := p.value(depth)
	if ok {
		p.leave()
	}
	return member{name: name, value: v}, ok
}

// checkRepeat notes a member name that came before. Small objects are searched,
// large ones get a set, so that a hostile object costs no quadratic time.
func (p *parser) checkRepeat(members []member, name string, seen map[string]bool) map[string]bool {
	const small = 16
	repeated := false
	switch {
	case seen != nil:
		repeated = seen[name]
	case len(members) < small:
		for i := range members {
			repeated = repeated || members[i].name == name
		}
	default:
		seen = make(map[string]bool, 2*small)
		for i := range members {
			seen[members[i].name] = true
		}
		repeated = seen[name]
	}
	if seen != nil {
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

func (p *parser) num() (value, bool) {
	start := p.pos
	p.take('-')
	if !p.take('0') && !p.digits() {
		return value{}, p.fail("has a malformed number at byte %d", start)
	}
	if p.take('.') && !p.digits() {
		return value{}, p.fail("has a malformed number at byte %d", start)
	}
	if p.take('e') || p.take('E') {
		if !p.take('+') {
			p.take('-')
		}
		if !p.digits() {
			return value{}, p.fail("has a malformed number at byte %d", start)
		}
	}
	literal := p.src[start:p.pos]
	if _, err := strconv.ParseFloat(literal, 64); err != nil {
		p.note("holds a number outside the range of a double")
	}
	return value{kind: kindNumber, raw: literal}, true
}

func (p *parser) digits() bool {
	start := p.pos
	for p.pos < len(p.src) && p.src[p.pos] >= '0' && p.src[p.pos] <= '9' {
		p.pos++
	}
	return p.pos > start
}
