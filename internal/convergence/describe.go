package convergence

// Kind and TypeVersion identify the form in a plan; a stored plan of another
// type version is refused.
const (
	Kind        = "convergence"
	TypeVersion = 3
)

// Contract maps field names to type words.
type Contract map[string]string

// GraphHeader identifies the definition a plan was resolved from.
type GraphHeader struct {
	ID                string `json:"id"`
	DefinitionVersion int64  `json:"definitionVersion"`
	Kind              string `json:"kind"`
	TypeVersion       int    `json:"typeVersion"`
	DefinitionDigest  string `json:"definitionDigest"`
}

// PhaseDescription is one phase of the plan.
type PhaseDescription struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	NodeIDs []string `json:"nodeIds"`
}

// NodeDescription is one node of the plan; LaneID is null for a data-only node.
type NodeDescription struct {
	ID             string   `json:"id"`
	PhaseID        string   `json:"phaseId"`
	InputContract  Contract `json:"inputContract"`
	OutputContract Contract `json:"outputContract"`
	LaneID         *string  `json:"laneId"`
}

// Policies are the plan's policies; the null ones are not used by this form.
type Policies struct {
	Retry       RetryPolicy       `json:"retry"`
	Stop        *struct{}         `json:"stop"`
	Concurrency ConcurrencyPolicy `json:"concurrency"`
	Write       *struct{}         `json:"write"`
	Budget      *struct{}         `json:"budget"`
	Action      *struct{}         `json:"action"`
}

// RetryPolicy is the retry cap of every node.
type RetryPolicy struct {
	CapPerNode int64 `json:"capPerNode"`
}

// ConcurrencyPolicy is how many seats run at once.
type ConcurrencyPolicy struct {
	Seats int64 `json:"seats"`
}

// EdgeDescription is an edge without its data.
type EdgeDescription struct {
	ID     string `json:"id"`
	Source string `json:"source"`
	Target string `json:"target"`
}

// Description is what a compiled definition says of itself before it is
// resolved to real engines.
type Description struct {
	Graph          GraphHeader        `json:"graph"`
	InputContract  Contract           `json:"inputContract"`
	OutputContract Contract           `json:"outputContract"`
	Phases         []PhaseDescription `json:"phases"`
	Nodes          []NodeDescription  `json:"nodes"`
	Edges          []EdgeDescription  `json:"edges"`
	Policies       Policies           `json:"policies"`
	ExecutionLanes []Lane             `json:"executionLanes"`
	Permissions    []Permission       `json:"permissions"`
	Bounds         Bounds             `json:"bounds"`
}

// Describe returns the description of the compiled definition.
func (m *Machine) Describe() Description {
	d := m.definition
	desc := Description{
		Graph:          GraphHeader{ID: d.ID, DefinitionVersion: d.DefinitionVersion, Kind: Kind, TypeVersion: TypeVersion, DefinitionDigest: m.digest},
		InputContract:  Contract{"brief": "json"},
		OutputContract: Contract{"iterations": "number", "seats": "object", "findings": "array"},
		Phases:         []PhaseDescription{{ID: Kind, Name: "Convergence", NodeIDs: []string{}}},
		Nodes:          []NodeDescription{},
		Edges:          []EdgeDescription{},
		Policies:       Policies{Retry: RetryPolicy{d.Data.RetryCapPerNode}, Concurrency: ConcurrencyPolicy{d.Data.SeatConcurrency}},
		ExecutionLanes: []Lane{},
		Permissions:    []Permission{},
		Bounds:         m.Bounds(),
	}
	for _, e := range d.Edges {
		desc.Edges = append(desc.Edges, EdgeDescription{ID: e.ID, Source: e.Source, Target: e.Target})
	}
	seen := map[string]bool{}
	for _, n := range m.order {
		desc.Phases[0].NodeIDs = append(desc.Phases[0].NodeIDs, n.id)
		desc.Nodes = append(desc.Nodes, describeNode(n))
		if n.lane != nil && !seen[n.lane.ID] {
			seen[n.lane.ID] = true
			desc.ExecutionLanes = append(desc.ExecutionLanes, *n.lane)
		}
	}
	return desc
}

func describeNode(n *node) NodeDescription {
	d := NodeDescription{ID: n.id, PhaseID: Kind, OutputContract: Contract{"result": "json"}}
	switch n.role {
	case RoleSeat:
		d.InputContract = Contract{"draft": "json", "proofArtifactDigest": "string"}
		d.OutputContract = Contract{
			"verdict": "string", "confidence": "number", "inputHashes": "object",
			"workspaceFingerprint": "string", "proofArtifactDigest": "string", "findings": "array?",
		}
	case RoleEvaluator:
		d.InputContract = Contract{"gate": "json"}
	default:
		d.InputContract = Contract{"brief": "json", "critique": "json?"}
	}
	if n.lane != nil {
		id := n.lane.ID
		d.LaneID = &id
	}
	return d
}
