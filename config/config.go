package config

import (
	"time"

	"conclave/internal/agent"
)

// Config is everything a command needs to know, complete and checked.
type Config struct {
	// Preset is the preset in use; PresetNamed says that somebody asked for it, OwnSeats that others sit in its place.
	Preset      string
	PresetNamed bool
	OwnSeats    bool

	// Writer implements and repairs; Designer is used with Design only.
	Writer   Lane
	Designer Lane
	Design   bool
	// Seats in declaration order.
	Seats []Seat

	// Discipline is basic or full, ReviewWhen verified or always, VerdictMode strict or heuristic.
	Discipline, ReviewWhen, VerdictMode string
	RequireFindings                     bool
	AllowSelfReview                     bool
	RequireDiversity                    bool
	// MaxIters is the most iterations. Quorum and SeatConcurrency are 0 for "all".
	MaxIters, Quorum, SeatConcurrency int

	VerifyCmd, SetupCmd, LintCmd string

	// WriterSession is resume or fresh: what a repair goes on with.
	WriterSession string

	// WriterTimeout and ReaderTimeout bound one agent turn, IdleTimeout the time without an event, VerifyTimeout a command.
	WriterTimeout, ReaderTimeout, IdleTimeout, VerifyTimeout time.Duration

	// Review, Rulings and Calibration are what the discipline asks beside the lanes; Budget bounds the run.
	Review      Review
	Rulings     Rulings
	Calibration Calibration
	Budget      Budget
	// Confirmer and Arbiter are engines of their own for these turns, nil for a seat's; Escalation takes over late repairs, nil for nobody else.
	Confirmer, Arbiter, Escalation *Lane
	// TrustReviewers lets seats gate that are not calibrated; Advisory lets findings not stop the end; AllowProtected asks for no protected path.
	TrustReviewers, Advisory, AllowProtected bool
	// LensFiles and PromptFiles are the user's lenses and overridden templates, sorted by name.
	LensFiles, PromptFiles []PromptFile

	// Models is the model of an adapter where its lane names none.
	Models map[string]string

	Host Host

	// Warnings are settings that have no effect, and why.
	Warnings []string

	effective []Effective
	// graph is the definition file, nil where presets and flags decide.
	graph *graph
}

// Review is what is asked of a change and of answers.
type Review struct {
	// SizeLimit is the most changed lines that are reviewed unasked; 0 asks for none.
	SizeLimit int
	// MaxFindings bounds the high findings of one answer.
	MaxFindings int
	// ServedIdentity demands models that the provider reported.
	ServedIdentity bool
	// Generated and Protected are the globs of files, in addition to those that are built in.
	Generated, Protected []string
	// AllowSecrets are the globs of files that may hold what looks like a secret.
	AllowSecrets []string
}

// Rulings say how a run waits for a person.
type Rulings struct {
	Reminder time.Duration
	// Deadline is 0 for never; then DeadlineDecision answers: stand, fix or abort.
	Deadline         time.Duration
	DeadlineDecision string
}

// Calibration is what a seat must have reached over labelled cases; both are shares from 0 to 1.
type Calibration struct {
	MinPrecision, MinRecall float64
}

// Budget bounds a run; 0 bounds nothing.
type Budget struct {
	MaxTokens    int64
	MaxCostUSD   float64
	MaxDuration  time.Duration
	AssumeTokens int64
}

// Bounds says that there is any bound.
func (b Budget) Bounds() bool { return b.MaxTokens > 0 || b.MaxCostUSD > 0 || b.MaxDuration > 0 }

// PromptFile is a file that becomes part of prompts: a lens or a template.
type PromptFile struct {
	// Name is the lens's or the template's.
	Name string
	// Path is relative to the repository, with slashes, where Repository; it is to be read from the base commit and
	// lies inside. Else it is a path of this machine.
	Path       string
	Repository bool
	// Where names the place that sets it.
	Where string
}

// Host is what runs the loop: never part of a workflow's input.
type Host struct {
	Agents map[string]Agent
	// Prices are what models cost here, the strongest first; PriceList adds those that are built in.
	Prices []ModelPrice
	// Families say whose model a name means, before the built-in table.
	Families []ModelNames
	// Sandbox is auto, required or off; Caches are folders that writers and commands may fill beside the well-known
	// ones, absolute.
	Sandbox string
	Caches  []string
	// IsolateHome gives agents a home folder of the run's own.
	IsolateHome bool
	// Store and StateDir are absolute folders.
	Store, StateDir string
	// Address is empty for the local server.
	Address, Namespace, TaskQueue string
}

// Lane says which engine does the work. Model is empty for the adapter's own choice.
type Lane struct {
	Adapter, Model string
}

// Seat is one reviewer's place.
type Seat struct {
	Name string
	Lane
	// Lens is what the seat looks for.
	Lens          string
	Skippable     bool
	Substitutions []Lane
	EvidencePaths []string
}

// Agent is how one adapter is run here.
type Agent struct {
	// Adapter is the kind of program: the agent's own name, or command.
	Adapter string
	// Bin overrides the program; Env lists NAME (handed on) and NAME=value.
	Bin   string
	Model string
	Env   []string
	// Args are more arguments for the program, before ours.
	Args []string
	// Failures are patterns for what the program says when it fails, before ours.
	Failures []agent.Failure
	// Argv and Result (stdout or file) belong to the command adapter.
	Argv   []string
	Result string
	// Provider, ModelFamily and IdentityModel override the adapter's identity where they are set.
	Provider, ModelFamily, IdentityModel string
}

// Effective is one setting as it holds, with where it comes from.
type Effective struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
}

// Effective lists every setting with its origin, in the order of the documentation.
func (c Config) Effective() []Effective { return c.effective }
