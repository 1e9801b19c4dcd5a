package agent

import (
	"bytes"
	"encoding/json"
	"os"
	"syscall"
	"time"

	"conclave/internal/agent/stubrun"
	"conclave/internal/process"
	"conclave/internal/record"
)

// stub is a deterministic agent without a model: this very program, executed again. Under a dry run it stands for every
// lane and reports that lane's identity.
type stub struct{}

func (stub) Name() string        { return StubName }
func (stub) Binary() string      { return "" }
func (stub) Variables() []string { return nil }
func (stub) Facts() Facts        { return Facts{} }

func (stub) Invocation(t TurnSpec, s Settings) (Invocation, error) {
	self, err := os.Executable()
	if err == nil {
		err = executable(self)
	}
	if err != nil { // replaced while it runs; the supervisor, which starts the stub, is this program too
		self = "/proc/self/exe"
	}
	turn, err := json.Marshal(stubrun.Turn{Writing: t.Writing, Role: t.Role})
	if err != nil {
		return Invocation{}, err
	}
	return Invocation{
		Path: self, Args: []string{stubrun.Argument}, Dir: t.Workspace, StdinFile: t.PromptFile, StopSignal: syscall.SIGTERM,
		Env: append(environment(t, s, nil, map[string]string{stubrun.Variable: string(turn)}), process.OwnVariables...),
	}, nil
}

func (stub) Parser(t TurnSpec) Parser { return &stubParser{target: t.Target} }

// StubMain is called in main right after process.Main: it runs the stub, and does not return, when this process was
// started as one. Otherwise it returns at once.
func StubMain() { stubrun.Main() }

type stubParser struct {
	target  Target
	started bool
	final   string
	ended   bool
}

func (p *stubParser) Line(line []byte) []Event {
	var e stubrun.Event
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
		o.Reported = &Reported{Identity: p.target, Source: record.SourceAdapter}
	}
	f, ours := oursFirst(end, "", "")
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
