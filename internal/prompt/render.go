package prompt

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"
)

// Part is material with a name: a constraint file, a review's text.
type Part struct {
	Name string
	Text []byte
}

// Design is what the designer is told.
type Design struct {
	Header      Header
	Requirement string
	Constraints []Part
}

// Implement is what the implementer is told.
type Implement struct {
	Header        Header
	Requirement   string
	Contract      []byte // the design contract, nil for none
	ContractPath  string // where it stands in the workspace, "" for nowhere
	Constraints   []Part
	VerifyCommand string // "" for none
}

// Repair is what the writer of a repair is told.
type Repair struct {
	Implement
	Iteration int    // the iteration that the repair opens; the first repair opens iteration 2
	Blocks    []Part // the whole text of each review that blocks; Name is the seat
	Failure   string // the verifier's failing checks and tail, "" when it passed
}

// Disciplines of a review prompt.
const (
	Basic = "basic" // findings as text, then the verdict line
	Full  = "full"  // findings as JSON, then the verdict line
)

// Review is what a reviewer is told. It has no place for the writer's reasoning.
type Review struct {
	Header       Header
	Requirement  string
	Untrusted    bool // the requirement is not the user's own text, but taken from commit messages
	Contract     []byte
	Constraints  []Part
	Diff         []byte // complete, against the merge base
	DiffFile     string // file of the workspace that holds the diff, which is then named and not shown
	ChangedFiles []string
	Lint         []byte // the linter's output on the changed files, nil for none
	// VerifySummary is what the verifier said, "" where there is none.
	VerifySummary string
	// StructuredOutput is set where the engine returns the JSON answer by a channel of its own.
	StructuredOutput bool
	Discipline       string // Basic or Full
	// RequireFindings is set where an answer without JSON does not count; under Full none does.
	RequireFindings bool
	// Reask is why the seat's last answer did not count, "" where it is asked for the first time.
	Reask string
}

//go:embed templates/*.md
var files embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"requirement": func(s string) string { return enclose("requirement", []byte(s)) },
	"contract":    func(b []byte) string { return enclose("contract", b) },
	"constraint":  func(p Part) string { return enclose("constraint "+p.Name, p.Text) },
	"untrusted":   func(name string, material any) string { return Fence(name, toBytes(material)) },
	"paths":       func(paths []string) string { return Fence("changed files", []byte(pathList(paths))) },
	"lines":       func(b []byte) int { return bytes.Count(b, []byte("\n")) },
	"lens":        func(name string) string { return lenses[name] },
	"code":        codeSpan,
	"json":        func(r Review) bool { return r.Discipline == Full || r.RequireFindings || r.StructuredOutput },
}).ParseFS(files, "templates/*.md"))

// RenderDesign writes the prompt of a design turn.
func RenderDesign(d Design) ([]byte, error) {
	return render("design", &d.Header, d.Requirement, &d)
}

// RenderImplement writes the prompt of an implement turn.
func RenderImplement(i Implement) ([]byte, error) {
	return render("implement", &i.Header, i.Requirement, &i)
}

// RenderRepair writes the prompt of a repair turn. A repair without a cause is refused.
func RenderRepair(r Repair) ([]byte, error) {
	if len(r.Blocks) == 0 && r.Failure == "" {
		return nil, fmt.Errorf("repair prompt: neither a blocking review nor a failure to repair")
	}
	return render("repair", &r.Header, r.Requirement, &r)
}

// RenderReview writes the prompt of a review turn. A review of nothing, or bound to nothing, is refused.
func RenderReview(r Review) ([]byte, error) {
	switch {
	case r.Discipline != Basic && r.Discipline != Full:
		return nil, fmt.Errorf("review prompt: discipline %q is neither %s nor %s", r.Discipline, Basic, Full)
	case len(bytes.TrimSpace(r.Diff)) == 0 && r.DiffFile == "":
		return nil, fmt.Errorf("review prompt: the diff is empty")
	case r.Header.Evidence == "":
		return nil, fmt.Errorf("review prompt: the evidence token is empty")
	}
	return render("review", &r.Header, r.Requirement, &r)
}

func render(role string, h *Header, requirement string, data any) ([]byte, error) {
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
	if err := templates.ExecuteTemplate(&out, role+".md", data); err != nil {
		return nil, fmt.Errorf("%s prompt: %w", role, err)
	}
	return out.Bytes(), nil
}

// pathList writes one path per line as a JSON string, the form in which an answer returns it.
func pathList(paths []string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	for _, p := range paths {
		_ = encoder.Encode(p) // a string always encodes
	}
	return b.String()
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
