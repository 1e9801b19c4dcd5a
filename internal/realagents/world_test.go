//go:build linux || darwin

package realagents

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"conclave/internal/agent"
	"conclave/internal/fakemodel"
	"conclave/internal/process"
)

// engine is one of the real programs.
type engine struct {
	name  string
	model string // that the tests ask for
	api   fakemodel.API
}

var engines = []engine{
	{"claude", "claude-sonnet-4-5", fakemodel.Anthropic},
	{"codex", "gpt-5.5", fakemodel.Responses},
	{"opencode", "fake/fake-model", fakemodel.Chat},
	{"gemini", "gemini-2.5-pro", fakemodel.Gemini},
}

// world is a machine on which nothing but the scripted model can be reached.
type world struct {
	t       *testing.T
	dir     string
	home    string
	server  *fakemodel.Server
	address string
	// whole says that the programs are called by a run of the starter's.
	whole atomic.Bool
}

func newWorld(t *testing.T, script fakemodel.Script) *world {
	t.Helper()
	bins(t)
	dir := t.TempDir()
	w := &world{t: t, dir: dir, home: folder(t, dir, "home"), server: fakemodel.New(script)}
	folder(t, dir, "tmp")
	w.server.Before = w.witness
	address, end, err := w.server.Listen()
	require.NoError(t, err)
	t.Cleanup(end)
	w.address = address
	write(t, filepath.Join(w.home, ".gemini", "settings.json"), `{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false}}`)
	return w
}

func folder(t *testing.T, parts ...string) string {
	t.Helper()
	dir := filepath.Join(parts...)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	folder(t, filepath.Dir(path))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(content)
}

// environ is the environment of the worker: what the programs get of it is their adapter's allow-list.
func (w *world) environ() []string {
	return []string{
		"PATH=" + bins(w.t) + ":" + os.Getenv("PATH"), "HOME=" + w.home, "TMPDIR=" + filepath.Join(w.dir, "tmp"), "LANG=C.UTF-8",
		"CONCLAVE_UNRELATED_SECRET=" + unrelated,
	}
}

// unrelated stands for whatever else is in a worker's environment.
const unrelated = "hidden-from-agents"

// dummyKey is no key anywhere.
const dummyKey = "dummy-key-of-the-tests"

// leads says by which variables and arguments a program is led to a server.
func leads(engine, address string) (env map[string]string, args []string) {
	url := "http://" + address
	switch engine {
	case "claude":
		return map[string]string{"ANTHROPIC_API_KEY": dummyKey, "ANTHROPIC_BASE_URL": url}, nil
	case "codex":
		provider := fmt.Sprintf(`model_providers.scripted={name="Scripted",base_url=%q,wire_api="responses",env_key="SCRIPTED_KEY"}`, url+"/v1")
		return map[string]string{"SCRIPTED_KEY": dummyKey}, []string{"-c", `model_provider="scripted"`, "-c", provider}
	case "opencode":
		return map[string]string{"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_CONFIG_CONTENT": opencodeConfig(url)}, nil
	}
	return map[string]string{"GEMINI_API_KEY": dummyKey, "GOOGLE_GEMINI_BASE_URL": url}, nil
}

func opencodeConfig(url string) string {
	type object = map[string]any
	config, _ := json.Marshal(object{
		"enabled_providers": []string{"fake"},
		"provider": object{"fake": object{
			"npm": "@ai-sdk/openai-compatible", "name": "Fake", "options": object{"baseURL": url + "/v1", "apiKey": dummyKey},
			"models": object{"fake-model": object{
				"name": "Fake", "limit": object{"context": 4000000, "output": 8000}, "cost": object{"input": 3, "output": 15},
			}},
		}},
	})
	return string(config)
}

// settings are the worker's.
func (w *world) settings() agent.Settings {
	s := agent.Settings{
		Environ: w.environ(), ExtraEnv: map[string]map[string]string{}, ExtraArgs: map[string][]string{},
		Identities: map[string]agent.Identity{"opencode": {Adapter: "opencode", Provider: "acme", ModelFamily: "acme-large"}},
	}
	for _, e := range engines {
		s.ExtraEnv[e.name], s.ExtraArgs[e.name] = leads(e.name, w.address)
	}
	return s
}

// turn is one call of a program, without a run around it.
type turn struct {
	engine  engine
	role    string // review when empty
	writing bool
	prompt  string // after the header
	idle    time.Duration
	limit   time.Duration
	own     agent.CLISandbox
	model   string // the engine's when empty
}

// played is what became of a turn.
type played struct {
	agent.Outcome
	inv       agent.Invocation
	end       process.Result
	events    []agent.Event
	stderr    string
	stdout    string
	workspace string
	took      time.Duration
}

// workspace is a fresh folder under git with one commit.
func (w *world) workspace(files map[string]string) string {
	w.t.Helper()
	dir, err := os.MkdirTemp(w.dir, "workspace-")
	require.NoError(w.t, err)
	write(w.t, filepath.Join(dir, "calc.go"), "package calc\n")
	for name, text := range files {
		write(w.t, filepath.Join(dir, name), text)
	}
	git(w.t, dir, "init", "-q", "-b", "main")
	git(w.t, dir, "add", ".")
	git(w.t, dir, "commit", "-qm", "start")
	return dir
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=user", "GIT_AUTHOR_EMAIL=user@localhost",
		"GIT_COMMITTER_NAME=user", "GIT_COMMITTER_EMAIL=user@localhost", "GIT_CONFIG_GLOBAL="+os.DevNull)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return strings.TrimSpace(string(out))
}

// play runs a turn in a workspace.
func (w *world) play(turn turn, workspace string) played {
	w.t.Helper()
	adapter, spec, inv := w.prepare(turn, workspace)
	header := fmt.Sprintf("conclave role=%s run=r round=0 seat=%s lens=- evidence=%s findings=-\n\n", spec.Role, turn.engine.name, strings.Repeat("ab", 12))
	write(w.t, spec.PromptFile, header+turn.prompt)
	_, err := inv.WriteFiles(workspace)
	require.NoError(w.t, err)
	return w.call(turn, spec, inv, adapter.Parser(spec))
}

// invocation is how a turn would be called.
func (w *world) invocation(turn turn, workspace string) agent.Invocation {
	w.t.Helper()
	_, _, inv := w.prepare(turn, workspace)
	return inv
}

func (w *world) prepare(turn turn, workspace string) (agent.Adapter, agent.TurnSpec, agent.Invocation) {
	w.t.Helper()
	role := turn.role
	if role == "" {
		role = map[bool]string{true: "implement", false: "review"}[turn.writing]
	}
	scratch, err := os.MkdirTemp(w.dir, "scratch-")
	require.NoError(w.t, err)
	target := agent.Target{Adapter: turn.engine.name, Model: turn.engine.model}
	if turn.model != "" {
		target.Model = turn.model
	}
	s := w.settings()
	s.CLISandbox = turn.own
	target, err = agent.TargetFor(target.Adapter, target.Model, s)
	require.NoError(w.t, err)
	spec := agent.TurnSpec{
		Role: role, Writing: turn.writing, Workspace: workspace, Scratch: scratch, PromptFile: filepath.Join(scratch, "prompt.md"),
		Target: target, Timeout: turn.limit,
	}
	adapter, err := s.Lookup(turn.engine.name)
	require.NoError(w.t, err)
	inv, err := adapter.Invocation(spec, s)
	require.NoError(w.t, err)
	return adapter, spec, inv
}

func (w *world) call(turn turn, spec agent.TurnSpec, inv agent.Invocation, parser agent.Parser) played {
	w.t.Helper()
	p := played{inv: inv, workspace: spec.Workspace}
	if turn.limit == 0 {
		turn.limit = 10 * time.Minute // some try for three minutes, on a fast machine
	}
	stdout, stderr := filepath.Join(spec.Scratch, "stdout"), filepath.Join(spec.Scratch, "stderr")
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	began := time.Now()
	end, err := process.Run(ctx, process.Spec{
		Name: spec.Target.Adapter, Path: inv.Path, Args: inv.Args, Env: inv.Env, Dir: inv.Dir, Stdin: inv.StdinFile,
		Stdout: stdout, Stderr: stderr, StopSignal: inv.StopSignal, Timeout: turn.limit, IdleTimeout: turn.idle,
	}, func(line []byte) error {
		found := parser.Line(line)
		p.events = append(p.events, found...)
		if why := agent.FatalReason(found); why != "" {
			return fmt.Errorf("%w: %s", process.ErrStop, why)
		}
		return nil
	})
	require.NoError(w.t, err)
	p.took, p.end = time.Since(began), end
	var last []byte
	if inv.LastMessageFile != "" {
		last, _ = os.ReadFile(inv.LastMessageFile)
	}
	p.stdout, p.stderr = read(w.t, stdout), read(w.t, stderr)
	p.Outcome = parser.Outcome(agent.ProcessEnd{
		Code: end.ExitCode, Signal: end.Signal, Cause: string(end.Cause), Message: end.Message,
		Stderr: process.StderrTail(stderr, 16<<10), LastMessage: last, Limit: turn.limit, SessionDir: inv.SessionDir,
	})
	return p
}
