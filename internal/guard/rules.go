// Package guard looks at a change before money is spent on reviewing it: how large it is without what is generated and
// vendored, and whether it touches what must not change unseen. It reads changes, diff text and globs, and nothing else.
package guard

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"conclave/internal/glob"
)

// Change is one changed path. A rename is two: what went and what came.
type Change struct {
	Path string
	// Existed says that the base had the path.
	Existed bool
	// Mode and ID are the new content's, "" where the path is gone.
	Mode, ID string
}

// Rules say what is protected and what is not counted.
type Rules struct {
	protected []rule
	generated func(string) bool
	// command are the paths that the verify command may mean; words are those that one word of it may mean, each.
	command map[string]bool
	words   [][]string
	// taken are those that it would take where they are added: settings are files of which it reads a part.
	taken    map[string]bool
	settings map[string]bool
	// scripts says that it runs scripts of package.json files.
	scripts bool
	hidden  []string
}

type rule struct {
	why   string
	match func(string) bool
}

// NewRules adds a user's globs to those that are built in. A protected one is "why TAB glob" or a glob alone. verify is
// the verify command, "" for none. Errors name the glob.
func NewRules(protected, generated []string, verify string) (*Rules, error) {
	r := &Rules{command: map[string]bool{}, words: wordFiles(verify), taken: map[string]bool{}, settings: map[string]bool{}}
	for _, group := range r.words {
		for _, file := range group {
			r.command[file] = true
		}
	}
	r.take(verify)
	for _, line := range protected {
		why, pattern, titled := strings.Cut(line, "\t")
		if !titled {
			why, pattern = Listed, line
		}
		match, err := glob.CompileFold([]string{pattern})
		if err != nil {
			return nil, fmt.Errorf("protected %w", err)
		}
		r.protected = append(r.protected, rule{why, match})
	}
	r.protected = append(r.protected, builtIn()...)
	var err error
	if r.generated, err = glob.Compile(append(DefaultGenerated(), generated...)); err != nil {
		return nil, fmt.Errorf("generated %w", err)
	}
	return r, nil
}

func builtIn() []rule {
	return []rule{{Instruction, must(instructionGlobs)}, {Configuration, must(configurationGlobs)}, {CI, must(ciGlobs)}}
}

// Generated reports whether a path is generated or vendored.
func (r *Rules) Generated(path string) bool { return r.generated(path) }

// Why is the rule that protects a changed path, "" for none. A file of the verify command is protected where the base
// has it, and where it is added and the command would take it: then whoever adds it decides what verifies the work.
func (r *Rules) Why(c Change) string {
	for _, rule := range r.protected {
		if rule.match(c.Path) {
			return rule.why
		}
	}
	if c.Existed && r.command[c.Path] || r.taken[c.Path] {
		return VerifyCommand
	}
	return ""
}

// Kept reports whether a path is one that a writer's sandbox keeps as it is: reviewer definitions, instruction files and
// conclave.yaml. They decide how the work is judged and done; other protected paths are part of ordinary work.
func (r *Rules) Kept(path string) bool {
	for _, rule := range r.protected {
		if (rule.why == Reviewer || rule.why == Instruction || rule.why == Configuration) && rule.match(path) {
			return true
		}
	}
	return false
}

// CommandFiles are the paths that the verify command may mean, in their order. Base wants to know which there are.
func (r *Rules) CommandFiles() []string {
	files := maps.Clone(r.command)
	maps.Copy(files, r.settings)
	return slices.Sorted(maps.Keys(files))
}

// Base takes in which of the command's files the base has, and where those that are links lead to, "" for others. What
// a link leads to is the command's too, and so is a file that a word of the command names and that only the change has.
// A test is none: tests are added all the time, and the command runs them whether it names them or not.
func (r *Rules) Base(files map[string]string) {
	for file, target := range files {
		if target = path.Join(path.Dir(file), target); target != path.Dir(file) {
			r.command[target] = true
		}
	}
	for _, group := range r.words {
		if slices.ContainsFunc(group, func(name string) bool { _, has := files[name]; return has }) {
			continue
		}
		for _, name := range group {
			if strings.ContainsAny(name, "./") && !IsTest(name) {
				r.taken[name] = true
			}
		}
	}
}

// Hide takes in the ignored files of the writer's workspace. They are no part of the change, and the verifier runs
// beside them: one that a runner would rather take than the base's, or that is a test or a runner's hook by its name,
// must not pass unseen.
func (r *Rules) Hide(ignored []string) {
	r.hidden = nil
	for _, file := range ignored {
		if r.taken[file] || r.settings[file] || IsTest(file) && sources[path.Ext(file)] {
			r.hidden = append(r.hidden, file)
		}
	}
	slices.Sort(r.hidden)
}

// sources are the endings of files that a test runner reads as code.
var sources = map[string]bool{
	".go": true, ".py": true, ".js": true, ".cjs": true, ".mjs": true, ".ts": true, ".cts": true, ".mts": true, ".jsx": true, ".tsx": true,
	".java": true, ".kt": true, ".scala": true, ".groovy": true, ".rb": true, ".php": true, ".cs": true, ".swift": true, ".ex": true, ".exs": true,
}
