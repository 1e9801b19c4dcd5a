//go:build linux || darwin

package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"conclave/internal/sandbox"
)

// unkillable is how long the supervisor tries to get rid of a tree (uninterruptible sleep, another user's process).
const unkillable = 10 * time.Second

// Pauses between two sweeps of a tree that is being killed: they double from the first to the longest.
const (
	firstPause   = 2 * time.Millisecond
	longestPause = 64 * time.Millisecond
)

// init and not main: this program's other packages (a protocol library, a terminal library) take 15 ms and more to get
// ready, and a supervisor needs none of them. This package imports little, so its turn comes early.
func init() { superviseIfAsked() }

// Main is the first call of every program that uses Run: it runs the supervisor, and does not return, when this process
// was started as one. Otherwise it returns at once.
func Main() { superviseIfAsked() }

func superviseIfAsked() {
	if len(os.Args) != 1 || os.Args[0] != supervisorName || os.Getenv(supervisorVariable) != supervisorProtocol {
		return
	}
	if !isPipe(fdControl) || !isPipe(fdReport) {
		fmt.Fprintln(os.Stderr, supervisorName+": is only started by conclave itself")
		os.Exit(2)
	}
	os.Exit(supervise())
}

func isPipe(fd int) bool {
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFIFO
}

// supervisor is the state of one supervised command.
type supervisor struct {
	job     job
	reports *json.Encoder
	pid     int       // of the command; its group has the same number
	ended   bool      // the command is reaped
	empty   bool      // there are no children
	killing bool      // everything is to die
	status  *os.File  // where bubblewrap says that the command ran
	known   []process // seen below the command before the stop; needed where orphans are not ours

	grace, again, giveUp <-chan time.Time // nil until they are started
	pause                time.Duration    // until the next sweep
}

// supervise returns the exit code of the supervisor, which nobody reads: the reports count.
func supervise() int {
	runtime.LockOSThread() // the command dies with the thread that started it
	keepDescriptors()
	renameSelf()
	// Notify and not Ignore: ignored signals would stay ignored in the command.
	told := make(chan os.Signal, 4)
	signal.Notify(told, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)

	control := os.NewFile(fdControl, "control")
	s := &supervisor{reports: json.NewEncoder(os.NewFile(fdReport, "reports"))}
	var err error
	if s.job, err = receiveJob(control); err != nil {
		return 2 // the worker is gone, or speaks another language; nothing runs yet
	}
	if err := becomeSubreaper(); err != nil {
		return s.fail(err, "become the reaper of orphans")
	}
	entry := newEntry(s.job)
	if err := entry.write(); err != nil {
		return s.fail(err, "write the registry of processes")
	}
	defer entry.remove()
	if workerGone() { // the successor of a killed worker may already look for us: start nothing any more
		return 1
	}
	if s.pid, err = s.start(); err != nil {
		return s.fail(err, "")
	}
	entry.setCommand(s.pid)
	_ = s.reports.Encode(report{Event: eventStarted, Pid: s.pid})

	orders := make(chan byte)
	go readOrders(control, orders)
	reaped := make(chan reaping)
	go reap(s.pid, reaped)
	s.loop(orders, told, reaped)
	return 0
}

// workerGone says whether the other end of the control pipe is closed and nothing is left to read.
func workerGone() bool {
	fds := []unix.PollFd{{Fd: fdControl, Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&unix.POLLHUP != 0 && fds[0].Revents&unix.POLLIN == 0
}

// fail reports what went wrong: what we could not do, or, when that is empty, the command's start. Only the number of
// the latter says something about the command.
func (s *supervisor) fail(err error, what string) int {
	r := report{Event: eventFailed, Text: err.Error()}
	if what != "" {
		r.Text = what + ": " + r.Text
	}
	if errno := syscall.Errno(0); what == "" && errors.As(err, &errno) {
		r.Errno = int(errno)
	}
	_ = s.reports.Encode(r)
	return 1
}

// start forks the command and gives up our copies of its descriptors, so that the worker sees the end of its output.
func (s *supervisor) start() (int, error) {
	argv := append([]string{string(s.job.Path)}, texts(s.job.Args)...)
	env := append(texts(s.job.Env), MarkVariable+"="+s.job.Mark)
	var pid int
	var err error
	if s.job.Sandbox != nil {
		pid, err = s.startConfined(env)
	} else {
		pid, err = syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
			Dir: string(s.job.Dir), Env: env, Files: []uintptr{fdStdin, fdStdout, fdStderr}, Sys: commandAttributes(),
		})
	}
	for _, fd := range []int{fdStdin, fdStdout, fdStderr} {
		_ = unix.Close(fd)
	}
	return pid, err
}

func texts(bs [][]byte) []string {
	out := make([]string, len(bs))
	for i, b := range bs {
		out[i] = string(b)
	}
	return out
}

// readOrders hands on orders; the end of the pipe, which is the worker's death, is an order to kill.
func readOrders(r io.Reader, orders chan<- byte) {
	b := make([]byte, 1)
	for {
		if _, err := r.Read(b); err != nil {
			orders <- orderKill
			return
		}
		orders <- b[0]
	}
}

// reaping is one result of waiting: the command's end, or that no children are left.
type reaping struct {
	command bool
	status  syscall.WaitStatus
	empty   bool
}

// reap waits for every child until there is none.
func reap(command int, out chan<- reaping) {
	var next reaping
	options := 0
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, options, nil)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			next.empty = true
			out <- next
			return
		case pid == command:
			// Look without waiting for more, so that the common case, a command without children, is one message.
			next = reaping{command: true, status: status}
			options = syscall.WNOHANG
			continue
		case pid == 0:
			out <- next
			next, options = reaping{}, 0
		}
	}
}

// loop follows the command until nothing of its tree is left, or nothing more can be done about it.
func (s *supervisor) loop(orders <-chan byte, told <-chan os.Signal, reaped <-chan reaping) {
	for {
		kill := false
		select {
		case order := <-orders:
			switch order {
			case orderKill:
				orders, kill = nil, true
			case orderStop:
				s.askToStop()
			}
		case <-told:
			kill = true
		case <-s.grace:
			kill = true
		case r := <-reaped:
			kill = s.take(r)
		case <-s.again:
			s.sweep()
			s.pause = min(2*s.pause, longestPause)
			s.again = time.After(s.pause)
		case <-s.giveUp:
			s.done()
			return
		}
		if s.gone() {
			s.done()
			return
		}
		if kill {
			s.kill()
		}
	}
}

// askToStop gives the command its grace, once.
func (s *supervisor) askToStop() {
	if s.grace != nil || s.killing {
		return
	}
	s.signalCommand()
	s.grace = time.After(time.Duration(s.job.GraceMillis) * time.Millisecond)
}

// kill begins to kill the tree. New processes may come as fast as old ones go, so it goes on until it is told to give up.
func (s *supervisor) kill() {
	if s.killing {
		return
	}
	s.killing = true
	s.sweep()
	s.pause = firstPause
	s.again, s.giveUp = time.After(s.pause), time.After(unkillable)
}

// gone says whether the command has ended and nothing that it started is left.
func (s *supervisor) gone() bool {
	if s.ended && s.empty {
		return true
	}
	return s.ended && !emptyMeansGone && s.killing && len(s.remaining()) == 0
}

// take notes a reaping; true when what is left must die because the command has ended.
func (s *supervisor) take(r reaping) bool {
	s.empty = r.empty
	if !r.command {
		return false
	}
	s.ended = true
	end := report{Event: eventEnded, Code: -1}
	if r.status.Exited() {
		end.Code = r.status.ExitStatus()
	} else if r.status.Signaled() {
		end.Signal = unix.SignalName(r.status.Signal())
	}
	if s.bubblewrapped() {
		end = translated(end)
		end.Never = s.neverRan() && s.grace == nil && !s.killing
	}
	_ = s.reports.Encode(end)
	return true
}

func (s *supervisor) bubblewrapped() bool {
	return s.job.Sandbox != nil && s.job.Sandbox.Kind == sandbox.Bubblewrap
}

// signalCommand sends the adapter's first signal to the command's group, of which the command is the leader.
func (s *supervisor) signalCommand() {
	if s.ended {
		return
	}
	if !emptyMeansGone {
		s.known = descendants(listProcesses(), os.Getpid())
	}
	group := s.pid
	if s.bubblewrapped() { // at a signal of its own it would kill the command at once
		var started bool
		if group, started = s.confinedGroup(); !started {
			s.kill()
			return
		}
	}
	_ = syscall.Kill(-group, syscall.Signal(s.job.StopSignal))
}

func (s *supervisor) sweep() {
	if !s.ended {
		_ = syscall.Kill(-s.pid, syscall.SIGKILL)
	}
	killAll(s.remaining(), syscall.Getpgrp())
}

// remaining are the processes of the tree that live.
func (s *supervisor) remaining() []process {
	all := listProcesses()
	found := descendants(all, os.Getpid())
	if emptyMeansGone {
		return found
	}
	have := map[int]bool{os.Getpid(): true}
	for _, p := range found {
		have[p.pid] = true
	}
	for _, p := range all {
		if !have[p.pid] && (p.group == s.pid || contains(s.known, p)) {
			found = append(found, p)
			have[p.pid] = true
		}
	}
	return found
}

func contains(list []process, p process) bool {
	for _, q := range list {
		if q.pid == p.pid && q.start == p.start {
			return true
		}
	}
	return false
}

func (s *supervisor) done() {
	r := report{Event: eventDone}
	if !s.empty {
		for _, p := range s.remaining() {
			r.Left = append(r.Left, p.pid)
		}
	}
	_ = s.reports.Encode(r)
}
