package secret

import "bytes"

// nameMost and gapLimit bound what of a name may follow a keyword, and what may stand between it and its value.
const (
	nameMost = 40
	gapLimit = 24
)

// assigned finds the value that is given to the name which a keyword at a place is part of: in code, in settings, in
// JSON, also where that is quoted once more. 0, 0 where nothing is given to it, which is so for most words.
func (r *rule) assigned(text []byte, at int) (start, end int) {
	i := most(text, at, nameMost, nameByte)
	i = most(text, i, gapLimit, quoting)
	i = most(text, i, gapLimit, blank)
	gives, quoted := giver(text, i)
	if gives == 0 {
		return 0, 0
	}
	i = most(text, i+gives, gapLimit, blank)
	if i+1 < len(text) && bytes.IndexByte([]byte("bru"), text[i]) >= 0 && (text[i+1] == '"' || text[i+1] == '\'') {
		i++ // a prefix of a string
	}
	start = most(text, i, gapLimit, quoting)
	if quoted && start == i {
		return 0, 0
	}
	end = start
	for end < len(text) && r.value[text[end]] {
		end++
	}
	if end-start < r.Least {
		return 0, 0
	}
	return start, end
}

// giver measures what gives a value: =, ==, :=, =>, or a colon; a comma and a parenthesis do so only in front of a
// string.
func giver(text []byte, at int) (n int, quoted bool) {
	rest := text[at:min(len(text), at+3)]
	switch {
	case bytes.HasPrefix(rest, []byte("=>")), bytes.HasPrefix(rest, []byte(":=")):
		return 2, false
	case len(rest) == 0:
		return 0, false
	case rest[0] == '=':
		return most(rest, 0, len(rest), func(b byte) bool { return b == '=' }), false
	case rest[0] == ':':
		return 1, false
	case rest[0] == ',', rest[0] == '(':
		return 1, true
	}
	return 0, false
}

// most skips at most n characters of a kind.
func most(text []byte, at, n int, of func(byte) bool) int {
	end := min(len(text), at+n)
	for at < end && of(text[at]) {
		at++
	}
	return at
}

func quoting(b byte) bool { return b == '"' || b == '\'' || b == '`' || b == '\\' || b == ']' }

func blank(b byte) bool { return b == ' ' || b == '\t' }
