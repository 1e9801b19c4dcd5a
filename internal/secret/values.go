package secret

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
)

// value is what must never be shown: the value of a variable in one of its spellings.
type value struct {
	rule string
	text []byte
}

// covers is where the value ends that begins a text; 0 where another one does. A program that wraps long lines breaks a
// value up, so ends of lines within it are passed over, with what indents the next line.
func (v value) covers(text []byte) int {
	at := 0
	for i := 0; i < len(v.text); {
		if at < len(text) && text[at] == v.text[i] {
			at, i = at+1, i+1
			continue
		}
		broken := lineEnd(text[at:])
		if broken == 0 || i == 0 {
			return 0
		}
		at += broken
	}
	return at
}

// lineEnd measures the end of a line at the start of a text, as it is or within JSON, and the indentation behind it.
func lineEnd(text []byte) int {
	at := 0
	for _, end := range []string{"\r", `\r`, `\\r`, "\n", `\n`, `\\n`} {
		if bytes.HasPrefix(text[at:], []byte(end)) {
			at += len(end)
		}
	}
	if at == 0 {
		return 0
	}
	return most(text, at, gapLimit, func(b byte) bool { return blank(b) || b == '+' || b == '-' })
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

// spellings are a text as it is, in JSON, in JSON within JSON, in a URL, in HTML, in hexadecimal and in base64.
func spellings(text string) []string {
	out := []string{text, url.QueryEscape(text), url.PathEscape(text), inURL(text), html.EscapeString(text)}
	for _, once := range inJSON(text) {
		out = append(append(out, once), inJSON(once)...)
	}
	hexadecimal := hex.EncodeToString([]byte(text))
	return append(append(out, hexadecimal, strings.ToUpper(hexadecimal)), inBase64(text)...)
}

// inJSON are the forms of a text within a string: Go writes some characters of HTML as numbers, JavaScript and Python
// do not, and Python writes those beyond ASCII so.
func inJSON(text string) []string {
	var out []string
	for _, html := range []bool{false, true} {
		var b strings.Builder
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(html)
		if encoder.Encode(text) == nil { // a string always has a form
			out = append(out, strings.TrimSuffix(b.String()[1:], "\"\n"))
		}
	}
	var ascii strings.Builder
	for _, r := range out[0] {
		if r < 0x80 {
			ascii.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&ascii, `\u%04x`, unit)
		}
	}
	return append(out, ascii.String())
}

// inURL is a text as JavaScript writes it into a URL.
func inURL(text string) string {
	return strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(url.QueryEscape(text))
}

// inBase64 are the forms of a text alone, and what is left of it within a longer one, wherever it begins there: the
// characters that tell nothing of what stands beside it.
func inBase64(text string) []string {
	var out []string
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		out = append(out, encoding.EncodeToString([]byte(text)), encoding.WithPadding(base64.StdPadding).EncodeToString([]byte(text)))
		for before := range 3 {
			out = append(out, within(encoding, before, text))
		}
	}
	return out
}

// within is what base64 makes of a text that stands before bytes behind a group's beginning: the characters that depend on
// the text alone.
func within(encoding *base64.Encoding, before int, text string) string {
	encoded := encoding.EncodeToString([]byte(strings.Repeat("\x00", before) + text))
	return encoded[(before*8+5)/6 : (before+len(text))*8/6]
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
