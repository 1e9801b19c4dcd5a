package calibration

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"conclave/internal/review"
)

// Fault is one thing that is wrong with a case's file.
type Fault struct {
	// What names the file, the line and the key; Remedy says what to write.
	What, Remedy string
}

// Error implements error.
func (f Fault) Error() string {
	if f.Remedy == "" {
		return f.What
	}
	return f.What + ": " + f.Remedy
}

var (
	caseKeys        = []string{"name", "requirement", "base", "head", "change", "expect"}
	expectationKeys = []string{"path", "lines", "lens", "severity", "optional", "why"}
	caseName        = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$`)
	word            = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$`)
)

// reader reads one file and collects every fault in it.
type reader struct {
	file   string
	faults []error
}

// Parse reads a case's file. The error joins one Fault for each thing that is wrong.
func Parse(file string, content []byte) (Case, error) {
	r := reader{file: file}
	var doc yaml.Node
	if err := yaml.Unmarshal(content, &doc); err != nil {
		return Case{}, Fault{What: file + " is no valid YAML: " + strings.ReplaceAll(strings.TrimPrefix(err.Error(), "yaml: "), "\n", " ")}
	}
	if doc.Kind == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return Case{}, Fault{What: file + " is no mapping", Remedy: "write " + strings.Join(caseKeys, ", ") + " as `key: value`"}
	}
	root := doc.Content[0]
	c := Case{Base: "base"}
	keys := r.mapping(root, "", caseKeys)
	r.text(keys["name"], "name", &c.Name)
	r.text(keys["requirement"], "requirement", &c.Requirement)
	r.folder(keys["base"], "base", &c.Base)
	r.folder(keys["head"], "head", &c.Head)
	r.folder(keys["change"], "change", &c.Diff)
	c.Expected = r.expectations(root, keys["expect"])
	if c.Name != "" && !caseName.MatchString(c.Name) {
		r.fault(keys["name"], "use letters, digits, dots, dashes and underscores, at most 60", "name: %q is no name", c.Name)
	}
	for _, needed := range []string{"name", "requirement"} {
		if keys[needed] == nil {
			r.fault(root, "add it", "%s is missing", needed)
		}
	}
	if (c.Head == "") == (c.Diff == "") && len(r.faults) == 0 {
		r.fault(root, "name the tree after the change (head: FOLDER) or a patch (change: FILE), and not both", "head or change")
	}
	return c, errors.Join(r.faults...)
}

func (r *reader) fault(n *yaml.Node, remedy, format string, args ...any) {
	r.faults = append(r.faults, Fault{What: fmt.Sprintf("%s:%d: %s", r.file, n.Line, fmt.Sprintf(format, args...)), Remedy: remedy})
}

// mapping gives the values by key, of the known keys only.
func (r *reader) mapping(n *yaml.Node, prefix string, known []string) map[string]*yaml.Node {
	found := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		switch {
		case !slices.Contains(known, k.Value):
			r.fault(k, "one of: "+strings.Join(known, ", "), "unknown key %s%s", prefix, k.Value)
		case found[k.Value] != nil:
			r.fault(k, "keep one of them", "%s%s stands twice", prefix, k.Value)
		default:
			found[k.Value] = v
		}
	}
	return found
}

// text reads a value that is one piece of text and not empty; a missing one stays as it is.
func (r *reader) text(n *yaml.Node, key string, into *string) {
	if n == nil {
		return
	}
	if n.Kind != yaml.ScalarNode || strings.TrimSpace(n.Value) == "" {
		r.fault(n, "write a text", "%s is no text, or empty", key)
		return
	}
	*into = n.Value
}

func (r *reader) folder(n *yaml.Node, key string, into *string) {
	before := len(r.faults)
	r.text(n, key, into)
	if n != nil && len(r.faults) == before && !inside(*into) {
		r.fault(n, "name something below the folder of the case", "%s: %s lies outside", key, *into)
	}
}

// expectations reads the list of faults. It has to be there: a case that is clean says so.
func (r *reader) expectations(root, n *yaml.Node) []Expectation {
	if n == nil {
		r.fault(root, "list what is wrong with the change, or write `expect: []` for a clean one", "expect is missing")
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		r.fault(n, "write `expect: []` for a clean change, else a list of {path, lines, lens, severity}", "expect is no list")
		return nil
	}
	expected := []Expectation{}
	for i, item := range n.Content {
		prefix := fmt.Sprintf("expect[%d].", i)
		if item.Kind != yaml.MappingNode {
			r.fault(item, "write {path, lines, lens, severity}", "%s is no mapping", strings.TrimSuffix(prefix, "."))
			continue
		}
		expected = append(expected, r.expectation(item, prefix))
	}
	return expected
}

func (r *reader) expectation(n *yaml.Node, prefix string) Expectation {
	e := Expectation{Severity: review.High}
	keys := r.mapping(n, prefix, expectationKeys)
	for _, needed := range []string{"path", "lens"} {
		if keys[needed] == nil {
			r.fault(n, "add it", "%s%s is missing", prefix, needed)
		}
	}
	r.folder(keys["path"], prefix+"path", &e.Path)
	e.Path = path.Clean(e.Path)
	r.text(keys["lens"], prefix+"lens", &e.Lens)
	if e.Lens != "" && !word.MatchString(e.Lens) {
		r.fault(keys["lens"], "write one word", "%slens: %q is no lens", prefix, e.Lens)
	}
	r.text(keys["why"], prefix+"why", &e.Why)
	r.lines(keys["lines"], prefix, &e)
	if optional := keys["optional"]; optional != nil {
		if err := optional.Decode(&e.Optional); err != nil {
			r.fault(optional, "true or false", "%soptional: %q is neither", prefix, optional.Value)
		}
	}
	if severity := keys["severity"]; severity != nil {
		if err := e.Severity.UnmarshalText([]byte(severity.Value)); err != nil || e.Severity == review.SeverityInvalid {
			r.fault(severity, "high, medium or low", "%sseverity: %q is none", prefix, severity.Value)
		}
	}
	return e
}

// lines reads 12, "12" or "12-14".
func (r *reader) lines(n *yaml.Node, prefix string, e *Expectation) {
	if n == nil {
		return
	}
	from, to, several := strings.Cut(n.Value, "-")
	if !several {
		to = from
	}
	var err, err2 error
	e.From, err = strconv.Atoi(strings.TrimSpace(from))
	e.To, err2 = strconv.Atoi(strings.TrimSpace(to))
	if n.Kind != yaml.ScalarNode || err != nil || err2 != nil || e.From < 1 || e.To < e.From {
		r.fault(n, "write a line or a range of the changed file, such as 12 or 12-14", "%slines: %q is no range of lines", prefix, n.Value)
	}
}
