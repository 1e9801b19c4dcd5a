package convergence

// readDefinition turns checked JSON into the typed definition. Extensions are
// read only where the rules know them, so that no machine acts on a key that its
// rule set ignores.
func readDefinition(root value, rules Rules) Definition {
	version, _ := root.get("definitionVersion").safeInteger()
	def := Definition{
		ID:                root.get("id").text,
		DefinitionVersion: version,
		Data:              readData(root.get("data"), rules),
		Nodes:             []Node{},
		Edges:             []Edge{},
	}
	for _, item := range root.get("nodes").members {
		def.Nodes = append(def.Nodes, readNode(item.value, rules))
	}
	for _, item := range root.get("edges").members {
		e := item.value
		def.Edges = append(def.Edges, Edge{ID: e.get("id").text, Source: e.get("source").text, Target: e.get("target").text, Data: appendCanonical(nil, e.get("data"))})
	}
	return def
}

func readData(v value, rules Rules) Data {
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
	if !rules.ReadExtensions {
		return data
	}
	data.Discipline, data.ReviewWhen = Basic, WhenVerified
	if d := v.get("discipline"); d.isText() {
		data.Discipline = Discipline(d.text)
	}
	if w := v.get("reviewWhen"); w.isText() {
		data.ReviewWhen = ReviewWhen(w.text)
	}
	data.WriterExclusion = readFlag(v.get("writerExclusion"))
	data.RequireFindings = readFlag(v.get("requireFindings"))
	data.Advisory = v.get("advisory").isTrue()
	data.Confirmer = readLane(v.get("confirmer"))
	data.Arbiter = readLane(v.get("arbiter"))
	if target := v.get("escalation"); target.kind == kindObject {
		t := readTarget(target)
		data.Escalation = &t
	}
	return data
}

func readNode(v value, rules Rules) Node {
	data := v.get("data")
	n := Node{ID: v.get("id").text, Data: NodeData{Role: Role(data.get("role").text), Lane: readLane(data.get("lane"))}}
	if paths := data.get("evidencePaths"); paths.kind == kindArray {
		n.Data.EvidencePaths = readTexts(paths)
	}
	if rules.ReadExtensions {
		n.Data.Voting = readFlag(data.get("voting"))
	}
	return n
}

func readLane(v value) *Lane {
	if v.kind != kindObject {
		return nil
	}
	lane := &Lane{ID: v.get("id").text, Requested: readTarget(v.get("requested")), KnownSubstitutions: []Target{}}
	for _, item := range v.get("knownSubstitutions").members {
		lane.KnownSubstitutions = append(lane.KnownSubstitutions, readTarget(item.value))
	}
	return lane
}

func readTarget(v value) Target {
	return Target{
		Adapter:     v.get("adapter").text,
		Provider:    v.get("provider").text,
		ModelFamily: v.get("modelFamily").text,
		Model:       v.get("model").text,
		Tools:       readTexts(v.get("tools")),
	}
}

func readTexts(v value) []string {
	texts := make([]string, 0, len(v.members))
	for _, item := range v.members {
		texts = append(texts, item.value.text)
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
