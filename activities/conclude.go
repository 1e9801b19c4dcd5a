package activities

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"conclave/internal/artifact"
	"conclave/internal/gitrepo"
	"conclave/internal/loop"
	"conclave/internal/record"
	"conclave/internal/review"
)

// maxHigh bounds the high findings of one answer (review.max_findings).
const maxHigh = 20

// conclude turns the engine's outcome into a result: a snapshot for a writer, a
// verdict for a reviewer, and for both the check of what was touched.
func (t *turn) conclude(ctx context.Context) (*loop.TurnResult, error) {
	result := &loop.TurnResult{
		Class: t.outcome.Class, Code: t.outcome.Code, Message: bounded(t.outcome.Message), Session: t.outcome.Session,
		RetryAfter: t.outcome.RetryAfter, Notes: t.outcome.Notes, Reported: reported(t.outcome), Usage: t.outcome.Usage.Record(), Sandbox: "none",
	}
	// The agent is gone; what it left is looked at even if the run is stopping.
	ctx = context.WithoutCancel(ctx)
	if t.req.Writing {
		return result, t.concludeWriter(ctx, result)
	}
	if err := t.checkUntouched(ctx, result); err != nil || result.Class != record.ClassOK {
		return result, err
	}
	if t.req.Turn == "review" {
		return result, t.readReview(ctx, result)
	}
	if len(bytes.TrimSpace(t.outcome.Final)) == 0 {
		result.Class, result.Code, result.Message = record.ClassMalformed, "RESULT_INVALID", "the agent gave no final message"
	}
	return result, nil
}

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
			result.Notes = append(result.Notes, bounded(fmt.Sprintf("step %s: what the writer left could not be kept: %v", t.req.Step, err)))
		case snapshot.Changed:
			result.Notes = append(result.Notes, fmt.Sprintf("step %s: what the writer left is kept as %s in the run's repository", t.req.Step, ref))
		}
		return nil
	}
	if err != nil {
		return err
	}
	result.Snapshot = loop.Snapshot{Commit: snapshot.Commit, Tree: snapshot.Tree}
	result.Changed = snapshot.Changed
	result.Notes = append(result.Notes, notTaken(t.req.Step, snapshot)...)
	if err := t.describeChange(ctx, result); err != nil {
		return err
	}
	if t.req.Shared {
		if err := t.publish(ctx, t.space.repo, t.req.RunID, t.req.Step, snapshot.Commit, []string{t.req.From.Commit}); err != nil {
			return err
		}
	}
	return t.markWriting(t.req.RunID, t.space, snapshot.Commit, false)
}

// notTaken says what of the workspace is not in the snapshot.
func notTaken(step string, s gitrepo.Snapshot) []string {
	var notes []string
	if len(s.Nested) > 0 {
		notes = append(notes, bounded(fmt.Sprintf("step %s: repositories of their own, whose files were taken and whose history was not: %q", step, s.Nested)))
	}
	if len(s.Submodules) > 0 {
		notes = append(notes, bounded(fmt.Sprintf("step %s: files inside the submodules %q are no part of the change", step, s.Submodules)))
	}
	if len(s.Skipped) > 0 {
		notes = append(notes, bounded(fmt.Sprintf("step %s: git cannot hold %q", step, s.Skipped)))
	}
	return notes
}

// describeChange stores the step's diff, the run's diff so far, and their numbers.
func (t *turn) describeChange(ctx context.Context, result *loop.TurnResult) error {
	repo, base, from, to := t.space.repo, t.req.Base.Commit, t.req.From.Commit, result.Snapshot.Commit
	step, err := repo.Changes(ctx, from, to)
	if err != nil {
		return err
	}
	stats := record.Total(changes(step))
	result.Stats = &stats
	all := step
	if base != from {
		if all, err = repo.Changes(ctx, base, to); err != nil {
			return err
		}
	}
	list, err := json.Marshal(changes(all))
	if err != nil {
		return err
	}
	if result.Total, err = t.Store.Put(ctx, list); err != nil {
		return err
	}
	if result.TotalDiff, err = t.putDiff(ctx, base, to); err != nil {
		return err
	}
	ref := result.TotalDiff
	if from != base { // a diff of large files takes minutes: the first one is made once
		ref, err = t.putDiff(ctx, from, to)
	}
	result.Artifacts = map[string]artifact.Ref{t.place("changes.diff"): ref}
	return err
}

func (t *turn) putDiff(ctx context.Context, from, to string) (artifact.Ref, error) {
	return t.putStream(ctx, t.req.RunID, func(w io.Writer) error { return t.space.repo.WriteDiff(ctx, w, from, to) })
}

// checkUntouched refuses the answer of a read-only turn that changed files.
func (t *turn) checkUntouched(ctx context.Context, result *loop.TurnResult) error {
	touched, err := t.space.repo.Differences(ctx, t.space.dir, t.req.From.Commit, t.space.ours)
	if err != nil || len(touched) == 0 || result.Class == record.ClassAborted {
		return err
	}
	result.Class, result.Code = record.ClassViolation, "WORKSPACE_VIOLATION"
	result.Message = bounded(fmt.Sprintf("the %s turn must not change files, but changed %q; its answer is not used", t.req.Turn, touched))
	return nil
}

// longestAnswer bounds what is read as a review: parsing Markdown takes a
// multiple of its size in memory, and no review is that long.
const longestAnswer = 1 << 20

// readReview reads the reviewer's answer. An answer that is not valid is no verdict.
func (t *turn) readReview(ctx context.Context, result *loop.TurnResult) error {
	if len(t.outcome.Final) > longestAnswer {
		result.Class, result.Code = record.ClassMalformed, "RESULT_TOO_LARGE"
		result.Message = fmt.Sprintf("the answer is %d bytes long; at most %d are read", len(t.outcome.Final), longestAnswer)
		return nil
	}
	changed, err := t.changed(ctx)
	if err != nil {
		return err
	}
	mode, err := review.ParseMode(t.req.VerdictMode)
	if err != nil {
		return err
	}
	answer := review.ParseReview(t.outcome.Final, t.outcome.Structured, review.AnswerContext{
		Token: t.req.Evidence, Changed: paths(changed), Exists: t.lineExists(ctx),
		RequireFindings: t.req.RequireFindings, Mode: mode, MaxHigh: maxHigh,
	})
	if len(answer.Problems) > 0 || answer.Verdict == review.Invalid {
		result.Class, result.Code = record.ClassMalformed, "RESULT_INVALID"
		result.Message = bounded("the answer does not count: " + strings.Join(answer.Problems, "; "))
		return nil
	}
	result.Verdict, result.Confidence = answer.Verdict.String(), answer.Confidence
	result.Findings = findings(answer, t.outcome.Final)
	return nil
}

// lineExists reports whether a file has a line in the snapshot or in the base.
func (t *turn) lineExists(ctx context.Context) func(path string, line int) bool {
	return func(path string, line int) bool {
		for _, commit := range []string{t.req.From.Commit, t.req.Base.Commit} {
			if lines, ok, err := t.space.repo.LineCount(ctx, commit, path); err == nil && ok && line <= max(lines, 1) {
				return true
			}
		}
		return false
	}
}

const (
	claimLimit   = 600
	titleLimit   = 120
	mostFindings = 30
	// findingBytes is what one finding may take in the history.
	findingBytes = 1200
)

// findings are the answer's claims, bounded for the history. A block in text
// alone is one finding: the message itself, which the store holds whole.
func findings(answer review.Answer, final []byte) []loop.Finding {
	if answer.Verdict == review.Block && len(answer.Findings) == 0 {
		return []loop.Finding{{Severity: "high", Kind: "patch", Title: firstLine(final), Claim: clip(string(final), claimLimit)}}
	}
	worst := slices.Clone(answer.Findings)
	slices.SortStableFunc(worst, func(a, b review.Finding) int { return cmp.Compare(a.Severity, b.Severity) })
	out := make([]loop.Finding, 0, len(worst))
	for _, f := range worst[:min(len(worst), mostFindings)] {
		finding := loop.Finding{Severity: f.Severity.String(), Kind: f.Kind.String(), Title: clip(f.Title, titleLimit), Claim: clip(f.Claim, claimLimit)}
		for _, place := range f.Evidence[:min(len(f.Evidence), 5)] {
			finding.Evidence = append(finding.Evidence, record.Place{Path: place.Path, Line: place.Line, EndLine: place.EndLine})
		}
		out = append(out, small(finding))
	}
	return out
}

// small leaves out of a finding what would not fit: first places, then the
// claim. Both stand in the answer, which the store holds whole.
func small(f loop.Finding) loop.Finding {
	size := func() int {
		raw, err := json.Marshal(f)
		if err != nil {
			return 0 // texts and numbers only
		}
		return len(raw)
	}
	for size() > findingBytes && len(f.Evidence) > 0 {
		f.Evidence = f.Evidence[:len(f.Evidence)-1]
	}
	for limit := claimLimit / 2; size() > findingBytes && limit > 0; limit /= 2 {
		f.Claim = clip(f.Claim, limit)
	}
	return f
}

func firstLine(text []byte) string {
	for line := range strings.Lines(string(text)) {
		if line = strings.Trim(line, " \t\r\n#*-"); line != "" {
			return clip(line, titleLimit)
		}
	}
	return "the reviewer blocks"
}

func clip(text string, most int) string {
	text = strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD")
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-1]) + "…"
}
