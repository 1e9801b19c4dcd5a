package prompt

import (
	"bytes"
	"embed"
	"fmt"
	"slices"
	"strings"
	"text/template"
)

//go:embed templates/*.md
var files embed.FS

// functions are what templates can call beside the built-in ones of text/template.
var functions = template.FuncMap{
	"requirement": func(s string) string { return enclose("requirement", []byte(s)) },
	"contract":    func(b []byte) string { return enclose("contract", b) },
	"constraint":  func(p Part) string { return enclose("constraint "+p.Name, p.Text) },
	"untrusted":   func(name string, material any) string { return Fence(name, toBytes(material)) },
	"paths":       func(paths []string) string { return Fence("changed files", []byte(pathList(paths))) },
	"parts":       diffParts,
	"manifest": func(m *Manifest, changed, generated []string) string {
		return Fence("diff manifest", []byte(m.list(changed, generated)))
	},
	"lens": lensText,
	"code": codeSpan,
	"json": asksForJSON,
}

var builtIn = template.Must(template.New("").Funcs(functions).ParseFS(files, "templates/*.md"))

// RenderDesign writes the prompt of a design turn.
func RenderDesign(d Design) ([]byte, error) {
	return render("design", &d.Header, d.Requirement, d.Overrides, &d)
}

// RenderImplement writes the prompt of an implement turn.
func RenderImplement(i Implement) ([]byte, error) {
	return render("implement", &i.Header, i.Requirement, i.Overrides, &i)
}

// RenderRepair writes the prompt of a repair turn. A repair without a cause is refused, and so is asking for the
// report of a repair that has nothing to report on.
func RenderRepair(r Repair) ([]byte, error) {
	switch {
	case len(r.Blocks) == 0 && len(r.Findings) == 0 && r.Failure == "":
		return nil, fmt.Errorf("repair prompt: neither a blocking review nor a finding nor a failure to repair")
	case r.ReportOnly && (!r.Full || len(r.Findings) == 0):
		return nil, fmt.Errorf("repair prompt: only the fix report is asked for, but there is no finding to report on")
	}
	if err := agree("repair", &r.Header, r.Findings); err != nil {
		return nil, err
	}
	return render("repair", &r.Header, r.Requirement, r.Overrides, &r)
}

// RenderReview writes the prompt of a review turn. A review of nothing, or bound to nothing, is refused.
func RenderReview(r Review) ([]byte, error) {
	if r.Discipline != Basic && r.Discipline != Full {
		return nil, fmt.Errorf("review prompt: discipline %q is neither %s nor %s", r.Discipline, Basic, Full)
	}
	if err := reviewable("review", r.Header, r.Diff, r.DiffFile, &r.Manifest); err != nil {
		return nil, err
	}
	return render("review", &r.Header, r.Requirement, r.Overrides, &r)
}

// RenderRecheck writes the prompt of a re-review. A seat that raised nothing rechecks too: the fix may break something
// that it answers for. One without a fix diff, or bound to nothing, is refused.
func RenderRecheck(r Recheck) ([]byte, error) {
	if err := reviewable("recheck", r.Header, r.Diff, r.DiffFile, &r.Manifest); err != nil {
		return nil, err
	}
	if err := agree("recheck", &r.Header, r.Findings); err != nil {
		return nil, err
	}
	r.Report = reportOn(r.Header.Findings, r.Report)
	return render("recheck", &r.Header, r.Requirement, r.Overrides, &r)
}

// RenderConfirm writes the prompt of a confirm turn about one finding.
func RenderConfirm(c Confirm) ([]byte, error) {
	if err := reviewable("confirm", c.Header, c.Diff, c.DiffFile, &c.Manifest); err != nil {
		return nil, err
	}
	if err := agree("confirm", &c.Header, []Finding{c.Finding}); err != nil {
		return nil, err
	}
	return render("confirm", &c.Header, c.Requirement, c.Overrides, &c)
}

// RenderArbitrate writes the prompt of an arbiter's turn. It refuses one without findings.
func RenderArbitrate(a Arbitrate) ([]byte, error) {
	if len(a.Findings) == 0 {
		return nil, fmt.Errorf("arbitrate prompt: no finding to rule")
	}
	if err := accounted("arbitrate", a.Diff, a.DiffFile, &a.Manifest); err != nil {
		return nil, err
	}
	if err := agree("arbitrate", &a.Header, a.Findings); err != nil {
		return nil, err
	}
	return render("arbitrate", &a.Header, a.Requirement, a.Overrides, &a)
}

// reviewable refuses a turn that would judge nothing, or whose answer could not be bound to what it judged.
func reviewable(role string, h Header, diff []byte, file string, m **Manifest) error {
	if h.Evidence == "" {
		return fmt.Errorf("%s prompt: the evidence token is empty", role)
	}
	return accounted(role, diff, file, m)
}

// accounted refuses an empty diff and fills in the manifest.
func accounted(role string, diff []byte, file string, m **Manifest) (err error) {
	if len(bytes.TrimSpace(diff)) == 0 && file == "" {
		return fmt.Errorf("%s prompt: the diff is empty", role)
	}
	*m, err = account(role, diff, *m)
	return err
}

// asksForJSON says whether a reviewer's answer has JSON.
func asksForJSON(r Review) bool {
	return r.Discipline == Full || r.RequireFindings || r.StructuredOutput
}

// agree demands that the header names the findings that the prompt shows; it fills in a header that names none.
func agree(role string, h *Header, findings []Finding) error {
	ids := make([]string, 0, len(findings))
	for _, f := range findings {
		switch {
		case f.ID == "":
			return fmt.Errorf("%s prompt: a finding without an id", role)
		case len(bytes.TrimSpace(f.Text)) == 0:
			return fmt.Errorf("%s prompt: finding %s has no text", role, f.ID)
		}
		ids = append(ids, f.ID)
	}
	if len(h.Findings) == 0 && len(ids) > 0 {
		h.Findings = ids
	}
	if !slices.Equal(h.Findings, ids) {
		return fmt.Errorf("%s prompt: the header names findings %q, the prompt shows %q", role, h.Findings, ids)
	}
	return nil
}

func render(role string, h *Header, requirement string, o *Overrides, data any) ([]byte, error) {
	if h.Role != "" && h.Role != role {
		return nil, fmt.Errorf("%s prompt: the header says role %q", role, h.Role)
	}
	h.Role = role
	if err := h.check(); err != nil {
		return nil, fmt.Errorf("%s prompt: %w", role, err)
	}
	if strings.TrimSpace(requirement) == "" {
		return nil, fmt.Errorf("%s prompt: the requirement is empty", role)
	}
	var out bytes.Buffer
	if err := o.templates().ExecuteTemplate(&out, role+".md", data); err != nil {
		return nil, fmt.Errorf("%s prompt: %w", role, err)
	}
	if !o.replaces(role) || o.trying {
		return out.Bytes(), nil
	}
	if problems := demandsOf(data).check(out.String()); len(problems) > 0 {
		return nil, fmt.Errorf("%s prompt of your own template: %s", role, strings.Join(problems, "; "))
	}
	return out.Bytes(), nil
}

// codeSpan shows a command or a file name in back-ticks, however many it holds itself.
func codeSpan(s string) string {
	s = oneLine(s)
	ticks := "`"
	for strings.Contains(s, ticks) {
		ticks += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return ticks + s + ticks
}

func toBytes(v any) []byte {
	switch v := v.(type) {
	case []byte:
		return v
	case string:
		return []byte(v)
	default:
		panic(fmt.Sprintf("prompt: %T is no material", v)) // a mistake in a template
	}
}
