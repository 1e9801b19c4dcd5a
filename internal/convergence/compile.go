package convergence

import (
	"fmt"
	"slices"
)

// Machine is a compiled definition under one rule set. It is immutable and safe
// for concurrent use.
type Machine struct {
	rules      Rules
	definition Definition
	digest     string

	generator, evaluator, repair *node
	nodes                        map[string]*node
	order                        []*node // declaration order
	seats                        []*seat // declaration order
	warnings                     []string

	repairLimit  int64 // repairs the limits allow
	iterationCap int64 // where the iteration counter stops
}

// node is a compiled node; seat is nil for writers and the evaluator.
type node struct {
	id   string
	role Role
	lane *Lane
	seat *seat
}

// seat is a compiled seat.
type seat struct {
	id        string
	lane      *Lane
	paths     []string
	skippable bool
	voting    bool
	reason    string // why it does not vote
}

// Compile validates a definition under a rule set. The layers of checks run in
// the form's order (JSON, graph, form, description, and reachability where the
// rules ask for it); the first one that finds anything ends it with a *ValidationError that holds all it found.
func Compile(definition []byte, rules Rules) (*Machine, error) {
	if rules.Name == "" {
		return nil, fmt.Errorf("compile: the rule set has no name: use %s or %s", V3.Name, V1.Name)
	}
	root, issues := parseValue(string(definition))
	if len(issues) > 0 {
		return nil, &ValidationError{Issues: issues}
	}
	digest := digestBytes(appendCanonical(nil, root))
	if !rules.ReadExtensions {
		root = withoutExtensions(root)
	}
	var graph report
	checkGraph(&graph, root)
	if err := graph.err(); err != nil {
		return nil, err
	}
	form := formChecker{rules: rules, data: root.get("data")}
	form.check(root)
	if err := form.err(); err != nil {
		return nil, err
	}
	var lanes report
	checkLanes(&lanes, root)
	if err := lanes.err(); err != nil {
		return nil, err
	}
	m := newMachine(root, rules)
	m.digest = digest
	if err := m.settle(); err != nil {
		return nil, err
	}
	return m, nil
}

// newMachine builds the machine of a root that passed the checks.
func newMachine(root value, rules Rules) *Machine {
	def := readDefinition(root)
	m := &Machine{
		rules:      rules,
		definition: def,
		nodes:      make(map[string]*node, len(def.Nodes)),
	}
	skippable := make(map[string]bool, len(def.Data.SkippableSeats))
	for _, id := range def.Data.SkippableSeats {
		skippable[id] = true
	}
	for _, d := range def.Nodes {
		n := &node{id: d.ID, role: d.Data.Role, lane: d.Data.Lane}
		switch n.role {
		case RoleGenerator:
			m.generator = n
		case RoleEvaluator:
			m.evaluator = n
		case RoleRepair:
			m.repair = n
		case RoleSeat:
			n.seat = &seat{id: d.ID, lane: d.Data.Lane, paths: d.Data.EvidencePaths, skippable: skippable[d.ID], voting: true}
			if d.Data.Voting != nil && !*d.Data.Voting {
				n.seat.voting, n.seat.reason = false, "declared non-voting"
			}
			m.seats = append(m.seats, n.seat)
		}
		m.nodes[n.id] = n
		m.order = append(m.order, n)
	}
	return m
}

// settle applies what needs the whole definition: which seats vote, whether the
// bounds fit an integer, and whether the end can be reached.
func (m *Machine) settle() error {
	var r report
	m.demoteWriterLanes(&r)
	m.setLimits()
	if m.maxDispatches() > maxSafe {
		r.add(CodeInvalidBound, "/bounds/dispatches/max", "exceeds the largest safe integer: lower maxIterations, maxReviewRestarts or retryCapPerNode")
	}
	if m.rules.RefuseUnreachable && len(r.issues) == 0 {
		m.checkReachable(&r)
	}
	return r.err()
}

// Definition returns the compiled definition. Extensions hold their defaults
// under rule sets that do not read them.
func (m *Machine) Definition() Definition { return m.definition }

// DefinitionDigest is the digest of the definition as it was given, unknown
// fields included.
func (m *Machine) DefinitionDigest() string { return m.digest }

// Rules returns the rule set the machine runs.
func (m *Machine) Rules() Rules { return m.rules }

// Warnings lists what Compile accepted but a reader should know, in declaration
// order.
func (m *Machine) Warnings() []string { return append([]string(nil), m.warnings...) }

// SeatInfo says what a seat is. Reason tells why a seat does not vote.
type SeatInfo struct {
	ID            string   `json:"id"`
	Lane          *Lane    `json:"lane,omitempty"`
	EvidencePaths []string `json:"evidencePaths,omitempty"`
	Voting        bool     `json:"voting"`
	Skippable     bool     `json:"skippable,omitempty"`
	Reason        string   `json:"reason,omitempty"`
}

// Seats returns every seat in declaration order.
func (m *Machine) Seats() []SeatInfo {
	infos := make([]SeatInfo, 0, len(m.seats))
	for _, s := range m.seats {
		infos = append(infos, SeatInfo{ID: s.id, Lane: s.lane, EvidencePaths: s.paths, Voting: s.voting, Skippable: s.skippable, Reason: s.reason})
	}
	return infos
}

// writers returns generator and repair, in that order.
func (m *Machine) writers() []*node { return []*node{m.generator, m.repair} }

// Node ids of the declared confirmer and arbiter in commands.
const (
	confirmerID = "confirmer"
	arbiterID   = "arbiter"
)

func (m *Machine) full() bool { return m.definition.Data.Discipline == Full }

func (m *Machine) writerExclusion() bool {
	return m.definition.Data.WriterExclusion == nil || *m.definition.Data.WriterExclusion
}

// RequireFindings reports whether seats must give a structured answer with a
// confidence.
func (m *Machine) RequireFindings() bool {
	if m.definition.Data.RequireFindings != nil {
		return *m.definition.Data.RequireFindings
	}
	return m.full()
}

// Role returns the role of a node; "" when there is no such node.
func (m *Machine) Role(nodeID string) Role {
	if n, ok := m.nodes[nodeID]; ok {
		return n.role
	}
	return ""
}

// Voting reports whether a node is a seat that may count towards the quorum.
func (m *Machine) Voting(nodeID string) bool {
	n, ok := m.nodes[nodeID]
	return ok && n.seat != nil && n.seat.voting
}

// Lane returns the lane of a node, or of the confirmer and the arbiter if they
// are declared; the zero Lane for a data-only or unknown one.
func (m *Machine) Lane(nodeID string) Lane {
	switch d := m.definition.Data; {
	case nodeID == confirmerID && d.Confirmer != nil:
		return *d.Confirmer
	case nodeID == arbiterID && d.Arbiter != nil:
		return *d.Arbiter
	}
	if n, ok := m.nodes[nodeID]; ok && n.lane != nil {
		return *n.lane
	}
	return Lane{}
}

// Writers returns the ids of generator and repair, in that order.
func (m *Machine) Writers() []string { return []string{m.generator.id, m.repair.id} }

// EvidenceGlobs lists the evidence keys that the host must hash as globs of the
// repository: once each, in declaration order.
func (m *Machine) EvidenceGlobs() []string {
	var globs []string
	for _, s := range m.seats {
		for _, key := range s.paths {
			if !m.reportedAlways(key) && !slices.Contains(globs, key) {
				globs = append(globs, key)
			}
		}
	}
	return globs
}
