package sandbox

import (
	"os"
	"path/filepath"
	"strings"
)

// Grant is one permission of Landlock: for a file, or for a folder with everything below it.
type Grant struct {
	Path  string `json:"path"`
	Write bool   `json:"write,omitempty"`
	File  bool   `json:"file,omitempty"`
}

// devices are what programs open in /dev. Terminals are not among them.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// Grants are the policy in the words of Landlock, which only ever adds. A folder in which something is narrower is
// granted entry by entry: what appears in it later is not, and its names are not listed.
func (p Policy) Grants() []Grant {
	var out []Grant
	for _, device := range devices {
		out = append(out, Grant{Path: device, Write: true, File: true})
	}
	out = append(out, Grant{Path: "/proc"})
	for _, r := range p.Rules {
		over, covered := p.over(r.Path)
		switch {
		case r.Access == Hidden, r.Source != "", r.Soft:
		case covered && over.Source == "" && over.Access == r.Access && !p.narrowed(over):
			// granted with the folder above
		default:
			out = append(out, p.grant(r)...)
		}
	}
	return out
}

// narrowed says that a rule's folder cannot be granted as a whole.
func (p Policy) narrowed(r Rule) bool {
	for _, below := range p.Rules {
		if below.Path != r.Path && within(r.Path, below.Path) && !below.Soft && below.Source == "" && below.Access < r.Access {
			return true
		}
	}
	return false
}

func (p Policy) grant(r Rule) []Grant {
	if r.File || !p.narrowed(r) {
		return []Grant{{Path: r.Path, Write: r.Access == Write, File: r.File}}
	}
	entries, err := os.ReadDir(r.Path)
	if err != nil {
		return nil
	}
	var out []Grant
	for _, e := range entries {
		path := filepath.Join(r.Path, e.Name())
		if e.Type()&os.ModeSymlink != 0 || p.ruled(path) {
			continue // a link opens what it leads to, by that place's own grant
		}
		out = append(out, p.grant(Rule{Path: path, Access: r.Access, File: !e.IsDir()})...)
	}
	return out
}

// ruled says that a path has a rule of its own.
func (p Policy) ruled(path string) bool {
	for _, r := range p.Rules {
		if r.Path == path {
			return true
		}
	}
	return false
}

// tempEnvironment puts the turn's temporary folder into an environment.
func tempEnvironment(env []string, dir string) []string {
	out := make([]string, 0, len(env)+1)
	for _, e := range env {
		if !strings.HasPrefix(e, "TMPDIR=") && !strings.HasPrefix(e, "TMP=") && !strings.HasPrefix(e, "TEMP=") {
			out = append(out, e)
		}
	}
	return append(out, "TMPDIR="+dir)
}
