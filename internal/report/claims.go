package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"conclave/internal/artifact"
	"conclave/internal/record"
)

// claim is a finding as one reviewer wrote it, whole. Text is set alone where
// the reviewer's answer was no JSON.
type claim struct {
	Title      string         `json:"title"`
	Claim      string         `json:"claim"`
	Rule       string         `json:"rule"`
	Affects    []string       `json:"affects"`
	Suggestion string         `json:"suggestion"`
	Evidence   []record.Place `json:"evidence"`
	Text       string         `json:"-"`
}

// claimLimit bounds one reviewer's words on one finding, in bytes: far above any real ones.
const claimLimit = 64 << 10

// wholeClaims reads what the reviewers wrote out of the store, by finding, and
// puts the first one's words into the record in place of their beginning. What
// the store does not have becomes a note; another error is returned beside the rest.
func wholeClaims(ctx context.Context, get Get, run record.Run) (claims map[string][]claim, notes []string, failed []error) {
	claims = map[string][]claim{}
	read := map[artifact.Ref]claim{}
	for i, f := range run.Findings {
		for _, ref := range f.Texts {
			whole, ok := read[ref]
			if !ok {
				raw, err := get(ctx, ref)
				if err != nil {
					notes = append(notes, fmt.Sprintf("the whole text of %s is missing in this report: %v", f.ID, err))
					if !errors.Is(err, fs.ErrNotExist) {
						failed = append(failed, fmt.Errorf("text of finding %s: %w", f.ID, err))
					}
					continue
				}
				whole = readClaim(raw)
				read[ref] = whole
			}
			claims[f.ID] = append(claims[f.ID], whole)
		}
		if all := claims[f.ID]; len(all) > 0 && all[0].Claim != "" {
			run.Findings[i].Claim = all[0].Claim
		}
	}
	return claims, notes, failed
}

func readClaim(raw []byte) claim {
	raw = raw[:min(len(raw), claimLimit)]
	var c claim
	if err := json.Unmarshal(raw, &c); err != nil {
		return claim{Text: string(raw)}
	}
	return c
}
