package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"conclave/internal/artifact"
	"conclave/internal/convergence"
	"conclave/internal/guard"
	"conclave/internal/loop"
	"conclave/internal/prompt"
	"conclave/internal/record"
	"conclave/internal/review"
)

// sheet is what the prompts of a turn are made of, read from the store once.
type sheet struct {
	texts
	req          *loop.TurnRequest
	header       prompt.Header
	requirement  string
	contract     []byte
	constraints  []prompt.Part
	changedFiles []string
	generated    []string // those of them
	overrides    *prompt.Overrides
	material
}

// render fills in the template of the turn's role. A reading turn shows the diff, or names its file.
func (t *turn) render(ctx context.Context, m material) ([]byte, error) {
	s, err := t.sheet(ctx, m)
	if err != nil {
		return nil, err
	}
	switch t.req.Turn {
	case record.TurnDesign:
		return prompt.RenderDesign(prompt.Design{Header: s.header, Requirement: s.requirement, Constraints: s.constraints, Overrides: s.overrides})
	case record.TurnImplement:
		return prompt.RenderImplement(t.implement(s))
	case record.TurnRepair:
		return s.repair(t.implement(s))
	case record.TurnReview:
		return s.review()
	case record.TurnRecheck:
		return s.recheck()
	case record.TurnConfirm:
		return s.confirm()
	case record.TurnArbitrate:
		return s.arbitrate()
	default:
		return nil, fmt.Errorf("no prompt for a %s turn", t.req.Turn)
	}
}

func (t *turn) sheet(ctx context.Context, m material) (*sheet, error) {
	s := &sheet{texts: texts{ctx: ctx, a: t.Activities}, req: t.req, material: m}
	s.header = prompt.Header{
		Role: t.req.Turn, Run: t.req.RunID, Round: t.req.Iteration - 1, Seat: t.req.Seat, Lens: t.req.Lens,
		Evidence: t.req.Evidence, Findings: t.req.Findings,
	}
	if t.req.Turn == record.TurnDesign {
		s.header.Round = 0
	}
	s.requirement = string(s.get(t.req.Requirement))
	s.constraints, s.contract = s.parts(t.req.Constraints), s.get(t.req.Contract)
	if s.err != nil {
		return nil, s.err
	}
	if t.reads() {
		changed, err := t.changed(ctx)
		if err != nil {
			return nil, err
		}
		rules, err := guard.NewRules(nil, t.req.Generated, "")
		if err != nil {
			return nil, err
		}
		for _, path := range paths(changed) {
			s.changedFiles = append(s.changedFiles, path)
			if rules.Generated(path) {
				s.generated = append(s.generated, path)
			}
		}
	}
	return s, s.override()
}

func (t *turn) implement(s *sheet) prompt.Implement {
	implement := prompt.Implement{
		Header: s.header, Requirement: s.requirement, Contract: s.contract, Constraints: s.constraints,
		VerifyCommand: t.req.VerifyCommand, Overrides: s.overrides,
	}
	if slices.Contains(t.space.ours, contractFile) {
		implement.ContractPath = contractFile
	}
	return implement
}

func (s *sheet) repair(implement prompt.Implement) ([]byte, error) {
	repair := prompt.Repair{
		Implement: implement, Iteration: s.req.Iteration, Blocks: s.parts(s.req.Feedback.Blocks),
		Findings: s.findings(s.req.Feedback.Findings), Failure: string(s.get(s.req.Feedback.Failure)),
		Full: s.req.Discipline == prompt.Full, Escalated: s.req.Escalated, ReportOnly: s.req.ReportOnly,
	}
	if s.err != nil {
		return nil, s.err
	}
	repair.Header.Findings = ids(s.req.Feedback.Findings)
	return prompt.RenderRepair(repair)
}

func (s *sheet) review() ([]byte, error) {
	out := prompt.Review{
		Header: s.header, Requirement: s.requirement, Untrusted: s.req.FromCommits, Contract: s.contract, Constraints: s.constraints,
		Diff: s.diff, DiffFile: s.file, ChangedFiles: s.changedFiles, Generated: s.generated, Manifest: s.manifest, Lint: s.get(s.req.Lint), VerifySummary: s.req.VerifySummary,
		Discipline: s.req.Discipline, RequireFindings: s.req.RequireFindings,
		Final: s.req.Scope == convergence.ScopeFinal, Log: s.findings(s.req.Log),
		LensText: s.lens(), Reask: s.req.Reask, Overrides: s.overrides,
	}
	if s.err != nil {
		return nil, s.err
	}
	return prompt.RenderReview(out)
}

func (s *sheet) recheck() ([]byte, error) {
	out := prompt.Recheck{
		Header: s.header, Requirement: s.requirement, Untrusted: s.req.FromCommits, Contract: s.contract, Constraints: s.constraints,
		Findings: s.asked(), Diff: s.diff, DiffFile: s.file, ChangedFiles: s.changedFiles, Generated: s.generated, Manifest: s.manifest, Report: s.fixReport(false),
		Lint: s.get(s.req.Lint), VerifySummary: s.req.VerifySummary,
		LensText: s.lens(), Reask: s.req.Reask, Overrides: s.overrides,
	}
	if s.err != nil {
		return nil, s.err
	}
	return prompt.RenderRecheck(out)
}

func (s *sheet) confirm() ([]byte, error) {
	if len(s.req.Findings) != 1 {
		return nil, fmt.Errorf("a confirm turn is about one finding and not about %q", s.req.Findings)
	}
	out := prompt.Confirm{
		Header: s.header, Requirement: s.requirement, Untrusted: s.req.FromCommits, Contract: s.contract, Constraints: s.constraints,
		Diff: s.diff, DiffFile: s.file, ChangedFiles: s.changedFiles, Generated: s.generated, Manifest: s.manifest, Reask: s.req.Reask, Overrides: s.overrides,
	}
	for _, finding := range s.asked() {
		out.Finding = finding
	}
	if s.req.Rebuttal {
		out.Rebuttal = s.fixReport(true)
	}
	if s.err != nil {
		return nil, s.err
	}
	return prompt.RenderConfirm(out)
}

func (s *sheet) arbitrate() ([]byte, error) {
	out := prompt.Arbitrate{
		Header: s.header, Requirement: s.requirement, Untrusted: s.req.FromCommits, Contract: s.contract, Constraints: s.constraints,
		Findings: s.asked(), Diff: s.diff, DiffFile: s.file, ChangedFiles: s.changedFiles, Generated: s.generated, Manifest: s.manifest, VerifySummary: s.req.VerifySummary,
		Reask: s.req.Reask, Overrides: s.overrides,
	}
	if s.err != nil {
		return nil, s.err
	}
	return prompt.RenderArbitrate(out)
}

// override takes the user's own templates.
func (s *sheet) override() error {
	texts := map[string]string{}
	for _, part := range s.parts(s.req.Prompts) {
		texts[part.Name] = string(part.Text)
	}
	if s.err != nil {
		return s.err
	}
	var err error
	s.overrides, err = prompt.ParseOverrides(texts)
	return err
}

// lens is the text of a user's own lens, "" for a built-in one.
func (s *sheet) lens() string { return string(s.get(named(s.req.Lenses, s.req.Lens))) }

func named(refs []loop.NamedRef, name string) artifact.Ref {
	for _, ref := range refs {
		if ref.Name == name {
			return ref.Ref
		}
	}
	return artifact.Ref{}
}

// asked are the findings that the turn is about, in the order of the request. One whose words are missing cannot be judged.
func (s *sheet) asked() []prompt.Finding {
	var out []prompt.Finding
	for _, id := range s.req.Findings {
		at := slices.IndexFunc(s.req.Open, func(k loop.Known) bool { return k.ID == id && len(k.Texts) > 0 })
		if at < 0 {
			s.fail(fmt.Errorf("the %s turn is about finding %s, whose words are missing", s.req.Turn, id))
			return nil
		}
		out = append(out, s.findings(s.req.Open[at:at+1])...)
	}
	return out
}

// findings reads the whole texts of findings, those of one finding one after the other.
func (s *sheet) findings(known []loop.Known) []prompt.Finding {
	var out []prompt.Finding
	for _, k := range known {
		var words [][]byte
		for _, ref := range k.Texts {
			words = append(words, bytes.TrimSpace(s.get(ref)))
		}
		out = append(out, prompt.Finding{ID: k.ID, Text: bytes.Join(words, []byte("\n")), Disposition: k.Disposition, Note: k.Note})
	}
	return out
}

// fixReport is what the writer's last report says about the findings of the turn: evidence, never prose. Why a finding
// does not hold is for the confirmer only.
func (s *sheet) fixReport(rebuttal bool) []byte {
	message := s.get(s.req.FixReport)
	if len(message) == 0 || len(message) > longestAnswer {
		return nil
	}
	entries := review.ParseFixReport(message, nil, s.req.Findings).Entries
	if len(entries) == 0 {
		return nil
	}
	for i := range entries {
		if !rebuttal {
			entries[i].Evidence = ""
		}
	}
	text, err := plainJSON(entries)
	s.fail(err)
	return text
}

// plainJSON is JSON for readers: indented, and with the characters of code as they are.
func plainJSON(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(value)
	return out.Bytes(), err
}

func ids(known []loop.Known) []string {
	var out []string
	for _, k := range known {
		out = append(out, k.ID)
	}
	return out
}

// texts reads artifacts and keeps the first error.
type texts struct {
	ctx context.Context
	a   *Activities
	err error
}

func (t *texts) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

func (t *texts) get(ref artifact.Ref) []byte {
	if ref.IsZero() || t.err != nil {
		return nil
	}
	var content []byte
	content, t.err = t.a.Store.Get(t.ctx, ref)
	return content
}

func (t *texts) parts(refs []loop.NamedRef) []prompt.Part {
	parts := make([]prompt.Part, 0, len(refs))
	for _, named := range refs {
		parts = append(parts, prompt.Part{Name: named.Name, Text: t.get(named.Ref)})
	}
	return parts
}
