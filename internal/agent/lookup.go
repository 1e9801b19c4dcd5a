package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// builtIn are the adapters in the order in which they are listed. A new one is a file and a line here.
var builtIn = []Adapter{claude{}, codex{}, opencode{}, gemini{}, command{}, stub{}}

// StubName is the adapter that stands for every lane of a dry run.
const StubName = "stub"

// CommandName is the adapter for any program that the configuration describes.
const CommandName = "command"

// Names lists the adapters that work.
func Names() []string {
	names := make([]string, len(builtIn))
	for i, a := range builtIn {
		names[i] = a.Name()
	}
	return names
}

// Lookup finds an adapter, also one that the configuration adds (Commands). Its error names the nearest one.
func (s Settings) Lookup(name string) (Adapter, error) {
	a, err := s.lookup(name)
	if failures := s.Failures[name]; err == nil && len(failures) > 0 {
		a = classified{a, failures}
	}
	return a, err
}

func (s Settings) lookup(name string) (Adapter, error) {
	c, configured := s.Commands[name]
	for _, a := range builtIn {
		if a.Name() == name && (name != CommandName || !configured) {
			return a, nil
		}
	}
	if configured {
		return command{c}, nil
	}
	known := append(Names(), slices.Sorted(maps.Keys(s.Commands))...)
	hint := ""
	if near := nearest(name, known); near != "" {
		hint = fmt.Sprintf(" (did you mean %s?)", near)
	}
	return nil, Unavailable(fmt.Sprintf("unknown adapter %q%s; known are %s", name, hint, strings.Join(known, ", ")))
}

// nearest is the candidate with the fewest edits, if they are few.
func nearest(name string, candidates []string) string {
	best, most := "", 3
	for _, c := range candidates {
		if d := edits(strings.ToLower(name), c); d < most && d < len(c) {
			best, most = c, d
		}
	}
	return best
}

// edits counts insertions, deletions and replacements between two words.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
