package secret

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// value is what must never be shown: the value of a variable in one of its spellings.
type value struct {
	rule string
	text []byte
}

// fromEnvironment begins the rule of a variable's value.
const fromEnvironment = "environment:"

// Bounds of values, in bytes: shorter ones are words that a text may hold by chance, longer ones are cut.
const (
	shortest     = 8
	shortestName = 12
	shortestLeaf = 16
	longestValue = 8 << 10
	// mostSpellings bounds the automaton.
	mostSpellings = 3000
)

// valuesOf gives the spellings of variables, each "NAME=value".
func valuesOf(variables []string) []value {
	var out []value
	for _, variable := range variables {
		name, text, ok := strings.Cut(variable, "=")
		if text = strings.TrimSpace(text); !ok || len(text) < shortest {
			continue
		}
		for _, part := range append(leaves(text), text) {
			for _, spelling := range spellings(part) {
				spelling = spelling[:min(len(spelling), longestValue)]
				if !slices.ContainsFunc(out, func(v value) bool { return string(v.text) == spelling }) {
					out = append(out, value{rule: fromEnvironment + name, text: []byte(spelling)})
				}
			}
		}
	}
	out = out[:min(len(out), mostSpellings)]
	slices.SortStableFunc(out, func(a, b value) int { return cmp.Compare(len(b.text), len(a.text)) })
	return out
}

// leaves are the texts within a value that is JSON, as a file of credentials: those that nobody would write.
func leaves(text string) []string {
	var parsed any
	if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), &parsed) != nil {
		return nil
	}
	var found []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, inner := range v {
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		case string:
			if len(v) >= shortestLeaf && random([]byte(v)) {
				found = append(found, v)
			}
		}
	}
	walk(parsed)
	slices.Sort(found)
	return found
}

// spellings are a text as it is, in JSON, in JSON within JSON, in a URL, and in base64.
func spellings(text string) []string {
	quoted := inJSON(text)
	return []string{
		text, quoted, inJSON(quoted), url.QueryEscape(text), url.PathEscape(text),
		base64.StdEncoding.EncodeToString([]byte(text)), base64.RawURLEncoding.EncodeToString([]byte(text)),
	}
}

func inJSON(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		return text // a string always has a form
	}
	return string(raw[1 : len(raw)-1])
}

// secretName are names of variables that hold secrets by custom.
var secretName = regexp.MustCompile(`(?i)(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|SECRETS|PASSWORD|PASSWD|PASSPHRASE|PAT|CREDENTIALS?|PRIVATE_KEY|ACCESS_KEY|AUTH|DSN|CONNECTION_STRING)(?:_\d+)?$`)

// KeyVariables picks from an environment ("NAME=value" each) what must not be shown: the variables of the given names,
// and those whose name says that they hold a secret and whose value is neither a path nor a plain word.
func KeyVariables(environ, names []string) []string {
	var out []string
	for _, variable := range environ {
		name, text, ok := strings.Cut(variable, "=")
		switch {
		case !ok:
		case slices.Contains(names, name) && len(text) >= shortest && !strings.HasPrefix(text, "/"):
			out = append(out, variable)
		case secretName.MatchString(name) && len(text) >= shortestName && drawn(text):
			out = append(out, variable)
		}
	}
	return out
}

// drawn reports whether a value is more than a path or a word.
func drawn(text string) bool {
	if strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~") || strings.HasPrefix(text, "./") {
		return false
	}
	return strings.ContainsAny(text, "0123456789") && strings.ContainsFunc(text, func(r rune) bool { return r > '9' })
}
