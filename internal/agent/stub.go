package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"syscall"
	"time"

	"conclave/internal/record"
)

// stub is a deterministic agent without a model: this very program, executed again. Under a dry run it stands for every
// lane and reports that lane's identity.
type stub struct{}

func (stub) Name() string        { return StubName }
func (stub) Binary() string      { return "" }
func (stub) Variables() []string { return nil }

// The stub is recognised by its only argument together with the variable that describes its turn.
const (
	stubArgument = "conclave-stub-agent"
	stubVariable = "CONCLAVE_STUB_TURN"
)

// stubTurn is what the stub must know.
type stubTurn struct {
	Writing bool   `json:"writing"`
	Role    string `json:"role"`
	Target  Target `json:"target"`
}

func (stub) Invocation(t TurnSpec, s Settings) (Invocation, error) {
	self, err := os.Executable()
	if err == nil {
		err = executable(self)
	}
	if err != nil { // replaced while it runs; the supervisor, which starts the stub, is this program too
		self = "/proc/self/exe"
	}
	turn, err := json.Marshal(stubTurn{Writing: t.Writing, Role: t.Role, Target: t.Target})
	if err != nil {
		return Invocation{}, err
	}
	return Invocation{
		Path: self, Args: []string{stubArgument}, Dir: t.Workspace, StdinFile: t.PromptFile, StopSignal: syscall.SIGTERM,
		Env: environment(t, s, nil, map[string]string{stubVariable: string(turn)}),
	}, nil
}

func (stub) Parser(t TurnSpec) Parser { return &stubParser{target: t.Target} }

// StubMain is called in main right after process.Main: it runs the stub, and does not return, when this process was
// started as one. Otherwise it returns at once.
func StubMain() {
	if len(os.Args) != 2 || os.Args[1] != stubArgument || os.Getenv(stubVariable) == "" {
		return
	}
	if err := runStub(os.Getenv(stubVariable), os.Stdin, os.Stdout, "."); err != nil {
		fmt.Fprintln(os.Stderr, "stub:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// stubEvent is a line of the stub's stream.
type stubEvent struct {
	Type   string  `json:"type"` // start, edit, message, end
	Text   string  `json:"text,omitempty"`
	Path   string  `json:"path,omitempty"`
	Target *Target `json:"target,omitempty"`
}

type stubParser struct {
	target  Target
	started bool
	final   string
	ended   bool
}

func (p *stubParser) Line(line []byte) []Event {
	var e stubEvent
	if json.Unmarshal(line, &e) != nil {
		return nil
	}
	switch e.Type {
	case "start":
		p.started = true
		return []Event{{Kind: EventStart, Model: p.target.Model}}
	case "edit":
		return []Event{{Kind: EventAction, Text: "edit", Target: e.Path}}
	case "message":
		p.final = e.Text
		return []Event{{Kind: EventMessage, Text: e.Text}}
	case "end":
		p.ended = true
	}
	return nil
}

func (p *stubParser) Outcome(end ProcessEnd) Outcome {
	o := Outcome{TerminalEvent: p.ended}
	if p.started {
		o.Reported = &Reported{Identity: p.target, Source: SourceAdapter}
	}
	f, ours := oursFirst(end, "")
	switch {
	case ours:
		f.apply(&o)
	case !p.ended:
		died(end, nil, time.Now()).apply(&o)
	case len(bytes.TrimSpace([]byte(p.final))) == 0:
		failure{class: record.ClassMalformed, text: "the final message is empty"}.apply(&o)
	default:
		o.Class, o.Final = record.ClassOK, []byte(p.final)
	}
	return o
}
