package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"conclave/internal/agent"
)

// File is a configuration file as it was read.
type File struct {
	// Name is how messages call it.
	Name    string
	Content []byte
	// Repository says that it is conclave.yaml of the repository: loop policy only.
	Repository bool
}

// value is one setting with the place it comes from.
type value struct {
	text  string
	where string
}

// layer is what one file or preset sets.
type layer struct {
	name   string
	values map[string]value
	seats  []seatEntry
	models map[string]value
	agents []agentEntry
	// lenses and prompts are files by the name of a lens or a template.
	lenses, prompts map[string]PromptFile
	prices          []ModelPrice
	families        []ModelNames
}

// seatEntry is one entry of `seats`.
type seatEntry struct {
	Name          string   `yaml:"-"`
	Where         string   `yaml:"-"`
	Adapter       string   `yaml:"adapter"`
	Model         string   `yaml:"model"`
	Lens          string   `yaml:"lens"`
	Skippable     *bool    `yaml:"skippable"`
	Substitutions []string `yaml:"substitutions"`
	EvidencePaths []string `yaml:"evidence_paths"`
}

// agentEntry is one entry of `agents`.
type agentEntry struct {
	Name     string         `yaml:"-"`
	Where    string         `yaml:"-"`
	Adapter  string         `yaml:"adapter"`
	Bin      string         `yaml:"bin"`
	Model    string         `yaml:"model"`
	Env      []string       `yaml:"-"`
	Args     []string       `yaml:"args"`
	Argv     []string       `yaml:"argv"`
	Result   string         `yaml:"result"`
	Identity *identityEntry `yaml:"identity"`
	Failures []failureEntry `yaml:"failures"`
}

// failureEntry is a pattern for what a program says when it fails.
type failureEntry struct {
	Class   string `yaml:"class"`
	Pattern string `yaml:"pattern"`
}

type identityEntry struct {
	Provider    string `yaml:"provider"`
	ModelFamily string `yaml:"model_family"`
	Model       string `yaml:"model"`
}

var (
	seatFields     = []string{"adapter", "model", "lens", "skippable", "substitutions", "evidence_paths"}
	agentFields    = []string{"adapter", "bin", "model", "env", "args", "argv", "result", "identity", "failures"}
	failureFields  = []string{"class", "pattern"}
	identityFields = []string{"provider", "model_family", "model"}
)

// reader reads one file and collects every problem in it.
type reader struct {
	file     File
	layer    layer
	problems []error
}

// parse reads a file. Every value is checked, also those that a stronger layer will outrank.
func parse(file File) (layer, error) {
	r := reader{file: file, layer: layer{name: file.Name, values: map[string]value{}, models: map[string]value{},
		lenses: map[string]PromptFile{}, prompts: map[string]PromptFile{}}}
	var doc yaml.Node
	if err := yaml.Unmarshal(file.Content, &doc); err != nil {
		return layer{}, invalidYAML(file.Name, err)
	}
	if doc.Kind != 0 && !empty(doc.Content[0]) {
		r.mapping(doc.Content[0], "")
	}
	return r.layer, errors.Join(r.problems...)
}

var yamlLine = regexp.MustCompile(`line (\d+): `)

func invalidYAML(name string, err error) error {
	message := strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\n", " "), "yaml: ")
	if m := yamlLine.FindStringSubmatchIndex(message); m != nil {
		name += ":" + message[m[2]:m[3]]
		message = message[:m[0]] + message[m[1]:]
	}
	return Problem{What: name + " is no valid YAML: " + message, Remedy: "correct the file; write one `key: value` per line"}
}

func empty(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

func (r *reader) at(n *yaml.Node) string { return r.file.Name + ":" + strconv.Itoa(n.Line) }

func (r *reader) fault(n *yaml.Node, remedy, format string, args ...any) {
	r.problems = append(r.problems, Problem{What: r.at(n) + ": " + fmt.Sprintf(format, args...), Remedy: remedy})
}

// each calls visit for every key of a mapping that has a value.
func (r *reader) each(n *yaml.Node, what string, visit func(name string, k, v *yaml.Node)) {
	n = resolve(n)
	if n.Kind != yaml.MappingNode {
		r.fault(n, "write `key: value` lines", "%s is no mapping", what)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], resolve(n.Content[i+1])
		if k.Kind != yaml.ScalarNode {
			r.fault(k, "", "a key of %s is no plain word", what)
			continue
		}
		if seen[k.Value] {
			r.fault(k, "keep one of them", "%s stands twice", k.Value)
			continue
		}
		seen[k.Value] = true
		if !empty(v) {
			visit(k.Value, k, v)
		}
	}
}

func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func (r *reader) mapping(n *yaml.Node, prefix string) {
	what := "the file"
	if prefix != "" {
		what = strings.TrimSuffix(prefix, ".")
	}
	r.each(n, what, func(name string, k, v *yaml.Node) {
		full := prefix + name
		if scope, ok := sections[full]; ok {
			if r.allowed(scope, full, k) {
				r.section(full, v)
			}
			return
		}
		if full == "review" && v.Kind == yaml.ScalarNode {
			full = "review.when"
		}
		setting, ok := keyNamed(full)
		switch {
		case ok && r.allowed(setting.scope, full, k):
			r.setting(setting, v)
		case ok:
		case len(names(full+".")) > 0 && names(full + ".")[0] != "seats":
			r.mapping(v, full+".")
		default:
			r.fault(k, oneOf(name, names(prefix)), "unknown key %s", full)
		}
	})
}

func (r *reader) allowed(s scope, name string, n *yaml.Node) bool {
	if r.file.Repository && s != policy {
		r.fault(n, "it may stand in $XDG_CONFIG_HOME/conclave/config.yaml or in a file given with --config",
			"%s may not be set by a repository", name)
		return false
	}
	return true
}

func (r *reader) setting(k key, n *yaml.Node) {
	got, ok := r.scalarOrList(k, n)
	if !ok {
		return
	}
	if p := check(k, r.at(n)+": "+k.name, got); p != nil {
		r.problems = append(r.problems, p)
		return
	}
	r.layer.values[k.name] = value{text: got, where: r.at(n)}
}

func (r *reader) scalarOrList(k key, n *yaml.Node) (string, bool) {
	if n.Kind == yaml.ScalarNode {
		return n.Value, true
	}
	if k.kind != list && k.kind != globs || n.Kind != yaml.SequenceNode {
		r.fault(n, "write `"+k.name+": VALUE`", "%s is no %s", k.name, k.kind)
		return "", false
	}
	items, ok := r.texts(n, k.name)
	if k.kind == globs {
		return strings.Join(append(items, ""), "\n"), ok
	}
	return strings.Join(items, ","), ok
}

// texts reads a list of plain words.
func (r *reader) texts(n *yaml.Node, what string) ([]string, bool) {
	var items []string
	if n.Kind != yaml.SequenceNode {
		r.fault(n, "write `"+what+": [A, B]`", "%s is no list", what)
		return nil, false
	}
	for _, item := range n.Content {
		if item = resolve(item); item.Kind != yaml.ScalarNode || empty(item) {
			r.fault(item, "", "an entry of %s is no plain text", what)
			return nil, false
		}
		items = append(items, item.Value)
	}
	return items, true
}

func (r *reader) section(name string, n *yaml.Node) {
	r.each(n, name, func(entry string, k, v *yaml.Node) {
		switch name {
		case "models":
			if v.Kind != yaml.ScalarNode {
				r.fault(v, "write `models: {ADAPTER: MODEL}`", "models.%s is no plain text", entry)
				return
			}
			r.layer.models[entry] = value{text: v.Value, where: r.at(v)}
		case "lenses", "prompts":
			r.promptFile(name, entry, k, v)
		case "seats":
			r.seat(entry, k, v)
		case "agents":
			r.agent(entry, k, v)
		case "prices":
			r.price(entry, k, v)
		case "families":
			r.family(entry, k, v)
		}
	})
}

func (r *reader) fields(prefix string, n *yaml.Node, known []string) bool {
	before := len(r.problems)
	r.each(n, prefix, func(name string, k, _ *yaml.Node) {
		if !slices.Contains(known, name) {
			r.fault(k, oneOf(name, known), "unknown key %s.%s", prefix, name)
		}
	})
	return len(r.problems) == before
}

// decode fills a structure whose fields were checked; the YAML library names the line of a value of the wrong type.
func (r *reader) decode(prefix string, n *yaml.Node, into any) bool {
	err := n.Decode(into)
	if err == nil {
		return true
	}
	where, message := r.at(n), strings.ReplaceAll(err.Error(), "\n", " ")
	if m := yamlLine.FindStringSubmatchIndex(message); m != nil {
		where, message = r.file.Name+":"+message[m[2]:m[3]], message[m[1]:]
	}
	message, remedy := wrongKind(message)
	r.problems = append(r.problems, Problem{What: where + ": " + prefix + ": " + message, Remedy: remedy})
	return false
}

// yamlKind is what the YAML library says of a value of the wrong kind; it names a Go type, which is nothing to a reader.
var yamlKind = regexp.MustCompile("cannot unmarshal !!\\w+(?: `([^`]*)`)? into (\\S+)")

// wrongKind says the same in words, with how the kind that is wanted is written.
func wrongKind(message string) (what, remedy string) {
	m := yamlKind.FindStringSubmatch(message)
	if m == nil {
		return message, "correct the value"
	}
	kind, how := "text", "write a text, in quotes where it has a colon or a bracket"
	switch {
	case strings.HasPrefix(m[2], "[]"):
		kind, how = "list", "write a list: [a, b], or one `- entry` per line"
	case strings.HasPrefix(m[2], "map["), strings.HasPrefix(m[2], "config."):
		kind, how = "mapping", "write `key: value` lines"
	case m[2] == "bool":
		kind, how = "truth value", "write true or false"
	case strings.HasPrefix(m[2], "int"), strings.HasPrefix(m[2], "float"):
		kind, how = "number", "write a number such as 3"
	}
	value := "the value"
	if m[1] != "" {
		value = strconv.Quote(m[1])
	}
	return value + " is no " + kind, how
}

func (r *reader) seat(name string, k, n *yaml.Node) {
	prefix := "seats." + name
	if !seatName.MatchString(name) {
		r.fault(k, nameRemedy, "%q is no name for a seat", name)
		return
	}
	entry := seatEntry{Name: name, Where: r.at(k)}
	if r.fields(prefix, n, seatFields) && r.decode(prefix, n, &entry) {
		r.layer.seats = append(r.layer.seats, entry)
	}
}

func (r *reader) agent(name string, k, n *yaml.Node) {
	prefix := "agents." + name
	if !seatName.MatchString(name) {
		r.fault(k, nameRemedy, "%q is no name for an agent", name)
		return
	}
	entry := agentEntry{Name: name, Where: r.at(k)}
	if !r.fields(prefix, n, agentFields) || !r.decode(prefix, n, &entry) {
		return
	}
	r.each(n, prefix, func(field string, _, v *yaml.Node) {
		switch field {
		case "identity":
			r.fields(prefix+".identity", v, identityFields)
		case "env":
			entry.Env = r.environment(prefix+".env", v)
		case "failures":
			for i, item := range v.Content {
				where := fmt.Sprintf("%s.failures[%d]", prefix, i)
				if v.Kind != yaml.SequenceNode || !r.fields(where, item, failureFields) {
					continue
				}
				if _, err := agent.NewFailure(entry.Failures[i].Class, entry.Failures[i].Pattern); err != nil {
					r.fault(item, "write {class: transient|quota|permanent, pattern: a regular expression}; `starter adapters explain` shows what it makes of a failure", "%s: %v", where, err)
				}
			}
		}
	})
	if entry.Result != "" && entry.Result != "stdout" && entry.Result != "file" {
		r.fault(n, oneOf(entry.Result, []string{"stdout", "file"}), "%s.result: unknown value %q", prefix, entry.Result)
	}
	r.layer.agents = append(r.layer.agents, entry)
}

// environment reads names of variables to hand on (a list) or values (a mapping) as NAME or NAME=value.
func (r *reader) environment(prefix string, n *yaml.Node) []string {
	if n.Kind == yaml.SequenceNode {
		entries, _ := r.texts(n, prefix)
		return entries
	}
	var entries []string
	r.each(n, prefix, func(name string, _, v *yaml.Node) {
		if v.Kind != yaml.ScalarNode {
			r.fault(v, "", "%s.%s is no plain text", prefix, name)
			return
		}
		entries = append(entries, name+"="+v.Value)
	})
	return entries
}
