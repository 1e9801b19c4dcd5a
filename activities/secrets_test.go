package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"conclave/internal/agent"
	"conclave/internal/loop"
	"conclave/internal/record"
)

// drawn is a text of letters and digits that no file of ours holds.
func drawn(n int) string {
	const set = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz23456789"
	b := make([]byte, n)
	for i := range b {
		b[i] = set[rand.IntN(len(set))]
	}
	return string(b)
}

// spies are secrets that a test hides: a token of a known shape, the value of a key variable, and one that the
// configuration gives to an agent.
type spies struct{ token, key, given string }

func newSpies() spies { return spies{"ghp_" + drawn(36), "plain value " + drawn(20), drawn(24) + "7"} }

// leaks names what of the secrets stands in a text. A piece of one is one: what is cut short looks like nothing.
func (s spies) leaks(text []byte) []string {
	const piece = 8
	var found []string
	for name, value := range map[string]string{"token": s.token[4:], "key": strings.TrimPrefix(s.key, "plain value "), "given": s.given} {
		for at := 0; at+piece <= len(value); at++ {
			if bytes.Contains(text, []byte(value[at:at+piece])) {
				found = append(found, name)
				break
			}
		}
	}
	return found
}

// spiedLab is a lab whose process has secrets, which its agents and commands find in the file "spill".
func spiedLab(t *testing.T) (*lab, spies) {
	l, s := newLab(t), newSpies()
	environ := append(slices.Clone(l.acts.Environ), "OPENAI_API_KEY="+s.key)
	agents := l.acts.Agents
	agents.Environ = environ
	agents.ExtraEnv = map[string]map[string]string{"hand": {"LAB": l.dir, "HAND_TOKEN": s.given}, "codex": {"LAB": l.dir}, "gemini": {"LAB": l.dir}}
	agents.Binaries = map[string]string{"codex": filepath.Join(l.dir, "agent.sh"), "gemini": filepath.Join(l.dir, "agent.sh")}
	acts, err := New(Options{Store: l.store, StateDir: l.acts.StateDir, Environ: environ, Agents: agents, Sandbox: SandboxOff})
	require.NoError(t, err)
	l.acts = acts
	require.NoError(t, os.WriteFile(filepath.Join(l.dir, "spill"), []byte(fmt.Sprintf("%s and %s and %s\n", s.token, s.key, s.given)), 0o600))
	return l.prepare(false), s
}

// nothingIn looks through the whole store.
func (l *lab) nothingIn(s spies) {
	l.t.Helper()
	files := 0
	require.NoError(l.t, filepath.WalkDir(filepath.Join(l.dir, "store"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		content, err := os.ReadFile(path)
		if leaks := s.leaks(content); len(leaks) > 0 {
			l.t.Errorf("%s in %s: %.300s", leaks, path, content)
		}
		return err
	}))
	require.Greater(l.t, files, 5)
}

func (l *lab) nothingAt(s spies, value any) {
	l.t.Helper()
	raw, err := json.Marshal(value)
	require.NoError(l.t, err)
	require.Empty(l.t, s.leaks(raw), string(raw))
}

func TestNoSecretReachesTheStoreOrTheHistory(t *testing.T) {
	l, s := spiedLab(t)
	// The writer puts them into the change, prints them on both streams, and says them.
	l.plays(`cat $LAB/spill > new.env; cp $LAB/spill cache.txt; cat $LAB/spill; cat $LAB/spill >&2; echo "I used $HAND_TOKEN"; cat $LAB/spill`)
	write := l.turn("01")
	write.Setup, write.SetupTimeout = "cat "+l.dir+"/spill", write.Timeout
	write.Requirement = l.put("Add Sum") // what a person asks for is theirs
	wrote := do[loop.TurnResult](l, l.acts.RunTurn, write)
	require.Equal(t, record.ClassOK, wrote.Class, wrote.Message)
	l.nothingAt(s, wrote)
	require.Contains(t, l.get(wrote.Final), "[redacted:github-token]")
	require.Contains(t, l.get(wrote.Final), "[redacted:environment:OPENAI_API_KEY]")
	require.Contains(t, l.get(wrote.Final), "[redacted:environment:HAND_TOKEN]")
	require.Contains(t, l.get(wrote.TotalDiff), "+[redacted:github-token] and ")
	content, _, err := l.repo().File(t.Context(), wrote.Snapshot.Commit, "new.env")
	require.NoError(t, err)
	require.Contains(t, string(content), s.token, "the change itself is the writer's")

	// Verifier and linter print them, too.
	checked := l.verify("02", wrote.Snapshot, "cat new.env; echo '--- FAIL: TestSum' $(cat new.env); exit 1 # "+s.token)
	checked.Lint = "cat new.env"
	verified := do[loop.VerifyResult](l, l.acts.Verify, checked)
	require.Equal(t, loop.GateFail, verified.Gate)
	l.nothingAt(s, verified)
	require.Contains(t, l.get(verified.Failure), "[redacted:github-token]")

	// A reviewer's prompt shows the diff without them; its answer quotes them, and points at their line.
	l.plays(`cat new.env >&2; printf '%s\n' '` + "```json\n" + `{"verdict":"block","confidence":0.9,"evidence":"token","reviewed":["new.env","cache.txt"],"findings":[{"severity":"high","kind":"patch","title":"'"$(cat new.env)"'","claim":"It holds '"$(cat new.env)"'","evidence":[{"path":"new.env","line":1,"quote":"'"$(cat new.env)"'"}]}]}` + "\n```\nVERDICT: BLOCK" + `'`)
	ask := l.review("03", wrote.Snapshot)
	ask.Lint, ask.VerifySummary = verified.Lint, verified.Message
	reviewed := do[loop.TurnResult](l, l.acts.RunTurn, ask)
	require.Equal(t, record.ClassOK, reviewed.Class, reviewed.Message)
	require.Len(t, reviewed.Findings, 1)
	l.nothingAt(s, reviewed)
	require.Empty(t, s.leaks([]byte(l.read("prompt"))), "the prompt")
	require.Contains(t, l.read("prompt"), "+[redacted:github-token] and [redacted:environment:OPENAI_API_KEY]")
	require.Contains(t, reviewed.Findings[0].Anchor, "redacted", "the code at its place")

	// So does the repair that is told of it.
	l.plays("echo done")
	repair := l.turn("04")
	repair.Turn, repair.Iteration, repair.Workspace = "repair", 2, l.workspace(wrote.Snapshot)
	repair.Feedback.Failure = verified.Failure
	repair.Feedback.Findings = []loop.Known{{ID: "F1"}}
	repair.Feedback.Findings[0].Texts = append(repair.Feedback.Findings[0].Texts, reviewed.Findings[0].Text)
	l.nothingAt(s, do[loop.TurnResult](l, l.acts.RunTurn, repair))
	require.Empty(t, s.leaks([]byte(l.read("prompt"))), "the prompt of the repair")
	l.nothingIn(s)
}

// beats are the heartbeats of a stream, also those that the SDK would hold back because they come too often.
func (l *lab) beats(adapter, stream string) []string {
	l.t.Helper()
	follow := func(ctx context.Context) ([]string, error) {
		p := startPulse(ctx, "01", l.acts.secrets)
		defer p.stop()
		engine, err := l.acts.Agents.Lookup(adapter)
		if err != nil {
			return nil, err
		}
		log := newEventLog(filepath.Join(l.t.TempDir(), "events"))
		defer log.close()
		t := &turn{Activities: l.acts, beat: p, parts: l.acts.secrets.Parts()}
		take := t.follow(engine.Parser(agent.TurnSpec{}), log)
		var beats []string
		for line := range strings.Lines(stream) {
			if err := take([]byte(line)); err != nil {
				return nil, err
			}
			beats = append(beats, p.beat.Action)
		}
		return beats, nil
	}
	beats, err := try[[]string](attempt{}, follow, nil)
	require.NoError(l.t, err)
	return *beats
}

// codex reports its commands: the last one is the heartbeat.
func TestNoSecretIsInAHeartbeatOrAnEvent(t *testing.T) {
	l, s := spiedLab(t)
	begin := `{"type":"thread.started","thread_id":"t-1"}` + "\n" + `{"type":"turn.started"}` + "\n"
	// Long before the secret, so that the text of the event is cut within it.
	command := strings.Repeat("x", 100) + " && curl -H 'Authorization: " + s.token + "' && echo '" + s.key + "'"
	raw, err := json.Marshal(map[string]any{"type": "item.started", "item": map[string]any{"id": "i1", "type": "command_execution", "command": command, "status": "in_progress"}})
	require.NoError(t, err)
	said, err := json.Marshal(map[string]any{"type": "item.completed", "item": map[string]any{"id": "i2", "type": "agent_message", "text": "used " + s.token + "\n\nVERDICT: PASS"}})
	require.NoError(t, err)
	stream := begin + string(raw) + "\n" + string(said) + "\n" + `{"type":"turn.completed","usage":{"input_tokens":3,"cached_input_tokens":0,"output_tokens":1}}` + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(l.dir, "stream"), []byte(stream), 0o600))
	change := l.wrote("01", draft).Snapshot
	l.plays("cat $LAB/stream")
	ask := l.review("02", change)
	ask.Target = record.Engine{Adapter: "codex", Provider: "openai", ModelFamily: "gpt", Model: agent.DefaultModel}
	out := do[loop.TurnResult](l, l.acts.RunTurn, ask)
	beats := l.beats("codex", stream)
	require.Equal(t, record.ClassOK, out.Class, out.Message)
	l.nothingAt(s, out)
	l.nothingAt(s, beats)
	require.Contains(t, strings.Join(beats, "\n"), "curl -H 'Authorization: [redacted:")
	require.Contains(t, l.get(out.Artifacts["transcript.jsonl"]), "[redacted:github-token]")
	for line := range strings.Lines(l.get(out.Artifacts["transcript.jsonl"]) + l.get(out.Artifacts["events.jsonl"])) {
		require.True(t, json.Valid([]byte(line)), line)
	}
	l.nothingIn(s)
}

// gemini shows its words while it makes them: no part holds the secret, all of them do.
func TestNoSecretIsInTheManyPartsOfAMessage(t *testing.T) {
	l, s := spiedLab(t)
	said := "I found the token " + s.token + " in it, and " + s.key + ", and " + s.given + ".\n\nVERDICT: PASS"
	for i, most := range []int{5, 13, 37} {
		var stream strings.Builder
		stream.WriteString(`{"type":"init","timestamp":"2026-11-30T12:00:00.000Z","session_id":"s-1","model":"gemini-2.5-pro"}` + "\n")
		for rest := said; rest != ""; {
			n := min(most, len(rest))
			part, err := json.Marshal(map[string]any{"type": "message", "role": "assistant", "content": rest[:n], "delta": true})
			require.NoError(t, err)
			stream.WriteString(string(part) + "\n")
			rest = rest[n:]
		}
		stream.WriteString(`{"type":"result","status":"success","stats":{"total_tokens":9,"input_tokens":3,"output_tokens":1}}` + "\n")
		require.NoError(t, os.WriteFile(filepath.Join(l.dir, "stream"), []byte(stream.String()), 0o600))
		change := l.wrote(fmt.Sprintf("%d-1", i), draft).Snapshot
		l.plays("cat $LAB/stream")
		ask := l.review(fmt.Sprintf("%d-2", i), change)
		ask.Target = record.Engine{Adapter: "gemini", Provider: "google", ModelFamily: "gemini", Model: agent.DefaultModel}
		out := do[loop.TurnResult](l, l.acts.RunTurn, ask)
		beats := l.beats("gemini", stream.String())
		require.Contains(t, strings.Join(beats, "\n"), "found the token")
		require.Equal(t, record.ClassOK, out.Class, out.Message)
		require.Equal(t, "pass", out.Verdict)
		require.Contains(t, l.get(out.Final), "I found the token [redacted:github-token] in it, and [redacted:environment:OPENAI_API_KEY], and [redacted:environment:HAND_TOKEN].")
		kept := l.get(out.Artifacts["transcript.jsonl"]) + l.get(out.Artifacts["events.jsonl"]) + strings.Join(beats, "\n")
		for _, secret := range []string{s.token[4:], s.key[12:], s.given} {
			for at := 0; at+5 <= len(secret); at += 5 {
				require.NotContains(t, kept, secret[at:at+5], "%d a part", most)
			}
		}
		require.Contains(t, kept, "VERD")
		for line := range strings.Lines(l.get(out.Artifacts["transcript.jsonl"]) + l.get(out.Artifacts["events.jsonl"])) {
			require.True(t, json.Valid([]byte(line)), line)
		}
	}
	l.nothingIn(s)
}

func TestAHeartbeatIsCutBehindItsSecrets(t *testing.T) {
	l, s := spiedLab(t)
	last := func(ctx context.Context) (Beat, error) {
		p := startPulse(ctx, "01", l.acts.secrets)
		defer p.stop()
		p.act(strings.Repeat("x", messageLimit-20) + s.key)
		return p.beat, nil
	}
	beat, err := try[Beat](attempt{}, last, nil)
	require.NoError(t, err)
	require.Contains(t, beat.Action, "xxx[redacted:")
	require.LessOrEqual(t, len(beat.Action), messageLimit)
}

func TestNoSecretIsInAnError(t *testing.T) {
	l, s := spiedLab(t)
	for _, told := range []error{
		l.acts.failed(typeEffect, errors.New(strings.Repeat("x", messageLimit-20)+s.key)), l.acts.retryable(errors.New(s.token)),
	} {
		require.Empty(t, s.leaks([]byte(told.Error())))
		require.NotContains(t, told.Error(), s.key[:12], "not even its beginning, where the text is cut")
	}
	err := temporal.NewApplicationErrorWithOptions("no "+s.token, "KIND", temporal.ApplicationErrorOptions{NonRetryable: true})
	l.acts.hide(&err)
	var told *temporal.ApplicationError
	require.ErrorAs(t, err, &told)
	require.True(t, told.NonRetryable())
	require.Equal(t, "KIND", told.Type())
	require.Equal(t, "no [redacted:github-token]", told.Message())
	plain := fmt.Errorf("wrapped: %w", errors.New(s.given))
	l.acts.hide(&plain)
	require.Equal(t, "wrapped: [redacted:environment:HAND_TOKEN]", plain.Error())
	_, err = try[loop.Prepared](attempt{}, l.acts.PrepareRun, &loop.PrepareRequest{RunID: "x", Source: loop.Source{Dir: filepath.Join(l.dir, s.token)}, At: began})
	require.ErrorContains(t, err, "[redacted:github-token]")
	require.Empty(t, s.leaks([]byte(err.Error())))
}

func TestOnlyKeysOfTheEnvironmentAreHidden(t *testing.T) {
	l := newLab(t)
	require.True(t, l.acts.secrets.Clean([]byte(l.dir+" "+os.TempDir()+" "+os.Getenv("PATH"))), "PATH, HOME and places are no secrets")
	none := &Activities{}
	require.Equal(t, "text", none.secrets.String("text"))
}

// A secret in the change closes the gate, without a model, and whatever the command says.
func TestASecretInTheChangeClosesTheGate(t *testing.T) {
	l, s := spiedLab(t)
	wrote := l.wrote("01", "mkdir config; (echo NAME=x; cat $LAB/spill) > config/prod.env; echo done")
	found := wrote.Scan.Found
	require.NotNil(t, found)
	require.Equal(t, 3, found.Count)
	require.Contains(t, found.Summary, "the change brings in 3 secrets, first config/prod.env:2: ")
	var rules []string
	for _, secret := range wrote.Scan.Secrets {
		require.Equal(t, "config/prod.env", secret.Path)
		require.Equal(t, 2, secret.Line)
		rules = append(rules, secret.Rule)
	}
	require.ElementsMatch(t, []string{"github-token", "environment:OPENAI_API_KEY", "environment:HAND_TOKEN"}, rules)
	require.Contains(t, l.get(found.Report), "- config/prod.env:2: GitHub token (github-token), ghp_... (40 characters)\n")

	for i, c := range []struct {
		command, message string
		exit             int
	}{{"", "brings in 3 secrets", 0}, {"true", "brings in 3 secrets", 0}, {"echo '--- FAIL: TestSum'; exit 3", "and the verify command failed with exit code 3", 3}} {
		req := l.verify(fmt.Sprintf("%02d", i+2), wrote.Snapshot, c.command)
		req.Secrets = found
		out := do[loop.VerifyResult](l, l.acts.Verify, req)
		require.Equal(t, record.ClassOK, out.Class, out.Message)
		require.Equal(t, loop.GateFail, out.Gate)
		require.Equal(t, c.exit, out.ExitCode)
		require.Equal(t, 3, out.Secrets)
		require.Contains(t, out.Message, c.message)
		require.NotEmpty(t, out.FailureDigest)
		require.Contains(t, l.get(out.Failure), "config/prod.env:2")
		require.Equal(t, c.exit != 0, strings.Contains(l.get(out.Failure), "TestSum"))
		l.nothingAt(s, out)
	}
	req := l.verify("09", wrote.Snapshot, "exec sleep 600")
	req.Secrets, req.Timeout = found, time.Second
	require.Equal(t, record.ClassTimeout, do[loop.VerifyResult](l, l.acts.Verify, req).Class, "what was not judged is no answer")

	// Taken out again, the gate is the command's.
	l.plays("rm -r config; echo done")
	repair := l.turn("10")
	repair.Workspace = l.workspace(wrote.Snapshot)
	mended := do[loop.TurnResult](l, l.acts.RunTurn, repair)
	require.Nil(t, mended.Scan.Found)
	l.nothingIn(s)
}

func TestAPersonAllowsPathsThatHoldWhatLooksLikeASecret(t *testing.T) {
	l, s := spiedLab(t)
	password := "Qz7m" + "K2vX" + "9tB5" + "4!" // one drawn at random may look like a word, and is found by nobody then
	l.plays("mkdir fixtures; cp $LAB/spill fixtures/a.txt; echo 'password = \"" + password + "\"' > calc_test.go; cp calc_test.go settings.go; echo done")
	req := l.turn("01")
	req.AllowSecrets = []string{"fixtures/**"}
	out := do[loop.TurnResult](l, l.acts.RunTurn, req)
	require.Len(t, out.Scan.Secrets, 1, "a test may hold what only its name calls a secret")
	require.Equal(t, "settings.go", out.Scan.Secrets[0].Path)
	l.nothingIn(s)
	req = l.turn("02")
	req.AllowSecrets = []string{"["}
	_, err := try[loop.TurnResult](attempt{}, l.acts.RunTurn, req)
	require.ErrorContains(t, err, "review.allow_secrets")
}
