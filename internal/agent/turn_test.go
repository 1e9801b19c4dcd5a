//go:build linux || darwin

package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"conclave/internal/agent/stubrun"
	"conclave/internal/convergence"
	"conclave/internal/process"
	"conclave/internal/record"
)

func TestMain(m *testing.M) {
	process.Main()
	StubMain()
	goleak.VerifyTestMain(m)
}

// turn runs a whole turn: adapter, supervisor, parser.
func turn(t *testing.T, s Settings, spec TurnSpec, limit time.Duration) (Outcome, []Event) {
	t.Helper()
	a, err := s.Lookup(spec.Target.Adapter)
	require.NoError(t, err)
	inv, err := a.Invocation(spec, s)
	require.NoError(t, err)
	return call(t, a, inv, spec, limit)
}

func call(t *testing.T, a Adapter, inv Invocation, spec TurnSpec, limit time.Duration) (Outcome, []Event) {
	t.Helper()
	parser := a.Parser(spec)
	var events []Event
	stderr := filepath.Join(spec.Scratch, "stderr")
	end, err := process.Run(context.Background(), process.Spec{
		Name: spec.Target.Adapter, Path: inv.Path, Args: inv.Args, Env: inv.Env, Dir: inv.Dir, Stdin: inv.StdinFile,
		Stdout: filepath.Join(spec.Scratch, "stdout"), Stderr: stderr, StopSignal: inv.StopSignal, Grace: 200 * time.Millisecond, Timeout: limit,
	}, func(line []byte) error {
		found := parser.Line(line)
		events = append(events, found...)
		if why := FatalReason(found); why != "" {
			return fmt.Errorf("%w: %s", process.ErrStop, why)
		}
		return nil
	})
	require.NoError(t, err)
	last, _ := os.ReadFile(inv.LastMessageFile)
	return parser.Outcome(ProcessEnd{
		Code: end.ExitCode, Signal: end.Signal, Cause: string(end.Cause), Message: end.Message,
		Stderr: process.StderrTail(stderr, 16<<10), LastMessage: last, Limit: limit,
	}), events
}

func newTurn(t *testing.T, adapter, prompt string) TurnSpec {
	t.Helper()
	spec := TurnSpec{
		Role: "review", Workspace: t.TempDir(), Scratch: t.TempDir(),
		Target: Target{Adapter: adapter, Provider: "p", ModelFamily: "f", Model: "m"},
	}
	spec.PromptFile = filepath.Join(spec.Scratch, "prompt.md")
	require.NoError(t, os.WriteFile(spec.PromptFile, []byte(prompt), 0o600))
	return spec
}

// scripted is a settings in which a shell script plays an adapter's program.
func scripted(t *testing.T, adapter, script string) Settings {
	t.Helper()
	return Settings{
		Binaries: map[string]string{adapter: program(t, t.TempDir(), adapter, script)},
		Environ:  os.Environ(), CLISandbox: CLISandboxOff,
	}
}

func TestScriptedClaude(t *testing.T) {
	s := scripted(t, "claude", `read -r header
echo '{"type":"system","subtype":"init","session_id":"s1","model":"m"}'
echo '{"type":"assistant","message":{"model":"claude-x","content":[{"type":"tool_use","name":"Read","input":{"file_path":"a.go"}}]},"session_id":"s1"}'
printf '{"type":"result","subtype":"success","is_error":false,"result":"%s in %s","session_id":"s1"}\n' "$header" "$(basename "$PWD")"
exit 1
`)
	spec := newTurn(t, "claude", "conclave role=review\n")
	o, events := turn(t, s, spec, 5*time.Minute)
	require.Equal(t, ok, o.Class, o.Message)
	require.Equal(t, "conclave role=review in "+filepath.Base(spec.Workspace), string(o.Final))
	require.Equal(t, "s1", o.Session)
	require.Equal(t, Reported{Identity{"claude", "anthropic", "claude", "claude-x"}, record.SourceServed}, *o.Reported)
	require.Len(t, o.Notes, 1)
	require.Equal(t, "Read a.go", events[2].Action())
}

func TestScriptedCodexLeavesItsMessageInTheFile(t *testing.T) {
	s := scripted(t, "codex", `while [ "$1" != -o ]; do shift; done
cat >"$2"
echo '{"type":"thread.started","thread_id":"t1"}'
echo '{"type":"item.completed","item":{"type":"agent_message","text":"other"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":7,"output_tokens":3}}'
`)
	spec := newTurn(t, "codex", "the prompt\nVERDICT: PASS\n")
	o, _ := turn(t, s, spec, 5*time.Minute)
	require.Equal(t, ok, o.Class, o.Message)
	require.Equal(t, "the prompt\nVERDICT: PASS\n", string(o.Final))
	require.Equal(t, int64(7), o.Usage.InputTokens)
	require.Equal(t, record.SourcePinned, o.Reported.Source)
}

func TestAFatalRetryStopsTheTurnAtOnce(t *testing.T) {
	for adapter, line := range map[string]string{
		"claude": `{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"error_status":401,"error":"authentication_failed"}`,
		"codex":  `{"type":"error","message":"Reconnecting... 1/5 (unexpected status 401 Unauthorized: no)"}`,
	} {
		began := time.Now()
		const limit = 5 * time.Minute
		o, _ := turn(t, scripted(t, adapter, "echo '"+line+"'\nexec sleep 600\n"), newTurn(t, adapter, ""), limit)
		require.Equal(t, permanent, o.Class, o.Message)
		require.Equal(t, convergence.FailEngineUnavailable, o.Code)
		require.Contains(t, o.Message, "401")
		require.Less(t, time.Since(began), limit)
	}
}

func TestScriptedFailures(t *testing.T) {
	for _, c := range []struct {
		adapter, script string
		class           Class
		code, message   string
	}{
		{"claude", "exit 3\n", malformed, convergence.FailResultInvalid, "exit code 3"},
		{"claude", "echo broken >&2; exit 3\n", malformed, convergence.FailResultInvalid, "broken"},
		{"claude", "exit 0\n", malformed, convergence.FailResultInvalid, "exit code 0"},
		{"claude", "echo \"error: unknown option '--x'\" >&2; exit 1\n", permanent, convergence.FailEngineUnavailable, "unknown option"},
		{"codex", "kill -KILL $$\n", transient, convergence.FailEffect, "SIGKILL"},
		{"codex", "echo hi; sleep 300\n", timeout, convergence.FailTimeout, "timed out after 1s"},
		{"mine", "exit 0\n", malformed, convergence.FailResultInvalid, "empty"},
		{"mine", "echo answer; exit 2\n", malformed, convergence.FailResultInvalid, "exit code 2"},
		{"mine", "head -c 9000000 /dev/zero | tr '\\0' 'x' | fold -w 1000\n", malformed, convergence.FailResultTooLarge, "longer than"},
	} {
		t.Run(c.adapter+" "+short(c.script, 30), func(t *testing.T) {
			s := scripted(t, c.adapter, c.script)
			s.Commands = map[string]CommandSettings{"mine": {Argv: []string{"mine"}}}
			limit := 5 * time.Minute
			if c.class == timeout {
				limit = time.Second
			}
			o, _ := turn(t, s, newTurn(t, c.adapter, "p"), limit)
			require.Equal(t, c.class, o.Class, o.Message)
			require.Equal(t, c.code, o.Code)
			require.Contains(t, o.Message, c.message)
			require.Empty(t, o.Final)
		})
	}
}

func TestACommand(t *testing.T) {
	spec := newTurn(t, "mine", "hello\n")
	spec.Writing = true
	s := scripted(t, "mine", `echo "$CONCLAVE_ROLE $CONCLAVE_MODE $1"; cat`)
	s.Commands = map[string]CommandSettings{"mine": {Argv: []string{"mine", "{model}"}}}
	o, events := turn(t, s, spec, 5*time.Minute)
	require.Equal(t, ok, o.Class, o.Message)
	require.Equal(t, "review writing m\nhello\n", string(o.Final))
	require.Equal(t, Reported{spec.Target, record.SourceAdapter}, *o.Reported)
	require.Len(t, events, 2)
	require.False(t, o.Usage.Known)

	s = scripted(t, "mine", `echo chatter; cat >"$CONCLAVE_RESULT_FILE"`)
	s.Commands = map[string]CommandSettings{"mine": {Argv: []string{"mine"}, ResultFile: true}}
	o, _ = turn(t, s, newTurn(t, "mine", "from the file"), 5*time.Minute)
	require.Equal(t, "from the file", string(o.Final))

	_, err := command{}.Invocation(newTurn(t, "command", ""), Settings{})
	require.ErrorContains(t, err, "agents.command has no argv")
}

func TestACommandWithAFileIsNotAnsweredByItsChatter(t *testing.T) {
	s := scripted(t, "mine", "echo chatter\n")
	s.Commands = map[string]CommandSettings{"mine": {Argv: []string{"mine"}, ResultFile: true}}
	o, _ := turn(t, s, newTurn(t, "mine", ""), 5*time.Minute)
	require.Equal(t, malformed, o.Class)
}

const stubPrompt = "conclave role=%s run=%s round=%d seat=a lens=- evidence=- findings=%s\n\n# Requirement\n\n[begin requirement 0123abcd]\nAdd an endpoint\nthat answers\n[end requirement 0123abcd]\n"

func stubTurn(t *testing.T, role, run string, round int, findings string, writing bool) (Outcome, TurnSpec) {
	t.Helper()
	spec := newTurn(t, "stub", fmt.Sprintf(stubPrompt, role, run, round, findings))
	spec.Target = Target{"codex", "openai", "gpt", "gpt-5.5"} // a dry run: the lane's identity
	spec.Writing = writing
	a, err := Settings{}.Lookup(StubName)
	require.NoError(t, err)
	inv, err := a.Invocation(spec, Settings{Environ: os.Environ()})
	require.NoError(t, err)
	o, _ := call(t, a, inv, spec, 5*time.Minute)
	require.Equal(t, ok, o.Class, o.Message)
	require.Equal(t, spec.Target, o.Reported.Identity)
	return o, spec
}

func TestStub(t *testing.T) {
	read := func(spec TurnSpec) string {
		b, err := os.ReadFile(filepath.Join(spec.Workspace, stubrun.File))
		require.NoError(t, err)
		return string(b)
	}
	_, first := stubTurn(t, "implement", "run-1", 0, "-", true)
	_, again := stubTurn(t, "implement", "run-2", 0, "-", true)
	require.Equal(t, read(first), read(again), "the change does not depend on the run")
	require.Contains(t, read(first), "Add an endpoint")
	o, repair := stubTurn(t, "repair", "run-1", 1, "F1,F2", true)
	require.NotEqual(t, read(first), read(repair), "a repair changes something")
	require.Contains(t, string(o.Final), `"finding": "F2"`)

	o, review := stubTurn(t, "review", "run-1", 0, "-", false)
	require.True(t, strings.HasSuffix(string(o.Final), "\nVERDICT: PASS"), "%s", o.Final)
	entries, err := os.ReadDir(review.Workspace)
	require.NoError(t, err)
	require.Empty(t, entries, "a reviewer leaves nothing")
	o, _ = stubTurn(t, "design", "run-1", 0, "-", false)
	require.Contains(t, string(o.Final), "AC1")
	o, _ = stubTurn(t, "confirm", "run-1", 1, "F1", false)
	require.Contains(t, string(o.Final), `"confirmed": false`)
}

func TestAStubThatCannotWriteFails(t *testing.T) {
	spec := newTurn(t, "stub", "x")
	spec.Writing = true
	require.NoError(t, os.Mkdir(filepath.Join(spec.Workspace, stubrun.File), 0o700))
	o, _ := turn(t, Settings{Environ: os.Environ()}, spec, 5*time.Minute)
	require.Equal(t, malformed, o.Class)
	require.Contains(t, o.Message, stubrun.File)
}

func BenchmarkStubTurn(b *testing.B) {
	dir := b.TempDir()
	prompt := filepath.Join(dir, "prompt.md")
	require.NoError(b, os.WriteFile(prompt, []byte("x"), 0o600))
	spec := TurnSpec{Role: "review", Workspace: dir, Scratch: dir, PromptFile: prompt, Target: Target{Adapter: StubName}}
	for b.Loop() {
		inv, err := stub{}.Invocation(spec, Settings{Environ: os.Environ()})
		require.NoError(b, err)
		p := stub{}.Parser(spec)
		end, err := process.Run(context.Background(), process.Spec{
			Path: inv.Path, Args: inv.Args, Env: inv.Env, Dir: dir, Stdin: prompt, Stdout: filepath.Join(dir, "o"), Stderr: filepath.Join(dir, "e"),
		}, func(line []byte) error { p.Line(line); return nil })
		require.NoError(b, err)
		require.Equal(b, ok, p.Outcome(ProcessEnd{Cause: string(end.Cause), Code: end.ExitCode}).Class)
	}
}
