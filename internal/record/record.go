// Package record is the run record: what run.json holds, as Go types. It is
// pure data; package loop makes it grow and package report renders it.
package record

import (
	"encoding/json"

	"conclave/internal/artifact"
)

// Schema is the version of run.json that this code writes.
const Schema = 1

// Run is everything that is known about a run. Long texts are artifacts.
type Run struct {
	Schema     int    `json:"schema"`
	RunID      string `json:"run_id"`
	WorkflowID string `json:"workflow_id"`
	// Requirement is the whole text in run.json and its first part inside the workflow.
	Requirement string `json:"requirement"`
	Preset      string `json:"preset,omitempty"`
	Discipline  string `json:"discipline"`
	// Rules names the rule set that decides the run, e.g. "conclave/v1".
	Rules      string          `json:"rules"`
	PlanDigest string          `json:"plan_digest,omitempty"`
	Bounds     Bounds          `json:"bounds"`
	Base       string          `json:"base,omitempty"`
	Head       string          `json:"head,omitempty"`
	Branch     string          `json:"branch,omitempty"`
	Landed     bool            `json:"landed"`
	Iterations int             `json:"iterations"`
	Stop       Stop            `json:"stop_reason"`
	Converged  bool            `json:"converged"`
	ExitCode   int             `json:"exit_code"`
	Message    string          `json:"message,omitempty"`
	Waiting    string          `json:"waiting_for,omitempty"`
	Iteration  int             `json:"iteration,omitempty"`
	MaxIters   int             `json:"max_iterations,omitempty"`
	DryRun     bool            `json:"dry_run,omitempty"`
	Steps      []Step          `json:"steps"`
	Findings   []Finding       `json:"findings"`
	Rulings    []Ruling        `json:"rulings"`
	Refused    []RefusedRuling `json:"refused_rulings"`
	Changed    []Change        `json:"changed"`
	Usage      *Usage          `json:"usage"`
	// UsageByRole and UsageBySeat are the sums by a step's role, and by the seat of those that have one.
	UsageByRole map[string]Usage `json:"usage_by_role,omitempty"`
	UsageBySeat map[string]Usage `json:"usage_by_seat,omitempty"`
	// TotalMS is wall time from the workflow's start, in milliseconds.
	TotalMS int64 `json:"total_ms"`
	// WaitedMS is the part of it in which the run waited for people: for a ruling, or to be resumed.
	WaitedMS int64 `json:"waited_ms,omitempty"`
	// StartedAt is RFC 3339, from the workflow's clock.
	StartedAt string `json:"started_at,omitempty"`
	// Notes are warnings that a reader of the report must see.
	Notes []string `json:"notes,omitempty"`
	// Kind is KindRun or KindReview; empty is a run.
	Kind string `json:"kind,omitempty"`
	// Reused is when the verdict was given, RFC 3339, where starter review prints an earlier one again. No bundle has it.
	Reused string `json:"reused_verdict_of,omitempty"`
	// Advisory says that findings could not stop the end.
	Advisory bool `json:"advisory,omitempty"`
	// RefusedMore counts refused rulings beyond those that are listed.
	RefusedMore int `json:"refused_more,omitempty"`
	// Reminders counts how often the run reminded of what it waits for now.
	Reminders int `json:"reminders,omitempty"`
	// Questions are what a person is asked now, in the order they were asked.
	Questions []Question `json:"questions,omitempty"`
	// ChangedLines counts what the size limit counts; Exempt lists generated and vendored paths that it leaves out.
	ChangedLines int      `json:"changed_lines,omitempty"`
	Exempt       []string `json:"exempt,omitempty"`
	// Unresolved names the required seats that a waiting run waits for: each can be reopened or waived.
	Unresolved []string `json:"unresolved,omitempty"`
	// Uncalibrated names the voting seats that were trusted without a calibration.
	Uncalibrated []string `json:"uncalibrated,omitempty"`
	// Budget is what the run may consume, nil for no bound.
	Budget *Spending `json:"budget,omitempty"`
	// SelfReviewed says that a writer's own engine judged the change.
	SelfReviewed bool `json:"self_reviewed,omitempty"`
	// LeftOut lists uncommitted paths that the run did not start from.
	LeftOut []string `json:"left_out,omitempty"`
	// Artifacts of the run as a whole by their file name in the bundle (changes.diff, design-contract.md).
	Artifacts map[string]artifact.Ref `json:"artifacts,omitempty"`
}

// Question is one thing that a person is asked: a finding's id, SIZE, PROTECTED or BUDGET.
type Question struct {
	Subject string `json:"subject"`
	// Number counts how often this subject was asked, from 1.
	Number int    `json:"number"`
	Text   string `json:"text"`
	// Since is when it was asked, RFC 3339.
	Since string `json:"since"`
	// Head is the commit that it is asked about.
	Head string `json:"head,omitempty"`
}

// Spending is what a run may consume and has consumed. A limit of 0 bounds nothing.
type Spending struct {
	MaxTokens   int64   `json:"max_tokens,omitempty"`
	MaxCostUSD  float64 `json:"max_cost_usd,omitempty"`
	MaxDuration string  `json:"max_duration,omitempty"`
	// Tokens counts reported and assumed tokens; AssumedTokens those of turns that reported none.
	Tokens        int64 `json:"tokens"`
	AssumedTokens int64 `json:"assumed_tokens,omitempty"`
	// CostUSD is what is known of the cost; UnpricedTurns counts the turns whose cost is unknown.
	CostUSD       float64 `json:"cost_usd"`
	UnpricedTurns int     `json:"unpriced_turns,omitempty"`
	// Extended counts how often a person gave the same amount once more.
	Extended int `json:"extended,omitempty"`
}

// Bounds are the dispatch counts that the plan declares.
type Bounds struct {
	MinDispatches  int `json:"min_dispatches"`
	MaxDispatches  int `json:"max_dispatches"`
	MaxConcurrency int `json:"max_concurrency"`
}

// Step is one activity of the run that a reader would call a step.
type Step struct {
	// ID is the step's number over the whole run, from "01".
	ID string `json:"id"`
	// Role is whose work it is (RoleDesigner, ...), Turn what was asked for (TurnDesign, ...).
	Role      string `json:"role"`
	Turn      string `json:"turn,omitempty"`
	Adapter   string `json:"adapter,omitempty"`
	Seat      string `json:"seat,omitempty"`
	Lens      string `json:"lens,omitempty"`
	Voting    *bool  `json:"voting,omitempty"`
	Iteration int    `json:"iteration"`
	// Position is the machine's name of the attempt; empty for the designer.
	Position string     `json:"position,omitempty"`
	Status   StepStatus `json:"status"`
	// Verdict is "pass" or "block" for a reviewer with a valid answer, "pass" or "fail" for a verifier.
	Verdict string `json:"verdict,omitempty"`
	// Class is the outcome class of the turn: ok malformed transient quota permanent timeout violation aborted.
	Class      Class    `json:"class,omitempty"`
	Code       string   `json:"code,omitempty"`
	Message    string   `json:"message,omitempty"`
	Identity   Identity `json:"identity"`
	Usage      *Usage   `json:"usage"`
	StartedMS  int64    `json:"started_ms"`
	DurationMS int64    `json:"duration_ms"`
	// Attempts counts tries of the step, lost workers included; at least 1 once it ran.
	Attempts int    `json:"attempts"`
	Sandbox  string `json:"sandbox,omitempty"`
	// Session is the engine's own name of the conversation; Resumed says that the turn went on with an earlier one.
	Session string `json:"session,omitempty"`
	Resumed bool   `json:"resumed_session,omitempty"`
	// Tree is the workspace's git tree after a writing step.
	Tree string `json:"tree,omitempty"`
	// Stats of what the step changed, for writing steps.
	Stats *Stats `json:"stats,omitempty"`
	// Restored lists paths that a command left in the workspace and that were taken out again.
	Restored []string `json:"restored,omitempty"`
	// ExitCode is the verifier command's.
	ExitCode *int `json:"command_exit_code,omitempty"`
	// Artifacts by their file name in the step's folder of the bundle.
	Artifacts map[string]artifact.Ref `json:"artifacts,omitempty"`
}

// Folder is the step's folder below agents/ in the bundle.
func (s Step) Folder() string {
	if s.Adapter == "" {
		return s.ID + "-" + s.Role
	}
	return s.ID + "-" + s.Role + "-" + s.Adapter
}

// StepStatus says how far a step came. The zero value is not a status.
type StepStatus string

// The statuses of a step.
const (
	Running     StepStatus = "running"
	OK          StepStatus = "ok"
	Failed      StepStatus = "failed"
	Invalid     StepStatus = "invalid"
	Skipped     StepStatus = "skipped"
	NotRun      StepStatus = "not-run"
	Interrupted StepStatus = "interrupted"
)

// Engine is who answered a turn: which program, whose model.
type Engine struct {
	Adapter     string `json:"adapter"`
	Provider    string `json:"provider"`
	ModelFamily string `json:"modelFamily"`
	Model       string `json:"model"`
	// Source says how the identity is known (SourceServed, ...). Empty for a requested one.
	Source string `json:"source,omitempty"`
}

// How a reported identity is known, from the strongest to the weakest.
const (
	SourceServed      = "served"       // the provider's own word, from the stream
	SourceSessionFile = "session-file" // the program's session file
	SourcePinned      = "pinned"       // the requested model, which the program accepted
	SourceAdapter     = "adapter"      // only the adapter's table; the model is not known
)

// Identity is what was asked for and what reported itself; Reported is nil when it is unknown.
type Identity struct {
	Requested *Engine `json:"requested,omitempty"`
	Reported  *Engine `json:"reported,omitempty"`
}

// Usage is what a turn consumed as its engine reported it, or what several did.
// A nil Usage is unknown, which is not zero.
type Usage struct {
	InputTokens  int64 `json:"input_tokens"`
	CachedTokens int64 `json:"cached_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	// CostUSD is nil when the cost is unknown; in a sum it leaves out the turns that Unpriced counts.
	CostUSD *float64 `json:"cost_usd,omitempty"`
	// Priced says that the cost, or a part of it, is computed by a price table and not reported.
	Priced bool `json:"priced,omitempty"`
	// Unknown counts the turns in a sum whose usage nobody reported.
	Unknown int `json:"unknown_turns,omitempty"`
	// Turns counts the turns in a sum that reported their usage; 0 is a single turn.
	Turns int `json:"turns,omitempty"`
	// Unpriced counts those of Turns whose cost is unknown.
	Unpriced int `json:"unpriced_turns,omitempty"`
}

// Stats counts changed files and lines.
type Stats struct {
	Files   int `json:"files"`
	Added   int `json:"added"`
	Removed int `json:"removed"`
}

// Change is one path that the run changed.
type Change struct {
	Path    string `json:"path"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	// Status is added, modified, deleted or type-changed.
	Status string `json:"status"`
	Binary bool   `json:"binary,omitempty"`
}

// Total sums the changes.
func Total(changes []Change) Stats {
	stats := Stats{Files: len(changes)}
	for _, c := range changes {
		stats.Added += c.Added
		stats.Removed += c.Removed
	}
	return stats
}

// Status is what the workflow answers to the query "bundle": the record and
// the events that decided it.
type Status struct {
	Run    Run               `json:"run"`
	Events []json.RawMessage `json:"events"`
	// Definition is what the machine was compiled from, so that `starter decide` can judge the events again.
	Definition json.RawMessage `json:"definition,omitempty"`
}
