package localserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	maxLog  = 4 << 20 // server.log is begun anew beyond this size
	maxTail = 2 << 10 // of the log in an error message
)

// launch starts a server. The caller holds the start lock and has made sure that none runs.
func launch(ctx context.Context, o Options, f files) (*Server, error) {
	b, err := chooseBinary(ctx, o, f)
	if err != nil {
		return nil, err
	}
	o.Progress("starting the local Temporal server (" + b.path + ")")
	if b.kind == kindTemporal {
		return launchTemporal(ctx, o, f, b.path)
	}
	child, err := startChild(f, b.path, devserverArgs(o, f), nil)
	if err != nil {
		return nil, err
	}
	info, err := child.awaitReady(ctx, f.readReady)
	if err != nil {
		return nil, err
	}
	return serverOf(info, f), nil
}

func serverOf(info ready, f files) *Server {
	return &Server{
		Address: info.Address, UIAddress: info.UIAddress, Namespace: info.Namespace, PID: info.PID, Version: info.Version,
		files: f, db: info.DB, kind: info.Kind,
	}
}

func chooseBinary(ctx context.Context, o Options, f files) (binary, error) {
	around := realSurroundings()
	b, found, err := around.lookUp(o.Binary, f)
	if err != nil || found {
		return b, err
	}
	return build(ctx, around.source, f, around.lookPath, o.Progress)
}

// devserverArgs is the command line of our own server. It serves us, and neither other users nor agents. It always has the
// Web UI, which costs no measurable time or memory; the next starter may want it.
func devserverArgs(o Options, f files) []string {
	idle := o.IdleExit
	if o.KeepUp {
		idle = 0
	}
	args := []string{
		"server", "start-dev", "--ip", "127.0.0.1", "--port", "0", "--ui-port", strconv.Itoa(o.UIPort), "--namespace", defaultNamespace,
		"--db-filename", f.database("{version}"), "--ready-file", f.ready(), "--clients-dir", f.clients(), "--idle-exit", idle.String(),
	}
	if Guarded("devserver") { // elsewhere nobody tells who is behind a connection
		args = append(args, "--guarded")
	}
	return append(args, attributeArgs(o.SearchAttributes)...)
}

func attributeArgs(attributes map[string]string) []string {
	var args []string
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		args = append(args, "--search-attribute", name+"="+attributes[name])
	}
	return args
}

// child is a server that was just started.
type child struct {
	pid    int
	ended  chan struct{} // closed when the process has ended
	err    error         // how it ended; valid after ended
	log    string
	offset int64 // where its output begins in the log
}

// startChild starts the program in a session of its own, with its output appended to the log. inherited stays open in the child.
func startChild(f files, path string, args []string, inherited *os.File) (*child, error) {
	log, offset, err := openLog(f.log())
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(path, args...)
	cmd.Dir = f.dir // not the caller's: the server would pin a folder that may be removed
	cmd.Env = withoutTemporal(os.Environ())
	cmd.Stdout, cmd.Stderr = log, log // stdin is the null device
	if inherited != nil {
		cmd.ExtraFiles = []*os.File{inherited}
	}
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the local Temporal server: %w", err)
	}
	c := &child{pid: cmd.Process.Pid, ended: make(chan struct{}), log: f.log(), offset: offset}
	go func() {
		c.err = cmd.Wait()
		close(c.ended)
	}()
	return c, nil
}

func openLog(path string) (*os.File, int64, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		_ = os.Rename(path, path+".1") // else it grows on: no reason not to start
	}
	log, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, 0, fmt.Errorf("log of the local Temporal server: %w", err)
	}
	info, err := log.Stat()
	if err != nil {
		log.Close()
		return nil, 0, fmt.Errorf("log of the local Temporal server: %w", err)
	}
	return log, info.Size(), nil
}

// withoutTemporal drops variables that would point a `temporal` somewhere else.
func withoutTemporal(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, "TEMPORAL_") })
}

// ErrEndedAtOnce is a server program that does not stay: another version's beside this starter, a damaged one.
var ErrEndedAtOnce = errors.New("the local Temporal server ended at once")

// awaitReady polls look until it tells of our child, the child has ended, or time is up; then the child is told to end, as nobody would use it.
func (c *child) awaitReady(ctx context.Context, look func() (ready, error)) (ready, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("not usable after %s", startTimeout))
	defer cancel()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		select {
		case <-c.ended:
			return ready{}, fmt.Errorf("%w: %w%s", ErrEndedAtOnce, errors.Join(c.err), c.tail())
		case <-ctx.Done():
			_ = terminate(c.pid)
			return ready{}, fmt.Errorf("start the local Temporal server: %w%s", context.Cause(ctx), c.tail())
		case <-tick.C:
			if info, err := look(); err == nil && info.PID == c.pid {
				return info, nil
			}
		}
	}
}

// tail is the end of what the child wrote, with the name of the log, for an error message.
func (c *child) tail() string {
	f, err := os.Open(c.log)
	if err != nil {
		return ""
	}
	defer f.Close()
	data, _ := io.ReadAll(io.NewSectionReader(f, c.offset, 1<<62))
	if len(data) > maxTail {
		data = data[len(data)-maxTail:]
	}
	return fmt.Sprintf("\n%s\n(log: %s)", strings.TrimSpace(string(data)), c.log)
}
