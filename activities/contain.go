package activities

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/internal/agent"
	"conclave/internal/gitrepo"
	"conclave/internal/guard"
	"conclave/internal/process"
	"conclave/internal/runindex"
	"conclave/internal/sandbox"
)

// The values of Options.Sandbox.
const (
	// SandboxAuto takes the strongest sandbox that works, and warns where none does. It is the default.
	SandboxAuto = "auto"
	// SandboxRequired runs nothing where none works.
	SandboxRequired = "required"
	// SandboxOff leaves containment to the agents' own sandboxes.
	SandboxOff = "off"
)

// detect is a variable for tests of machines on which nothing holds.
var detect = sandbox.Detect

// containment is what holds a turn: nil Confinement is nothing of ours.
type containment struct {
	*sandbox.Confinement
	// note tells the record why nothing does.
	note string
	// temp is the folder for temporary files; it goes with the turn.
	temp string
	// settings are what the user's own sessions and tools obey, as it was before.
	settings settings
}

// clean removes the temporary files, and puts back links to settings.
func (c containment) clean() {
	c.settings.putBack()
	if c.temp != "" {
		_ = gitrepo.RemoveTree(c.temp)
	}
}

// tempSeen is the folder for temporary files as the command sees it.
func (c containment) tempSeen() string {
	if c.Confinement == nil {
		return filepath.Clean(os.TempDir())
	}
	return c.Temp
}

// kind is the word for the record.
func (c containment) kind() string {
	if c.Confinement == nil {
		return string(sandbox.None)
	}
	return string(c.Kind)
}

// holds says whether turns of this process are contained by us.
func (a *Activities) holds(ctx context.Context) bool {
	return a.Sandbox != SandboxOff && detect(ctx).Kind() != sandbox.None
}

// errNoSandbox is what a turn says that may not run without one.
type errNoSandbox struct{ why string }

func (e errNoSandbox) Error() string {
	return "no sandbox holds on this machine, and one is required (--sandbox required, CONCLAVE_SANDBOX): " + e.why
}

// contain makes a turn's sandbox. Its error is that the turn must not be run: one is required and there is none, or
// something that the turn needs does not exist.
func (a *Activities) contain(ctx context.Context, turn sandbox.Turn) (containment, error) {
	support := detect(ctx)
	switch {
	case a.Sandbox == SandboxOff:
		return containment{}, nil
	case support.Kind() == sandbox.None && a.Sandbox == SandboxRequired:
		return containment{}, errNoSandbox{support.Why()}
	case support.Kind() == sandbox.None:
		return containment{note: "nothing of ours contained the agents: " + support.Why()}, nil
	}
	turn.Home, turn.Worker = homeOf(a.Environ), a.Environ
	turn.Caches = append(turn.Caches, a.Caches...)
	hidden, err := a.hiddenFrom(turn)
	if err != nil {
		return containment{}, err
	}
	turn.Hide = append(turn.Hide, hidden...)
	policy, err := turn.Policy()
	if err != nil {
		return containment{}, err
	}
	confinement, err := support.Confine(policy, turn.Workspace)
	return containment{Confinement: confinement}, err
}

// hiddenFrom are the places of ours that a turn must not read, and the agents' logins that variables put elsewhere than
// they are by default; a turn's own come back with its state.
func (a *Activities) hiddenFrom(turn sandbox.Turn) ([]string, error) {
	out := append([]string{a.StateDir}, a.Hide...)
	if folder, ok := a.Store.(interface{ Dir() string }); ok {
		out = append(out, folder.Dir())
	}
	for _, name := range agent.Names() {
		adapter, err := a.Agents.Lookup(name)
		if err != nil {
			continue // a command that is not configured
		}
		for _, place := range adapter.Facts().StatePaths(turn.Home, a.Environ) {
			out = append(out, place.Path)
		}
	}
	if turn.Role == sandbox.Reader { // it sees nothing of the home, where repositories lie
		return out, nil
	}
	bundles, err := a.bundleFolders()
	return append(out, bundles...), err
}

// bundleFolders hold the bundles of this run and of the others that the state folder knows: transcripts, prompts and
// findings, in the users' repositories. They are looked for again when a run was added: with thousands of them it takes a
// while.
func (a *Activities) bundleFolders() ([]string, error) {
	a.bundles.Lock()
	defer a.bundles.Unlock()
	info, err := os.Stat(filepath.Join(a.StateDir, "runs"))
	if err == nil && info.ModTime().Equal(a.bundles.at) {
		return a.bundles.folders, nil
	}
	entries, listErr := runindex.Open(a.StateDir).List()
	if err = errors.Join(err, listErr); err != nil {
		return nil, err
	}
	roots := []string{a.Own.Dir}
	for _, e := range entries {
		roots = append(roots, e.Source)
	}
	a.bundles.at, a.bundles.folders = info.ModTime(), nil
	if time.Since(info.ModTime()) < justAdded {
		a.bundles.at = time.Time{}
	}
	for _, root := range roots {
		if dir := filepath.Join(root, bundleFolder); root != "" && !slices.Contains(a.bundles.folders, dir) {
			a.bundles.folders = append(a.bundles.folders, dir)
		}
	}
	return a.bundles.folders, nil
}

// justAdded is how long a run may take from its folder to its entry; until then the list is not kept.
const justAdded = time.Minute

// bundleList is what bundleFolders found, and when.
type bundleList struct {
	sync.Mutex
	at      time.Time
	folders []string
}

// containTurn makes the sandbox of an agent's turn.
func (t *turn) containTurn(ctx context.Context, inv agent.Invocation) (containment, error) {
	temp, err := t.temporary(ctx, t.scratch)
	if err != nil {
		return containment{}, err
	}
	states := t.state(inv.Env)
	turn := sandbox.Turn{
		Role: sandbox.Reader, Program: inv.Path, Args: inv.Args, Env: inv.Env, Workspace: t.space.dir, Temp: temp,
		Read: append(objectStores(t.space.repo.ObjectsDir()), inv.StdinFile), Write: []string{t.agentScratch()}, State: states,
	}
	turn.Read = append(turn.Read, keyFiles(inv.Env)...)
	if t.IsolateHome { // the user's home keeps its secrets, whatever the agent takes for its own
		turn.Home, turn.State = homeOf(t.Agents.Environ), append(turn.State, sandbox.StatePath{Path: t.home()})
	}
	if t.req.Writing {
		turn.Role = sandbox.Writer
		if t.req.KeepProtected {
			turn.Protected, err = protectedFiles(t.space.dir, t.rules)
		}
	}
	if err != nil {
		return containment{temp: temp}, err
	}
	held, err := t.contain(ctx, turn)
	held.temp = temp
	held.settings = lookAtSettings(append(sandbox.Settings(states), sandbox.Obeyed(homeOf(inv.Env))...))
	return held, err
}

// keyFile names a file that is a login, for the programs whose environment has it.
const keyFile = "GOOGLE_APPLICATION_CREDENTIALS"

// keyFiles are the files of logins that an agent's environment names. One that is missing is the agent's to complain about.
func keyFiles(env []string) []string {
	for _, e := range slices.Backward(env) {
		path, ok := strings.CutPrefix(e, keyFile+"=")
		if !ok {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return []string{path}
		}
		break
	}
	return nil
}

// agentScratch is the part of the turn's scratch folder that the agent may change: what it leaves for us, and settings
// that we make for it. Its streams and its prompt, which become evidence, lie outside.
func (t *turn) agentScratch() string { return filepath.Join(t.scratch, "agent") }

// temporary makes the folder for a turn's temporary files. Inside bubblewrap it is /tmp, wherever it lies. Elsewhere its
// path must be short: a socket's name has at most 107 bytes.
func (a *Activities) temporary(ctx context.Context, scratch string) (string, error) {
	if detect(ctx).Kind() != sandbox.Landlock || a.Sandbox == SandboxOff {
		return os.MkdirTemp(scratch, "tmp-")
	}
	dir, err := os.MkdirTemp("", tempPrefix)
	if err != nil {
		return "", err
	}
	// Whoever comes after a killed worker finds it by this link, which no agent can write.
	return dir, os.Symlink(dir, filepath.Join(scratch, tempLink+strings.TrimPrefix(filepath.Base(dir), tempPrefix)))
}

// tempPrefix begins the name of a turn's folder for temporary files outside of its scratch folder, tempLink that of the
// link to it.
const (
	tempPrefix = "conclave-"
	tempLink   = "temp-"
)

// clearTemporary removes such folders that killed workers left.
func (a *Activities) clearTemporary(runID string) {
	links, _ := filepath.Glob(filepath.Join(RunDir(a.StateDir, runID), "turns", "*", tempLink+"*"))
	for _, link := range links {
		if dir, err := os.Readlink(link); err == nil && strings.HasPrefix(filepath.Base(dir), tempPrefix) {
			_ = gitrepo.RemoveTree(dir)
		}
	}
}

// state are the places of the engine's login and sessions.
func (t *turn) state(env []string) []sandbox.StatePath {
	adapter, err := t.Agents.Lookup(t.req.Target.Adapter)
	if err != nil || t.req.DryRun {
		return nil
	}
	var out []sandbox.StatePath
	for _, place := range adapter.Facts().StatePaths(homeOf(env), env) {
		state := sandbox.StatePath{Path: place.Path, Instructions: place.Instructions}
		if place.File {
			state.Content = "{}\n"
		}
		out = append(out, state)
	}
	return out
}

// containCommand makes the sandbox of a set-up, lint or verify command.
func (c command) contain(ctx context.Context, w *workspace, scratch string, env []string) (containment, error) {
	temp, err := c.temporary(ctx, scratch)
	if err != nil {
		return containment{}, err
	}
	held, err := c.Activities.contain(ctx, sandbox.Turn{
		Role: sandbox.Command, Program: shell, Env: env, Workspace: w.dir, Temp: temp, Read: objectStores(w.repo.ObjectsDir()),
	})
	held.temp, held.settings = temp, lookAtSettings(sandbox.Obeyed(homeOf(env)))
	return held, err
}

// shell runs the user's commands.
const shell = "/bin/sh"

// refused is the end of a command that was not run.
func (c command) refused(err error, log string) (commandEnd, error) {
	why := process.Result{Cause: process.CauseStartFailed, ExitCode: -1, Message: err.Error()}
	return commandEnd{Result: why, limit: c.timeout, log: log, sandbox: string(sandbox.None)}, os.WriteFile(log, nil, 0o600)
}

// mostStores bounds how far object stores borrow from each other, as git does.
const mostStores = 6

// objectStores are the folders of git objects that a workspace's .git borrows from, with those that they borrow from.
// A repository that somebody else packed may name any folder there: only what looks like one is opened to an agent.
func objectStores(dir string) []string {
	found := []string{dir}
	for i := 0; i < len(found) && i < mostStores; i++ {
		list, _ := os.ReadFile(filepath.Join(found[i], "info", "alternates"))
		for line := range strings.Lines(string(list)) {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			if !filepath.IsAbs(line) {
				line = filepath.Join(found[i], line)
			}
			if isObjectStore(line) { // one that is gone is git's to complain about
				found = append(found, line)
			}
		}
	}
	return found
}

var objectFolder = regexp.MustCompile(`^([0-9a-f]{2}|pack|info|(tmp_|incoming-|bulk-|quarantine-).*)$`)

// isObjectStore tells a folder of git objects by what is in it: git's own two folders, or nothing else than objects.
func isObjectStore(dir string) bool {
	if isDir(filepath.Join(dir, "pack")) && isDir(filepath.Join(dir, "info")) {
		return true
	}
	entries, err := os.ReadDir(dir)
	return err == nil && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !e.IsDir() || !objectFolder.MatchString(e.Name()) })
}

// protectedFiles are the files of the workspace that a writer's sandbox keeps as they are: reviewer definitions, instruction
// files and conclave.yaml. Other protected paths can be written, and are asked about.
func protectedFiles(dir string, rules *guard.Rules) ([]string, error) {
	var out []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return nil //nolint:nilerr // what cannot be read is not there to be protected
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "node_modules" || rules.Generated(rel)) {
			return fs.SkipDir
		}
		if !rules.Kept(rel) {
			return nil
		}
		if out = append(out, path); len(out) > mostProtected {
			return fmt.Errorf("more than %d files of the workspace are protected: narrow review.protected, or use --allow-protected", mostProtected)
		}
		if entry.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return out, err
}

// mostProtected bounds the mounts of one turn.
const mostProtected = 500

// homeOf is the home folder that an environment names; of two the last counts.
func homeOf(env []string) string {
	home := ""
	for _, e := range env {
		if dir, ok := strings.CutPrefix(e, "HOME="); ok {
			home = dir
		}
	}
	return home
}
