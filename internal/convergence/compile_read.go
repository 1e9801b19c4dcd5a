package convergence

import "slices"

// dataExtensions and nodeExtensions are the keys that the form does not know.
var (
	dataExtensions = []string{"discipline", "reviewWhen", "writerExclusion", "requireFindings", "advisory", "rulings", "confirmer", "arbiter", "escalation"}
	nodeExtensions = []string{"voting"}
)

// withoutExtensions drops the keys a rule set does not read, so that no check
// and no decision can depend on them. The digest is taken before.
func withoutExtensions(root value) value {
	seat := &cut{inside: map[string]*cut{"data": {drop: nodeExtensions}}}
	definition := &cut{inside: map[string]*cut{"data": {drop: dataExtensions}, "nodes": {each: seat}}}
	return value{definition.copy(nil, root)}
}

// cut copies a value without some members.
type cut struct {
	drop   []string        // members of this object that are left out
	inside map[string]*cut // what to do in its other members
	each   *cut            // what to do in each item of this array
}

func (c *cut) copy(doc []cell, v value) []cell {
	if c == nil || v.kind() != kindObject && v.kind() != kindArray {
		return append(doc, v.doc...)
	}
	at := len(doc)
	doc = append(doc, v.doc[0])
	for _, item := range v.items() {
		next := c.each
		if v.kind() == kindObject {
			if slices.Contains(c.drop, item.name()) {
				continue
			}
			next = c.inside[item.name()]
		}
		doc = next.copy(doc, item)
	}
	doc[at].size = int32(len(doc) - at)
	return doc
}

// readDefinition turns checked JSON into the typed definition.
func readDefinition(root value) Definition {
	version, _ := root.get("definitionVersion").safeInteger()
	def := Definition{
		ID:                root.get("id").text(),
		DefinitionVersion: version,
		Data:              readData(root.get("data")),
		Nodes:             []Node{},
		Edges:             []Edge{},
	}
	for _, item := range root.get("nodes").items() {
		def.Nodes = append(def.Nodes, readNode(item))
	}
	for _, item := range root.get("edges").items() {
		e := item
		def.Edges = append(def.Edges, Edge{ID: e.get("id").text(), Source: e.get("source").text(), Target: e.get("target").text(), Data: appendCanonical(nil, e.get("data"))})
	}
	return def
}

func readData(v value) Data {
	integer := func(key string) int64 {
		n, _ := v.get(key).safeInteger()
		return n
	}
	data := Data{
		MaxIterations:     integer("maxIterations"),
		MaxReviewRestarts: integer("maxReviewRestarts"),
		Quorum:            integer("quorum"),
		RequireDiversity:  v.get("requireDiversity").isTrue(),
		SkippableSeats:    readTexts(v.get("skippableSeats")),
		SeatConcurrency:   integer("seatConcurrency"),
		RetryCapPerNode:   integer("retryCapPerNode"),
	}
	data.Discipline, data.ReviewWhen = Basic, WhenVerified
	if d := v.get("discipline"); d.isText() {
		data.Discipline = Discipline(d.text())
	}
	if w := v.get("reviewWhen"); w.isText() {
		data.ReviewWhen = ReviewWhen(w.text())
	}
	data.WriterExclusion = readFlag(v.get("writerExclusion"))
	data.RequireFindings = readFlag(v.get("requireFindings"))
	data.Advisory = v.get("advisory").isTrue()
	data.Rulings = readFlag(v.get("rulings"))
	data.Confirmer = readLane(v.get("confirmer"))
	data.Arbiter = readLane(v.get("arbiter"))
	if target := v.get("escalation"); target.kind() == kindObject {
		t := readTarget(target)
		data.Escalation = &t
	}
	return data
}

func readNode(v value) Node {
	data := v.get("data")
	n := Node{ID: v.get("id").text(), Data: NodeData{Role: Role(data.get("role").text()), Lane: readLane(data.get("lane"))}}
	if paths := data.get("evidencePaths"); paths.kind() == kindArray {
		n.Data.EvidencePaths = readTexts(paths)
	}
	n.Data.Voting = readFlag(data.get("voting"))
	return n
}

func readLane(v value) *Lane {
	if v.kind() != kindObject {
		return nil
	}
	lane := &Lane{ID: v.get("id").text(), Requested: readTarget(v.get("requested")), KnownSubstitutions: []Target{}}
	for _, item := range v.get("knownSubstitutions").items() {
		lane.KnownSubstitutions = append(lane.KnownSubstitutions, readTarget(item))
	}
	return lane
}

func readTarget(v value) Target {
	return Target{
		Adapter:     v.get("adapter").text(),
		Provider:    v.get("provider").text(),
		ModelFamily: v.get("modelFamily").text(),
		Model:       v.get("model").text(),
		Tools:       readTexts(v.get("tools")),
	}
}

func readTexts(v value) []string {
	texts := make([]string, 0, v.count())
	for _, item := range v.items() {
		texts = append(texts, item.text())
	}
	return texts
}

func readFlag(v value) *bool {
	if !v.isBool() {
		return nil
	}
	flag := v.isTrue()
	return &flag
}
