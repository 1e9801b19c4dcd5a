package agent

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Settings is what a process brings to its agents: places, programs, and its environment.
type Settings struct {
	// Binaries names programs by adapter (CONCLAVE_<ADAPTER>_BIN or configuration): a path, or a name on PATH.
	Binaries map[string]string
	// Commands are the programs of the command adapter, by the name that lanes use.
	Commands map[string]CommandSettings
	// Environ is the worker's environment; each adapter takes from it what its allow-list names.
	Environ []string
	// ExtraEnv are variables by adapter (agents.<name>.env); they win over Environ.
	ExtraEnv map[string]map[string]string
	// ExtraArgs are arguments by adapter (agents.<name>.args). They stand before ours, which thus win.
	ExtraArgs map[string][]string
	// Failures are the user's own patterns by adapter (agents.<name>.failures); they come before ours.
	Failures map[string][]Failure
	// Identities override parts of the adapters' identities; empty fields change nothing.
	Identities map[string]Identity
	// Families come before the built-in table of model names.
	Families []Family
	// CLISandbox says whether the agents' own sandboxes are used; ours comes with issue 5.
	CLISandbox CLISandbox
}

// args are the first arguments of an adapter's program: those given, then those of the configuration.
func (s Settings) args(adapter string, first ...string) []string {
	return append(first, s.ExtraArgs[adapter]...)
}

// CLISandbox is the use of an agent's own sandbox.
type CLISandbox string

// The uses. codex brings its sandbox along and always has it, except under CLISandboxOff.
const (
	CLISandboxAuto CLISandbox = ""    // claude: where bwrap works and socat exists
	CLISandboxOn   CLISandbox = "on"  // claude refuses to start without it
	CLISandboxOff  CLISandbox = "off" // the caller contains the agent
)

// CommandSettings describe a program for the command adapter.
type CommandSettings struct {
	// Argv is the program and its arguments. {prompt}, {result}, {workspace} and {model} are replaced by the prompt's
	// file, the file for the final message, the working folder and the model.
	Argv []string
	// ResultFile: the final message is in the file {result} (also $CONCLAVE_RESULT_FILE); else it is standard output.
	ResultFile bool
	// Identity is what the program declares to be.
	Identity Identity
}

// ResolveBinary finds an adapter's program: an absolute path. Its error is a *MissingBinary.
func ResolveBinary(name string, s Settings) (string, error) {
	missing := &MissingBinary{Adapter: name, Variable: BinVariable(name), Reason: "is not on PATH"}
	missing.Binary = s.Binaries[name]
	if missing.Binary == "" {
		if c, ok := s.Commands[name]; ok && len(c.Argv) > 0 {
			missing.Binary = c.Argv[0]
		} else if a, err := s.Lookup(name); err == nil {
			missing.Binary = a.Binary()
		} else {
			return "", err
		}
	}
	if missing.Binary == "" {
		missing.Binary, missing.Reason = "its program", "is not named"
		return "", missing
	}
	if strings.ContainsRune(missing.Binary, filepath.Separator) {
		path, err := filepath.Abs(missing.Binary)
		if err == nil {
			err = executable(path)
		}
		if err != nil {
			missing.Reason = reason(err)
			return "", missing
		}
		return path, nil
	}
	if path := onPath(missing.Binary, s.path()); path != "" {
		return path, nil
	}
	return "", missing
}

// path is the search path of the agents, which is the worker's.
func (s Settings) path() string {
	if s.Environ == nil {
		return os.Getenv("PATH")
	}
	return lookupEnv(s.Environ, "PATH")
}

// onPath searches a program. Relative folders are skipped: they would mean the workspace.
func onPath(name, path string) string {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if file := filepath.Join(dir, name); executable(file) == nil {
			return file
		}
	}
	return ""
}

var (
	errFolder        = errors.New("is a folder")
	errNotExecutable = errors.New("may not be executed")
)

func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return errFolder
	case info.Mode()&0o111 == 0:
		return errNotExecutable
	}
	return nil
}

func reason(err error) string {
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "does not exist"
	case errors.Is(err, errFolder), errors.Is(err, errNotExecutable):
		return err.Error()
	}
	return "cannot be used (" + err.Error() + ")"
}

// lookupEnv returns the last value of a variable.
func lookupEnv(environ []string, name string) string {
	for _, e := range slices.Backward(environ) {
		if k, v, ok := strings.Cut(e, "="); ok && k == name {
			return v
		}
	}
	return ""
}
