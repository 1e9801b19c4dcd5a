package record

// The words of Run.Kind.
const (
	KindRun    = "run"
	KindReview = "review" // of a change that was there already: a gate
)

// The words of Step.Role: who a step is the work of.
const (
	RoleDesigner    = "designer"
	RoleImplementer = "implementer" // of repairs too
	RoleVerifier    = "verifier"    // a command, never an agent
	RoleReviewer    = "reviewer"    // of rechecks too
	RoleConfirmer   = "confirmer"
	RoleArbiter     = "arbiter"
)

// The words of Step.Turn: what was asked for. Those of agents are the roles of prompts too.
const (
	TurnDesign    = "design"
	TurnImplement = "implement"
	TurnRepair    = "repair"
	TurnVerify    = "verify"
	TurnReview    = "review"
	TurnRecheck   = "recheck"
	TurnConfirm   = "confirm"
	TurnArbitrate = "arbitrate"
)
