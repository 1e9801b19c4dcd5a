package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Role is what a turn is for. The zero value is the narrow one.
type Role int

// The roles.
const (
	// Reader reads its workspace, the system and its own installation, and changes neither.
	Reader Role = iota
	// Writer also changes the workspace, reads the home but for its secrets, and fills tools' caches.
	Writer
	// Command is a set-up, lint or verify command of the user's: a writer without an agent's state.
	Command
)

// Turn is one call of an agent or a command, as far as the sandbox is concerned.
type Turn struct {
	Role Role
	// Program and Args are what is called; Env is its whole environment.
	Program string
	Args    []string
	Env     []string
	// Home is the user's; "" takes HOME of Env, which is another one where the agent has a home of its own.
	Home      string
	Workspace string
	// Temp is an empty folder of this turn for temporary files.
	Temp string
	// Read and Write are other places that this turn needs: object stores, prompt; the agent's own output.
	Read, Write []string
	// State is where the agent keeps its login; made when missing.
	State []StatePath
	// Caches are folders that writers may fill beside the well-known ones.
	Caches []string
	// Protected are files and folders of the workspace that a writer must not change.
	Protected []string
	// Hide are places of ours, runs and store, and logins that are not this turn's.
	Hide []string
	// Worker is the environment of the process that runs the turn: where it names a place of credentials, that is hidden.
	Worker []string
	// homes are Home and HOME of Env; see homes.
	homes []string
}

// Policy is what the turn may touch. It makes missing state paths and the caches of installed tools. Its error is that
// something the turn cannot do without does not exist.
func (t Turn) Policy() (Policy, error) {
	t.homes = homes(t.Home, valueOf(t.Env, "HOME"))
	b := &builder{linked: map[string]bool{}}
	b.policy.Temp = t.Temp
	t.common(b)
	for _, home := range t.homes {
		if t.Role != Reader {
			b.add(Read, home)
		}
		b.add(Hidden, hidden(home, t.State)...)
		b.add(Hidden, filepath.Join(home, ".local/state/conclave"))
	}
	b.add(Hidden, systemSecrets...)
	b.add(Hidden, credentials(t.Worker, t.homes)...)
	b.add(Hidden, t.Hide...)
	if t.Role != Reader {
		t.caches(b)
	}
	if err := t.state(b); err != nil {
		return Policy{}, err
	}
	t.temporary(b)
	b.demand(Read, t.Read...)
	b.demand(Write, t.Write...)
	t.workspace(b)
	if b.err != nil {
		return Policy{}, fmt.Errorf("the sandbox lacks what the turn needs: %w", b.err)
	}
	b.policy.Rules = order(b.policy.Rules)
	return b.policy, nil
}

// common is the system and what the program consists of.
func (t Turn) common(b *builder) {
	b.add(Read, system...)
	for _, file := range named {
		b.add(Read, file)
	}
	for _, name := range certificates {
		if path := valueOf(t.Env, name); path != "" {
			b.add(Read, path)
		}
	}
	b.add(Read, Installation(t.Program, t.Args, valueOf(t.Env, "PATH"), t.homes)...)
	for _, dir := range filepath.SplitList(valueOf(t.Env, "PATH")) {
		if filepath.IsAbs(dir) && !holdsOne(dir, t.homes) { // that would show all of the home
			b.add(Read, dir)
		}
	}
}

// caches belong to the home that the turn has: with one of its own it fills none of the user's.
func (t Turn) caches(b *builder) {
	own := valueOf(t.Env, "HOME")
	if own == "" {
		own = t.Home
	}
	for _, home := range homes("", own) {
		for _, c := range caches {
			t.cache(b, home, c)
		}
	}
	for _, name := range cacheVariables {
		if dir := valueOf(t.Env, name); dir != "" {
			b.add(Write, dir)
		}
	}
	if dir := valueOf(t.Env, "GOPATH"); isFolder(dir) {
		t.fill(b, filepath.Join(dir, "pkg"), true)
	}
	if dir := valueOf(t.Env, "GRADLE_USER_HOME"); dir != "" {
		t.fill(b, dir, false)
		keep(b, dir, obeyed[".gradle"], false)
	}
	b.add(Write, t.Caches...)
	for _, home := range t.homes { // what caches hold that is secret, and an agent's own that are not this one's
		b.add(Hidden, hidden(home, t.State)...)
	}
	b.add(Hidden, credentials(t.Worker, t.homes)...)
}

func (t Turn) cache(b *builder, home string, c cache) {
	dir := filepath.Join(home, c.path)
	t.fill(b, dir, c.tool != "" && lookUp(c.tool, valueOf(t.Env, "PATH")) != "" && isFolder(home))
	keep(b, dir, obeyed[c.path], false)
}

func (t Turn) fill(b *builder, dir string, missing bool) {
	if missing {
		_ = os.MkdirAll(dir, 0o755) // what cannot be made is not there
	}
	b.add(Write, dir)
}

// keep makes read-only what is obeyed in a folder that exists.
func keep(b *builder, dir string, names []string, soft bool) {
	for _, name := range names {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) && isFolder(dir) {
			if strings.HasSuffix(name, "/") {
				_ = os.Mkdir(path, 0o755)
			} else {
				_ = os.WriteFile(path, nil, 0o644)
			}
		}
		b.rule(Rule{Path: path, Access: Read, Soft: soft})
	}
}

// homes are the user's home and the one that the environment names, without links.
func homes(user, env string) []string {
	var out []string
	for _, home := range []string{user, env} {
		if home == "" {
			continue
		}
		if real, _, err := resolve(home); err == nil && real != home && !slices.Contains(out, real) {
			out = append(out, real)
		}
		if !slices.Contains(out, home) {
			out = append(out, home)
		}
	}
	return out
}

// holdsOne says that a folder is one of the homes or holds one.
func holdsOne(dir string, homes []string) bool {
	return slices.ContainsFunc(homes, func(home string) bool { return within(dir, home) })
}

// state makes the state paths before they are bound: what does not exist cannot be.
func (t Turn) state(b *builder) error {
	for _, s := range t.State {
		if err := create(s); err != nil {
			return fmt.Errorf("make the agent's state %s: %w; check the folder's permissions", s.Path, err)
		}
		b.demand(Write, s.Path)
		keep(b, s.Path, s.Instructions, true)
		for _, name := range keptStates {
			b.rule(Rule{Path: filepath.Join(s.Path, name), Access: Read, Soft: true})
		}
	}
	return nil
}

func create(s StatePath) error {
	if s.Content == "" {
		return os.MkdirAll(s.Path, 0o700)
	}
	if _, err := os.Lstat(s.Path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.Path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(s.Path, []byte(s.Content), 0o600)
}

// temporary puts the turn's own folder in the place of everybody's.
func (t Turn) temporary(b *builder) {
	b.demand(Write, t.Temp)
	for _, place := range []string{tempPlace, "/var/tmp"} {
		b.rule(Rule{Path: place, Access: Write, Source: t.Temp})
	}
}

func (t Turn) workspace(b *builder) {
	if t.Role == Reader {
		b.demand(Read, t.Workspace)
		return
	}
	b.demand(Write, t.Workspace)
	real, _, err := resolve(t.Workspace)
	if err != nil {
		return
	}
	for _, path := range t.Protected {
		// Never through a link: it would bind what lies outside.
		if at, links, err := resolve(path); err == nil && len(links) == len(linksOf(t.Workspace)) && at != real && within(real, at) {
			b.rule(Rule{Path: at, Access: Read, Soft: true})
		}
	}
}

func linksOf(path string) []Link {
	_, links, _ := resolve(path)
	return links
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// lookUp finds a program on a search path.
func lookUp(name, path string) string {
	if strings.ContainsRune(name, '/') {
		return name
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return file
		}
	}
	return ""
}
