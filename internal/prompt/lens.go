package prompt

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

//go:embed lenses/*.md
var lensFiles embed.FS

// lenses are the built-in directions to look in, by name.
var lenses = readAll(lensFiles, "lenses/*.md")

// LensNames lists the built-in lenses.
func LensNames() []string { return sortedNames(lenses) }

// Lens is the text of a built-in lens; "" for any other name.
func Lens(name string) string { return lenses[name] }

// MaxLens is how many bytes a lens may be long: it stands in every prompt of its seat.
const MaxLens = 32 << 10

// verdictLine is what an agent that repeats its lens must not say.
var verdictLine = regexp.MustCompile(`(?im)^.{0,20}\bVERDICT\W{0,8}(?:PASS|BLOCK)\b`)

var lensName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$`)

// CheckLens refuses a user's lens that no prompt may hold. All reasons are joined; each names the file, and the line
// where there is one.
func CheckLens(name, file string, text []byte) error {
	var problems []error
	say := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("%s: "+format, append([]any{file}, args...)...))
	}
	if !lensName.MatchString(name) {
		say("the lens's name %q must be letters, digits and ._- only, 64 at most", name)
	}
	switch {
	case strings.TrimSpace(string(text)) == "":
		say("the lens is empty: write what the reviewer shall look for")
	case len(text) > MaxLens:
		say("the lens is %d bytes long; %d are the most", len(text), MaxLens)
	case !utf8.Valid(text):
		say("the lens is no UTF-8 text")
	}
	if line := verdictLine.FindIndex(text); line != nil {
		say("line %d holds a verdict: the prompt says how to end", 1+bytes.Count(text[:line[0]], []byte("\n")))
	}
	for _, s := range Lint(file, text) {
		problems = append(problems, s)
	}
	return errors.Join(problems...)
}

// lensText shows a lens between marks, "" where there is none.
func lensText(name, own string) string {
	text := lensOf(name, own)
	if text == "" {
		return ""
	}
	return enclose(strings.TrimSpace("lens "+name), []byte(text))
}

// lensOf is what a reviewer is told to look for: a user's own text, else the built-in one of that name.
func lensOf(name, own string) string {
	if strings.TrimSpace(own) == "" {
		return lenses[name]
	}
	return own
}

// readAll reads embedded files by their names without folder and ending.
func readAll(from embed.FS, pattern string) map[string]string {
	names, err := fs.Glob(from, pattern)
	if err != nil || len(names) == 0 {
		panic(fmt.Sprintf("%s: %v", pattern, err)) // a constant pattern over embedded files
	}
	texts := make(map[string]string, len(names))
	for _, name := range names {
		text, err := from.ReadFile(name)
		if err != nil {
			panic(err) // an embedded file
		}
		texts[strings.TrimSuffix(path.Base(name), ".md")] = string(text)
	}
	return texts
}

// BuiltIn returns the text of every built-in template, its parts included, and lens, by the name of its file.
func BuiltIn() map[string]string {
	all := map[string]string{}
	for name, text := range texts {
		all["templates/"+name+".md"] = text
	}
	for name, text := range lenses {
		all["lenses/"+name+".md"] = text
	}
	return all
}
