package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// Between supervisor and command stands this very binary once more: it gives up what it may do, and becomes the command.
// A Go program cannot do that between fork and exec, and a supervisor must keep what it needs to clean up.
const (
	confineName = "conclave-confine"
	// Descriptors of that step, beside the command's own three.
	fdOrders  = 3
	fdFailure = 4
	// FdStatus is where bubblewrap says how its command ended; open in it only.
	FdStatus = 5
)

// Failure is why a command was not started. Errno is set where the command's own start failed.
type Failure struct {
	Errno int    `json:"errno,omitempty"`
	Text  string `json:"text"`
}

// init, for the reason that package process gives for its own.
func init() {
	if len(os.Args) < 2 || os.Args[0] != confineName {
		return
	}
	if name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fdOrders)); err != nil || !strings.HasPrefix(name, "/memfd:"+confineName) {
		fmt.Fprintln(os.Stderr, confineName+": is only started by conclave itself")
		os.Exit(2)
	}
	failure := confine()
	_ = json.NewEncoder(os.NewFile(fdFailure, "failure")).Encode(failure)
	os.Exit(126)
}

// confine does not return when all goes well.
func confine() Failure {
	runtime.LockOSThread() // what follows holds for this thread, which becomes the command
	unix.CloseOnExec(fdOrders)
	unix.CloseOnExec(fdFailure)
	var c Confinement
	if err := json.NewDecoder(os.NewFile(fdOrders, "orders")).Decode(&c); err != nil {
		return Failure{Text: "read the confinement: " + err.Error()}
	}
	if err := c.restrict(); err != nil {
		return Failure{Text: err.Error()}
	}
	argv := os.Args[1:]
	if c.Kind == Bubblewrap {
		argv = append(append([]string{c.Bwrap, "--json-status-fd", fmt.Sprint(FdStatus)}, c.BwrapArgs...), argv...)
	}
	err := syscall.Exec(argv[0], argv, os.Environ())
	failure := Failure{Text: fmt.Sprintf("start %s: %v", argv[0], err)}
	if errno := syscall.Errno(0); errors.As(err, &errno) && c.Kind != Bubblewrap {
		failure.Errno = int(errno)
	}
	return failure
}

func (c *Confinement) restrict() error {
	if c.Kind == Bubblewrap && !c.Scope {
		return nil // it gives up new privileges itself, and may be one that needs them until then
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	switch c.Kind {
	case Bubblewrap: // it needs its capabilities for the namespaces, and drops them itself
		return c.landlock(nil, 0)
	case Landlock:
		if err := c.landlock(rules(c.Grants), landlock.V9.HandledAccessFS); err != nil {
			return err
		}
		return dropCapabilities()
	default:
		return fmt.Errorf("unknown sandbox %q", c.Kind)
	}
}

// landlock restricts this thread: files where any are handled, signals and abstract sockets where the kernel can.
func (c *Confinement) landlock(rules []landlock.Rule, files landlock.AccessFSSet) error {
	config := landlock.Config{HandledAccessFS: files}
	if c.Scope {
		config.Scoped = landlock.V6.Scoped
	}
	if files == 0 && !c.Scope {
		return nil
	}
	fd, flags, err := config.BestEffort().NewRulesetFD(rules...)
	if err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	defer func() { _ = unix.Close(fd) }()
	if err := ll.LandlockRestrictSelf(fd, flags); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	return nil
}

func rules(grants []Grant) []landlock.Rule {
	var out []landlock.Rule
	for _, g := range grants {
		var rule landlock.FSRule
		switch {
		case g.Write && g.File:
			rule = landlock.RWFiles(g.Path)
		case g.Write:
			rule = landlock.RWDirs(g.Path).WithRefer().WithResolveUnix()
		case g.File:
			rule = landlock.ROFiles(g.Path)
		default:
			rule = landlock.RODirs(g.Path)
		}
		out = append(out, rule.IgnoreIfMissing())
	}
	return out
}

// dropCapabilities gives up every capability of this thread for good: root without them is a user among others.
func dropCapabilities() error {
	for c := uintptr(0); c <= 63; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err == unix.EINVAL {
			break // that was the last one
		} else if err != nil && err != unix.EPERM { // a user without capabilities has none to drop
			return fmt.Errorf("drop capabilities: %w", err)
		}
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var nothing [2]unix.CapUserData
	if err := unix.Capset(&header, &nothing[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}

// Orders is an open file with the confinement, for descriptor 3 of the step.
func (c *Confinement) Orders() (*os.File, error) {
	fd, err := unix.MemfdCreate(confineName, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("hand over the confinement: %w", err)
	}
	file := os.NewFile(uintptr(fd), confineName)
	if err = json.NewEncoder(file).Encode(c); err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("hand over the confinement: %w", err)
	}
	return file, nil
}

// Argv is how the step is started; its program is this one.
func (c *Confinement) Argv(path string, args []string) []string {
	return append([]string{confineName, path}, args...)
}

// ReadFailure reads descriptor 4's other end: nil when the command was started.
func ReadFailure(r io.Reader) *Failure {
	raw, err := io.ReadAll(r)
	if err == nil && len(raw) == 0 {
		return nil
	}
	var f Failure
	if err != nil || json.Unmarshal(raw, &f) != nil {
		f.Text = fmt.Sprintf("the sandbox failed: %q %v", raw, err)
	}
	return &f
}
