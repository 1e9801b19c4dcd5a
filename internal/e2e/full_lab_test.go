package e2e

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	runrecord "conclave/internal/record"
	"conclave/workflows"
)

// second is the engine of the other family in a full review; the writer is
// claude, the first seat codex.
var second = engine{"bolt", "bolt", "bolt-1"}

// fullLab is a lab whose runs have the full discipline: seats "first"
// (codex, correctness) and "second" (bolt, security), both voting.
func fullLab(t *testing.T, script []step) (*lab, []string) {
	l := newLab(t, script)
	return l, l.fullArgs()
}

func (l *lab) fullArgs() []string {
	return []string{
		"--discipline", "full", "--trust-reviewers", "--implementer", "claude", "--config", l.configure(second),
		"--seat", "first=codex@correctness", "--seat", "second=" + second.name + "@security",
	}
}

// full carries a full run and returns its record.
func full(t *testing.T, wantExit int, script []step, more ...string) (*lab, runrecord.Run) {
	t.Helper()
	l, args := fullLab(t, script)
	run := l.run(wantExit, append(append(args, more...), "Add Sum")...)
	if run.Stop.Final() {
		l.checkBundle(run)
	}
	return l, run
}

func yes() *bool { v := true; return &v }
func no() *bool  { v := false; return &v }

// sumTest is a verify command that names no file: one that is named is protected.
const sumTest = "grep -rq 'func Sum' --include='*.go' ."

// offByOne is the high finding of most scripts.
func offByOne() object {
	return object{"title": "Sum stops before n", "claim": "The loop is off by one: Sum(3) is 3 and not 6.", "at": "calc.go:6"}
}

// undocumented is a finding that never enters the loop.
func undocumented() object {
	return object{"severity": "low", "title": "Sum does not say what it does for negative n", "at": "calc.go:3"}
}

// blocked is a review with findings, clean one without.
func blocked(findings ...any) object { return object{"findings": findings} }
func clean() object                  { return object{} }

// all is a short form in which every finding gets the same word.
func all(word string) map[string]string { return map[string]string{"*": word} }

// repaired is a writer that drafts the flaw and then mends it with a report.
func repaired() []step {
	return []step{
		{Role: "implement", Write: map[string]string{"calc.go": flawed}, Say: "drafted"},
		{Role: "repair", Write: map[string]string{"calc.go": mended}, Say: "mended", Fix: object{"*": "fixed"}},
	}
}

// prompt is what a step's engine was given in the end.
func (l *lab) prompt(run runrecord.Run, s runrecord.Step) string {
	l.t.Helper()
	return l.newest(l.bundle(run.RunID, "agents", s.Folder()), "prompt.md")
}

// stepOf finds a step by turn, seat and iteration.
func stepOf(t *testing.T, run runrecord.Run, turn, seat string, iteration int) runrecord.Step {
	t.Helper()
	i := slices.IndexFunc(run.Steps, func(s runrecord.Step) bool { return s.Turn == turn && s.Seat == seat && s.Iteration == iteration })
	require.GreaterOrEqual(t, i, 0, "no step %s of %s in iteration %d: %v", turn, seat, iteration, turns(run))
	return run.Steps[i]
}

// findingOf finds a finding by its title.
func findingOf(t *testing.T, run runrecord.Run, title string) runrecord.Finding {
	t.Helper()
	i := slices.IndexFunc(run.Findings, func(f runrecord.Finding) bool { return f.Title == title })
	require.GreaterOrEqual(t, i, 0, "no finding %q in %v", title, run.Findings)
	return run.Findings[i]
}

// head is the first line of a prompt.
func head(prompt string) string {
	line, _, _ := strings.Cut(prompt, "\n")
	return line
}

// part is the material between the marks of a prompt with that label, "" for none.
func part(prompt, label string) string {
	_, rest, ok := strings.Cut(prompt, "\n[begin "+label+" ")
	if !ok {
		return ""
	}
	key, rest, _ := strings.Cut(rest, "]\n")
	text, _, _ := strings.Cut(rest, "[end "+label+" "+key+"]")
	return text
}

// signal sends a signal as any Temporal client would: plain JSON.
func (l *lab) signal(runID, name string, payload any) {
	l.t.Helper()
	server, ok := l.server()
	require.True(l.t, ok, "the lab's server has ended")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := client.DialContext(ctx, client.Options{HostPort: server.Address, Logger: quiet{}})
	require.NoError(l.t, err)
	defer c.Close()
	require.NoError(l.t, c.SignalWorkflow(ctx, workflows.WorkflowID(runID), "", name, payload))
}

// shown is the record of the newest run as `show` tells it.
func (l *lab) shown() runrecord.Run {
	l.t.Helper()
	return decodeRun(l.t, l.starter("show", "--json", "@last").stdout)
}
