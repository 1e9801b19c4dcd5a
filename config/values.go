package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// check reports what is wrong with a value, or nil. where names the place and the key.
func check(k key, where, got string) error {
	bad := func(remedy, format string, args ...any) error {
		return Problem{What: where + ": " + fmt.Sprintf(format, args...), Remedy: remedy}
	}
	if k.later != "" {
		return bad("leave it out; it comes with "+k.later, "not yet supported")
	}
	switch k.kind {
	case boolean:
		if _, err := parseBool(got); err != nil {
			return bad("write true or false", "%q is neither true nor false", got)
		}
	case count:
		n, err := strconv.Atoi(got)
		if err != nil {
			return bad("write a number such as "+strconv.Itoa(k.least+2), "%q is no whole number", got)
		}
		if n < k.least {
			return bad("write a number such as "+strconv.Itoa(k.least+2), "%d is too small, the least is %d", n, k.least)
		}
	case amount:
		if n, err := strconv.ParseFloat(got, 64); err != nil || !(n > 0) || math.IsInf(n, 0) {
			return bad("write an amount in US dollars, such as 2.50", "%q is no amount of money", got)
		}
	case share:
		if n, err := strconv.ParseFloat(got, 64); err != nil || !(n >= 0 && n <= 1) {
			return bad("write a share such as 0.7", "%q is no number from 0 to 1", got)
		}
	case globs:
		for _, glob := range splitGlobs(got) {
			if strings.HasPrefix(glob, "/") || strings.Contains("/"+glob+"/", "/../") || strings.ContainsAny(glob, "\x00\t") {
				return bad("write a path of the repository, such as gen/** or *.pb.go", "%q is no glob of the repository", glob)
			}
		}
	case duration:
		d, err := time.ParseDuration(got)
		if err != nil {
			return bad("write a number with a unit, such as 90s, 15m or 1h30m", "%q is no duration", got)
		}
		if d <= 0 {
			return bad("write a number with a unit, such as 90s, 15m or 1h30m", "%s is not longer than nothing", got)
		}
	case choice:
		if !slices.Contains(k.choices, got) {
			return bad(oneOf(got, k.choices), "unknown value %q", got)
		}
	case list, text, folder:
		if strings.ContainsRune(got, 0) {
			return bad("", "contains a zero byte")
		}
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
