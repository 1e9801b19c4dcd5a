package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"conclave/internal/agent"
	"conclave/internal/record"
	"conclave/internal/runindex"
)

// explanation is what `adapters explain` prints: what we make of an ended program.
type explanation struct {
	Class    string         `json:"class"`
	Message  string         `json:"message"`
	Identity *record.Engine `json:"identity"` // null is unknown
	Usage    *record.Usage  `json:"usage"`    // null is unknown
	Session  string         `json:"session"`
	// RetryAfter is in seconds; 0 is not known.
	RetryAfter float64       `json:"retry_after"`
	Events     []agent.Event `json:"events"`
	Notes      []string      `json:"notes,omitempty"`
}

// explainFlags are the recording's files. An empty name is none; "-" is standard input.
type explainFlags struct {
	stdout, stderr, last, sessions, model string
	exit                                  int
}

func (a *app) explainCommand() *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use: "explain ADAPTER --stdout FILE --stderr FILE --exit N", Short: "Show what is made of what an agent printed",
		Long: "Reads what an agent's program printed and shows what a turn would make of it, as one JSON document: class, message, identity, usage, " +
			"session, retry_after (seconds) and the events. An exit code of 124 or 137 means that a limit of ours ended the program, a negative one " +
			"is a signal. It is the tool of whoever adds an adapter: docs/adapters.md.",
		Args: explainArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return a.explainRecording(cmd, args[0], f) },
	}
	addHostFlags(cmd)
	fs := cmd.Flags()
	fs.StringVar(&f.stdout, "stdout", "", "what it printed: `FILE`, or - for standard input")
	fs.StringVar(&f.stderr, "stderr", "", "what it printed on standard error: `FILE`")
	fs.IntVar(&f.exit, "exit", 0, "its exit code: `N`")
	fs.StringVar(&f.model, "model", "", "the `MODEL` that it was asked for")
	fs.StringVar(&f.last, "last-message", "", "the `FILE` with its last message, where it writes one (codex, command)")
	fs.StringVar(&f.sessions, "session-dir", "", "the `FOLDER` of its session files, where they tell the model (codex)")
	fs.Bool("json", true, "print one JSON document; there is no other form")
	return cmd
}

func explainArgs(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return usage("name one of those that `starter adapters` lists", "ADAPTER is missing")
	case len(args) > 1:
		return usage("quote it if it belongs to the argument before", "%q is one argument too many", args[1])
	case !cmd.Flags().Changed("exit"):
		return usage("add --exit with the program's exit code; 124 or 137 if a limit ended it", "--exit is missing: the output alone does not tell how a program ended")
	case !cmd.Flags().Changed("stdout") && !cmd.Flags().Changed("stderr"):
		return usage("name the file with what it printed", "--stdout is missing")
	}
	return nil
}

func (a *app) explainRecording(cmd *cobra.Command, name string, f explainFlags) error {
	c, err := hostSettings(cmd, runindex.Entry{})
	if err != nil {
		return err
	}
	settings := c.Host.AgentSettings(os.Environ())
	adapter, err := settings.Lookup(name)
	if err != nil {
		return usage("`starter adapters` lists them", "%v", err)
	}
	target, err := agent.TargetFor(name, f.model, settings)
	if err != nil { // one that speaks to anybody's models, of which none was named
		target = agent.Target{Adapter: name, Model: agent.DefaultModel}
		if f.model != "" {
			target.Model = f.model
		}
	}
	r := agent.Recording{Exit: f.exit, SessionDir: f.sessions}
	stdout, err := a.recorded("--stdout", f.stdout)
	if err != nil {
		return err
	}
	defer stdout.Close()
	r.Stdout = stdout
	stderr, err := a.readRecorded("--stderr", f.stderr)
	if err != nil {
		return err
	}
	r.Stderr = string(stderr)
	if r.LastMessage, err = a.readRecorded("--last-message", f.last); err != nil {
		return err
	}
	outcome, events, err := agent.Explain(adapter, agent.TurnSpec{Target: target}, r)
	if err != nil {
		return usage("check the file", "--stdout: %v", err)
	}
	return a.printJSON(explained(outcome, events))
}

func explained(o agent.Outcome, events []agent.Event) explanation {
	e := explanation{
		Class: string(o.Class), Message: o.Message, Usage: o.Usage.Record(), Session: o.Session,
		RetryAfter: math.Ceil(o.RetryAfter.Seconds()), Events: events, Notes: slices.Clone(o.Notes),
	}
	if r := o.Reported; r != nil {
		e.Identity = &record.Engine{Adapter: r.Adapter, Provider: r.Provider, ModelFamily: r.ModelFamily, Model: r.Model, Source: r.Source}
	}
	return e
}

// recorded opens a file of the recording; one that is not named is empty.
func (a *app) recorded(flag, name string) (io.ReadCloser, error) {
	switch name {
	case "":
		return io.NopCloser(&io.LimitedReader{}), nil
	case "-":
		a.askTerminal("the agent's output")
		return io.NopCloser(a.in), nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, usage("name a file that can be read", "%s: %v", flag, err)
	}
	return file, nil
}

func (a *app) readRecorded(flag, name string) ([]byte, error) {
	file, err := a.recorded(flag, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(file)
	if err != nil {
		return nil, usage("name a file that can be read", "%s: %v", flag, fmt.Errorf("read %s: %w", name, err))
	}
	return content, nil
}
