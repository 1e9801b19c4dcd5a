//go:build linux || darwin

package realagents

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"conclave/internal/fakemodel"
	"conclave/internal/record"
)

const (
	flawed = "package calc\n\n// Sum adds the first n numbers.\nfunc Sum(n int) int {\n\ts := 0\n\tfor i := 0; i < n; i++ {\n\t\ts += i\n\t}\n\treturn s\n}\n"
	broken = "\tfor i := 0; i < n; i++ {\n"
	whole  = "\tfor i := 1; i <= n; i++ {\n"
	mended = "package calc\n\n// Sum adds the first n numbers.\nfunc Sum(n int) int {\n\ts := 0\n\tfor i := 1; i <= n; i++ {\n\t\ts += i\n\t}\n\treturn s\n}\n"
)

var offByOne = fakemodel.Finding{Title: "Sum stops before n", Claim: "The loop is off by one: Sum(3) is 3 and not 6.", Path: "calc.go", Line: 6}

// twoIterations is a flawed draft, two reviews that block it, a repair, and two that pass.
func twoIterations() fakemodel.Script {
	return fakemodel.Script{Turns: []fakemodel.Turn{
		{Role: "implement", Steps: []fakemodel.Step{
			{Say: "I write Sum.", Write: []fakemodel.File{{Path: "calc.go", Content: flawed, Existing: true}}},
			{Say: "Sum is there."},
		}},
		{Role: "repair", Contains: offByOne.Title, Steps: []fakemodel.Step{
			{Say: "I mend the loop.", Edit: []fakemodel.Edit{{Path: "calc.go", Old: broken, New: whole}}},
			{Say: "Sum includes n now."},
		}},
		{Role: "review", Round: "0", Steps: []fakemodel.Step{{Say: "I look.", Read: "calc.go"}, {Say: fakemodel.Block(offByOne)}}},
		{Role: "review", Steps: []fakemodel.Step{{Say: "I look again.", Read: "calc.go"}, {Say: fakemodel.Pass()}}},
	}}
}

// TestClaudeImplementsCodexAndClaudeReview is the whole loop with real programs: two iterations, real edits, and a
// record that says who worked, what it cost and in which session.
func TestClaudeImplementsCodexAndClaudeReview(t *testing.T) {
	bins(t)
	t.Parallel()
	l := newLab(t, twoIterations())
	run := l.run(0, "--preset", "dual-review", "--verify-cmd", "grep -q 'func Sum' calc.go", "Add Sum")
	require.Equal(t, record.Converged, run.Stop)
	require.Equal(t, 2, run.Iterations)
	require.Equal(t, mended, git(t, l.repo, "show", "conclave/"+run.RunID+":calc.go")+"\n")
	l.checkTurns(run)
	require.Equal(t, []string{
		"1 implement claude", "1 review claude", "1 review codex", "2 repair claude", "2 review claude", "2 review codex",
	}, turnsOf(run))
	require.NotNil(t, run.Usage)
	require.Zero(t, run.Usage.Unknown)
	require.EqualValues(t, 6*2000, run.Usage.InputTokens)
	require.EqualValues(t, 6*100, run.Usage.OutputTokens)
}

// turnsOf lists the turns of a run's engines, by iteration.
func turnsOf(run record.Run) []string {
	var turns []string
	for _, s := range run.Steps {
		if s.Adapter != "" {
			turns = append(turns, fmt.Sprintf("%d %s %s", s.Iteration, s.Turn, s.Adapter))
		}
	}
	slices.Sort(turns)
	return turns
}

// TestOpencodeAndGeminiReview is the same loop with the two other programs as reviewers.
func TestOpencodeAndGeminiReview(t *testing.T) {
	bins(t)
	t.Parallel()
	l := newLab(t, twoIterations())
	run := l.run(0, "--implementer", "claude", "--reviewers", "opencode,gemini", "--verify-cmd", "grep -q 'func Sum' calc.go", "Add Sum")
	require.Equal(t, record.Converged, run.Stop)
	require.Equal(t, 2, run.Iterations)
	require.Equal(t, mended, git(t, l.repo, "show", "conclave/"+run.RunID+":calc.go")+"\n")
	l.checkTurns(run)
	require.Equal(t, []string{
		"1 implement claude", "1 review gemini", "1 review opencode", "2 repair claude", "2 review gemini", "2 review opencode",
	}, turnsOf(run))
}

// TestTheFullDiscipline: one program designs, one writes, three judge, confirm each other's findings and re-review the
// repair.
func TestTheFullDiscipline(t *testing.T) {
	bins(t)
	t.Parallel()
	look := fakemodel.Step{Say: "I look.", Read: "calc.go"}
	l := newLab(t, fakemodel.Script{Turns: []fakemodel.Turn{
		{Role: "design", Steps: []fakemodel.Step{look, {Say: "# Contract\n\nAC1: Sum(3) is 6."}}},
		{Role: "implement", Contains: "AC1: Sum(3) is 6.", Steps: []fakemodel.Step{
			{Say: "I write Sum.", Write: []fakemodel.File{{Path: "calc.go", Content: flawed, Existing: true}}}, {Say: "Sum is there."},
		}},
		{Role: "repair", Contains: offByOne.Title, Steps: []fakemodel.Step{
			{Say: "I mend the loop.", Edit: []fakemodel.Edit{{Path: "calc.go", Old: broken, New: whole}}}, {Say: fakemodel.Fixed()},
		}},
		{Role: "review", Round: "0", Seat: "first", Steps: []fakemodel.Step{look, {Say: fakemodel.Block(offByOne)}}},
		{Role: "review", Steps: []fakemodel.Step{look, {Say: fakemodel.Pass()}}},
		{Role: "confirm", Steps: []fakemodel.Step{look, {Say: fakemodel.Confirmed()}}},
		{Role: "recheck", Steps: []fakemodel.Step{look, {Say: fakemodel.Addressed()}}},
	}})
	run := l.run(0, "--discipline", "full", "--trust-reviewers", "--design", "--designer", "opencode", "--implementer", "claude",
		"--seat", "first=codex@correctness", "--seat", "second=gemini@security", "--seat", "third=opencode@tests",
		"--verify-cmd", "grep -rq 'func Sum' --include='*.go' .", "Add Sum")
	require.Equal(t, record.Converged, run.Stop)
	require.Equal(t, mended, git(t, l.repo, "show", "conclave/"+run.RunID+":calc.go")+"\n")
	l.checkTurns(run)
	turns := turnsOf(run)
	for _, want := range []string{"1 implement claude", "1 review codex", "1 review gemini", "1 review opencode", "2 repair claude", "2 recheck codex"} {
		require.Contains(t, turns, want)
	}
	require.Len(t, run.Findings, 1)
	require.Equal(t, "addressed", run.Findings[0].Disposition)
	require.Contains(t, turns, "1 confirm "+run.Findings[0].ConfirmedBy)
	require.NotEqual(t, "codex", run.Findings[0].ConfirmedBy, "nobody confirms its own finding")
}

// checkTurns holds each turn of an engine to what a record must say of it.
func (l *lab) checkTurns(run record.Run) {
	l.t.Helper()
	models := map[string]record.Engine{
		"claude":   {Provider: "anthropic", ModelFamily: "claude", Model: "claude-sonnet-4-5", Source: "served"},
		"codex":    {Provider: "openai", ModelFamily: "gpt", Model: "gpt-5.5", Source: "session-file"},
		"opencode": {Provider: "acme", ModelFamily: "acme-large", Model: "fake/fake-model", Source: "pinned"},
		"gemini":   {Provider: "google", ModelFamily: "gemini", Model: "gemini-2.5-pro", Source: "served"},
	}
	sessions := map[string]bool{}
	for _, s := range run.Steps {
		if s.Adapter == "" {
			continue
		}
		want := models[s.Adapter]
		want.Adapter = s.Adapter
		require.Equal(l.t, record.OK, s.Status, "%s %s: %s", s.ID, s.Adapter, s.Message)
		if l.sandbox == "off" {
			require.Equal(l.t, "none", s.Sandbox, s.ID)
		} else {
			require.Contains(l.t, []string{"bubblewrap", "landlock"}, s.Sandbox, "%s: no sandbox of ours held", s.ID)
		}
		require.NotNil(l.t, s.Identity.Reported, s.ID)
		require.Equal(l.t, want, *s.Identity.Reported, s.ID)
		require.NotNil(l.t, s.Usage, s.ID)
		require.EqualValues(l.t, 2000, s.Usage.InputTokens, "%s %s: two requests", s.ID, s.Adapter)
		require.EqualValues(l.t, 100, s.Usage.OutputTokens, s.ID)
		require.NotEmpty(l.t, s.Session, "%s %s", s.ID, s.Adapter)
		require.True(l.t, s.Resumed || !sessions[s.Session], "%s goes on with a session of another turn", s.ID)
		sessions[s.Session] = true
	}
}

// TestKilledInTheMiddleOfAClaudeTurn: kill -9 of the worker leaves no writer alive; the turn starts again from the last
// snapshot, and the run converges.
func TestKilledInTheMiddleOfAClaudeTurn(t *testing.T) {
	bins(t)
	t.Parallel()
	const napping = "tail -f calc.go"
	script := twoIterations()
	half := twoIterations()
	half.Turns[1].Steps = []fakemodel.Step{
		{Say: "Half of it.", Write: []fakemodel.File{{Path: "half.txt", Content: "half\n"}}},
		{Say: "A long command.", Shell: napping}, {Say: "Never said."},
	}
	l := newLab(t, half)
	cmd := l.command(l.runArgs("--implementer", "claude", "--reviewer", "codex", "Add Sum")...)
	var printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &printed
	require.NoError(t, cmd.Start())
	for began := time.Now(); len(withWords(l.dir, napping)) == 0; time.Sleep(50 * time.Millisecond) {
		if gone := len(withWords(l.dir, filepath.Join(l.bin, "starter"))) == 0; gone || time.Since(began) > 10*time.Minute {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			require.Fail(t, "the repair never came to its long command", printed.String())
		}
	}
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	killed := time.Now()
	require.Eventually(t, func() bool { return len(withWords(l.dir, "")) == 0 }, 2*time.Minute, 20*time.Millisecond, "a writer lives on")
	noted(row{"claude", "worker killed in a turn: all gone", "", "", time.Since(killed).Seconds()})

	var writers atomic.Int32 // at once, while the second one works
	l.server.Before = func(r fakemodel.Request) {
		if r.Header.Role == "repair" {
			writers.Store(max(writers.Load(), int32(len(l.writers()))))
		}
	}
	l.server.Play(script)
	before := len(l.server.Requests())
	out := l.finish(l.command("resume", "--json", "--config", l.config, "--sandbox", l.sandbox, "@last"))
	require.Equal(t, 0, out.code, "%s\n%s", out.stderr, out.stdout)
	require.EqualValues(t, 1, writers.Load(), "writers at once")
	require.Empty(t, withWords(l.dir, ""))
	run := l.record(out.stdout)
	require.Equal(t, record.Converged, run.Stop)
	require.Equal(t, 2, run.Iterations)
	require.Equal(t, "calc.go", git(t, l.repo, "diff", "--name-only", "main", "conclave/"+run.RunID), "half.txt was no part of a snapshot")
	require.Equal(t, mended, git(t, l.repo, "show", "conclave/"+run.RunID+":calc.go")+"\n")
	for _, s := range run.Steps {
		if s.Turn == "repair" {
			require.Equal(t, 2, s.Attempts)
		}
	}
	for _, r := range l.server.Requests()[before:] {
		require.NotEqual(t, "implement", r.Header.Role, "a finished turn is paid again")
	}
}

// writers lists the processes of the real claude that may write. What one starts looks like it from its fork until it is a
// program of its own, and is none.
func (l *lab) writers() []string {
	found := map[string]string{}
	for _, p := range withWords(l.dir, "acceptEdits") {
		if pid, args, _ := strings.Cut(p, " "); strings.HasPrefix(args, filepath.Join(bins(l.t), "claude")) {
			found[pid] = p
		}
	}
	var writers []string
	for pid, p := range found {
		if found[parent(pid)] == "" {
			writers = append(writers, p)
		}
	}
	return writers
}

// parent is the process that started one; "" when that is gone.
func parent(pid string) string {
	stat, _ := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	_, rest, _ := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " ")
	if fields := strings.Fields(rest); len(fields) > 1 {
		return fields[1]
	}
	return ""
}

// withWords lists the processes of a lab, its server aside, whose arguments hold some words.
func withWords(dir, words string) []string {
	var found []string
	for _, p := range processesOf(dir) {
		if strings.Contains(p, words) && !strings.Contains(p, "devserver") {
			found = append(found, p)
		}
	}
	return found
}
