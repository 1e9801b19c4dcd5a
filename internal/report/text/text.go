// Package text makes untrusted text fit to be shown: without control and
// direction characters, on one line where a line is wanted, and bounded. It
// also says lengths of time the way people read them. It is pure.
package text

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// escapes are complete terminal sequences within a line. One that is not
// closed loses its escape character only: it must not hide the text behind it.
var escapes = regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b\n]*(\x07|\x1b\\\\)|\x1b[()][0-9A-Za-z]")

// OneLine returns s as one line of at most limit characters: escape sequences,
// control, direction and invisible characters are gone, every run of white
// space is one space, and a cut is marked by "…". A limit of 0 or less means
// that nothing is cut.
func OneLine(s string, limit int) string {
	if limit > 0 && len(s) > 16*limit+4096 {
		s = s[:16*limit+4096] // what follows could not be shown; a broken last rune is dropped below
	}
	line := strings.Join(strings.Fields(Block(s)), " ")
	if runes := []rune(line); limit > 0 && len(runes) > limit {
		return strings.TrimRight(string(runes[:limit-1]), " ") + "…"
	}
	return line
}

// Block returns s with its lines kept: "\r\n", "\r" and the Unicode line
// separators become "\n", tabs stay, and escape sequences, other control,
// direction and invisible characters and broken UTF-8 are gone.
func Block(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.Map(func(r rune) rune {
		switch r {
		case '\r', '\v', '\f', '\u0085', '\u2028', '\u2029':
			return '\n'
		}
		return r
	}, s)
	return strings.Map(visible, escapes.ReplaceAllString(s, ""))
}

// visible drops what a terminal or a browser obeys instead of showing.
// The joiners stay: scripts and emoji need them.
func visible(r rune) rune {
	switch {
	case r == '\n' || r == '\t' || r == '\u200c' || r == '\u200d':
		return r
	case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
		return -1
	}
	return r
}

// Duration says milliseconds in at most six characters up to 99 hours:
// "0.4s", "42s", "3m07s", "1h02m". Below ten seconds it has one decimal.
func Duration(ms int64) string {
	seconds := max(ms, 0) / 1000
	switch {
	case ms < 0:
		return "0.0s"
	case seconds < 10:
		return fmt.Sprintf("%d.%ds", seconds, ms%1000/100)
	case seconds < 60:
		return fmt.Sprintf("%ds", seconds)
	case seconds < 3600:
		return fmt.Sprintf("%dm%02ds", seconds/60, seconds%60)
	default:
		return fmt.Sprintf("%dh%02dm", seconds/3600, seconds%3600/60)
	}
}

// Count says a number with its noun: "1 file", "3 files".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Ordinal says a number as a place: "1st", "2nd", "11th".
func Ordinal(n int) string {
	ending := "th"
	if n%100/10 != 1 {
		switch n % 10 {
		case 1:
			ending = "st"
		case 2:
			ending = "nd"
		case 3:
			ending = "rd"
		}
	}
	return strconv.Itoa(n) + ending
}
