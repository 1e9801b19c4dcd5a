package prompt

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// demand is what a prompt must hold, whatever a template says around it.
type demand struct {
	header    Header
	untrusted []Part   // each whole between marks called untrusted
	bound     []Part   // each whole between marks of any name
	said      []Part   // each word for word outside of marks
	diff      []byte   // whole between untrusted marks, or in the pieces of parts
	parts     []Part   // of a long diff
	forbidden []string // nowhere outside of marks
}

// demandsOf says what a prompt made of data must hold. data is what render got, a pointer to one of the structs.
func demandsOf(data any) demand {
	var d demand
	switch v := data.(type) {
	case *Design:
		d.header = v.Header
		d.bind(false, v.Requirement, v.Constraints, nil)
	case *Implement:
		d.header = v.Header
		d.bind(false, v.Requirement, v.Constraints, v.Contract)
	case *Repair:
		d.header = v.Header
		d.bind(false, v.Requirement, v.Constraints, v.Contract)
		d.fence("the verifier's failure", []byte(v.Failure))
		d.untrusted = append(d.untrusted, v.Blocks...)
		d.fence("why the last report did not count", []byte(v.Reask))
		d.findings(v.Findings)
		if v.Full && len(v.Findings) > 0 {
			d.say("fix-report", v)
		}
	case *Review:
		d.header = v.Header
		d.review(v)
	case *Recheck:
		d.header = v.Header
		d.bind(v.Untrusted, v.Requirement, v.Constraints, v.Contract)
		d.findings(v.Findings)
		d.change(v.Diff, v.DiffFile, v.ChangedFiles, v.Manifest)
		d.fence("the fix report", v.Report)
		d.beside(v.VerifySummary, v.Lint, v.Reask, lensOf(v.Header.Lens, v.LensText))
		d.say("recheck-answer", v)
		d.say("recheck-verdict", v)
	case *Confirm:
		d.header = v.Header
		d.bind(v.Untrusted, v.Requirement, v.Constraints, v.Contract)
		d.findings([]Finding{v.Finding})
		d.fence("the rebuttal", v.Rebuttal)
		d.change(v.Diff, v.DiffFile, v.ChangedFiles, v.Manifest)
		d.beside("", nil, v.Reask, "")
		d.say("confirm-answer", v)
	case *Arbitrate:
		d.header = v.Header
		d.bind(v.Untrusted, v.Requirement, v.Constraints, v.Contract)
		d.findings(v.Findings)
		d.change(v.Diff, v.DiffFile, v.ChangedFiles, v.Manifest)
		d.beside(v.VerifySummary, nil, v.Reask, "")
		d.say("arbitrate-answer", v)
	}
	if d.header.Role != "design" && d.header.Role != "implement" {
		d.say("material", nil)
	}
	return d
}

func (d *demand) review(v *Review) {
	d.bind(v.Untrusted, v.Requirement, v.Constraints, v.Contract)
	d.findings(v.Log)
	d.change(v.Diff, v.DiffFile, v.ChangedFiles, v.Manifest)
	d.beside(v.VerifySummary, v.Lint, v.Reask, lensOf(v.Header.Lens, v.LensText))
	if asksForJSON(*v) {
		d.say("json-answer", v)
	}
	d.say("verdict-line", v)
}

func (d *demand) bind(untrusted bool, requirement string, constraints []Part, contract []byte) {
	whole := Part{"the requirement", []byte(requirement)}
	if untrusted {
		d.untrusted = append(d.untrusted, whole)
	} else {
		d.bound = append(d.bound, whole)
	}
	d.bound = append(d.bound, constraints...)
	if len(contract) > 0 {
		d.bound = append(d.bound, Part{"the contract", contract})
	}
}

func (d *demand) fence(name string, text []byte) {
	if len(text) > 0 {
		d.untrusted = append(d.untrusted, Part{name, text})
	}
}

func (d *demand) findings(all []Finding) {
	for _, f := range all {
		d.fence("finding "+f.ID, f.Text)
		d.fence("the history of "+f.ID, []byte(f.Note))
	}
}

func (d *demand) change(diff []byte, file string, changed []string, m *Manifest) {
	for _, path := range changed {
		d.fence("the changed path "+quote(path), []byte(quote(path)))
	}
	if file != "" {
		d.said = append(d.said, Part{"the name of the diff's file", []byte(codeSpan(file))})
		if m != nil {
			d.said = append(d.said, Part{"the diff's number of lines", fmt.Appendf(nil, "%d", m.Lines)})
			d.manifest(m)
		}
		return
	}
	d.diff = diff
	d.parts, _ = diffParts(m, diff) // the manifest is the diff's own
}

func (d *demand) manifest(m *Manifest) {
	for _, p := range m.Parts {
		d.fence("the manifest's part "+quote(p.Path), []byte(quote(p.Path)))
	}
}

func (d *demand) beside(verify string, lint []byte, reask, lens string) {
	d.fence("the verifier's output", []byte(verify))
	d.fence("the linter's output", lint)
	d.fence("why the last answer did not count", []byte(reask))
	if lens != "" {
		d.bound = append(d.bound, Part{"the lens", []byte(lens)})
	}
}

// say demands what a built-in part says about data.
func (d *demand) say(part string, data any) {
	var out bytes.Buffer
	if err := builtIn.ExecuteTemplate(&out, part, data); err != nil {
		panic(fmt.Sprintf("prompt: %s: %v", part, err)) // built-in, and tested with every kind of data
	}
	d.said = append(d.said, Part{fmt.Sprintf("what {{template %q .}} says", part), out.Bytes()})
}

// check returns what a prompt lacks, a sentence each.
func (d demand) check(prompt string) (problems []string) {
	miss := func(name, how string) { problems = append(problems, name+" is missing "+how) }
	if line, _, _ := strings.Cut(prompt, "\n"); line != d.header.String() {
		problems = append(problems, "the first line is not the header, {{.Header}}")
	}
	fences, outside := marked(prompt)
	untrusted := slices.DeleteFunc(slices.Clone(fences), func(f fence) bool { return !strings.HasPrefix(f.label, "untrusted ") })
	for _, p := range d.untrusted {
		if !holds(untrusted, p.Text) {
			miss(p.Name, "between untrusted marks")
		}
	}
	for _, p := range d.bound {
		if !holds(fences, p.Text) {
			miss(p.Name, "between marks")
		}
	}
	for _, p := range d.said {
		if !strings.Contains(outside, string(p.Text)) {
			miss(p.Name, "outside of the marks")
		}
	}
	whole := len(d.parts) > 0 && !slices.ContainsFunc(d.parts, func(p Part) bool { return !holds(untrusted, p.Text) })
	if len(d.diff) > 0 && !whole && !holds(untrusted, d.diff) {
		miss("the complete diff", "between untrusted marks")
	}
	for _, word := range d.forbidden {
		if strings.Contains(outside, word) {
			problems = append(problems, "untrusted material stands outside of the marks: show it with {{untrusted NAME .Field}}")
			break
		}
	}
	return problems
}

// fence is what stands between two marks.
type fence struct{ label, text string }

// holds says whether one of the fences has the text, as it is displayed.
func holds(fences []fence, text []byte) bool {
	shown, _ := display(text)
	return slices.ContainsFunc(fences, func(f fence) bool { return strings.Contains(f.text, shown) })
}

// marked takes a prompt apart as a careful reader does: a mark is closed by the line with its own key only. What a
// mark opens that nothing closes is outside.
func marked(prompt string) (fences []fence, outside string) {
	var rest strings.Builder
	lines := strings.SplitAfter(prompt, "\n")
	for i := 0; i < len(lines); i++ {
		name, ok := strings.CutPrefix(strings.TrimSuffix(lines[i], "\n"), "[begin ")
		end := -1
		if ok {
			end = slices.IndexFunc(lines[i:], func(l string) bool { return strings.TrimSuffix(l, "\n") == "[end "+name })
		}
		if end < 0 {
			rest.WriteString(lines[i])
			continue
		}
		label := name
		if cut := strings.LastIndexByte(name, ' '); cut >= 0 {
			label = name[:cut]
		}
		fences = append(fences, fence{label, strings.Join(lines[i+1:i+end], "")})
		i += end
	}
	return fences, rest.String()
}
