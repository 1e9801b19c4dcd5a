package convergence

import "encoding/json"

// Definition is a review loop as data. Fields and ranges are the form's; the
// keys of Data that follow RetryCapPerNode, and Node data's Voting, are extensions that only
// rule sets with ReadExtensions understand. The others ignore them.
type Definition struct {
	ID                string `json:"id"`
	DefinitionVersion int64  `json:"definitionVersion"`
	Data              Data   `json:"data"`
	Nodes             []Node `json:"nodes"`
	Edges             []Edge `json:"edges"`
}

// Data holds the limits and policies of a definition.
type Data struct {
	MaxIterations     int64    `json:"maxIterations"`
	MaxReviewRestarts int64    `json:"maxReviewRestarts"`
	Quorum            int64    `json:"quorum"`
	RequireDiversity  bool     `json:"requireDiversity"`
	SkippableSeats    []string `json:"skippableSeats"`
	SeatConcurrency   int64    `json:"seatConcurrency"`
	RetryCapPerNode   int64    `json:"retryCapPerNode"`

	// Discipline is "basic" (default) or "full".
	Discipline Discipline `json:"discipline,omitempty"`
	// ReviewWhen is "verified" (default: seats run when the gate is met) or
	// "always" (they run whatever it says; the end needs the gate met).
	ReviewWhen ReviewWhen `json:"reviewWhen,omitempty"`
	// WriterExclusion (default true) keeps engines of a writer's provider or
	// family out of the quorum. False is what --allow-self-review sets.
	WriterExclusion *bool `json:"writerExclusion,omitempty"`
	// RequireFindings demands a structured answer with a confidence of every
	// seat. Default false in basic, true in full.
	RequireFindings *bool `json:"requireFindings,omitempty"`
	// Advisory (full) lets open findings stand once no repair is left.
	Advisory bool `json:"advisory,omitempty"`
	// Rulings (full, default true): open findings are ruled on once no repair is
	// left. False ends the run instead, which is what a review without repair wants.
	Rulings *bool `json:"rulings,omitempty"`
	// Confirmer and Arbiter (full) are engines of their own for confirm and
	// arbitrate turns. Without them a seat's engine is used.
	Confirmer *Lane `json:"confirmer,omitempty"`
	Arbiter   *Lane `json:"arbiter,omitempty"`
	// Escalation (full) names which declared substitution of the repair lane
	// takes over repairs 4 and 5.
	Escalation *Target `json:"escalation,omitempty"`
}

// Discipline is how findings are treated.
type Discipline string

// The two disciplines. The zero value is neither.
const (
	Basic Discipline = "basic"
	Full  Discipline = "full"
)

// ReviewWhen says whether seats wait for the gate.
type ReviewWhen string

// The two orders of gate and review. The zero value is neither.
const (
	WhenVerified ReviewWhen = "verified"
	WhenAlways   ReviewWhen = "always"
)

// Role is what a node does.
type Role string

// The four roles of the form.
const (
	RoleGenerator Role = "generator"
	RoleEvaluator Role = "evaluator"
	RoleRepair    Role = "repair"
	RoleSeat      Role = "seat"
)

// Node is one writer, evaluator or reviewer.
type Node struct {
	ID   string   `json:"id"`
	Data NodeData `json:"data"`
}

// NodeData is a node's role and how it runs.
type NodeData struct {
	Role Role `json:"role"`
	// Lane is the engine identity the node runs under; nil for a data-only node.
	Lane *Lane `json:"lane,omitempty"`
	// EvidencePaths names the input hashes that can invalidate a seat; nil: all.
	EvidencePaths []string `json:"evidencePaths,omitempty"`
	// Voting false makes a seat one that can block but not count (extension).
	Voting *bool `json:"voting,omitempty"`
}

// Lane is a requested engine identity plus declared substitutions.
type Lane struct {
	ID                 string   `json:"id"`
	Requested          Target   `json:"requested"`
	KnownSubstitutions []Target `json:"knownSubstitutions"`
}

// Target is one engine identity that a lane may run on.
type Target struct {
	Adapter     string   `json:"adapter"`
	Provider    string   `json:"provider"`
	ModelFamily string   `json:"modelFamily"`
	Model       string   `json:"model"`
	Tools       []string `json:"tools"`
}

// Edge is validated and otherwise ignored by the form.
type Edge struct {
	ID     string          `json:"id"`
	Source string          `json:"source"`
	Target string          `json:"target"`
	Data   json.RawMessage `json:"data"`
}

// targets returns the requested target and all substitutions.
func (l *Lane) targets() []Target {
	if l == nil {
		return nil
	}
	return append([]Target{l.Requested}, l.KnownSubstitutions...)
}
