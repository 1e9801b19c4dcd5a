package process

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"conclave/internal/sandbox"
)

// Defaults of a Spec.
const (
	DefaultGrace     = 5 * time.Second
	DefaultMaxLine   = 64 << 20
	DefaultMaxOutput = 4 << 30
)

// maxString is the longest argument or environment string that Linux takes (MAX_ARG_STRLEN without the final zero).
const maxString = 128<<10 - 1

// ErrStop is what onLine returns to have the turn stopped at once, for instance at a fatal retry notice. Any other
// error does the same; wrap ErrStop to give a reason. The text becomes Result.Message.
var ErrStop = errors.New("stop this turn")

// ErrUnsupported is returned on systems that the supervisor does not know.
var ErrUnsupported = errors.New("running agents is not supported yet on this system: use Linux or macOS")

// Spec is one command to supervise.
type Spec struct {
	Name string   // for messages, e.g. the adapter's name
	Path string   // the program, with its folder
	Args []string // arguments after the program's name
	Env  []string // the complete environment; only MarkVariable is added to it
	Dir  string   // working folder

	Stdin  string // file to read from; "" is /dev/null
	Stdout string // file that gets all bytes of standard output; replaced by a fresh one
	Stderr string // file that gets all bytes of standard error; replaced by a fresh one

	// Sandbox contains the command and everything it starts; nil is none.
	Sandbox *sandbox.Confinement

	StopSignal syscall.Signal // first signal of a stop; 0 is SIGTERM
	Grace      time.Duration  // from StopSignal to SIGKILL of the tree; 0 is DefaultGrace

	Timeout     time.Duration // of the whole turn; 0 is none
	IdleTimeout time.Duration // without a line on standard output; 0 is none
	MaxLine     int           // bytes; longer lines are counted and not handed on (on disk they are whole); 0 is DefaultMaxLine
	MaxOutput   int64         // bytes of both outputs together, which are kept on disk; a command that prints more is stopped; 0 is DefaultMaxOutput

	RegistryDir string            // when set, <dir>/<pid>.json names the supervisor while it lives; made when missing
	Labels      map[string]string // "run" and "turn" go into the registry
}

// Cause says why a turn ended. The zero value is no cause at all and never stands for success.
type Cause string

// The causes.
const (
	CauseExited      Cause = "exited"       // the command ended by itself
	CauseTimeout     Cause = "timeout"      // Spec.Timeout passed
	CauseIdle        Cause = "idle"         // Spec.IdleTimeout passed without a line
	CauseStopped     Cause = "stopped"      // the context was cancelled
	CauseFatal       Cause = "fatal"        // onLine asked for the stop
	CauseFlood       Cause = "flood"        // it printed more than Spec.MaxOutput; Result.Message says so
	CauseStartFailed Cause = "start-failed" // the command never ran; Result.Message says why
	CauseLost        Cause = "lost"         // the supervisor or our own files failed; Run also returns an error
)

// Result is how a turn ended. When Run returns it, the command and everything it started is gone.
type Result struct {
	Cause        Cause
	ExitCode     int    // -1 when there is none: killed by a signal, or never started
	Signal       string // the signal that ended the command, e.g. SIGKILL; "" when it exited
	Duration     time.Duration
	Message      string // start-failed: what and the remedy; fatal: what onLine said; else notes such as unkillable processes
	DroppedLines int    // lines longer than MaxLine
	StdoutBytes  int64
	StderrBytes  int64
}

func (s Spec) withDefaults() Spec {
	if s.StopSignal == 0 {
		s.StopSignal = syscall.SIGTERM
	}
	if s.Grace <= 0 {
		s.Grace = DefaultGrace
	}
	if s.MaxLine <= 0 {
		s.MaxLine = DefaultMaxLine
	}
	if s.MaxOutput <= 0 {
		s.MaxOutput = DefaultMaxOutput
	}
	if s.Name == "" {
		s.Name = s.Path
	}
	return s
}

// absolute makes the paths independent of the supervisor's own working folder.
func (s Spec) absolute() (Spec, error) {
	paths := []*string{&s.Stdin, &s.Stdout, &s.Stderr, &s.RegistryDir}
	if strings.ContainsRune(s.Path, '/') {
		paths = append(paths, &s.Path)
	}
	var err error
	for _, p := range paths {
		if *p != "" && err == nil {
			*p, err = filepath.Abs(*p)
		}
	}
	if err == nil {
		s.Dir, err = filepath.Abs(s.Dir)
	}
	return s, err
}

// refusal names what keeps a specification from being started; "" when nothing does.
func (s Spec) refusal() string {
	if !strings.ContainsRune(s.Path, '/') {
		return fmt.Sprintf("%s: %q is not a path to a program; resolve the binary first", s.Name, s.Path)
	}
	if s.Stdout == "" || s.Stderr == "" {
		return fmt.Sprintf("%s: files for standard output and standard error are missing", s.Name)
	}
	for i, a := range s.Args {
		if why := badString(a); why != "" {
			return fmt.Sprintf("%s: argument %d (%s) %s; pass it through a file or standard input", s.Name, i+1, excerpt(a), why)
		}
	}
	for _, e := range s.Env {
		name, _, ok := strings.Cut(e, "=")
		if !ok || name == "" {
			return fmt.Sprintf("%s: environment entry %s has no name; write NAME=value", s.Name, excerpt(e))
		}
		if why := badString(e); why != "" {
			return fmt.Sprintf("%s: environment variable %s %s; shorten or unset it", s.Name, excerpt(name), why)
		}
	}
	return ""
}

func badString(v string) string {
	switch {
	case len(v) > maxString:
		return fmt.Sprintf("is %d bytes long, the system takes %d", len(v), maxString)
	case strings.IndexByte(v, 0) >= 0:
		return "contains a zero byte"
	}
	return ""
}

func excerpt(v string) string {
	const most = 40
	if len(v) > most {
		v = v[:most] + "..."
	}
	return fmt.Sprintf("%q", v)
}
