package report

import (
	"strings"

	"conclave/internal/record"
)

// NextSteps says what a person can do now, one "label: command" each, the most
// useful first. The commands can be pasted into a shell.
func NextSteps(r record.Run) []string {
	id := shellWord(r.RunID)
	switch {
	case r.Stop == "":
		return []string{"watch: starter watch " + id, "cancel: starter cancel " + id}
	case r.Stop == record.StopInterrupted:
		return []string{"resume: starter resume " + id, "cancel: starter cancel " + id}
	case r.Stop == record.NeedsRuling:
		return append(rulings(r), "resume: starter resume "+id, "cancel: starter cancel "+id)
	case len(r.Changed) == 0:
		return []string{"details: starter show " + id}
	case !r.Landed:
		return []string{"review: starter show " + id + " --diff", "land: starter resume " + id, "apply: starter apply " + id + force(r)}
	case r.Branch == "":
		return []string{"review: starter show " + id + " --diff", "apply: starter apply " + id + force(r)}
	}
	return branchSteps(r)
}

func branchSteps(r record.Run) []string {
	id, branch := shellWord(r.RunID), shellWord(r.Branch)
	out := []string{"review: " + reviewCommand(r)}
	switch {
	case r.DryRun: // a stub's change is nothing to merge
	case succeeded(r):
		out = append(out, "merge: git merge "+branch, "apply: starter apply "+id+" --workdir DIR")
	default:
		out = append(out, "details: starter show "+id, "merge anyway: git merge "+branch)
	}
	return append(out, "discard: git branch -D "+branch)
}

func reviewCommand(r record.Run) string {
	if r.Base == "" {
		return "git show " + shellWord(r.Branch)
	}
	return "git diff " + short(r.Base) + " " + shellWord(r.Branch)
}

// rulings has one command for each finding that a person may have to decide.
func rulings(r record.Run) []string {
	var out []string
	for _, f := range r.Findings {
		if f.Severity == "high" && (f.Disposition == "confirmed" || f.Disposition == "not-addressed") {
			out = append(out, ruleCommand(r, shellWord(f.ID)))
		}
	}
	if len(out) == 0 {
		out = append(out, ruleCommand(r, "FINDING"))
	}
	return out
}

func ruleCommand(r record.Run, finding string) string {
	return "rule: starter rule " + shellWord(r.RunID) + " " + finding + ` --stand|--fix|--abort --reason "..."`
}

func force(r record.Run) string {
	if succeeded(r) {
		return ""
	}
	return " --force"
}

// short is a commit in the length that people read.
func short(commit string) string {
	if len(commit) > 12 && strings.Trim(commit, "0123456789abcdef") == "" {
		return commit[:12]
	}
	return shellWord(commit)
}

// shellWord makes one shell word.
func shellWord(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./@:+"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
