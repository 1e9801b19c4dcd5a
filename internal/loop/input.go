// Package loop translates between the convergence machine and the steps of a
// run, without deciding and without I/O: commands of the machine become
// requests for activities, results become events, and both grow the run record.
// The workflow executes what it says.
package loop

import (
	"encoding/json"
	"time"

	"conclave/internal/artifact"
	"conclave/internal/record"
)

// QueryBundle is the query that answers a record.Status.
const QueryBundle = "bundle"

// InputSchema is the version of Input that this code reads.
const InputSchema = 1

// Input is the whole input of the workflow: small, and without any value of
// the environment. What runs the loop (binaries, environment, sandbox) is the
// worker's configuration and never in here.
type Input struct {
	Schema int    `json:"schema"`
	RunID  string `json:"run_id"`
	// Rules names the rule set, e.g. "conclave/v1"; other code refuses the run.
	Rules string `json:"rules"`
	// Definition is the convergence definition: nodes, lanes and limits.
	Definition json.RawMessage `json:"definition"`
	PlanDigest string          `json:"plan_digest,omitempty"`
	// Requirement is the user's text; Title is its first words, for people.
	Requirement artifact.Ref   `json:"requirement"`
	Title       string         `json:"title"`
	Constraints []NamedRef     `json:"constraints,omitempty"`
	Preset      string         `json:"preset,omitempty"`
	Source      Source         `json:"source"`
	Designer    *record.Engine `json:"designer,omitempty"`
	Commands    Commands       `json:"commands"`
	Limits      Limits         `json:"limits"`
	Queues      Queues         `json:"queues"`
	// VerdictMode is strict or heuristic.
	VerdictMode string `json:"verdict_mode"`
	// WriterSession is resume where repairs go on with the writer's own session; anything else is fresh.
	WriterSession string `json:"writer_session,omitempty"`
	// DryRun lets the stub stand for every lane.
	DryRun       bool `json:"dry_run,omitempty"`
	SelfReviewed bool `json:"self_reviewed,omitempty"`
	// Unindexed says that the namespace lacks our search attributes: the run works without.
	Unindexed bool `json:"unindexed,omitempty"`
	// Lenses maps a seat to what it looks for.
	Lenses map[string]string `json:"lenses,omitempty"`
	// Policy is what the discipline asks before and beside the reviews.
	Policy Policy `json:"policy,omitzero"`
	// Budget bounds what the run may consume.
	Budget Budget `json:"budget,omitzero"`
	// Resume is the state that continue-as-new carries; nil for a new run.
	Resume *Carry `json:"resume,omitempty"`
}

// Policy is how a change is guarded before money is spent, and how rulings are waited for.
type Policy struct {
	// SizeLimit is the most changed lines that seats review unasked; 0 asks nothing.
	SizeLimit int `json:"size_limit,omitempty"`
	// Generated are globs of paths that are listed and not counted; Protected of
	// paths whose change a person has to allow, each "why\tglob".
	Generated []string `json:"generated,omitempty"`
	Protected []string `json:"protected,omitempty"`
	// AllowSecrets are globs of paths that may hold what looks like a secret.
	AllowSecrets []string `json:"allow_secrets,omitempty"`
	// Ask says that size and protected paths are asked; without it they are only reported.
	Ask bool `json:"ask,omitempty"`
	// AllowProtected lets protected paths change unasked (--allow-protected).
	AllowProtected bool `json:"allow_protected,omitempty"`
	// MaxFindings bounds the high findings of one answer; 0 is the default.
	MaxFindings int `json:"max_findings,omitempty"`
	// ServedIdentity demands models that the provider reported (review.identity: served).
	ServedIdentity bool `json:"served_identity,omitempty"`
	// Lenses are the texts of users' own lenses, Prompts those of overridden templates, both by name.
	Lenses  []NamedRef `json:"lenses,omitempty"`
	Prompts []NamedRef `json:"prompts,omitempty"`
	// Uncalibrated names the voting seats that were trusted without calibration.
	Uncalibrated []string `json:"uncalibrated,omitempty"`
	// Reminder is how often a waiting run reminds; Deadline, 0 for never, is when
	// an unanswered question gets the decision DeadlineRuling (stand, fix or abort).
	Reminder       time.Duration `json:"reminder,omitempty"`
	Deadline       time.Duration `json:"deadline,omitempty"`
	DeadlineRuling string        `json:"deadline_ruling,omitempty"`
}

// Budget bounds a run. A field that is 0 bounds nothing.
type Budget struct {
	Tokens   int64         `json:"tokens,omitempty"`
	CostUSD  float64       `json:"cost_usd,omitempty"`
	Duration time.Duration `json:"duration,omitempty"`
	// AssumeTokens is what a turn counts whose usage nobody reported, and what is reserved for one that starts.
	AssumeTokens int64 `json:"assume_tokens,omitempty"`
}

// Gate says which change `starter review` reviews.
type Gate struct {
	// Base and Head are commits of the user's repository; the review is against their merge base.
	Base string `json:"base"`
	Head string `json:"head"`
	// FromCommits says that the requirement is the commit messages of base..head.
	FromCommits bool `json:"from_commits,omitempty"`
}

// NamedRef is an artifact with the name under which it is shown.
type NamedRef struct {
	Name string       `json:"name"`
	Ref  artifact.Ref `json:"ref"`
}

// Source says where the change starts. The path is the starter's; no worker reads it.
type Source struct {
	Dir          string `json:"dir"`
	Base         string `json:"base,omitempty"`
	IncludeDirty bool   `json:"include_dirty,omitempty"`
	// Gate is set where the change exists already.
	Gate *Gate `json:"gate,omitempty"`
}

// Commands are the user's shell commands, run in the workspace.
type Commands struct {
	Setup  string `json:"setup,omitempty"`
	Lint   string `json:"lint,omitempty"`
	Verify string `json:"verify,omitempty"`
}

// Limits bound each turn.
type Limits struct {
	// WriterTimeout and ReaderTimeout bound one agent turn, VerifyTimeout the commands.
	WriterTimeout time.Duration `json:"writer_timeout"`
	ReaderTimeout time.Duration `json:"reader_timeout"`
	VerifyTimeout time.Duration `json:"verify_timeout"`
	// IdleTimeout ends a turn that prints no event for so long.
	IdleTimeout time.Duration `json:"idle_timeout"`
}

// Queues name the task queues of the run.
type Queues struct {
	// Source is polled by the starter: only it touches the user's repository.
	Source string `json:"source"`
	// Agents is where turns and verifiers run.
	Agents string `json:"agents"`
	// Shared says that agents run on other machines: objects travel through the store.
	Shared bool `json:"shared,omitempty"`
}

// Result is what the workflow completes with, whatever the end was.
type Result struct {
	RunID      string      `json:"run_id"`
	Stop       record.Stop `json:"stop_reason"`
	ExitCode   int         `json:"exit_code"`
	Iterations int         `json:"iterations"`
	Landed     bool        `json:"landed"`
	Branch     string      `json:"branch,omitempty"`
	Message    string      `json:"message,omitempty"`
	// Reusable says that a review's verdict holds for the same change under the same plan.
	Reusable bool `json:"reusable,omitempty"`
}
