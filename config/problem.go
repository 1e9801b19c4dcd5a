package config

import (
	"errors"
	"strings"
)

// Problem is one thing that is wrong with the configuration: what, and what
// to do about it. Both are one line.
type Problem struct {
	// What names the flag, variable, or file with line, and what is wrong.
	What string
	// Remedy says what to do; "" when What says it already.
	Remedy string
}

// Error implements error.
func (p Problem) Error() string {
	if p.Remedy == "" {
		return p.What
	}
	return p.What + "\n" + p.Remedy
}

// Problems lists every Problem in err, in order. An error that is none
// becomes one without a remedy.
func Problems(err error) []Problem {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []Problem
		for _, e := range joined.Unwrap() {
			all = append(all, Problems(e)...)
		}
		return all
	}
	var p Problem
	if errors.As(err, &p) {
		return []Problem{p}
	}
	return []Problem{{What: err.Error()}}
}

// Nearest returns the candidate that a person probably meant by word, or "".
func Nearest(word string, candidates []string) string {
	best, distance := "", max(2, len(word)/2)+1
	for _, c := range candidates {
		if d := edits(strings.ToLower(word), strings.ToLower(c)); d < distance && d < len(c) && d < len(word) {
			best, distance = c, d
		}
	}
	return best
}

// edits counts the insertions, deletions, replacements and swaps of neighbours that turn a into b.
func edits(a, b string) int {
	x, y := []rune(a), []rune(b)
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range y {
		rows[0][j+1] = j + 1
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(x)][len(y)]
}

// oneOf is the remedy for a word that is none of the allowed ones.
func oneOf(word string, allowed []string) string {
	list := "one of: " + strings.Join(allowed, ", ")
	if near := Nearest(word, allowed); near != "" {
		return "did you mean " + near + "? (" + list + ")"
	}
	return list
}
