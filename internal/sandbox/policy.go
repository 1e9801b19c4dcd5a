package sandbox

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// Access is what may be done with a path and everything below it. The zero value is the narrow one.
type Access int

// The accesses.
const (
	Hidden Access = iota // not even read
	Read                 // read and executed
	Write                // read, executed and changed
)

// Rule is one path of a policy. Paths are absolute, without symbolic links, and exist.
type Rule struct {
	Path   string
	Access Access
	// Source stands at Path where it is another folder (private /tmp); bubblewrap only.
	Source string
	// File says that the path is no folder.
	File bool
	// Soft rules narrow a folder that can be written. Landlock cannot do that without making new files in the
	// folder impossible, and leaves them out.
	Soft bool
}

// Link is a symbolic link on the way to a rule's path, by which programs name it.
type Link struct{ Path, Target string }

// Policy is what a turn may touch.
type Policy struct {
	Rules []Rule
	Links []Link
	// Temp is the turn's own folder for temporary files; the command finds it in TMPDIR.
	Temp string
}

// order sorts rules so that outer paths come first, and keeps one rule for each path: a later one replaces an earlier.
func order(rules []Rule) []Rule {
	last := map[string]Rule{}
	for _, r := range rules {
		last[r.Path] = r
	}
	out := make([]Rule, 0, len(last))
	for _, r := range last {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Rule) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// within says that path is dir or lies below it.
func within(dir, path string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// over is the rule that decides about the folder that holds the path: the deepest one above it. False when there is none.
func (p Policy) over(path string) (Rule, bool) {
	var best Rule
	found := false
	for _, r := range p.Rules {
		if r.Path != path && within(r.Path, path) && (!found || len(r.Path) > len(best.Path)) {
			best, found = r, true
		}
	}
	return best, found
}

// Of is what the policy grants for a path without symbolic links. Below private /tmp nothing is what it is outside.
func (p Policy) Of(path string) Access {
	path = filepath.Clean(path)
	for _, r := range p.Rules {
		if r.Path == path && r.Source == "" {
			return r.Access
		}
	}
	if r, ok := p.over(path); ok && r.Source == "" {
		return r.Access
	}
	return Hidden
}
