//go:build linux || darwin

package process

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"
)

// lastResort is what the supervisor gets beyond the grace (and its own attempts to kill) before we kill it ourselves.
const lastResort = unkillable + 10*time.Second

// Run starts the command under a supervisor and waits until it and everything it started is gone. onLine (may be nil)
// gets each line of standard output, without '\n', as it arrives; the bytes are valid only during the call. An error
// from it (ErrStop) stops the turn; it goes on getting lines until the end.
//
// The returned error is about us: the supervisor or our files failed, Cause is CauseLost then. What goes wrong with the
// command, also that it cannot be started, is in the Result.
func Run(ctx context.Context, s Spec, onLine func(line []byte) error) (Result, error) {
	s, err := s.withDefaults().absolute()
	if err != nil {
		return Result{Cause: CauseLost, ExitCode: -1, Message: err.Error()}, err
	}
	if why := s.refusal(); why != "" {
		return Result{Cause: CauseStartFailed, ExitCode: -1, Message: why}, nil
	}
	if ctx.Err() != nil {
		return Result{Cause: CauseStopped, ExitCode: -1, Message: "cancelled before the start"}, nil //nolint:nilerr // the Result says it
	}
	t, err := launch(s, onLine)
	if err != nil {
		return Result{Cause: CauseLost, ExitCode: -1, Message: err.Error()}, err
	}
	return t.wait(ctx)
}

// turn is a running supervisor, seen from the worker.
type turn struct {
	spec    Spec
	mark    string
	began   time.Time
	cmd     *exec.Cmd
	control *os.File
	stdout  *os.File // read end of the command's output
	file    *os.File // transcript
	lines   splitter
	stopped error // what onLine said first

	reports chan report
	read    chan error    // the reader's end
	fatal   chan error    // onLine's stop
	broken  chan struct{} // closed when the transcript cannot be written; read says why
	lastAt  atomic.Int64  // time of the last line, since began
	busy    atomic.Bool   // inside onLine: not the command's idleness
	over    chan struct{} // closed when the tree is gone
}

// launch opens the files and starts the supervisor. Pipes are close-on-exec, so no other child keeps one open.
func launch(s Spec, onLine func([]byte) error) (_ *turn, err error) {
	var files opened
	defer files.close()
	stdin := files.open(orDefault(s.Stdin, os.DevNull), os.O_RDONLY)
	stderr := files.fresh(s.Stderr, os.O_WRONLY|os.O_APPEND)
	transcript := files.fresh(s.Stdout, os.O_RDWR)
	outR, outW := files.pipe()
	controlR, controlW := files.pipe()
	reportR, reportW := files.pipe()
	self, selfErr := selfPath()
	if s.RegistryDir != "" {
		files.err = errors.Join(files.err, os.MkdirAll(s.RegistryDir, 0o700))
	}
	if err := errors.Join(files.err, selfErr); err != nil {
		return nil, fmt.Errorf("%s: prepare the turn: %w", s.Name, err)
	}
	t := &turn{
		spec: s, mark: newMark(), began: time.Now(), control: controlW, stdout: outR, file: transcript,
		reports: make(chan report), read: make(chan error, 1), fatal: make(chan error, 1),
		broken: make(chan struct{}), over: make(chan struct{}),
	}
	t.lines = splitter{file: transcript, max: s.MaxLine, onLine: t.onLine(onLine)}
	t.cmd = &exec.Cmd{
		Path: self, Args: []string{supervisorName}, Dir: "/",
		Env:         append([]string{supervisorVariable + "=" + supervisorProtocol}, OwnVariables...),
		Stderr:      stderr, // where a crash of the supervisor can be read
		ExtraFiles:  []*os.File{controlR, reportW, stdin, outW, stderr},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := t.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: start the supervisor: %w", s.Name, err)
	}
	files.keep(controlW, outR, transcript, reportR)
	go t.readReports(reportR)
	go t.readOutput()
	if err := sendJob(controlW, t.job()); err != nil {
		_ = t.cmd.Process.Kill()
	}
	return t, nil
}

func (t *turn) job() job {
	s := t.spec
	return job{
		Name: s.Name, Path: []byte(s.Path), Args: bytesOf(s.Args), Env: bytesOf(s.Sandbox.Environ(s.Env)), Dir: []byte(s.Dir), Mark: t.mark,
		StopSignal: int(s.StopSignal), GraceMillis: s.Grace.Milliseconds(), RegistryDir: s.RegistryDir, Labels: s.Labels,
		Sandbox: s.Sandbox,
	}
}

func (t *turn) onLine(f func([]byte) error) func([]byte) {
	return func(line []byte) {
		t.busy.Store(true)
		if f != nil {
			if err := guarded(f, line); err != nil && t.stopped == nil {
				t.stopped = err
				t.fatal <- err
			}
		}
		t.lastAt.Store(int64(time.Since(t.began)))
		t.busy.Store(false)
	}
}

// guarded keeps a strange line from ending the whole worker with all its other turns.
func guarded(f func([]byte) error, line []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("reading a line of %d bytes panicked: %v", len(line), p)
		}
	}()
	return f(line)
}

func newMark() string {
	// Unlike others on this machine is enough; cryptographic packages would slow every start of the supervisor.
	return fmt.Sprintf("%08x%016x", uint32(os.Getpid()), rand.Uint64())
}

func bytesOf(texts []string) [][]byte {
	out := make([][]byte, len(texts))
	for i, s := range texts {
		out[i] = []byte(s)
	}
	return out
}

func orDefault(v, def string) string {
	if v == "" {
		return def
	}
	return v
}
