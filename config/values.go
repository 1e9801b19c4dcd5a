package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"conclave/internal/glob"
)

// check reports what is wrong with a value, or nil. where names the place and the key.
func check(k key, where, got string) error {
	bad := func(remedy, format string, args ...any) error {
		return Problem{What: where + ": " + fmt.Sprintf(format, args...), Remedy: remedy}
	}
	if k.later != "" {
		return bad("leave it out; it comes with "+k.later, "not yet supported")
	}
	if fault := faults[k.kind]; fault != nil {
		return fault(k, got, bad)
	}
	if strings.ContainsRune(got, 0) {
		return bad("", "contains a zero byte")
	}
	return nil
}

// refusal makes the problem of a value.
type refusal func(remedy, format string, args ...any) error

// faults check the kinds that are more than text.
var faults = map[kind]func(k key, got string, bad refusal) error{
	boolean: boolFault, count: countFault, amount: amountFault, share: shareFault, globs: globsFault, duration: durationFault, choice: choiceFault,
}

func boolFault(_ key, got string, bad refusal) error {
	if _, err := parseBool(got); err != nil {
		return bad("write true or false", "%q is neither true nor false", got)
	}
	return nil
}

func countFault(k key, got string, bad refusal) error {
	remedy := "write a number such as " + strconv.Itoa(k.least+2)
	n, err := strconv.Atoi(got)
	if err != nil {
		return bad(remedy, "%q is no whole number", got)
	}
	if n < k.least {
		return bad(remedy, "%d is too small, the least is %d", n, k.least)
	}
	if k.most > 0 && n > k.most {
		return bad("write a number of at most "+strconv.Itoa(k.most), "%d is too large, the most is %d", n, k.most)
	}
	return nil
}

func amountFault(_ key, got string, bad refusal) error {
	if n, err := strconv.ParseFloat(got, 64); err != nil || !(n > 0) || math.IsInf(n, 0) {
		return bad("write an amount in US dollars, such as 2.50", "%q is no amount of money", got)
	}
	return nil
}

func shareFault(_ key, got string, bad refusal) error {
	if n, err := strconv.ParseFloat(got, 64); err != nil || !(n >= 0 && n <= 1) {
		return bad("write a share such as 0.7", "%q is no number from 0 to 1", got)
	}
	return nil
}

func globsFault(_ key, got string, bad refusal) error {
	const remedy = "write a path of the repository, such as gen/** or *.pb.go"
	for _, pattern := range splitGlobs(got) {
		if strings.HasPrefix(pattern, "/") || strings.Contains("/"+pattern+"/", "/../") || strings.ContainsAny(pattern, "\x00\t") {
			return bad(remedy, "%q is no glob of the repository", pattern)
		}
		if _, err := glob.Compile([]string{pattern}); err != nil {
			return bad(remedy, "%v", err)
		}
	}
	return nil
}

func durationFault(_ key, got string, bad refusal) error {
	const remedy = "write a number with a unit, such as 90s, 15m or 1h30m"
	d, err := time.ParseDuration(got)
	if err != nil {
		return bad(remedy, "%q is no duration", got)
	}
	if d <= 0 {
		return bad(remedy, "%s is not longer than nothing", got)
	}
	return nil
}

func choiceFault(k key, got string, bad refusal) error {
	if !slices.Contains(k.choices, got) {
		return bad(oneOf(got, k.choices), "unknown value %q", got)
	}
	return nil
}

func parseBool(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "yes", "on":
		return true, nil
	case "no", "off":
		return false, nil
	}
	return strconv.ParseBool(s)
}

func splitList(s string) []string {
	var items []string
	for item := range strings.SplitSeq(s, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// splitGlobs reads a list of globs: one a line as a file's list gives them, where a comma may be part of a glob, else
// between commas.
func splitGlobs(s string) []string {
	if !strings.Contains(s, "\n") {
		return splitList(s)
	}
	return strings.FieldsFunc(s, func(r rune) bool { return r == '\n' })
}
