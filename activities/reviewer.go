package activities

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"conclave/internal/guard"
	"conclave/internal/loop"
	"conclave/internal/record"
	"conclave/internal/review"
)

// readReview reads the answer of a review or a recheck. An answer that is not valid is no verdict.
func (t *turn) readReview(ctx context.Context, result *loop.TurnResult) error {
	changed, err := t.changed(ctx)
	if err != nil {
		return err
	}
	mode, err := review.ParseMode(t.req.VerdictMode)
	if err != nil {
		return err
	}
	code := t.code(ctx)
	asked := review.AnswerContext{
		Token: t.req.Evidence, Changed: paths(changed), Exists: code.has, Mode: mode,
		RequireFindings: t.req.RequireFindings, MaxHigh: t.mostHigh(), Recheck: t.req.Findings,
	}
	var answer review.Answer
	if t.req.Turn == record.TurnRecheck {
		answer = review.ParseRecheck(t.outcome.Final, t.outcome.Structured, asked)
	} else {
		answer = review.ParseReview(t.outcome.Final, t.outcome.Structured, asked)
	}
	if len(answer.Problems) > 0 || answer.Verdict == review.Invalid {
		malformed(result, answer.Problems...)
		return code.err
	}
	result.Verdict, result.Confidence = answer.Verdict.String(), answer.Confidence
	for _, said := range answer.Rechecked {
		result.Rechecked = append(result.Rechecked, loop.Rechecked{
			Finding: said.Finding, Status: said.Status.String(), Reason: fit(said.Reason, share(len(answer.Rechecked))),
		})
	}
	return t.takeFindings(ctx, result, answer, code)
}

// mostFindings is how many findings of one answer the history holds; high ones are never left out.
const mostFindings = 30

// mostHigh is how many high findings an answer may hold.
func (t *turn) mostHigh() int {
	limit := cmp.Or(max(t.req.MaxFindings, 0), review.DefaultMaxHigh)
	return min(limit, review.MostHigh)
}

// takeFindings puts the answer's claims into the result: bounded for the history, whole in the store, each with the
// line of code that it points at.
func (t *turn) takeFindings(ctx context.Context, result *loop.TurnResult, answer review.Answer, code *code) error {
	kept := worst(answer)
	result.Findings = findings(kept)
	if left := len(answer.Findings) - len(kept); left > 0 {
		result.Notes = append(result.Notes, fmt.Sprintf("step %s: %d findings that are not high stand only in the reviewer's answer", t.req.Step, left))
	}
	fix, err := t.fixRegions(ctx)
	if err != nil {
		return err
	}
	for i, f := range kept {
		raw, err := json.Marshal(f)
		if err != nil {
			return err
		}
		out := &result.Findings[i]
		if out.Text, err = t.Store.Put(ctx, raw); err != nil {
			return err
		}
		if len(f.Evidence) > 0 {
			out.Anchor = clip(t.secrets.String(review.Anchor(code.line(f.Evidence[0].Path, f.Evidence[0].Line))), anchorLimit)
			out.File = code.content(f.Evidence[0].Path)
		}
		out.Outside = fix != nil && !touches(fix, f)
		*out = small(*out)
	}
	return code.err
}

// fixRegions are the places of the fix diff for a recheck, nil for any other turn. A tree that the seat has judged before
// has no fix: whatever is found anew is outside, although the whole change is shown then.
func (t *turn) fixRegions(ctx context.Context) (*guard.Regions, error) {
	if t.req.Turn != record.TurnRecheck {
		return nil, nil
	}
	regions := guard.NewRegions()
	if t.req.Since.Commit != "" && t.req.Since.Tree == t.req.From.Tree {
		return regions, nil
	}
	patch := guard.NewPatch(regions)
	if err := t.space.repo.WriteDiff(ctx, patch, t.since(), t.req.From.Commit); err != nil {
		return nil, err
	}
	return regions, patch.Close()
}

// touches reports whether a finding names a place of the fix diff. One without a place names none.
func touches(fix *guard.Regions, f review.Finding) bool {
	return slices.ContainsFunc(f.Evidence, func(e review.Evidence) bool { return fix.Covers(clean(e.Path), e.Line, e.EndLine) })
}

// worst are the findings that the result holds, high ones first, else in the reviewer's order.
func worst(answer review.Answer) []review.Finding {
	kept := slices.Clone(answer.Findings)
	slices.SortStableFunc(kept, func(a, b review.Finding) int { return cmp.Compare(a.Severity, b.Severity) })
	high := 0
	for high < len(kept) && kept[high].Severity == review.High {
		high++
	}
	return kept[:min(len(kept), max(high, mostFindings))]
}

// findings are claims in the words of the history.
func findings(kept []review.Finding) []loop.Finding {
	out := make([]loop.Finding, 0, len(kept))
	for _, f := range kept {
		finding := loop.Finding{Severity: f.Severity.String(), Kind: f.Kind.String(), Title: clip(f.Title, titleLimit), Claim: clip(f.Claim, claimLimit)}
		for _, place := range f.Evidence[:min(len(f.Evidence), 5)] {
			finding.Evidence = append(finding.Evidence, record.Place{Path: place.Path, Line: place.Line, EndLine: place.EndLine})
		}
		out = append(out, finding)
	}
	return out
}
