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
	set   *template.Template
	roles []string
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
	o := &Overrides{set: set, roles: sortedNames(texts)}
	var problems []error
	for _, name := range o.roles {
		if err := o.take(name, texts[name]); err != nil {
			problems = append(problems, fmt.Errorf("template %q: %w", name, err))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	for _, sample := range samples() {
		if !o.replaces(sample.role) {
			continue
		}
		if err := sample.try(o); err != nil {
			problems = append(problems, fmt.Errorf("template %q, tried for %s: %w", sample.role, sample.name, err))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return o, nil
}

// take parses one template into the set.
func (o *Overrides) take(name, text string) error {
	if !slices.Contains(Roles, name) {
		return fmt.Errorf("there is no such template: it must be one of %s", strings.Join(TemplateNames(), ", "))
	}
	alone, err := template.New(name + ".md").Funcs(functions).Parse(text)
	if err != nil {
		return err
	}
	if alone.Tree == nil || parse.IsEmptyTree(alone.Root) {
		return fmt.Errorf("it is empty")
	}
	for _, defined := range alone.Templates() {
		switch part := defined.Name(); {
		case part == name+".md":
		case o.set.Lookup(part) != nil:
			return fmt.Errorf("it defines %q, which exists already: take another name", part)
		}
	}
	var problems []error
	for _, s := range Lint(name, []byte(text)) {
		problems = append(problems, fmt.Errorf("line %d steers the review: %q", s.Line, s.Phrase))
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	_, err = o.set.New(name + ".md").Parse(text)
	return err
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
