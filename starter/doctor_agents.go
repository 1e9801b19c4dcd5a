package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/activities"
	"conclave/config"
	"conclave/internal/agent"
	"conclave/internal/process"
	"conclave/internal/sandbox"
)

// agentCheck begins the name of an agent's check.
const agentCheck = "agent "

// probeTime is how long a program may take to print its version.
const probeTime = 20 * time.Second

// agentState is what doctor found out about one agent's program.
type agentState struct {
	Path    string `json:"path,omitempty"`
	Version string `json:"version,omitempty"`
	Minimum string `json:"minimum_version,omitempty"`
	// Login names the variable or the file of a login, never what it holds; "" is none that can be seen.
	Login string `json:"login,omitempty"`
	// Reader says what kept a probe under a reviewer's conditions from writing: bubblewrap, landlock, none or "" when it failed.
	Reader string `json:"reader_sandbox,omitempty"`
}

// examiner looks at the agents' programs. It starts them for their version alone: no model is asked, no file of a login
// is read.
type examiner struct {
	settings agent.Settings
	environ  []string
	home     string
	host     config.Host
	// support is asked for once, and only when a program was found.
	support func() sandbox.Support
	needed  []string
	// elsewhere says that agents run on the workers of a cluster.
	elsewhere bool
}

// checkAgents looks at every adapter, all at once; only those of the preset are needed.
func checkAgents(ctx context.Context, c config.Config) []check {
	environ := os.Environ()
	e := examiner{
		settings: c.Host.AgentSettings(environ), environ: agent.CommandEnviron(environ), home: os.Getenv("HOME"), host: c.Host,
		support: sync.OnceValue(func() sandbox.Support { return sandbox.Detect(ctx) }), needed: c.Adapters(), elsewhere: c.Host.Address != "",
	}
	lines := slices.DeleteFunc(adapterLines(e.settings), func(l adapterLine) bool {
		return l.Name == agent.StubName || l.Name == agent.CommandName && l.Variable == ""
	})
	found := make([][]check, len(lines))
	var group sync.WaitGroup
	for i, line := range lines {
		group.Go(func() { found[i] = e.agent(ctx, line) })
	}
	group.Wait()
	return slices.Concat(found...)
}

// agent makes the checks of one adapter.
func (e examiner) agent(ctx context.Context, line adapterLine) []check {
	adapter, err := e.settings.Lookup(line.Name)
	if err != nil {
		return []check{{Name: agentCheck + line.Name, Says: err.Error()}}
	}
	facts := adapter.Facts()
	main := check{Name: agentCheck + line.Name, Needed: slices.Contains(e.needed, line.Name) && !e.elsewhere, Agent: &agentState{Minimum: facts.MinimumVersion}}
	if line.Missing != "" {
		main.Says = line.Missing + ": " + install(facts) + ", or set " + line.Variable + " to its path"
		if e.elsewhere {
			main.Says += " (on a cluster only the workers need it)"
		}
		return []check{main}
	}
	main.Agent.Path = line.Binary
	reader := check{Name: "reviews by " + line.Name, Needed: main.Needed}
	e.program(ctx, line.Binary, adapter, &main, &reader)
	login := e.login(line.Name, facts, main.Agent)
	return slices.DeleteFunc([]check{main, login, reader}, func(c check) bool { return c.Says == "" })
}

func install(facts agent.Facts) string {
	if facts.Install == "" {
		return "install it"
	}
	return "install it with `" + facts.Install + "`"
}

// errNoVersion is an installed program that takes too long to tell its version.
var errNoVersion = fmt.Errorf("it printed no version within %s", probeTime)

// tooSlow is the end of a probe that was ended before the program was done.
func tooSlow(cause, message string) error {
	if cause == string(process.CauseTimeout) {
		return errNoVersion
	}
	return fmt.Errorf("it ended early (%s): %s", cause, cmp.Or(message, "for no known reason"))
}

// cure is what to do about a program that cannot be run. To install one again that is only slow helps nobody.
func cure(err error, facts agent.Facts) string {
	if errors.Is(err, errNoVersion) {
		return "try again when this machine is less busy"
	}
	return install(facts)
}

// program starts the program for its version, under a reviewer's conditions where a sandbox holds.
func (e examiner) program(ctx context.Context, path string, adapter agent.Adapter, main, reader *check) {
	facts := adapter.Facts()
	main.Says, main.OK = path, true
	if len(facts.VersionArgs) == 0 {
		return // a program of the user's, of which nothing is known
	}
	ctx, cancel := context.WithTimeout(ctx, 2*probeTime)
	defer cancel()
	output, err := e.contained(ctx, path, adapter, main.Agent, reader)
	if output == "" {
		output, err = e.version(ctx, path, facts.VersionArgs)
	}
	version := agent.ParseVersion(output)
	main.Agent.Version = version
	switch {
	case err != nil:
		main.OK, main.Says = false, fmt.Sprintf("%s cannot be run: %v; %s", path, err, cure(err, facts))
	case version == "":
		main.OK, main.Needed, main.Says = false, false, path+" does not tell its version; it is used as it is"
	case agent.Older(version, facts.MinimumVersion):
		main.OK, main.Says = false, fmt.Sprintf("%s is version %s, older than %s: %s", path, version, facts.MinimumVersion, install(facts))
	default:
		main.Says = fmt.Sprintf("%s, version %s", path, version)
		if facts.MinimumVersion != "" {
			main.Says += " (at least " + facts.MinimumVersion + ")"
		}
		if lacks := e.lacks(ctx, path, facts); len(lacks) > 0 {
			main.OK, main.Says = false, fmt.Sprintf("%s, version %s, does not know %s, which turns need: %s", path, version, strings.Join(lacks, ", "), install(facts))
		}
	}
}

// lacks are flags that turns need and the program's help does not name. No help is no finding.
func (e examiner) lacks(ctx context.Context, path string, facts agent.Facts) []string {
	if len(facts.HelpArgs) == 0 {
		return nil
	}
	help, err := e.version(ctx, path, facts.HelpArgs)
	if err != nil {
		return nil
	}
	return facts.Lacks(help)
}

// version is what the program prints, outside of any sandbox.
func (e examiner) version(ctx context.Context, path string, args []string) (string, error) {
	dir, err := os.MkdirTemp("", "conclave-doctor-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = e.environ, dir, time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return "", errNoVersion
	}
	if err != nil && agent.ParseVersion(string(out)) == "" {
		return "", fmt.Errorf("%w: %s", err, cutBytes(strings.TrimSpace(string(out)), 200))
	}
	return string(out), nil
}

// attempt starts the program given to it, and then tries to change the workspace, which a reviewer must not be able to.
const attempt = `"$@" || exit 20; (echo x > attempt) 2>/dev/null && exit 21; rm -f file 2>/dev/null && test ! -e file && exit 22; exit 0`

// contained starts the program as a reviewer's turn does, where a sandbox of ours holds, and tries to write there.
func (e examiner) contained(ctx context.Context, path string, adapter agent.Adapter, state *agentState, reader *check) (string, error) {
	if e.host.Sandbox == activities.SandboxOff {
		state.Reader, reader.Needed = string(sandbox.None), false
		reader.Says = "--sandbox off: only its own read-only mode keeps it from writing; what it changes is found, and its answer not used"
		return "", nil
	}
	support := e.support()
	if support.Kind() == sandbox.None {
		state.Reader = string(sandbox.None)
		reader.Needed = reader.Needed && e.host.Sandbox == activities.SandboxRequired
		reader.Says = "nothing of ours contains them here (" + support.Why() + "); what they change is found, and the answer not used"
		return "", nil
	}
	output, err := e.probe(ctx, support, path, adapter)
	if err != nil {
		reader.Says = fmt.Sprintf("under a reviewer's conditions (%s): %v", support.Kind(), err)
		return output, err
	}
	state.Reader = string(support.Kind())
	reader.OK, reader.Says = true, fmt.Sprintf("%s starts inside %s, and cannot write what it reviews", adapter.Name(), support.Kind())
	return output, nil
}

// probe runs attempt inside a reviewer's sandbox. Its output is the program's.
func (e examiner) probe(ctx context.Context, support sandbox.Support, path string, adapter agent.Adapter) (string, error) {
	dir, err := os.MkdirTemp("", "conclave-doctor-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	workspace, temp := filepath.Join(dir, "workspace"), filepath.Join(dir, "tmp")
	if err := errors.Join(os.Mkdir(workspace, 0o700), os.Mkdir(temp, 0o700), os.WriteFile(filepath.Join(workspace, "file"), []byte("x\n"), 0o600)); err != nil {
		return "", err
	}
	args := append([]string{"-c", attempt, "sh", path}, adapter.Facts().VersionArgs...)
	policy, err := sandbox.Turn{
		Role: sandbox.Reader, Program: path, Args: adapter.Facts().VersionArgs, Env: e.environ, Home: e.home, Workspace: workspace, Temp: temp,
		State: e.state(adapter.Facts()),
	}.Policy()
	if err != nil {
		return "", err
	}
	confinement, err := support.Confine(policy, workspace)
	if err != nil {
		return "", err
	}
	stdout, stderr := filepath.Join(dir, "stdout"), filepath.Join(dir, "stderr")
	end, err := process.Run(ctx, process.Spec{
		Name: adapter.Name(), Path: "/bin/sh", Args: args, Env: e.environ, Dir: workspace, Stdout: stdout, Stderr: stderr,
		Sandbox: confinement, Timeout: probeTime, Grace: time.Second,
	}, nil)
	if err != nil {
		return "", err
	}
	printed, _ := os.ReadFile(stdout)
	complaint, _ := os.ReadFile(stderr)
	switch {
	case end.Cause != process.CauseExited:
		return string(printed), tooSlow(string(end.Cause), end.Message)
	case end.ExitCode == 21 || end.ExitCode == 22:
		return string(printed), errors.New("it could change the workspace")
	case end.ExitCode != 0:
		return string(printed), fmt.Errorf("it does not start: %s", cmp.Or(cutBytes(strings.TrimSpace(string(complaint)), 300), fmt.Sprintf("exit code %d", end.ExitCode)))
	}
	return string(printed), nil
}

// state are the places of a login and of sessions that exist: a probe makes none.
func (e examiner) state(facts agent.Facts) []sandbox.StatePath {
	var out []sandbox.StatePath
	for _, place := range facts.StatePaths(e.home, e.settings.Environ) {
		if _, err := os.Stat(place.Path); err == nil {
			out = append(out, sandbox.StatePath{Path: place.Path})
		}
	}
	return out
}

// login says which login can be seen. One that cannot be seen is no failure: it may be in a keychain or in the program's
// own settings, and whether one that is seen is good only a turn shows.
func (e examiner) login(name string, facts agent.Facts, state *agentState) check {
	line := check{Name: "login of " + name}
	if len(facts.Keys) == 0 && facts.LogIn == "" {
		return line
	}
	home, environ := e.home, e.settings.Environ
	for key, value := range e.settings.ExtraEnv[name] {
		environ = append(slices.Clone(environ), key+"="+value)
	}
	if e.host.IsolateHome { // keys alone: files of the user's are not seen
		facts.State = nil
	}
	seen := facts.Login(home, environ)
	if line.OK = seen.Found; line.OK {
		state.Login, line.Says = seen.How, seen.How+" (whether it is good only a turn shows)"
		return line
	}
	line.Says = "none can be seen: " + facts.LogIn
	if e.host.IsolateHome {
		line.Says = "none can be seen, and --isolate-home hides login files: set " + strings.Join(facts.Keys, " or ")
	}
	return line
}
