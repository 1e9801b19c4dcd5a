// Package workflows runs the decisions of package loop on Temporal: commands
// become activities, results become events. It compares no verdict, severity or
// count; what a run does next is decided in the pure packages.
package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"conclave/internal/loop"
	"conclave/internal/record"
)

// Names that clients use.
const (
	// ReviewLoopName is the workflow type of `starter run`.
	ReviewLoopName = "ReviewLoop"
	// ReviewGateName is the workflow type of `starter review`.
	ReviewGateName = "ReviewGate"
	// SignalInterrupt ends running agents and pauses the run; SignalResume, with a
	// loop.Resume, lets it go on.
	SignalInterrupt = "interrupt"
	SignalResume    = "resume"
	// SignalRuling brings a person's ruling as JSON; UpdateRule takes the same and
	// answers with a loop.RulingAnswer.
	SignalRuling = "ruling"
	UpdateRule   = "rule"
	// QueryStatus answers the run record, QueryFindings its findings, QueryBundle the record with its events.
	QueryStatus   = "status"
	QueryFindings = "findings"
	QueryBundle   = loop.QueryBundle
	// TaskQueue is a cluster's default queue for workflow tasks; a local run has its own.
	TaskQueue = "conclave"
)

// AgentQueueOf is where the turns of a cluster's runs wait for a worker.
func AgentQueueOf(taskQueue string) string { return taskQueue + "-agents" }

// SourceQueue is polled by the starter that owns the user's repository.
func SourceQueue(runID string) string { return "source-" + runID }

// RunQueue is the one queue of a local run.
func RunQueue(runID string) string { return "run-" + runID }

// WorkflowID is the workflow's id for a run.
func WorkflowID(runID string) string { return "run-" + runID }

// GateID is the workflow's id for a review: the same change under the same plan has the same id.
func GateID(digest string) string { return "gate-" + digest }

// Search attributes; a run works without them.
var (
	attributeStatus   = temporal.NewSearchAttributeKeyKeyword("ConclaveStatus")
	attributeRepo     = temporal.NewSearchAttributeKeyKeyword("ConclaveRepo")
	attributePreset   = temporal.NewSearchAttributeKeyKeyword("ConclavePreset")
	attributeRound    = temporal.NewSearchAttributeKeyInt64("ConclaveRound")
	attributeFindings = temporal.NewSearchAttributeKeyInt64("ConclaveOpenFindings")
)

// SearchAttributes are the names and types that the server needs to know.
func SearchAttributes() map[string]string {
	return map[string]string{
		attributeStatus.GetName(): "Keyword", attributeRepo.GetName(): "Keyword", attributePreset.GetName(): "Keyword",
		attributeRound.GetName(): "Int", attributeFindings.GetName(): "Int",
	}
}

// StartAttributes are the search attributes of a run at its start.
func StartAttributes(in loop.Input, repo string) temporal.SearchAttributes {
	return temporal.NewSearchAttributes(
		attributeStatus.ValueSet("running"), attributeRepo.ValueSet(repo), attributePreset.ValueSet(in.Preset),
		attributeRound.ValueSet(0), attributeFindings.ValueSet(0),
	)
}

// Register makes the workflows known to a worker.
func Register(r worker.WorkflowRegistry) {
	r.RegisterWorkflowWithOptions(ReviewLoop, workflow.RegisterOptions{Name: ReviewLoopName})
	r.RegisterWorkflowWithOptions(ReviewGate, workflow.RegisterOptions{Name: ReviewGateName})
}

func attributes(run record.Run) []temporal.SearchAttributeUpdate {
	return []temporal.SearchAttributeUpdate{
		attributeStatus.ValueSet(run.State()), attributeRound.ValueSet(int64(run.Iteration)),
		attributeFindings.ValueSet(int64(run.OpenFindings())),
	}
}
