package activities

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/loop"
	"conclave/internal/price"
	"conclave/internal/record"
	"conclave/internal/sandbox"
)

var testPrices = price.List{{{Pattern: "gpt-test", Price: price.Price{Input: 2, Cached: 1, Output: 10}}}}

// claudeSays is the stream of a turn that ends well.
const claudeSays = `
echo "$@" >> $LAB/args
session=first
case "$*" in *--resume*) session=$(echo "$*" | sed 's/.*--resume \([^ ]*\).*/\1/');; esac
echo '{"type":"system","subtype":"init","session_id":"'$session'","model":"claude-sonnet-4-5"}'
echo '{"type":"assistant","session_id":"'$session'","message":{"model":"claude-sonnet-4-5","content":[{"type":"text","text":"done"}]}}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"'$session'","usage":{"input_tokens":10,"output_tokens":2},"total_cost_usd":0.25}'
`

// loses is a program that has forgotten every session.
const loses = `
case "$*" in *--resume*)
  echo "$@" >> $LAB/args
  echo '{"type":"result","subtype":"error_during_execution","is_error":true,"session_id":"x","errors":["No conversation found with session ID: first"]}'
  exit 1;;
esac
`

// claudeTurn is a writing turn of claude.
func (l *lab) claudeTurn(step, turn string, from loop.Snapshot, resume string) *loop.TurnRequest {
	req := l.turn(step)
	req.Workspace, req.Turn = l.workspace(from), turn
	req.Target = record.Engine{Adapter: "claude", Provider: "anthropic", ModelFamily: "claude", Model: "default"}
	if turn == "repair" {
		req.Feedback.Failure = l.put("FAIL")
	}
	if resume != "" {
		req.Resume = &loop.Earlier{Session: resume, Usage: &record.Usage{InputTokens: 10, OutputTokens: 2}}
	}
	return req
}

// claudeLab has a fake claude whose first turn began the session "first".
func claudeLab(t *testing.T) (*lab, *loop.TurnResult) {
	l := newLab(t).prepare(false)
	l.acts.Agents.Binaries["claude"] = filepath.Join(l.dir, "agent.sh")
	l.acts.Agents.ExtraEnv["claude"] = map[string]string{"LAB": l.dir}
	l.plays("echo 1 >> work.go" + claudeSays)
	out := do[loop.TurnResult](l, l.acts.RunTurn, l.claudeTurn("01", "implement", l.prepared.Base, ""))
	require.Equal(t, record.ClassOK, out.Class, out.Message)
	require.Equal(t, "first", out.Session)
	require.False(t, out.Resumed)
	return l, out
}

// lastArgs is how the program was called last.
func (l *lab) lastArgs() string {
	lines := strings.Split(strings.TrimSpace(l.read("args")), "\n")
	return lines[len(lines)-1]
}

func TestARepairResumesTheSessionThatThisWorkerHolds(t *testing.T) {
	l, first := claudeLab(t)
	out := do[loop.TurnResult](l, l.acts.RunTurn, l.claudeTurn("02", "repair", first.Snapshot, "first"))
	require.Equal(t, record.ClassOK, out.Class, out.Message)
	require.Contains(t, l.lastArgs(), "--resume first")
	require.True(t, out.Resumed)
	require.Equal(t, "first", out.Session)
	require.Empty(t, out.Notes)
	require.InDelta(t, 0.25, *out.Usage.CostUSD, 1e-9)
}

func TestAWorkerThatDoesNotHoldTheSessionBeginsAFreshOne(t *testing.T) {
	l, first := claudeLab(t)
	require.NoError(t, os.Remove(l.acts.sessionFile(runID)))
	out := do[loop.TurnResult](l, l.acts.RunTurn, l.claudeTurn("02", "repair", first.Snapshot, "first"))
	require.Equal(t, record.ClassOK, out.Class, out.Message)
	require.NotContains(t, l.lastArgs(), "--resume")
	require.False(t, out.Resumed)
	require.Equal(t, []string{"step 02: the writer's session is not on this worker: a fresh one was begun"}, out.Notes)
}

func TestARebuiltWorkspaceBeginsAFreshSession(t *testing.T) {
	l, first := claudeLab(t)
	require.NoError(t, os.Remove(l.acts.writerStateFile(runID)), "as after a lost worker")
	out := do[loop.TurnResult](l, l.acts.RunTurn, l.claudeTurn("02", "repair", first.Snapshot, "first"))
	require.Equal(t, record.ClassOK, out.Class, out.Message)
	require.NotContains(t, l.lastArgs(), "--resume")
	require.Contains(t, strings.Join(out.Notes, "\n"), "the writer's workspace was rebuilt")
}

func TestALostSessionIsFollowedByAFreshOneInTheSameTurn(t *testing.T) {
	l, first := claudeLab(t)
	l.plays(loses + "echo 2 >> work.go" + claudeSays)
	before := l.starts()
	out := do[loop.TurnResult](l, l.acts.RunTurn, l.claudeTurn("02", "repair", first.Snapshot, "first"))
	require.Equal(t, record.ClassOK, out.Class, out.Message)
	require.Equal(t, before+2, l.starts(), "one call found no session, one did the work")
	require.NotContains(t, l.lastArgs(), "--resume")
	require.False(t, out.Resumed)
	require.True(t, out.Changed)
	require.Equal(t, []string{"step 02: claude does not know the writer's session any more: a fresh one was begun"}, out.Notes)
	require.NotContains(t, l.get(out.Artifacts["transcript.jsonl"]), "No conversation found")
}

// Under Landlock a turn's temporary files lie outside of its own folder, and so outlive what forgets them.
func TestALostSessionLeavesNoTemporaryFiles(t *testing.T) {
	l, first := claudeLab(t)
	landlock := sandbox.Detect(t.Context()).Only(sandbox.Landlock)
	if landlock.Kind() != sandbox.Landlock {
		t.Skip(landlock.Why())
	}
	detect = func(context.Context) sandbox.Support { return landlock }
	t.Cleanup(func() { detect = sandbox.Detect })
	t.Setenv("TMPDIR", t.TempDir())
	l.acts.Sandbox = SandboxRequired
	require.NoError(t, os.WriteFile(filepath.Join(l.dir, "agent.sh"), []byte("#!/bin/sh\ncat > /dev/null\nLAB=$TMPDIR\n"+loses+"echo 2 >> work.go"+claudeSays), 0o755))
	out := do[loop.TurnResult](l, l.acts.RunTurn, l.claudeTurn("02", "repair", first.Snapshot, "first"))
	require.Equal(t, record.ClassOK, out.Class, out.Message)
	require.Len(t, out.Notes, 1, "the session was lost")
	left, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	require.Empty(t, left)
}

// A worker that is killed removes nothing; the end of its run does.
func TestTheTemporaryFilesOfAKilledWorkerGoWithTheRun(t *testing.T) {
	l := newLab(t)
	detect = func(context.Context) sandbox.Support { return sandbox.Support{ABI: 9} }
	t.Cleanup(func() { detect = sandbox.Detect })
	t.Setenv("TMPDIR", t.TempDir())
	l.acts.Sandbox = SandboxRequired
	scratch := filepath.Join(RunDir(l.acts.StateDir, runID), "turns", "01.1-1-5")
	require.NoError(t, os.MkdirAll(scratch, 0o700))
	for range 2 { // set-up and turn
		dir, err := l.acts.temporary(t.Context(), scratch)
		require.NoError(t, err)
		require.Equal(t, os.TempDir(), filepath.Dir(dir))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "x"), nil, 0o600))
	}
	stream := filepath.Join(RunDir(l.acts.StateDir, runID), streamPrefix+"1")
	require.NoError(t, os.WriteFile(stream, nil, 0o600))
	l.acts.clearWork(runID)
	left, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	require.Empty(t, left)
	require.NoDirExists(t, scratch)
	require.NoFileExists(t, stream)
}

// A failed turn leaves a session that remembers what was thrown away.
func TestAfterAFailedTurnNoSessionIsHeld(t *testing.T) {
	l, first := claudeLab(t)
	l.plays("echo '" + `{"type":"result","subtype":"error","is_error":true,"api_error_status":500,"result":"API Error: 500","session_id":"first"}` + "'; exit 1")
	out := do[loop.TurnResult](l, l.acts.RunTurn, l.claudeTurn("02", "repair", first.Snapshot, "first"))
	require.NotEqual(t, record.ClassOK, out.Class)
	require.NoFileExists(t, l.acts.sessionFile(runID))
	l.plays(claudeSays)
	req := l.claudeTurn("02", "repair", first.Snapshot, "first")
	req.Try = 2
	out = do[loop.TurnResult](l, l.acts.RunTurn, req)
	require.Equal(t, record.ClassOK, out.Class, out.Message)
	require.NotContains(t, l.lastArgs(), "--resume")
}

// The loop never asks for it; a request that does is not obeyed.
func TestAReviewerResumesNothing(t *testing.T) {
	l, first := claudeLab(t)
	l.plays(claudeSays)
	req := l.review("02", first.Snapshot)
	req.Target, req.Resume = record.Engine{Adapter: "claude", Provider: "anthropic", ModelFamily: "claude", Model: "default"}, &loop.Earlier{Session: "first"}
	out := do[loop.TurnResult](l, l.acts.RunTurn, req)
	require.False(t, out.Resumed)
	require.NotContains(t, l.lastArgs(), "--resume")
}

func TestAnIsolatedHomeShowsNoLoginOfTheUsers(t *testing.T) {
	l := newLab(t).prepare(false)
	l.acts.IsolateHome = true
	l.acts.Agents.Environ = append(l.acts.Agents.Environ, "CODEX_HOME="+l.dir, "CLAUDE_CONFIG_DIR="+l.dir, "ANTHROPIC_API_KEY=key", "OPENAI_API_KEY=key")
	l.acts.Agents.Binaries["claude"] = filepath.Join(l.dir, "agent.sh")
	l.acts.Agents.ExtraEnv["claude"] = map[string]string{"LAB": l.dir}
	l.plays("env > $LAB/env; touch $HOME/state; exit 1")
	home := filepath.Join(RunDir(l.acts.StateDir, runID), "home")
	for _, adapter := range []string{"claude", "codex"} {
		req := l.turn("01")
		req.Step, req.Target = "0"+string(adapter[1]), record.Engine{Adapter: adapter, Model: "default"}
		do[loop.TurnResult](l, l.acts.RunTurn, req)
		env := "\n" + l.read("env")
		require.Contains(t, env, "\nHOME="+home+"\n", adapter)
		require.NotContains(t, env, "CODEX_HOME="+l.dir)
		require.NotContains(t, env, "CLAUDE_CONFIG_DIR="+l.dir)
		require.Contains(t, env, "_API_KEY=key")
	}
	require.FileExists(t, filepath.Join(home, "state"))
	l.acts.clearWork(runID)
	require.NoDirExists(t, home)
}

// Where an engine reports tokens only, the worker's prices tell the cost.
func TestTheWorkersPricesTellTheCost(t *testing.T) {
	l := newLab(t).prepare(false)
	l.acts.Prices = testPrices
	stream := `
echo '{"type":"thread.started","thread_id":"t1"}'
echo '{"type":"turn.started"}'
echo '{"type":"item.completed","item":{"type":"agent_message","text":"done"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":1000,"cached_input_tokens":500,"output_tokens":100}}'
`
	l.plays("echo 1 >> work.go" + stream)
	for model, want := range map[string]float64{"gpt-test": 0.0025, "gpt-other": -1} {
		req := l.turn("01")
		req.Step = map[string]string{"gpt-test": "01", "gpt-other": "02"}[model]
		req.Target = record.Engine{Adapter: "codex", Provider: "openai", ModelFamily: "gpt", Model: model}
		out := do[loop.TurnResult](l, l.acts.RunTurn, req)
		require.Equal(t, record.ClassOK, out.Class, out.Message)
		require.EqualValues(t, 1000, out.Usage.InputTokens)
		if want < 0 {
			require.Nil(t, out.Usage.CostUSD, "unknown is not zero")
			continue
		}
		require.InDelta(t, want, *out.Usage.CostUSD, 1e-9)
		require.True(t, out.Usage.Priced)
	}
}

// A turn that breaks off after the model's first word was paid, and one that was refused was not: only the first may make
// the bill unknown.
func TestATurnSaysWhetherTheModelWorked(t *testing.T) {
	l := newLab(t).prepare(false)
	refused := `echo '{"type":"thread.started","thread_id":"t1"}'; echo '{"type":"turn.started"}'; `
	failed := `echo '{"type":"turn.failed","error":{"message":"stream disconnected before completion"}}'; exit 1`
	for step, c := range map[string]struct {
		script string
		worked bool
	}{
		"01": {refused + failed, false},
		"02": {refused + `echo '{"type":"item.started","item":{"type":"command_execution","command":"make"}}'; ` + failed, true},
		"03": {refused + `echo '{"type":"item.completed","item":{"type":"agent_message","text":"I look"}}'; ` + failed, true},
	} {
		l.plays(c.script)
		req := l.turn(step)
		req.Target = record.Engine{Adapter: "codex", Provider: "openai", ModelFamily: "gpt", Model: "gpt-test"}
		out := do[loop.TurnResult](l, l.acts.RunTurn, req)
		require.Equal(t, record.ClassTransient, out.Class, out.Message)
		require.Nil(t, out.Usage)
		require.Equal(t, c.worked, out.Worked, step)
		require.Zero(t, out.Lost)
	}
}

// opencode reports each request of a turn when it is through: of one that was ended, the last is in no report.
func TestARequestThatWasGoingOnIsUnknownUsage(t *testing.T) {
	l := newLab(t).prepare(false)
	l.acts.Agents.Binaries["opencode"] = filepath.Join(l.dir, "agent.sh")
	l.acts.Agents.ExtraEnv["opencode"] = map[string]string{"LAB": l.dir}
	step := func(reason string) string {
		return `echo '{"type":"step_start","sessionID":"s"}'; echo '{"type":"text","sessionID":"s","part":{"text":"x"}}'; ` +
			`echo '{"type":"step_finish","sessionID":"s","part":{"reason":"` + reason + `","tokens":{"input":10,"output":1}}}'; `
	}
	for name, c := range map[string]struct {
		script string
		class  record.Class
		lost   int
	}{
		"01": {step("tool-calls") + `echo '{"type":"step_start","sessionID":"s"}'; kill -9 $$`, record.ClassTransient, 1},
		"02": {step("tool-calls") + step("stop"), record.ClassOK, 0},
		"03": {step("tool-calls") + "kill -9 $$", record.ClassTransient, 0},
	} {
		l.plays(c.script)
		req := l.turn(name)
		req.Target = record.Engine{Adapter: "opencode", Provider: "p", ModelFamily: "f", Model: "p/m"}
		out := do[loop.TurnResult](l, l.acts.RunTurn, req)
		require.Equal(t, c.class, out.Class, out.Message)
		require.NotNil(t, out.Usage, name)
		require.Equal(t, c.lost, out.Lost, name)
	}
}
