package review

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// judge holds an answer against the rules that need its context.
func judge(a Answer, c AnswerContext) []string {
	var problems []string
	problems = append(problems, judgeVerdict(a)...)
	problems = append(problems, judgeToken(a, c)...)
	problems = append(problems, judgeCoverage(a, c)...)
	problems = append(problems, judgeFindings(a, c)...)
	return problems
}

// judgeLine compares the JSON verdict with the verdict line. After structured output the line may be missing.
func judgeLine(line VerdictLine, alone bool, verdict Verdict) []string {
	switch {
	case line.Verdict == Invalid && alone:
		return nil
	case line.Verdict == Invalid:
		return []string{"the verdict line is missing: " + line.Reason}
	case line.Verdict != verdict && verdict != Invalid:
		return []string{fmt.Sprintf("verdicts differ: the JSON says %s, line %d says %s", verdict, line.Line, line.Verdict)}
	}
	return nil
}

// judgeVerdict demands that verdict and findings agree.
func judgeVerdict(a Answer) []string {
	high := slices.ContainsFunc(a.Findings, func(f Finding) bool { return f.Severity == High })
	open := slices.ContainsFunc(a.Rechecked, func(r Recheck) bool { return r.Status == NotAddressed })
	switch {
	case a.Verdict == Block && len(a.Findings) == 0 && !open:
		return []string{"verdict and findings disagree: block with neither a finding nor a not-addressed entry"}
	case a.Verdict == Pass && high:
		return []string{"verdict and findings disagree: pass with a high finding"}
	case a.Verdict == Pass && open:
		return []string{"verdict and findings disagree: pass with a not-addressed entry"}
	}
	return nil
}

func judgeToken(a Answer, c AnswerContext) []string {
	switch {
	case a.Evidence == "":
		return []string{"evidence is missing: it must be the token of the prompt's first line"}
	case a.Evidence != c.Token:
		return []string{"evidence is wrong: it must be the token of the prompt's first line"}
	}
	return nil
}

// judgeCoverage names every changed path that the answer does not claim to have read.
func judgeCoverage(a Answer, c AnswerContext) []string {
	seen := make(map[string]bool, len(a.Reviewed))
	for _, p := range a.Reviewed {
		seen[comparable(p)] = true
	}
	var missing []string
	for _, p := range c.Changed {
		if !seen[comparable(p)] {
			missing = append(missing, fmt.Sprintf("%q", p))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return []string{"reviewed leaves out changed paths: " + strings.Join(missing, ", ")}
}

// comparable brings a path into the form in which two spellings of it are equal. Paths pass through JSON, which
// shows every invalid byte as U+FFFD.
func comparable(p string) string { return path.Clean(string([]rune(p))) }

func judgeFindings(a Answer, c AnswerContext) []string {
	var problems []string
	high, limit := 0, c.MaxHigh
	if limit <= 0 {
		limit = DefaultMaxHigh
	}
	for i, f := range a.Findings {
		if f.Severity == High {
			high++
			if len(f.Evidence) == 0 {
				problems = append(problems, fmt.Sprintf("findings[%d] is high and has no evidence", i))
			}
		}
		for j, e := range f.Evidence {
			if reason := misplaced(e, c.Exists); reason != "" {
				problems = append(problems, fmt.Sprintf("findings[%d].evidence[%d]: %s", i, j, reason))
			}
		}
		for _, p := range f.Affects {
			if !exists(c.Exists, p, 0) {
				problems = append(problems, fmt.Sprintf("findings[%d].affects: %q exists neither in the change nor in the base", i, p))
			}
		}
	}
	if high > limit {
		problems = append(problems, fmt.Sprintf("%d high findings are more than %d: name the worst", high, limit))
	}
	return problems
}

// misplaced says what is wrong with a place, "" where it exists.
func misplaced(e Evidence, check func(string, int) bool) string {
	switch {
	case e.Path == "":
		return "the path is empty"
	case e.Line < 0 || e.EndLine < 0 || e.EndLine > 0 && e.EndLine < e.Line:
		return fmt.Sprintf("lines %d to %d are no range", e.Line, e.EndLine)
	case !exists(check, e.Path, e.Line):
		return fmt.Sprintf("%s:%d exists neither in the change nor in the base", e.Path, e.Line)
	case e.EndLine > 0 && !exists(check, e.Path, e.EndLine):
		return fmt.Sprintf("%s:%d exists neither in the change nor in the base", e.Path, e.EndLine)
	}
	return ""
}

// exists asks for a place under its clean path. A path that leaves the tree exists nowhere.
func exists(check func(string, int) bool, p string, line int) bool {
	clean := path.Clean(p)
	if check == nil || p == "" || path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") {
		return false
	}
	return check(clean, line)
}
