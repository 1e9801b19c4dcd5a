package verifier

import (
	"regexp"
	"strings"
)

// rule recognises one form of a failing line.
type rule struct {
	hint    string // must occur in the line; spares the expression for nearly all lines
	pattern *regexp.Regexp
	mark    mark
	lend    int               // how many lines under it explain it
	belongs func(string) bool // which lines those are
}

func indented(s string) bool { return s == "" || s[0] == ' ' || s[0] == '\t' }
func written(s string) bool  { return strings.TrimSpace(s) != "" }
func anything(string) bool   { return true }

// rules are tried from the top; the first that knows a line decides. A rule with the mark plainLine takes a line out.
var rules = []rule{
	// Counts of nothing are no failure.
	{"0 failed", regexp.MustCompile(`(^|[^0-9.])0 failed`), plainLine, 0, nil},
	{"0 errors", regexp.MustCompile(`(^|[^0-9.])0 errors`), plainLine, 0, nil},
	{"FAIL", regexp.MustCompile(`^FAIL\s*$`), plainLine, 0, nil}, // says nothing that the lines before it did not
	{"# fail 0", regexp.MustCompile(`^# fail 0$`), plainLine, 0, nil},

	// go test, go build, go vet
	{"--- FAIL: ", regexp.MustCompile(`^\s*--- FAIL: `), failing, 12, indented},
	{"FAIL", regexp.MustCompile(`^FAIL\s+\S+\s`), failing, 0, nil},
	{"panic: ", regexp.MustCompile(`^\s*panic: `), failing, 12, anything},
	{"fatal error: ", regexp.MustCompile(`^fatal error: `), failing, 12, anything},
	{"WARNING: DATA RACE", regexp.MustCompile(`^\s*WARNING: DATA RACE`), failing, 14, written},

	// pytest
	{"::", regexp.MustCompile(`^(FAILED|ERROR) \S+::`), failing, 0, nil},
	{"ERROR ", regexp.MustCompile(`^ERROR (collecting )?\S+\.py`), failing, 0, nil},
	{"E ", regexp.MustCompile(`^E\s{2,}\S`), detail, 0, nil},
	{"___", regexp.MustCompile(`^_{3,} .+ _{3,}$`), failing, 0, nil},

	// cargo
	{"FAILED", regexp.MustCompile(`^test .+ \.\.\. FAILED$`), failing, 0, nil},
	{"panicked at", regexp.MustCompile(`^thread '.*' .*panicked at `), failing, 4, written},
	{"error", regexp.MustCompile(`^error(\[E\d+\])?: `), failing, 8, written},

	// jest, node:test, TAP
	{"not ok ", regexp.MustCompile(`^\s*not ok \d+`), failing, 14, indented},
	{"● ", regexp.MustCompile(`^\s*● .+`), failing, 16, indented},
	{"✖", regexp.MustCompile(`^\s*✖ `), failing, 10, indented},
	{"✕", regexp.MustCompile(`^\s*✕ `), failing, 0, nil},
	{"FAIL", regexp.MustCompile(`^\s*FAIL\s+\S+`), failing, 0, nil},

	// Everything else
	{"FAIL", regexp.MustCompile(`\bFAIL(ED|URE|URES)?\b`), failing, 0, nil},
	{"failed", regexp.MustCompile(`(^|[^0-9])[1-9]\d* failed\b`), failing, 0, nil},
	{"failing", regexp.MustCompile(`(^|[^0-9])[1-9]\d* failing\b`), failing, 0, nil},
	{":", place, detail, 0, nil},
	{"(", regexp.MustCompile(`^\S+\.\w+\(\d+,\d+\): `), failing, 0, nil},
	{"rror", regexp.MustCompile(`(?i)(^|[\s\w])error\b\s*(TS\d+|[:\[(])`), failing, 0, nil},
	{"ERROR", regexp.MustCompile(`(^|\s)ERROR\b`), failing, 0, nil},
	{"xception", regexp.MustCompile(`^(\w+\.)*\w*Exception\b`), failing, 0, nil},
	{"Traceback", regexp.MustCompile(`^Traceback \(most recent call last\)`), detail, 12, indented},
	{"*** ", regexp.MustCompile(`^(make|gmake)(\[\d+\])?: \*\*\* `), failing, 0, nil},
}

// place is a file and a line at the start of a line, as compilers, linters and test runners print it.
var place = regexp.MustCompile(`^\s*(\./|/|vet: )?[\w@+./\\-]+\.[A-Za-z]\w*:\d+(:\d+)?:? `)

// maxMatched is how much of a line is looked at: what a failure is called stands in its front.
const maxMatched = 2 << 10

func ruleFor(line string) *rule {
	if len(line) > maxMatched {
		line = line[:maxMatched]
	}
	for i := range rules {
		if r := &rules[i]; strings.Contains(line, r.hint) && r.pattern.MatchString(line) {
			return r
		}
	}
	return nil
}
