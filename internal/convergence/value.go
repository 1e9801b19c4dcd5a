package convergence

import (
	"iter"
	"strconv"
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
