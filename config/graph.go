package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"conclave/internal/agent"
	"conclave/internal/convergence"
)

// graph is the definition file of a run, as it was compiled.
type graph struct {
	document []byte // as it was given, without blanks
	machine  *convergence.Machine
}

// besideDefinition refuses flags that say what the definition file decides. It ranks above everything else, which is named.
func (l *loading) besideDefinition() {
	file := l.sources.Definition.Name
	if file == "" {
		return
	}
	for _, k := range keys {
		if k.decided == "" {
			continue
		}
		flags := []string{k.flag}
		if k.name == "reviewers" {
			flags = append(flags, "reviewer", "seat")
		}
		for _, flag := range flags {
			if l.changed(flag) {
				l.problems = append(l.problems, Problem{What: fmt.Sprintf("--%s contradicts --definition %s, which decides it (%s)", flag, file, k.decided), Remedy: "leave out one of them"})
			}
		}
		where, _ := l.fromFile(k.name)
		if v, variable, ok := l.strong(k); ok && v != "" && !strings.HasPrefix(variable, "-") {
			where = variable
		}
		if where != "" {
			l.warnings = append(l.warnings, fmt.Sprintf("%s of %s does not count: %s decides it (%s)", k.name, where, file, k.decided))
		}
	}
	for _, e := range l.seatEntries() {
		l.warnings = append(l.warnings, fmt.Sprintf("%s: seats.%s does not count: %s decides the seats", e.Where, e.Name, file))
	}
}

func (l *loading) changed(flag string) bool {
	return flag != "" && l.sources.Flags != nil && l.sources.Flags.Changed(flag)
}

// adopt takes lanes, seats and limits from the definition file. It refuses what no engine of this configuration could run.
func (l *loading) adopt(c *Config) {
	file := l.sources.Definition
	machine, err := convergence.Compile(file.Content, convergence.V1)
	if err != nil {
		l.problems = append(l.problems, Issues(file.Name, err))
		return
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, file.Content); err != nil {
		l.problems = append(l.problems, Problem{What: file.Name + ": " + err.Error()})
		return
	}
	c.graph = &graph{document: compact.Bytes(), machine: machine}
	c.limits(machine)
	a := adoption{loading: l, config: c, file: file.Name, machine: machine, settings: c.Host.AgentSettings(nil), lenses: lensesOf(file.Content), seen: map[string]bool{}}
	a.nodes()
	l.where["discipline"] = file.Name
	c.Designer = c.Writer
	if text := l.text("designer"); text != "" {
		c.Designer = l.lane(*c, text, l.where["designer"])
	}
}

// limits are the definition's, with the defaults of its extensions.
func (c *Config) limits(m *convergence.Machine) {
	d := m.Definition().Data
	c.Discipline, c.ReviewWhen, c.RequireFindings = string(d.Discipline), string(d.ReviewWhen), m.RequireFindings()
	c.AllowSelfReview = d.WriterExclusion != nil && !*d.WriterExclusion
	c.RequireDiversity, c.MaxIters = d.RequireDiversity, int(d.MaxIterations)
	c.Quorum, c.SeatConcurrency = int(d.Quorum), int(d.SeatConcurrency)
	c.Advisory, c.Confirmer, c.Arbiter, c.Escalation = d.Advisory, nil, nil, nil
	if d.Confirmer != nil {
		c.Confirmer = new(laneOf(d.Confirmer.Requested))
	}
	if d.Arbiter != nil {
		c.Arbiter = new(laneOf(d.Arbiter.Requested))
	}
	if d.Escalation != nil {
		c.Escalation = new(laneOf(*d.Escalation))
	}
}

// Issues turns what is wrong with a document of the convergence form into one Problem each, with the document's name.
func Issues(file string, err error) error {
	var invalid *convergence.ValidationError
	if !errors.As(err, &invalid) {
		return Problem{What: file + ": " + err.Error()}
	}
	var problems []error
	for _, issue := range invalid.Issues {
		problems = append(problems, Problem{What: fmt.Sprintf("%s: %s: %s (%s)", file, cmp.Or(issue.Path, "/"), issue.Message, issue.Code)})
	}
	return errors.Join(problems...)
}

// lensesOf reads the lens of each seat, which the form does not know.
func lensesOf(content []byte) map[string]json.RawMessage {
	var d struct {
		Nodes []struct {
			ID   string `json:"id"`
			Data struct {
				Lens json.RawMessage `json:"lens"`
			} `json:"data"`
		} `json:"nodes"`
	}
	_ = json.Unmarshal(content, &d) // Compile has read it before
	lenses := map[string]json.RawMessage{}
	for _, n := range d.Nodes {
		if n.Data.Lens != nil {
			lenses[n.ID] = n.Data.Lens
		}
	}
	return lenses
}

// adoption is the state of adopt.
type adoption struct {
	*loading
	config   *Config
	file     string
	machine  *convergence.Machine
	settings agent.Settings
	lenses   map[string]json.RawMessage
	seen     map[string]bool // lanes that were checked
}

func (a *adoption) nodes() {
	d := a.machine.Definition()
	for _, n := range d.Nodes {
		a.node(n)
	}
	for _, turn := range []struct {
		name string
		lane *convergence.Lane
	}{{"confirmer", d.Data.Confirmer}, {"arbiter", d.Data.Arbiter}} {
		if turn.lane != nil {
			a.lane("/data/"+turn.name, turn.name, *turn.lane)
		}
	}
}

func (a *adoption) node(n convergence.Node) {
	path := "/nodes/" + pointer(n.ID) + "/data"
	lane := n.Data.Lane
	switch {
	case n.Data.Role == convergence.RoleEvaluator:
		if lane != nil {
			a.warn("%s/lane: it is not used: the evaluator of a run is the verify command (--verify-cmd)", path)
		}
		return
	case lane == nil:
		a.refuse("name its engine: lane {id, requested {adapter, provider, modelFamily, model, tools}, knownSubstitutions}",
			"%s: the %s %s has no lane, so nothing can run it; only `starter decide` takes it without", path, n.Data.Role, n.ID)
		return
	}
	a.lane(path+"/lane", n.ID, *lane)
	switch n.Data.Role {
	case convergence.RoleGenerator:
		a.config.Writer = laneOf(lane.Requested)
	case convergence.RoleSeat:
		a.seat(n, path)
	}
}

func (a *adoption) seat(n convergence.Node, path string) {
	seat := Seat{Name: n.ID, Lane: laneOf(n.Data.Lane.Requested), Lens: DefaultLens, EvidencePaths: n.Data.EvidencePaths,
		Skippable: slices.Contains(a.machine.Definition().Data.SkippableSeats, n.ID)}
	for _, t := range n.Data.Lane.KnownSubstitutions {
		seat.Substitutions = append(seat.Substitutions, laneOf(t))
	}
	if n.ID == "-" || strings.ContainsFunc(n.ID, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '=' }) {
		a.refuse("rename the seat", "%s: the id %q cannot stand in the first line of a prompt: letters, digits and .-_@:/ can", strings.TrimSuffix(path, "/data"), n.ID)
	}
	if raw, ok := a.lenses[n.ID]; ok {
		var lens string
		if err := json.Unmarshal(raw, &lens); err != nil || !slices.Contains(a.config.lensNames(), lens) {
			a.refuse(oneOf(lens, a.config.lensNames()), "%s/lens: unknown lens %s", path, raw)
		}
		seat.Lens = lens
	}
	a.config.Seats = append(a.config.Seats, seat)
}

// lane checks that every target of a lane can be run here, and tells where the configuration sees another engine in it.
func (a *adoption) lane(path, node string, lane convergence.Lane) {
	if a.seen[lane.ID] {
		return
	}
	a.seen[lane.ID] = true
	for i, t := range append([]convergence.Target{lane.Requested}, lane.KnownSubstitutions...) {
		at := path + "/requested"
		if i > 0 {
			at = fmt.Sprintf("%s/knownSubstitutions/%d", path, i-1)
		}
		if err := a.adapter(*a.config, t.Adapter, a.file+": "+at+"/adapter"); err != nil {
			a.problems = append(a.problems, err)
			continue
		}
		a.identity(at, node, t)
		if len(t.Tools) > 0 {
			a.warn("%s/tools: they are recorded and not enforced: each adapter has its own tools", at)
		}
	}
}

// identity compares a declared identity with the one that the engine will report. Only the reported one counts.
func (a *adoption) identity(at, node string, t convergence.Target) {
	if t.Adapter == agent.StubName {
		return // it reports what it stands for
	}
	got, err := agent.Effective(agent.Target{Adapter: t.Adapter, Provider: t.Provider, ModelFamily: t.ModelFamily, Model: t.Model}, a.settings)
	switch {
	case err != nil:
		a.refuse("set agents."+t.Adapter+".identity in the configuration", "%s: %v", at, err)
	case got.Provider != t.Provider || got.ModelFamily != t.ModelFamily:
		a.warn("%s: %s declares %s/%s, but the adapter %s is %s/%s by the configuration and will report that; independence is judged by what is reported",
			at, node, t.Provider, t.ModelFamily, t.Adapter, got.Provider, got.ModelFamily)
	}
}

func (a *adoption) refuse(remedy, format string, args ...any) {
	a.problems = append(a.problems, Problem{What: a.file + ": " + fmt.Sprintf(format, args...), Remedy: remedy})
}

func (a *adoption) warn(format string, args ...any) {
	a.warnings = append(a.warnings, a.file+": "+fmt.Sprintf(format, args...))
}

func laneOf(t convergence.Target) Lane {
	if t.Model == agent.DefaultModel {
		t.Model = ""
	}
	return Lane{Adapter: t.Adapter, Model: t.Model}
}

// pointer writes a text as a part of a JSON pointer.
func pointer(s string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(s) }
