package activities

import (
	"context"
	"fmt"
	"io"
	"strings"

	"conclave/internal/artifact"
	"conclave/internal/gitrepo"
	"conclave/internal/loop"
	"conclave/internal/record"
	"conclave/internal/review"
)

// concludeWriter commits the workspace. The tree of a writer that did not end
// well is kept beside the run's refs, and is no part of the run.
func (t *turn) concludeWriter(ctx context.Context, result *loop.TurnResult) error {
	ref := stepRef(t.req.RunID, t.req.Step)
	if result.Class != record.ClassOK {
		ref += "-partial"
	}
	snapshot, err := t.space.repo.Snapshot(ctx, t.space.dir, t.req.From.Commit, gitrepo.SnapshotOptions{
		Ref: ref, Message: fmt.Sprintf("conclave: %s, step %s", t.req.Turn, t.req.Step), When: t.req.At, ExcludePaths: t.space.ours,
	})
	if result.Class != record.ClassOK {
		switch {
		case err != nil: // the turn failed for a reason of its own, which must not be lost
			result.Notes = append(result.Notes, t.bounded(fmt.Sprintf("step %s: what the writer left could not be kept: %v", t.req.Step, err)))
		case snapshot.Changed:
			result.Notes = append(result.Notes, t.kept(ref))
		}
		return nil
	}
	if err != nil {
		return err
	}
	result.Snapshot = loop.Snapshot{Commit: snapshot.Commit, Tree: snapshot.Tree}
	result.Changed = snapshot.Changed
	t.asks(result)
	result.Notes = append(result.Notes, t.notTaken(t.req.Step, snapshot)...)
	if err := t.describeChange(ctx, result); err != nil {
		return err
	}
	if err := t.readFixReport(ctx, result); err != nil {
		return err
	}
	if t.req.Shared {
		if err := t.publish(ctx, t.space.repo, t.req.RunID, t.req.Step, snapshot.Commit, []string{t.req.From.Commit}); err != nil {
			return err
		}
	}
	return t.markWriting(t.req.RunID, t.space, snapshot.Commit, false)
}

// kept says where the tree of a writer is that did not end well, and how a person gets at it.
func (t *turn) kept(ref string) string {
	note := fmt.Sprintf("step %s: what the writer left is kept as %s in the run's repository", t.req.Step, ref)
	if t.req.Shared {
		return note + " on the worker"
	}
	return fmt.Sprintf("%s: git fetch %q %s", note, RepoDir(t.StateDir, t.req.RunID), ref)
}

// notTaken says what of the workspace is not in the snapshot.
func (a *Activities) notTaken(step string, s gitrepo.Snapshot) []string {
	var notes []string
	if len(s.Nested) > 0 {
		notes = append(notes, a.bounded(fmt.Sprintf("step %s: repositories of their own, whose files were taken and whose history was not: %q", step, s.Nested)))
	}
	if len(s.Submodules) > 0 {
		notes = append(notes, a.bounded(fmt.Sprintf("step %s: files inside the submodules %q are no part of the change", step, s.Submodules)))
	}
	if len(s.Skipped) > 0 {
		notes = append(notes, a.bounded(fmt.Sprintf("step %s: git cannot hold %q", step, s.Skipped)))
	}
	return notes
}

// describeChange stores the step's diff, the run's diff so far, and their numbers, and scans the run's.
func (t *turn) describeChange(ctx context.Context, result *loop.TurnResult) error {
	repo, base, from, to := t.space.repo, t.req.Base.Commit, t.req.From.Commit, result.Snapshot.Commit
	ignored, err := repo.IgnoredBeside(ctx, t.space.dir, to)
	if err != nil {
		return err
	}
	t.rules.Hide(ignored)
	all, err := t.describe(ctx, repo, t.req.RunID, base, to, t.rules, t.req.AllowSecrets)
	if err != nil {
		return err
	}
	result.Total, result.TotalDiff, result.Scan = all.total, all.diff, &all.scan
	for _, note := range all.notes {
		result.Notes = append(result.Notes, fmt.Sprintf("step %s: %s", t.req.Step, note))
	}
	step, diff := all.changes, all.diff
	if from != base { // a diff of large files takes minutes: the first one is made once
		if step, err = repo.Changes(ctx, from, to); err != nil {
			return err
		}
		if diff, err = t.putDiff(ctx, from, to); err != nil {
			return err
		}
	}
	stats := record.Total(changes(step))
	result.Stats = &stats
	result.Artifacts = map[string]artifact.Ref{t.place("changes.diff"): diff}
	return nil
}

func (t *turn) putDiff(ctx context.Context, from, to string) (artifact.Ref, error) {
	return t.putStream(ctx, t.req.RunID, func(w io.Writer) error {
		return t.hidden(w, func(w io.Writer) error { return t.space.repo.WriteDiff(ctx, w, from, to) })
	})
}

// fixReportFile is the fix report's name in the step's folder of the bundle.
const fixReportFile = "fix-report.json"

// readFixReport takes in what the writer says about each finding of a repair. A report that is missing or short is no
// failure: the run asks for it. Its command is kept as words, and nothing here executes it.
func (t *turn) readFixReport(ctx context.Context, result *loop.TurnResult) error {
	if t.req.Turn != record.TurnRepair || len(t.req.Feedback.Findings) == 0 {
		return nil
	}
	if len(t.outcome.Final) > longestAnswer {
		result.Notes = append(result.Notes, fmt.Sprintf("step %s: the answer is %d bytes long; no fix report is read from more than %d", t.req.Step, len(t.outcome.Final), longestAnswer))
		return nil
	}
	report := review.ParseFixReport(t.outcome.Final, t.outcome.Structured, ids(t.req.Feedback.Findings))
	for _, entry := range report.Entries {
		result.FixReport = append(result.FixReport, loop.Fixed{Finding: entry.Finding, Status: entry.Status})
	}
	if len(report.Problems) > 0 {
		result.Notes = append(result.Notes, t.bounded(fmt.Sprintf("step %s: of the fix report does not count: %s", t.req.Step, strings.Join(report.Problems, "; "))))
	}
	if len(report.Entries) == 0 {
		return nil
	}
	text, err := plainJSON(map[string]any{"fix_report": report.Entries})
	if err != nil {
		return err
	}
	result.Artifacts[t.place(fixReportFile)], err = t.Store.Put(ctx, text)
	return err
}
