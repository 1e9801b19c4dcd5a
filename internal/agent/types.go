package agent

import (
	"syscall"
	"time"

	"conclave/internal/record"
)

// Identity is an engine: which program, whose model.
type Identity struct {
	Adapter     string `json:"adapter"`
	Provider    string `json:"provider"`
	ModelFamily string `json:"modelFamily"`
	Model       string `json:"model"`
}

// Target is the identity that a lane asks for. Model DefaultModel leaves the choice to the program.
type Target = Identity

// DefaultModel stands for the model that a program chooses itself.
const DefaultModel = "default"

// Reported is the identity of the engine that worked, and how it is known.
type Reported struct {
	Identity
	Source string `json:"source"` // record.SourceServed, ...
}

// Usage is what a turn consumed as its engine reported it. Known is false where it reported nothing: unknown is not zero.
type Usage struct {
	InputTokens  int64    `json:"input_tokens"`  // all of them, cached ones included
	CachedTokens int64    `json:"cached_tokens"` // input tokens that were read from a cache
	OutputTokens int64    `json:"output_tokens"` // reasoning included
	CostUSD      *float64 `json:"cost_usd,omitempty"`
	Known        bool     `json:"known"`
}

// Record converts usage for the run record; nil is unknown.
func (u Usage) Record() *record.Usage {
	if !u.Known {
		return nil
	}
	return &record.Usage{InputTokens: u.InputTokens, CachedTokens: u.CachedTokens, OutputTokens: u.OutputTokens, CostUSD: u.CostUSD}
}

// Class is the outcome class of design section 7.
type Class = record.Class

// TurnSpec is one call of an engine.
type TurnSpec struct {
	Role       string // design, implement, repair, review, ...
	Writing    bool
	Workspace  string // the agent's working folder
	Scratch    string // fresh per attempt, outside the workspace
	PromptFile string
	Target     Target
	Timeout    time.Duration
	SessionID  string            // a fresh UUID where the program takes one; ignored where it does not or when it is no UUID
	Env        map[string]string // more variables for this turn
	// Resume is the session that a writer's repair turn goes on with; "" begins a new one. Reviewers never resume.
	Resume string
	// Earlier is what the turns of the resumed session used before, together: some programs report a session's sum
	// (codex), from which it is taken off. Unknown makes such a report unknown.
	Earlier Usage
}

// Invocation is how a program is called.
type Invocation struct {
	Path            string
	Args            []string
	Env             []string // complete, sorted
	Dir             string
	StdinFile       string
	LastMessageFile string // where the program leaves its final message; "" when only the stream has it
	StopSignal      syscall.Signal
	PromptLimit     int // characters that the program takes on standard input; 0 is no known limit
	// Files are to be written, for the user alone, before the program starts. All lie in TurnSpec.Scratch.
	Files []File
	// SessionDir is where the program leaves its session files, for ProcessEnd.SessionDir; "" when they tell nothing.
	SessionDir string
}

// File is a file that a turn needs: settings of ours for the program. Without Content (nil), nothing may stand at its
// place, a folder neither.
type File struct {
	Path    string
	Content []byte
}

// ProcessEnd is how the program ended; the words of Cause are those of process.Cause.
type ProcessEnd struct {
	Code        int    // -1 when there is none
	Signal      string // that ended it, e.g. SIGKILL
	Cause       string // exited timeout idle stopped fatal start-failed lost
	Message     string // process.Result.Message
	Stderr      string // its tail
	LastMessage []byte // content of Invocation.LastMessageFile
	Limit       time.Duration
	Dropped     int    // lines that were too long to be read
	SessionDir  string // Invocation.SessionDir; "" leaves session files alone
}

// Outcome is what became of a turn.
type Outcome struct {
	Class         Class
	Code          string // a failure code of the form (convergence.FailTimeout, ...); "" when Class is ok
	Message       string // at most 1 KiB, no control characters
	Final         []byte // the final message
	Structured    []byte // structured output (JSON) where the program has such a channel
	Reported      *Reported
	Usage         Usage
	UsageOpen     bool // a request was going on when the program ended: what it consumed is in no report
	Session       string
	RetryAfter    time.Duration // until a limit is lifted; 0 is not known
	TerminalEvent bool          // the stream holds the program's own last word
	Notes         []string      // what a reader should know although the turn is ok
	// NoSession: the session to resume is not there (any more). The same turn with a fresh session may work.
	NoSession bool
}

// Kinds of an Event.
const (
	EventStart   = "start"
	EventModel   = "model"
	EventAction  = "action"
	EventMessage = "message"
	EventUsage   = "usage"
	EventError   = "error"
	EventRetry   = "retry"
)

// Event is one normalised event of a stream.
type Event struct {
	Kind    string `json:"kind"`
	Text    string `json:"text,omitempty"`   // the message, the error, or the tool
	Target  string `json:"target,omitempty"` // what a tool works on: a path, a command
	Model   string `json:"model,omitempty"`
	Session string `json:"session,omitempty"`
	Usage   *Usage `json:"usage,omitempty"`
	// Fatal says that going on is of no use, although the program would (retries after a refused login).
	Fatal bool `json:"fatal,omitempty"`
	// Part says that a message is a part of one: the next one goes on where it ends, be it within a word.
	Part bool `json:"-"`
}

// Action is a short line for people about what the agent does; "" for events that are no action.
func (e Event) Action() string {
	switch e.Kind {
	case EventAction:
		if e.Target != "" {
			return short(e.Text+" "+e.Target, actionLimit)
		}
		return short(e.Text, actionLimit)
	case EventRetry, EventError:
		return short(e.Kind+": "+e.Text, actionLimit)
	case EventMessage:
		return short(e.Text, actionLimit)
	}
	return ""
}

const actionLimit = 160

// Parser reads one stream. It belongs to one turn.
type Parser interface {
	// Line takes one line of standard output. Lines that are not understood give no events.
	Line(line []byte) []Event
	// Outcome says what became of the turn. It is called once, after the last line.
	Outcome(end ProcessEnd) Outcome
}

// Adapter is one kind of agent.
type Adapter interface {
	// Name is the word for it in configuration and records.
	Name() string
	// Binary is the program's usual name; "" when there is none.
	Binary() string
	// Invocation says how the program is called. Its errors are unavailable ones (IsUnavailable).
	Invocation(TurnSpec, Settings) (Invocation, error)
	// Parser returns a parser for one turn.
	Parser(TurnSpec) Parser
	// Variables are the names of environment variables that the program needs beside the common ones.
	Variables() []string
	// Facts are what is known of the program beside how it is called.
	Facts() Facts
}

// FatalReason returns the text of the first fatal event; "" when there is none.
func FatalReason(events []Event) string {
	for _, e := range events {
		if e.Fatal {
			return e.Text
		}
	}
	return ""
}
