package convergence

import "fmt"

// sameFailures is how often the verifier may fail the same way in a row.
const sameFailures = 3

// countFailure notices a verifier that fails the same way again and again.
func (f *fold) countFailure(digest string) {
	r := &f.s.Review
	switch {
	case f.s.GateMet || digest == "":
		r.Failure, r.Failures = "", 0
	case digest == r.Failure:
		r.Failures++
	default:
		r.Failure, r.Failures = digest, 1
	}
	if r.Failures >= sameFailures {
		r.Stalled = fmt.Sprintf("the verifier failed the same way %d times", r.Failures)
	}
}

// fullRepairDone takes in a repair of a full run. Without an answer to every open
// finding the writer is asked once more; what it refutes goes to the confirmer,
// once per finding.
func (f *fold) fullRepairDone(n *node, result value, changed, repeated bool) {
	r := &f.s.Review
	changed = changed || r.Changed
	fixed := readFixReport(result.get("fixReport"))
	complete := true
	for _, id := range r.Standing {
		complete = complete && fixed[id] != ""
	}
	if !complete && !r.Asked {
		r.Asked, r.Changed = true, changed
		f.setPending(n)
		return
	}
	contested := f.rebut(fixed) && f.s.GateMet
	r.Asked, r.Changed = false, false
	for _, id := range r.Standing {
		st, _ := f.finding(id)
		st.Fix, st.Rechecks = false, nil
		f.setFinding(id, st)
	}
	f.newRound()
	switch {
	case !complete:
		r.Stalled = "the writer gave no fix report, asked twice"
	case contested: // an unchanged tree is what refuting everything means
		r.Stalled = ""
	case !changed:
		r.Stalled = fmt.Sprintf("%s changed nothing in repair round %d", n.id, f.s.Restarts)
	case repeated:
		r.Stalled = fmt.Sprintf("%s left a tree that was seen before in repair round %d", n.id, f.s.Restarts)
	default:
		r.Stalled = ""
	}
}

// rebut marks what the writer refuted for the confirmer, and reports whether
// that is every open finding (and there is one).
func (f *fold) rebut(fixed map[string]string) bool {
	all := len(f.s.Review.Standing) > 0
	for _, id := range f.s.Review.Standing {
		st, _ := f.finding(id)
		st.Rebuttal = fixed[id] == fixRefuted && !st.Rebutted
		st.Rebutted = st.Rebutted || st.Rebuttal
		all = all && st.Rebuttal
		f.setFinding(id, st)
	}
	return all
}

// Statuses in a fix report.
const (
	fixFixed   = "fixed"
	fixRefuted = "refuted"
)

func readFixReport(list value) map[string]string {
	report := map[string]string{}
	if list.kind() != kindArray {
		return report
	}
	for _, item := range list.items() {
		if status := item.get("status").text(); status == fixFixed || status == fixRefuted {
			report[item.get("finding").text()] = status
		}
	}
	return report
}
