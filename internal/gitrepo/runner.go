package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Limits of one git call. They are far above what a healthy disk needs: they end a hang, they are no budget.
const (
	quickLimit = 2 * time.Minute
	heavyLimit = 30 * time.Minute
	// stderrKept bounds what a failed call keeps of git's words.
	stderrKept = 4096
)

// Runner starts git with our environment and nothing of the caller's: inherited GIT_* are removed, no system or global
// configuration is read, and hooks, signing, pagers, prompts, external diffs, text conversion, auto-crlf, LFS smudge,
// fsmonitor, gc and lazy fetching are off. The zero value runs "git" from PATH.
type Runner struct {
	Binary string        // "" = git
	Limit  time.Duration // of a quick call; 0 = quickLimit. A heavy call (checkout, pack) gets at least heavyLimit unless set.
}

// call is one invocation. Zero fields mean "not set".
type call struct {
	gitDir   string // GIT_DIR
	workTree string // GIT_WORK_TREE, and the current directory
	index    string // GIT_INDEX_FILE
	objects  string // GIT_OBJECT_DIRECTORY
	config   []setting
	env      []string
	user     bool // read the user's own configuration too (only ever for `git config`)
	heavy    bool
	stdin    io.Reader
	stdout   io.Writer  // nil = returned
	inherit  []*os.File // locks that must live as long as git does
}

// setting is one configuration value given by the environment.
type setting struct{ key, value string }

// settings are ours for every call; they win over any file.
var settings = []setting{
	{"core.hooksPath", os.DevNull},
	{"core.excludesFile", os.DevNull},
	{"core.attributesFile", os.DevNull},
	{"core.fsmonitor", "false"},
	{"core.untrackedCache", "false"},
	{"core.splitIndex", "false"},
	{"core.autocrlf", "false"},
	{"core.safecrlf", "false"},
	{"core.quotePath", "false"},
	{"core.pager", "cat"},
	{"core.askPass", ""},
	{"core.editor", ":"},
	{"color.ui", "false"},
	{"commit.gpgSign", "false"},
	{"tag.gpgSign", "false"},
	{"gc.auto", "0"},
	{"maintenance.auto", "false"},
	{"diff.ignoreSubmodules", "all"},
	{"submodule.recurse", "false"},
	{"credential.helper", ""},
	{"protocol.allow", "never"},
	{"advice.addEmbeddedRepo", "false"},
}

// fixedEnv is ours for every call.
var fixedEnv = []string{
	"GIT_TERMINAL_PROMPT=0",
	"GIT_OPTIONAL_LOCKS=0",
	"GIT_PAGER=cat",
	"GIT_EDITOR=:",
	"GIT_SEQUENCE_EDITOR=:",
	"GIT_ASKPASS=",
	"SSH_ASKPASS=",
	"GIT_LFS_SKIP_SMUDGE=1",
	"GIT_ATTR_NOSYSTEM=1",
	"GIT_NO_REPLACE_OBJECTS=1",
	"GIT_NO_LAZY_FETCH=1",
	"GIT_LITERAL_PATHSPECS=1",
	"GIT_ADVICE=0",
	"LC_ALL=C",
	"LANGUAGE=",
}

// Machine identity of snapshot commits, and of a landed commit whose user has none configured.
const (
	machineName  = "conclave"
	machineEmail = "conclave@localhost"
)

// run executes one call and gives its standard output (nil when c.stdout took it).
func (r Runner) run(ctx context.Context, c call, args ...string) ([]byte, error) {
	out, _, err := r.runBoth(ctx, c, args...)
	return out, err
}

// line executes one call and gives its standard output without the final newline.
func (r Runner) line(ctx context.Context, c call, args ...string) (string, error) {
	out, err := r.run(ctx, c, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// runBoth is run, with the standard error of a call that succeeded: git only warns about what it could not read.
func (r Runner) runBoth(ctx context.Context, c call, args ...string) (stdout, stderr []byte, err error) {
	limited, cancel := context.WithTimeoutCause(ctx, r.limit(c), ErrTimeout)
	defer cancel()
	cmd := exec.CommandContext(limited, r.binary(), args...)
	cmd.Env = environment(os.Environ(), c)
	cmd.Dir = directory(c)
	cmd.Stdin = c.stdin
	cmd.ExtraFiles = c.inherit
	var out bytes.Buffer
	tail := &tailWriter{limit: stderrKept}
	cmd.Stdout, cmd.Stderr = &out, tail
	if c.stdout != nil {
		cmd.Stdout = c.stdout
	}
	ownGroup(cmd)
	err = cmd.Run()
	if err != nil {
		return nil, nil, failure(limited, ctx, c, args, tail.kept, err)
	}
	return out.Bytes(), tail.kept, nil
}

func (r Runner) binary() string {
	if r.Binary != "" {
		return r.Binary
	}
	return "git"
}

func (r Runner) limit(c call) time.Duration {
	switch {
	case r.Limit > 0:
		return r.Limit
	case c.heavy:
		return heavyLimit
	}
	return quickLimit
}

// failure turns a failed call into a GitError with its cause.
func failure(limited, outer context.Context, c call, args []string, stderr []byte, err error) error {
	failed := &GitError{Args: args, Dir: c.where(), Exit: -1, Stderr: string(stderr)}
	var exit *exec.ExitError
	isExit := errors.As(err, &exit)
	if isExit {
		failed.Exit = exit.ExitCode()
	}
	switch {
	case errors.Is(err, exec.ErrNotFound):
		failed.Cause = fmt.Errorf("%w: install git 2.34 or newer and put it on PATH", ErrNoGit)
	case outer.Err() != nil:
		failed.Cause = context.Cause(outer)
	case limited.Err() != nil:
		failed.Cause = ErrTimeout
	default:
		failed.Cause = systemCause(stderr)
		if failed.Cause == nil && !isExit {
			failed.Cause = err
		}
	}
	return failed
}

// where names the repository of a call in messages.
func (c call) where() string {
	if c.workTree != "" {
		return c.workTree
	}
	return c.gitDir
}

// directory is the current directory of the call: never the caller's, whose surroundings must not matter.
func directory(c call) string {
	switch {
	case c.workTree != "":
		return c.workTree
	case c.gitDir != "":
		return c.gitDir
	}
	return string(os.PathSeparator)
}

// environment builds the whole environment of a call from the inherited one.
func environment(inherited []string, c call) []string {
	env := make([]string, 0, len(inherited)+len(fixedEnv)+2*len(settings)+16)
	for _, entry := range inherited {
		if keepInherited(entry, c.user) {
			env = append(env, entry)
		}
	}
	env = append(env, fixedEnv...)
	if !c.user {
		env = append(env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
		env = append(env, configEnv(append(append([]setting{}, settings...), c.config...))...)
	}
	for name, value := range map[string]string{
		"GIT_DIR": c.gitDir, "GIT_WORK_TREE": c.workTree, "GIT_INDEX_FILE": c.index, "GIT_OBJECT_DIRECTORY": c.objects,
	} {
		if value != "" {
			env = append(env, name+"="+value)
		}
	}
	env = append(env, identityEnv(machineName, machineEmail, time.Unix(0, 0))...)
	return append(env, c.env...)
}

// keepInherited decides on one inherited variable. Where the user's own configuration is wanted, the variables that
// say where it lies stay.
func keepInherited(entry string, user bool) bool {
	name, _, _ := strings.Cut(entry, "=")
	switch name {
	case "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM":
		return user
	case "SSH_ASKPASS", "LC_ALL", "LANGUAGE", "PAGER", "EDITOR", "VISUAL":
		return false
	}
	return !strings.HasPrefix(name, "GIT_")
}

// configEnv gives settings by the environment, which keeps argument lists readable.
func configEnv(all []setting) []string {
	env := []string{"GIT_CONFIG_COUNT=" + strconv.Itoa(len(all))}
	for i, s := range all {
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+s.key, "GIT_CONFIG_VALUE_"+n+"="+s.value)
	}
	return env
}

// identityEnv gives author and committer with one date, so that a repeated commit has the same id.
func identityEnv(name, email string, when time.Time) []string {
	date := fmt.Sprintf("@%d +0000", when.Unix())
	return []string{
		"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + email, "GIT_AUTHOR_DATE=" + date,
		"GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + email, "GIT_COMMITTER_DATE=" + date,
	}
}

// tailWriter keeps the last bytes written to it.
type tailWriter struct {
	kept  []byte
	limit int
}

// Write implements io.Writer and never fails.
func (w *tailWriter) Write(p []byte) (int, error) {
	w.kept = append(w.kept, p...)
	if over := len(w.kept) - w.limit; over > 0 {
		w.kept = append(w.kept[:0], w.kept[over:]...)
	}
	return len(p), nil
}

// splitZ splits NUL-terminated records.
func splitZ(out []byte) []string {
	var records []string
	for len(out) > 0 {
		record, rest, _ := bytes.Cut(out, []byte{0})
		records = append(records, string(record))
		out = rest
	}
	return records
}

// joinZ is the input form of a path list.
func joinZ(paths []string) io.Reader {
	var b bytes.Buffer
	for _, path := range paths {
		b.WriteString(path)
		b.WriteByte(0)
	}
	return &b
}
