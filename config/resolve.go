package config

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"conclave/internal/agent"
)

// The default time limits of an agent turn.
const (
	defaultWriterTimeout = 30 * time.Minute
	defaultReaderTimeout = 15 * time.Minute
)

// config builds the typed result out of checked texts.
func (l *loading) config() Config {
	c := Config{
		Preset: l.preset.Name, PresetNamed: l.named,
		Discipline:       l.text("discipline"),
		ReviewWhen:       l.text("review.when"),
		VerdictMode:      l.text("verdict_mode"),
		RequireFindings:  l.flag("review.require_findings"),
		AllowSelfReview:  l.flag("allow_self_review"),
		RequireDiversity: l.flag("require_diversity"),
		Design:           l.flag("design") || l.where["designer"] == "--designer",
		MaxIters:         l.number("max_iters"),
		Quorum:           l.number("quorum"),
		SeatConcurrency:  l.number("seat_concurrency"),
		VerifyCmd:        l.text("verify_cmd"),
		SetupCmd:         l.text("setup_cmd"),
		LintCmd:          l.text("lint_cmd"),
		WriterSession:    l.text("writer_session"),
		WriterTimeout:    l.duration("timeout", defaultWriterTimeout),
		ReaderTimeout:    l.duration("timeout", defaultReaderTimeout),
		IdleTimeout:      l.duration("idle_timeout", 0),
		VerifyTimeout:    l.duration("verify_timeout", 0),
	}
	c.TrustReviewers, c.Advisory, c.AllowProtected = l.flag("trust_reviewers"), l.flag("advisory"), l.flag("allow_protected")
	l.discipline(&c)
	l.host(&c)
	if !l.sources.HostOnly {
		l.models(&c)
		if l.sources.Definition.Name != "" {
			l.adopt(&c)
		} else {
			l.lanes(&c)
			c.OwnSeats = !l.preset.seats(c.Seats)
		}
		l.defaultsOf(&c)
		l.ineffective(c)
	}
	l.effective(&c)
	c.Warnings = l.warnings
	return c
}

func (l *loading) text(name string) string { return l.vip.GetString(name) }

func (l *loading) flag(name string) bool {
	v, _ := parseBool(l.text(name))
	return v
}

func (l *loading) number(name string) int {
	n, _ := strconv.Atoi(l.text(name))
	return n
}

func (l *loading) duration(name string, otherwise time.Duration) time.Duration {
	if d, err := time.ParseDuration(l.text(name)); err == nil {
		return d
	}
	return otherwise
}

func (l *loading) host(c *Config) {
	c.Host = Host{
		Agents:      map[string]Agent{},
		Sandbox:     l.text("sandbox"),
		IsolateHome: l.flag("isolate_home"),
		Address:     l.text("address"),
		Namespace:   l.text("namespace"),
		TaskQueue:   l.text("task_queue"),
		StateDir:    l.folder("state_dir", DefaultStateDir),
	}
	c.Host.Caches = l.caches()
	c.Host.Store = l.folder("store", func() (string, error) { return filepath.Join(c.Host.StateDir, "store"), nil })
	c.Host.Prices, c.Host.Families = l.prices(), l.families()
	for _, file := range l.layers {
		for _, entry := range file.agents {
			c.Host.Agents[entry.Name] = l.agent(c.Host.Agents[entry.Name], entry)
		}
	}
	for _, name := range append(builtIn(), slices.Sorted(maps.Keys(c.Host.Agents))...) {
		if bin := binFromEnvironment(name); bin != "" {
			a := c.Host.Agents[name]
			a.Adapter, a.Bin = cmp.Or(a.Adapter, name), bin
			c.Host.Agents[name] = a
		}
	}
}

// folder makes a setting an absolute path.
func (l *loading) folder(name string, otherwise func() (string, error)) string {
	dir := l.text(name)
	var err error
	if dir == "" {
		dir, err = otherwise()
	} else {
		dir, err = absolute(dir)
	}
	if err != nil {
		l.problems = append(l.problems, Problem{What: l.where[name] + ": " + err.Error(), Remedy: "name a folder"})
	}
	return dir
}

// caches makes absolute paths of folders, of which "~/" begins one in the home.
func (l *loading) caches() []string {
	var out []string
	for _, dir := range strings.Split(l.text("sandbox_caches"), ",") {
		if dir = strings.TrimSpace(dir); dir == "" {
			continue
		}
		if rest, ok := strings.CutPrefix(dir, "~/"); ok {
			if home, err := os.UserHomeDir(); err == nil {
				dir = filepath.Join(home, rest)
			}
		}
		if !filepath.IsAbs(dir) || filepath.Clean(dir) == "/" {
			l.problems = append(l.problems, Problem{What: fmt.Sprintf("%s: sandbox_caches: %q is no folder of this machine", l.where["sandbox_caches"], dir), Remedy: "write an absolute path, or one that begins with ~/"})
			continue
		}
		out = append(out, filepath.Clean(dir))
	}
	return out
}

func absolute(dir string) (string, error) {
	if i := strings.Index(dir, "://"); i >= 0 {
		if dir[:i] != "file" {
			return "", fmt.Errorf("%s:// is not yet supported", dir[:i])
		}
		dir = dir[i+3:]
	}
	return filepath.Abs(dir)
}

func (l *loading) agent(a Agent, e agentEntry) Agent {
	a.Adapter = cmp.Or(e.Adapter, a.Adapter, e.Name)
	a.Bin, a.Model, a.Result = cmp.Or(e.Bin, a.Bin), cmp.Or(e.Model, a.Model), cmp.Or(e.Result, a.Result)
	if e.Argv != nil {
		a.Argv = e.Argv
	}
	if e.Env != nil {
		a.Env = e.Env
	}
	if e.Args != nil {
		a.Args = e.Args
	}
	for _, f := range e.Failures {
		if failure, err := agent.NewFailure(f.Class, f.Pattern); err == nil { // else the file's problem is listed
			a.Failures = append(a.Failures, failure)
		}
	}
	if id := e.Identity; id != nil {
		a.Provider, a.ModelFamily, a.IdentityModel = cmp.Or(id.Provider, a.Provider), cmp.Or(id.ModelFamily, a.ModelFamily), cmp.Or(id.Model, a.IdentityModel)
	}
	if err := checkAgent(a, e); err != nil {
		l.problems = append(l.problems, err)
	}
	return a
}

func (l *loading) models(c *Config) {
	c.Models = map[string]string{}
	for name, a := range c.Host.Agents {
		if a.Model != "" {
			c.Models[name] = a.Model
		}
	}
	for _, file := range l.layers {
		for name, v := range file.models {
			if err := l.adapter(*c, name, v.where+": models"); err != nil {
				l.problems = append(l.problems, err)
				continue
			}
			c.Models[name] = v.text
		}
	}
}

// distinct drops repeated problems: several seats may name one unknown adapter.
func distinct(problems []error) []error {
	var kept []error
	seen := map[string]bool{}
	for _, p := range problems {
		if !seen[p.Error()] {
			seen[p.Error()] = true
			kept = append(kept, p)
		}
	}
	return kept
}
