package report

import (
	"slices"
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
	case r.Waiting != "" && len(r.Questions)+len(r.Unresolved) > 0 && !r.Stop.Final():
		return append(answerSteps(r), "cancel: starter cancel "+id)
	case r.Stop == record.NeedsRuling:
		return append(rulings(r), "resume: starter resume "+id, "cancel: starter cancel "+id)
	case isReview(r):
		return reviewSteps(r)
	case len(r.Changed) == 0:
		return []string{"details: starter show " + id}
	case r.Branch != "" && r.Landed:
		return branchSteps(r)
	}
	out := []string{"review: starter show " + id + " --diff"}
	if !r.Landed && !noRepository(r) {
		out = append(out, "land: starter resume "+id)
	}
	if r.DryRun { // a stub's change is nothing to take
		return out
	}
	return append(out, "apply: starter apply "+id+force(r))
}

// noRepository says that the run's folder is no git repository, so that no
// branch will ever be there. The record tells it by the note of landing.
func noRepository(r record.Run) bool {
	return r.Branch == "" && !r.Landed && slices.ContainsFunc(r.Notes, func(note string) bool {
		return strings.Contains(note, "no git repository")
	})
}

// ownStart says that the run did not start from the user's commit itself but
// from a commit of our own, as it does with the user's uncommitted work. Where
// uncommitted paths were left out it is certain that they are not in it.
func ownStart(r record.Run) bool {
	return r.Base != "" && r.Head != "" && r.Base != r.Head && len(r.LeftOut) == 0
}

func branchSteps(r record.Run) []string {
	id, branch := shellWord(r.RunID), shellWord(r.Branch)
	review := "review: " + reviewCommand(r)
	out := []string{review}
	switch {
	case r.DryRun: // a stub's change is nothing to merge
	case ownStart(r) && succeeded(r): // git does not merge over uncommitted work
		out = []string{"apply: starter apply " + id, review}
	case ownStart(r):
		out = append(out, "details: starter show "+id, "apply anyway: starter apply "+id+force(r))
	case succeeded(r):
		out = append(out, "merge: git merge "+branch, "apply: starter apply "+id+" --workdir DIR")
	default:
		out = append(out, "details: starter show "+id, "merge anyway: git merge "+branch)
	}
	return append(append(reviewAgain(r), out...), "discard: git branch -D "+branch)
}

// reviewAgain is how a run goes on whose review could not be made, as when a login expired: the change is paid for and
// stands on its branch.
func reviewAgain(r record.Run) []string {
	step, ok := FailedStep(r)
	if r.Stop != record.StepFailed || !ok || step.Role != record.RoleReviewer || r.Base == "" || r.DryRun {
		return nil
	}
	base, branch := short(r.Base), shellWord(r.Branch)
	if ownStart(r) {
		base = branch + "~1"
	}
	return []string{"go on with the review: starter review --base " + base + " --head " + branch + seatFlags(r)}
}

// seatFlags name the seats that were asked, by what was asked of them. The run's preset may not tell: flags and files
// choose seats too, and a preset that a command names ranks above files.
func seatFlags(r record.Run) string {
	flags, seen := "", map[string]bool{}
	for _, s := range r.Steps {
		if s.Role != "reviewer" || s.Seat == "" || s.Adapter == "" || seen[s.Seat] {
			continue
		}
		seen[s.Seat] = true
		seat := s.Seat + "=" + s.Adapter
		if asked := s.Identity.Requested; asked != nil && asked.Model != "" && asked.Model != "default" {
			seat += ":" + asked.Model
		}
		if s.Lens != "" {
			seat += "@" + s.Lens
		}
		flags += " --seat " + shellWord(seat)
	}
	return flags
}

func reviewCommand(r record.Run) string {
	branch := shellWord(r.Branch)
	switch {
	case r.Base == "":
		return "git show " + branch
	case ownStart(r): // the branch has the start as a commit of its own
		return "git diff " + branch + "~1 " + branch
	}
	return "git diff " + short(r.Base) + " " + branch
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
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./@:+="
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
