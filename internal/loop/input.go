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
	// DryRun lets the stub stand for every lane.
	DryRun       bool `json:"dry_run,omitempty"`
	SelfReviewed bool `json:"self_reviewed,omitempty"`
	// Unindexed says that the namespace lacks our search attributes: the run works without.
	Unindexed bool `json:"unindexed,omitempty"`
	// Lenses maps a seat to what it looks for.
	Lenses map[string]string `json:"lenses,omitempty"`
	// Resume is the state that continue-as-new carries; nil for a new run.
	Resume *Carry `json:"resume,omitempty"`
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
}
