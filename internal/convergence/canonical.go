package convergence

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// CanonicalJSON returns the RFC 8785 form of a JSON text: names sorted by UTF-16
// code units, no white space, ECMAScript string escapes and shortest numbers.
// It returns a *ValidationError for what is not strict JSON (repeated names,
// lone surrogates and numbers beyond a double included).
func CanonicalJSON(raw []byte) ([]byte, error) {
	v, issues := parseValue(string(raw))
	if len(issues) > 0 {
		return nil, &ValidationError{Issues: issues}
	}
	return appendCanonical(make([]byte, 0, len(raw)), v), nil
}

// Digest returns "sha256:" and the lower-case hex SHA-256 of the canonical form
// of a JSON text.
func Digest(raw []byte) (string, error) {
	canonical, err := CanonicalJSON(raw)
	if err != nil {
		return "", err
	}
	return digestBytes(canonical), nil
}

func digestBytes(canonical []byte) string {
	sum := sha256.Sum256(canonical)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func appendCanonical(b []byte, v value) []byte {
	switch v.kind() {
	case kindFalse:
		return append(b, "false"...)
	case kindTrue:
		return append(b, "true"...)
	case kindNumber:
		return appendNumber(b, v.number())
	case kindString:
		return appendString(b, v.text())
	case kindArray:
		b = append(b, '[')
		for i, item := range v.items() {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendCanonical(b, item)
		}
		return append(b, ']')
	case kindObject:
		return appendObject(b, v)
	default:
		return append(b, "null"...)
	}
}

func appendObject(b []byte, v value) []byte {
	sorted := make([]value, 0, v.count())
	for _, field := range v.items() {
		sorted = append(sorted, field)
	}
	slices.SortFunc(sorted, func(x, y value) int { return compareUTF16(x.name(), y.name()) })
	b = append(b, '{')
	for i := range sorted {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, sorted[i].name())
		b = append(b, ':')
		b = appendCanonical(b, sorted[i])
	}
	return append(b, '}')
}

// compareUTF16 orders two valid UTF-8 texts by UTF-16 code units. That differs
// from the order of code points only where one text has a supplementary
// character (lead surrogate D800-DBFF) and the other one of U+E000-U+FFFF.
func compareUTF16(x, y string) int {
	for len(x) > 0 && len(y) > 0 {
		a, n := utf8.DecodeRuneInString(x)
		b, m := utf8.DecodeRuneInString(y)
		if a != b {
			if (a >= 0x10000) != (b >= 0x10000) {
				return cmp.Compare(firstUnit(a), firstUnit(b))
			}
			return cmp.Compare(a, b)
		}
		x, y = x[n:], y[m:]
	}
	return cmp.Compare(len(x), len(y))
}

func firstUnit(r rune) rune {
	if r >= 0x10000 {
		return 0xD800 + (r-0x10000)>>10
	}
	return r
}

const hexDigits = "0123456789abcdef"

func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\b':
			b = append(b, '\\', 'b')
		case '\t':
			b = append(b, '\\', 't')
		case '\n':
			b = append(b, '\\', 'n')
		case '\f':
			b = append(b, '\\', 'f')
		case '\r':
			b = append(b, '\\', 'r')
		default:
			if c < 0x20 {
				b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
			} else {
				b = append(b, c)
			}
		}
	}
	return append(b, '"')
}

// appendNumber writes a finite double as ECMAScript's Number::toString does:
// the shortest digits that read back, plain between 1e-6 and 1e21, otherwise
// with an exponent that carries its sign.
func appendNumber(b []byte, f float64) []byte {
	if f == 0 {
		return append(b, '0')
	}
	if size := math.Abs(f); size >= 1e-6 && size < 1e21 {
		return strconv.AppendFloat(b, f, 'f', -1, 64)
	}
	start := len(b)
	b = strconv.AppendFloat(b, f, 'e', -1, 64)
	// Go pads the exponent to two digits, ECMAScript does not.
	if n := len(b); n-start > 4 && b[n-2] == '0' && (b[n-3] == '-' || b[n-3] == '+') {
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b
}
