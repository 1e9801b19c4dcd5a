package prompt

import "text/template"

// Overrides are users' own templates in place of built-in ones; nil means none.
type Overrides struct{ set *template.Template }

// templates returns the templates to render with.
func (o *Overrides) templates() *template.Template {
	if o == nil || o.set == nil {
		return builtIn
	}
	return o.set
}
