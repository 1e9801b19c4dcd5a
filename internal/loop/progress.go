package loop

import (
	"encoding/json"
	"fmt"
	"time"

	"conclave/internal/artifact"
	"conclave/internal/convergence"
	"conclave/internal/record"
	"conclave/internal/review"
)

// CarrySchema is the version of the state that continue-as-new carries.
const CarrySchema = 1

// Carry is the whole state of a run as plain JSON: what continue-as-new
// carries and what the queries answer from.
type Carry struct {
	Schema   int                 `json:"schema"`
	State    convergence.State   `json:"state"`
	Events   []convergence.Event `json:"events"`
	Run      record.Run          `json:"run"`
	Prepared *Prepared           `json:"prepared,omitempty"`
	Latest   Snapshot            `json:"latest"`
	Contract artifact.Ref        `json:"contract"`
	// Designed says that the design step is done or not asked for.
	Designed bool `json:"designed"`
	// Answers holds each seat's last message and its last problem.
	Answers map[string]answer `json:"answers,omitempty"`
	// Ledger holds what was found under the full discipline; the machine's state says what became of it.
	Ledger review.Ledger `json:"ledger,omitzero"`
	// Confirmations says who confirmed a finding, by its id.
	Confirmations map[string]confirmation `json:"confirmations,omitempty"`
	// Settled names the tree on which a finding was refuted or found addressed, by its id.
	Settled map[string]string `json:"settled,omitempty"`
	// Writer is the session that wrote the newest snapshot, nil when there is none to go on with.
	Writer *writerSession `json:"writer,omitempty"`
	// Judged is the snapshot that each seat judged last: where a recheck's diff starts.
	Judged map[string]Snapshot `json:"judged,omitempty"`
	// FixReport is what the last repair reported.
	FixReport artifact.Ref `json:"fix_report,omitzero"`
	// Secrets are findings of the host's own; Secret is what the change brings in now, nil for nothing.
	Secrets []record.Finding `json:"secrets,omitempty"`
	Secret  *Secrets         `json:"secret,omitempty"`
	// Verified is what the last verify step left for prompts.
	Verified verified `json:"verified"`
	// Failure is why a step outside the machine ended the run.
	Failure string `json:"failure,omitempty"`
	Cancel  bool   `json:"cancel,omitempty"`
	// Interrupted says that a person stopped the turns and may resume the run;
	// ResumeAsked that somebody did while the run waited.
	Interrupted bool      `json:"interrupted,omitempty"`
	ResumeAsked *Resume   `json:"resume_asked,omitempty"`
	Started     time.Time `json:"started"`
	// Bundled is the mark of the last bundle; Landed says that landing was tried.
	Bundled     string `json:"bundled,omitempty"`
	LandingDone bool   `json:"landing_done,omitempty"`
	Findings    int    `json:"findings"`
	// Desk is the memory of questions, rulings and waits.
	Desk  Desk `json:"desk,omitzero"`
	Waits int  `json:"waits"`
}

// MarshalJSON leaves out of the record what New makes of the rest again.
func (c Carry) MarshalJSON() ([]byte, error) {
	type plain Carry // without this method
	if len(c.Ledger.Entries) > 0 {
		c.Run.Findings = nil
	}
	return json.Marshal(plain(c))
}

// answer is the memory of a seat between rounds.
type answer struct {
	Final   artifact.Ref `json:"final"`
	Problem string       `json:"problem,omitempty"`
}

// verified is the memory of the last verify step.
type verified struct {
	Failure artifact.Ref `json:"failure"`
	Lint    artifact.Ref `json:"lint"`
	Summary string       `json:"summary,omitempty"`
}

// Progress is a run between two activities: it says what to do next and takes
// in what was done. It is used from one goroutine at a time.
type Progress struct {
	Carry
	in      Input
	machine *convergence.Machine
}

// CodeMismatch names a MismatchError where it crosses a process.
const CodeMismatch = "STORED_GRAPH_MISMATCH"

// MismatchError says that a stored run was made by other code.
type MismatchError struct{ What, Stored, Ours string }

// Error implements error.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s: the run was stored with %s %s, this code has %s; start a new run, or finish this one with the version that began it", CodeMismatch, e.What, e.Stored, e.Ours)
}

// New compiles the run's definition and starts, or continues, its progress.
// started is the workflow's start; workflowID is for the record.
func New(in Input, workflowID string, started time.Time) (*Progress, error) {
	if in.Schema != InputSchema {
		return nil, &MismatchError{"input schema", fmt.Sprint(in.Schema), fmt.Sprint(InputSchema)}
	}
	rules, err := convergence.RulesByName(in.Rules)
	if err != nil {
		return nil, &MismatchError{"rule set", in.Rules, convergence.V1.Name}
	}
	machine, err := convergence.Compile(in.Definition, rules)
	if err != nil {
		return nil, err
	}
	p := &Progress{in: in, machine: machine}
	if in.Resume != nil {
		if in.Resume.Schema != CarrySchema {
			return nil, &MismatchError{"state schema", fmt.Sprint(in.Resume.Schema), fmt.Sprint(CarrySchema)}
		}
		p.Carry = *in.Resume
		p.in.Resume = nil
		p.makeMaps()
		p.Run.Findings = p.recorded()
		return p, nil
	}
	p.Carry = Carry{
		Schema: CarrySchema, State: machine.Initial(), Designed: in.Designer == nil, Started: started,
		Run: newRecord(in, machine, workflowID, started),
	}
	p.makeMaps()
	return p, nil
}

// makeMaps fills in maps that were empty when the carry was written.
func (p *Progress) makeMaps() {
	if p.Answers == nil {
		p.Answers = map[string]answer{}
	}
	if p.Confirmations == nil {
		p.Confirmations = map[string]confirmation{}
	}
	if p.Settled == nil {
		p.Settled = map[string]string{}
	}
	if p.Judged == nil {
		p.Judged = map[string]Snapshot{}
	}
	if p.Run.Artifacts == nil {
		p.Run.Artifacts = map[string]artifact.Ref{}
	}
}

func newRecord(in Input, machine *convergence.Machine, workflowID string, started time.Time) record.Run {
	bounds := machine.Bounds()
	notes := append([]string{}, machine.Warnings()...)
	return record.Run{
		Schema: record.Schema, Kind: kindOf(in), RunID: in.RunID, WorkflowID: workflowID, Requirement: in.Title,
		Preset: in.Preset, Discipline: string(machine.Definition().Data.Discipline), Rules: in.Rules, PlanDigest: in.PlanDigest,
		Bounds: record.Bounds{
			MinDispatches: int(bounds.Dispatches.Min.Value), MaxDispatches: int(bounds.Dispatches.Max.Value),
			MaxConcurrency: int(bounds.MaxConcurrency.Value),
		},
		MaxIters: int(machine.Definition().Data.MaxIterations), DryRun: in.DryRun, SelfReviewed: in.SelfReviewed,
		Advisory: machine.Definition().Data.Advisory, Uncalibrated: in.Policy.Uncalibrated,
		StartedAt: started.UTC().Format(time.RFC3339), Notes: notes,
		Steps: []record.Step{}, Findings: []record.Finding{}, Rulings: []record.Ruling{},
		Refused: []record.RefusedRuling{}, Changed: []record.Change{}, Artifacts: map[string]artifact.Ref{},
	}
}

// kindOf is record.Run's Kind.
func kindOf(in Input) string {
	if in.Source.Gate != nil {
		return record.KindReview
	}
	return record.KindRun
}

// Status is the run record at a moment, with the events that decided it.
func (p *Progress) Status(now time.Time) record.Status {
	run := p.Record(now)
	events := make([]json.RawMessage, 0, len(p.Events))
	for _, event := range p.Events {
		line, err := json.Marshal(event)
		if err != nil { // an event holds strings, numbers and raw JSON that was parsed before
			panic(fmt.Sprintf("event %s cannot be written: %v", event.Type, err))
		}
		events = append(events, line)
	}
	return record.Status{Run: run, Events: events, Definition: p.in.Definition}
}

// Record is the run record at a moment.
func (p *Progress) Record(now time.Time) record.Run {
	run := p.Run
	run.Findings, run.Budget, run.WaitedMS = p.recorded(), p.spending(now), p.waited(now).Milliseconds()
	run.UsageByRole = record.UsageBy(run.Steps, func(s record.Step) string { return s.Role })
	run.UsageBySeat = record.UsageBy(run.Steps, func(s record.Step) string { return s.Seat })
	if !run.Stop.Final() {
		run.TotalMS = now.Sub(p.Started).Milliseconds()
	}
	return run
}

// Result is what the workflow completes with.
func (p *Progress) Result() Result {
	r := p.Run
	return Result{
		RunID: r.RunID, Stop: r.Stop, ExitCode: r.ExitCode, Iterations: r.Iterations,
		Landed: r.Landed, Branch: r.Branch, Message: r.Message, Reusable: Reusable(r),
	}
}

// event appends one event to the log and folds it into the machine's state. Why
// there is no progress is noted: what follows is not what the rounds promised.
func (p *Progress) event(kind string, payload any) {
	e := convergence.NewEvent(kind, payload)
	p.Events = append(p.Events, e)
	p.State = p.machine.Reduce(p.State, e)
	if why := p.State.Review.Stalled; why != "" {
		p.noteOnce("stalled: " + why)
	}
}
