package agent

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Facts are what is known of a program beside how it is called. The zero value knows nothing.
type Facts struct {
	// Install is the command that installs it; "" when there is none.
	Install string
	// MinimumVersion is the oldest version that this adapter was made for; "" is any.
	MinimumVersion string
	// VersionArgs make it print its version and end, without a login and without a model.
	VersionArgs []string
	// HelpArgs make it print its options, and Flags are those that a turn needs of them: the version alone does not tell
	// what a build can do.
	HelpArgs, Flags []string
	// State are the places where it keeps logins and sessions.
	State []StatePath
	// Keys are variables of which each alone is a login.
	Keys []string
	// LogIn is what a person does to log in.
	LogIn string
}

// StatePath is a place of the user's that a program reads and writes: logins, which it refreshes in place, and sessions.
type StatePath struct {
	// Variable names the folder that holds it when that variable is set, and Under its place there.
	Variable, Under string
	// Home is its place beneath the home folder when the variable is not set; "" is none.
	Home string
	// File: it is a file, which programs replace by renaming another one over it; else a folder.
	File bool
	// Login is the file beneath it that holds a login; "." is the place itself.
	Login string
	// Instructions are files beneath it that the program obeys in every turn, whatever flags say, where there are any.
	Instructions []string
}

// place is where it is; "" when it is nowhere.
func (p StatePath) place(home string, environ []string) string {
	if p.Variable != "" {
		if dir := lookupEnv(environ, p.Variable); filepath.IsAbs(dir) {
			return filepath.Join(dir, p.Under)
		}
	}
	if p.Home == "" || home == "" {
		return ""
	}
	return filepath.Join(home, p.Home)
}

// Place is a state path on this machine.
type Place struct {
	Path         string
	File         bool     // else a folder
	Instructions []string // beneath it, see StatePath
}

// StatePaths are the places for a home folder and an environment. They need not exist.
func (f Facts) StatePaths(home string, environ []string) []Place {
	var out []Place
	for _, p := range f.State {
		path := p.place(home, environ)
		if path == "" || slices.ContainsFunc(out, func(known Place) bool { return known.Path == path && known.File == p.File }) {
			continue
		}
		out = append(out, Place{path, p.File, p.Instructions})
	}
	return out
}

// Login is what can be told of a login without using it. Found is false both when there is none and when it cannot be
// told (a keychain); whether the one that was found is good only a turn shows.
type Login struct {
	Found bool
	// How names the variable or the file.
	How string
}

// Login looks for a login: a key in the environment, a file with credentials. It starts nothing and reads no secret.
func (f Facts) Login(home string, environ []string) Login {
	for _, key := range f.Keys {
		if lookupEnv(environ, key) != "" {
			return Login{Found: true, How: key}
		}
	}
	for _, p := range f.State {
		place := p.place(home, environ)
		if p.Login == "" || place == "" {
			continue
		}
		file := filepath.Join(place, p.Login)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Size() > 2 { // "{}" is none
			return Login{Found: true, How: file}
		}
	}
	return Login{}
}

// Lacks are the needed flags that a help text does not name. A text that names none of them is no help text, and says
// nothing.
func (f Facts) Lacks(help string) []string {
	missing := slices.DeleteFunc(slices.Clone(f.Flags), func(flag string) bool {
		return slices.Contains(strings.FieldsFunc(help, func(r rune) bool { return !isFlagRune(r) }), flag)
	})
	if len(missing) == len(f.Flags) {
		return nil
	}
	return missing
}

func isFlagRune(r rune) bool {
	return r == '-' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

var versionPattern = regexp.MustCompile(`\d+\.\d+(\.\d+)*`)

// ParseVersion finds the version in what a program printed for VersionArgs; "" when there is none.
func ParseVersion(output string) string { return versionPattern.FindString(output) }

// Older reports whether a version is older than another one; an empty one says nothing, and is not.
func Older(version, than string) bool {
	if version == "" || than == "" {
		return false
	}
	a, b := strings.Split(version, "."), strings.Split(than, ".")
	for i := range max(len(a), len(b)) {
		if x, y := part(a, i), part(b, i); x != y {
			return x < y
		}
	}
	return false
}

func part(parts []string, i int) int {
	if i >= len(parts) {
		return 0
	}
	n, err := strconv.Atoi(parts[i])
	if err != nil {
		return 0
	}
	return n
}
