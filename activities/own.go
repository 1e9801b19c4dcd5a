package activities

import (
	"fmt"
	"path/filepath"
	"regexp"

	"conclave/internal/loop"
)

// Requests come from workflows, and whoever may start one on the server's namespace can write such a request. So what
// becomes part of a path is checked here, and a starter works for its own run and directory only.

// plainName is what a run or a step may be called.
var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)

// Own is the run, and the directory, that a starter lends its hands to. The zero value is any: a worker's.
type Own struct{ RunID, Dir string }

// admit refuses a request for a run or step without a plain name, or for another run than ours.
func (a *Activities) admit(runID string, steps ...string) error {
	for _, name := range append([]string{runID}, steps...) {
		if !plainName.MatchString(name) {
			return a.failed(typeInput, fmt.Errorf("%q is no name of a run or a step", name))
		}
	}
	if a.Own.RunID != "" && runID != a.Own.RunID {
		return a.failed(typeInput, fmt.Errorf("this process works for run %s only, not for %q", a.Own.RunID, runID))
	}
	return nil
}

// admitSource is admit for what reads or writes the user's directory.
func (a *Activities) admitSource(runID string, source loop.Source) error {
	if err := a.admit(runID); err != nil {
		return err
	}
	if a.Own.Dir != "" && filepath.Clean(source.Dir) != filepath.Clean(a.Own.Dir) {
		return a.failed(typeInput, fmt.Errorf("this process works in %s only, not in %q", a.Own.Dir, source.Dir))
	}
	return nil
}

// admitBranch is admitSource for landing: a run has one branch.
func (a *Activities) admitBranch(req *loop.LandRequest) error {
	if err := a.admitSource(req.RunID, req.Source); err != nil {
		return err
	}
	if want := loop.BranchOf(req.RunID); req.Branch != want {
		return a.failed(typeInput, fmt.Errorf("the change of run %s lands on %s, not on %q", req.RunID, want, req.Branch))
	}
	return nil
}
