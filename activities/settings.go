package activities

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// An agent's state is its own: it writes its logins and sessions there. Beside them lie settings, hooks and instructions
// that the user's own sessions obey later, outside of any sandbox. bubblewrap keeps those that exist; what else becomes of
// them is told, because it may have been the material's idea and not the program's.

// settings are such places with how they looked before the turn.
type settings map[string]setting

type setting struct {
	appearance string
	// link is where it leads, "" for what is no link. A sandbox keeps what it leads to, and cannot keep the link.
	link string
}

func lookAtSettings(paths []string) settings {
	seen := settings{}
	for _, path := range paths {
		link, _ := os.Readlink(path)
		seen[path] = setting{appearance(path), link}
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
		now := appearance(path)
		if link, _ := os.Readlink(path); before.link != "" && link == before.link {
			continue // its time is another one where it was put back
		}
		if now != "" && now != before.appearance {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// putBack makes links again what they were, and lists those that were not. What took their place is moved aside, under a
// name that nothing obeys: it might be the user's.
func (s settings) putBack() []string {
	var paths []string
	for path, before := range s {
		if now, _ := os.Readlink(path); before.link == "" || now == before.link {
			continue
		}
		aside := filepath.Join(filepath.Dir(path), fmt.Sprintf(".conclave-aside-%s-%d", filepath.Base(path), time.Now().UnixNano()))
		if err := os.Rename(path, aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if os.Symlink(before.link, path) == nil {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// tellSettings notes them for the reader of the report.
func (t *turn) tellSettings() {
	if paths := t.held.settings.putBack(); len(paths) > 0 {
		t.note("%s replaced links to what its own sessions obey: %s; they were put back, and what stood there lies beside them", t.req.Target.Adapter, t.shown(paths))
	}
	if paths := t.held.settings.changed(); len(paths) > 0 {
		t.note("%s made or changed what its own sessions obey: %s; look at it if that is not the program's own doing", t.req.Target.Adapter, t.shown(paths))
	}
}

// shown are paths in the words of a person.
func (t *turn) shown(paths []string) string {
	home := homeOf(t.Agents.Environ)
	for i, path := range paths {
		if rel, err := filepath.Rel(home, path); err == nil && filepath.IsLocal(rel) {
			paths[i] = "~/" + rel
		}
	}
	return strings.Join(paths, ", ")
}
