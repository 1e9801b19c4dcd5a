package config

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"conclave/internal/prompt"
)

// promptFile reads one entry of `lenses` or `prompts`: a name and a file.
func (r *reader) promptFile(section, name string, k, n *yaml.Node) {
	prefix := section + "." + name
	switch {
	case !seatName.MatchString(name):
		r.fault(k, nameRemedy, "%q is no name for one of the %s", name, section)
		return
	case section == "prompts" && !slices.Contains(prompt.TemplateNames(), name):
		r.fault(k, oneOf(name, prompt.TemplateNames()), "there is no template %s", name)
		return
	case n.Kind != yaml.ScalarNode || n.Value == "":
		r.fault(n, "write `"+section+": {NAME: FILE}`", "%s is no name of a file", prefix)
		return
	}
	file := PromptFile{Name: name, Path: n.Value, Repository: r.file.Repository, Where: r.at(n)}
	if r.file.Repository {
		file.Path = path.Clean(filepath.ToSlash(n.Value))
		if !filepath.IsLocal(file.Path) || file.Path == "." || strings.Contains(n.Value, "\\") {
			r.fault(n, "name a file of the repository, relative to its root", "%s: %s is outside of the repository", prefix, n.Value)
			return
		}
	} else if !filepath.IsAbs(file.Path) {
		file.Path = filepath.Join(filepath.Dir(r.file.Name), file.Path)
	}
	if section == "lenses" {
		r.layer.lenses[name] = file
	} else {
		r.layer.prompts[name] = file
	}
}

// promptFiles are those of all files, a stronger file's over a weaker one's.
func (l *loading) promptFiles(of func(layer) map[string]PromptFile) []PromptFile {
	merged := map[string]PromptFile{}
	for _, file := range l.layers {
		for name, f := range of(file) {
			merged[name] = f
		}
	}
	var all []PromptFile
	for _, f := range merged {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b PromptFile) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// lensNames lists the lenses that a seat of this run may have: the built-in ones, then the user's.
func (c Config) lensNames() []string {
	all := prompt.LensNames()
	for _, f := range c.LensFiles {
		if !slices.Contains(all, f.Name) {
			all = append(all, f.Name)
		}
	}
	return all
}
