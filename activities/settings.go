package activities

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/internal/sandbox"
)

// An agent's state is its own: it writes its logins and sessions there. Beside them lie settings, hooks and instructions
// that the user's own sessions obey later, outside of any sandbox. bubblewrap keeps those that exist; what else becomes of
// them is told, because it may have been the material's idea and not the program's.

// settings are such places with how they looked before the turn.
type settings map[string]string

func lookAtSettings(states []sandbox.StatePath) settings {
	seen := settings{}
	for _, path := range sandbox.Settings(states) {
		seen[path] = appearance(path)
	}
	return seen
}

// appearance is "" for what is not there.
func appearance(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s %d %d", info.Mode(), info.Size(), info.ModTime().UnixNano())
}

// changed lists what was made or changed since.
func (s settings) changed() []string {
	var paths []string
	for path, before := range s {
		if now := appearance(path); now != "" && now != before {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// tellSettings notes them for the reader of the report.
func (t *turn) tellSettings() {
	paths := t.settings.changed()
	if len(paths) == 0 {
		return
	}
	home := homeOf(t.Agents.Environ)
	for i, path := range paths {
		if rel, err := filepath.Rel(home, path); err == nil && filepath.IsLocal(rel) {
			paths[i] = "~/" + rel
		}
	}
	t.note("%s made or changed what its own sessions obey: %s; look at it if that is not the program's own doing", t.req.Target.Adapter, strings.Join(paths, ", "))
}
