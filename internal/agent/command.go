package agent

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"conclave/internal/convergence"
	"conclave/internal/record"
)

// command is any program that the configuration describes: the prompt on standard input, the final message on standard
// output or in a file, a declared identity. It has no event stream, so a clean exit with a message is its last word.
type command struct{ settings CommandSettings }

func (command) Name() string        { return CommandName }
func (command) Binary() string      { return "" }
func (command) Variables() []string { return nil }
func (command) Facts() Facts        { return Facts{} }

func (command) Invocation(t TurnSpec, s Settings) (Invocation, error) {
	c, ok := s.Commands[t.Target.Adapter]
	if !ok || len(c.Argv) == 0 {
		return Invocation{}, Unavailable(fmt.Sprintf("agents.%s has no argv: describe the program in the configuration", t.Target.Adapter))
	}
	path, err := ResolveBinary(t.Target.Adapter, s)
	if err != nil {
		return Invocation{}, err
	}
	result := filepath.Join(filepath.Clean(t.Scratch), "result.md")
	mode := "read-only"
	if t.Writing {
		mode = "writing"
	}
	replace := strings.NewReplacer("{prompt}", t.PromptFile, "{result}", result, "{workspace}", t.Workspace, "{model}", modelFlag(t.Target))
	args := make([]string, 0, len(c.Argv))
	for _, a := range c.Argv[1:] {
		args = append(args, replace.Replace(a))
	}
	fixed := map[string]string{"CONCLAVE_ROLE": t.Role, "CONCLAVE_MODE": mode, "CONCLAVE_MODEL": modelFlag(t.Target)}
	inv := Invocation{Path: path, Args: args, Dir: t.Workspace, StdinFile: t.PromptFile, StopSignal: syscall.SIGTERM}
	if c.ResultFile {
		inv.LastMessageFile = result
		fixed["CONCLAVE_RESULT_FILE"] = result
	}
	inv.Env = environment(t, s, nil, fixed)
	return inv, nil
}

func (c command) Parser(t TurnSpec) Parser {
	return &commandParser{target: t.Target, inFile: c.settings.ResultFile}
}

// commandMost bounds the message that is kept of standard output.
const commandMost = 8 << 20

type commandParser struct {
	target   Target
	out      bytes.Buffer
	tooLarge bool
	inFile   bool // the message is in the file; standard output is chatter
}

func (p *commandParser) Line(line []byte) []Event {
	switch {
	case p.inFile:
	case p.out.Len()+len(line)+1 > commandMost:
		p.tooLarge = true
		return nil
	default:
		p.out.Write(line)
		p.out.WriteByte('\n')
	}
	if text := strings.TrimSpace(string(line)); text != "" {
		return []Event{{Kind: EventMessage, Text: text}}
	}
	return nil
}

func (p *commandParser) Outcome(end ProcessEnd) Outcome {
	o := Outcome{Final: p.out.Bytes()}
	if p.inFile {
		o.Final, p.tooLarge = end.LastMessage, len(end.LastMessage) > commandMost
	}
	if end.Cause != "" && end.Cause != "start-failed" {
		o.Reported = &Reported{Identity: p.target, Source: record.SourceAdapter}
	}
	f, ours := oursFirst(end, "", "")
	switch {
	case ours:
		f.apply(&o)
	case end.Code != 0:
		died(end, networkSignatures, time.Now()).apply(&o)
	case p.tooLarge || !p.inFile && end.Dropped > 0:
		failure{class: record.ClassMalformed, text: fmt.Sprintf("the final message is longer than %d bytes", commandMost)}.apply(&o)
		o.Code = convergence.FailResultTooLarge
	case len(bytes.TrimSpace(o.Final)) == 0:
		failure{class: record.ClassMalformed, text: "the final message is empty"}.apply(&o)
	default:
		o.Class, o.TerminalEvent = record.ClassOK, true
	}
	return o
}
