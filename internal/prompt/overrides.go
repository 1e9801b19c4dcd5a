package prompt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"
)

// Overrides are users' own templates in place of built-in ones; nil means none.
type Overrides struct {
	set    *template.Template
	roles  []string
	trying bool // prompts are looked at by who makes them
}

// TemplateNames lists the templates that can be replaced: one for each role.
func TemplateNames() []string { return slices.Sorted(slices.Values(Roles)) }

// Template is the text of a built-in template, a start for one's own; "" for an unknown name.
func Template(name string) string {
	if !slices.Contains(Roles, name) {
		return ""
	}
	return texts[name]
}

// ParseOverrides reads users' templates, by the names of the roles. It refuses an unknown name, a text that is no
// template or steers, and a template whose prompts lack what the host relies on: the header line first, untrusted
// material between its marks, the material that binds, and the form of the answer. It finds out by rendering samples.
func ParseOverrides(texts map[string]string) (*Overrides, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	set, err := builtIn.Clone()
	if err != nil {
		return nil, err
	}
	o := &Overrides{set: set, roles: sortedNames(texts), trying: true}
	var problems []error
	for _, name := range o.roles {
		for _, problem := range o.take(name, texts[name]) {
			problems = append(problems, fmt.Errorf("template %q: %s", name, problem))
		}
	}
	if len(problems) == 0 {
		problems = o.tryAll()
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	o.trying = false
	return o, nil
}

// tryAll renders every sample of the roles that are replaced. A problem is named once, with the samples that have it.
func (o *Overrides) tryAll() (problems []error) {
	var order []string
	in := map[string][]string{}
	clean := map[string]bool{}
	for _, sample := range samples() {
		if !o.replaces(sample.role) {
			continue
		}
		for _, problem := range sample.try(o, clean) {
			problem = fmt.Sprintf("template %q: %s", sample.role, problem)
			if in[problem] == nil {
				order = append(order, problem)
			}
			in[problem] = append(in[problem], sample.name)
		}
	}
	for _, problem := range order {
		problems = append(problems, fmt.Errorf("%s (tried for: %s)", problem, strings.Join(in[problem], "; ")))
	}
	return problems
}

// take parses one template into the set and says what is wrong with its text.
func (o *Overrides) take(name, text string) (problems []string) {
	if !slices.Contains(Roles, name) {
		return []string{"there is no such template: it must be one of " + strings.Join(TemplateNames(), ", ")}
	}
	alone, err := template.New(name + ".md").Funcs(functions).Parse(text)
	if err != nil {
		return []string{err.Error()}
	}
	if alone.Tree == nil || parse.IsEmptyTree(alone.Root) {
		return []string{"it is empty"}
	}
	for _, defined := range alone.Templates() {
		if part := defined.Name(); part != name+".md" && o.set.Lookup(part) != nil {
			problems = append(problems, fmt.Sprintf("it defines %q, which exists already: take another name", part))
		}
	}
	for _, s := range Lint(name, []byte(text)) {
		problems = append(problems, fmt.Sprintf("line %d steers the review: %q", s.Line, s.Phrase))
	}
	if len(problems) > 0 {
		return problems
	}
	if _, err := o.set.New(name + ".md").Parse(text); err != nil {
		return []string{err.Error()}
	}
	return nil
}

// replaces says whether a role has a template of the user's.
func (o *Overrides) replaces(role string) bool { return o != nil && slices.Contains(o.roles, role) }

// templates returns the templates to render with.
func (o *Overrides) templates() *template.Template {
	if o == nil || o.set == nil {
		return builtIn
	}
	return o.set
}
