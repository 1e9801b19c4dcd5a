//go:build linux || darwin

package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// follower is what is known of a turn while it runs. A nil channel is one that is not listened to any more.
type follower struct {
	*turn
	res                   Result
	timeout, idle, resort <-chan time.Time
	look                  <-chan time.Time // when to see how much was printed
	cancelled             <-chan struct{}
	fatal                 <-chan error
	broken                <-chan struct{}
	told                  error   // what onLine said
	failed                *report // the command did not start
	started, ended, done  bool
}

// wait follows the turn to its end.
func (t *turn) wait(ctx context.Context) (Result, error) {
	f := &follower{
		turn: t, res: Result{Cause: CauseExited, ExitCode: -1},
		cancelled: ctx.Done(), fatal: t.fatal, broken: t.broken, look: time.After(lookEvery),
	}
	if t.spec.Timeout > 0 {
		f.timeout = time.After(t.spec.Timeout)
	}
	if t.spec.IdleTimeout > 0 {
		f.idle = time.After(t.spec.IdleTimeout)
	}
	f.follow()
	_ = t.control.Close()
	waitErr := t.cmd.Wait()
	if !f.done && f.failed == nil {
		t.sweepLost()
	}
	close(t.over)
	readErr := <-t.read
	t.account(&f.res)
	return f.verdict(waitErr, readErr)
}

// follow returns when the supervisor has said its last word.
func (f *follower) follow() {
	for {
		select {
		case <-f.cancelled:
			f.stop(CauseStopped)
		case <-f.timeout:
			f.stop(CauseTimeout)
		case <-f.idle:
			if left := f.idleLeft(); left > 0 {
				f.idle = time.After(left)
			} else {
				f.stop(CauseIdle)
			}
		case <-f.look:
			if f.look = time.After(lookEvery); f.printed() > f.spec.MaxOutput {
				f.told = fmt.Errorf("printed more than %d MiB, and was stopped", f.spec.MaxOutput>>20)
				f.stop(CauseFlood)
			}
		case f.told = <-f.fatal:
			f.stop(CauseFatal)
		case <-f.broken: // our disk is full: a turn whose transcript is lost is worth nothing
			f.stop(CauseLost)
		case <-f.resort:
			f.resort = nil
			_ = f.cmd.Process.Kill()
		case r, ok := <-f.reports:
			if !ok {
				return
			}
			f.note(r)
		}
	}
}

// deaf stops listening to everything that would stop the turn.
func (f *follower) deaf() {
	f.cancelled, f.fatal, f.broken, f.timeout, f.idle, f.look = nil, nil, nil, nil, nil, nil
}

func (f *follower) stop(c Cause) {
	f.deaf()
	f.res.Cause = c
	f.resort = time.After(f.spec.Grace + lastResort)
	_, _ = f.control.Write([]byte{orderStop})
}

func (f *follower) note(r report) {
	switch r.Event {
	case eventStarted:
		f.started = true
	case eventFailed:
		f.failed = &r
	case eventEnded:
		f.ended = true
		if r.Never {
			f.failed, r.Code = &r, -1
		}
		f.res.ExitCode, f.res.Signal, f.res.Duration = r.Code, r.Signal, time.Since(f.began)
		f.deaf()
		f.resort = time.After(lastResort)
	case eventDone:
		f.done = true
		if len(r.Left) > 0 {
			f.res.Message = fmt.Sprintf("processes %v could not be killed", r.Left)
		}
	}
}

// verdict decides what the caller is told.
func (f *follower) verdict(waitErr, readErr error) (Result, error) {
	lost := ""
	switch {
	case f.failed != nil:
		f.res.Cause, f.res.Message = CauseStartFailed, f.startFailure(*f.failed)
		return f.res, nil
	case readErr != nil:
		lost = fmt.Sprintf("%s: keep the output in %s: %v; free space or check the folder", f.spec.Name, f.spec.Stdout, readErr)
	case !f.done || !f.started:
		lost = fmt.Sprintf("%s: the supervisor ended before its work was done (%v)", f.spec.Name, waitErr)
	}
	if lost != "" {
		f.res.Cause, f.res.Message = CauseLost, lost
		return f.res, errors.New(lost)
	}
	switch {
	case f.res.Message != "":
	case !f.ended:
		f.res.Message = "the command could not be killed"
	case f.told != nil:
		f.res.Message = Clean(f.told.Error())
	}
	return f.res, nil
}

// idleLeft is how long the command may still be silent. Time in onLine is ours, not the command's.
func (t *turn) idleLeft() time.Duration {
	if t.busy.Load() {
		return t.spec.IdleTimeout
	}
	return t.spec.IdleTimeout - (time.Since(t.began) - time.Duration(t.lastAt.Load()))
}

// lookEvery is how often the size of the outputs is looked at: a flood of a second more does no harm.
const lookEvery = time.Second

// printed is how many bytes of both outputs are on disk.
func (t *turn) printed() int64 {
	sum := int64(0)
	for _, name := range []string{t.spec.Stdout, t.spec.Stderr} {
		if info, err := os.Stat(name); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

// sweepLost kills what a supervisor left that was itself killed.
func (t *turn) sweepLost() {
	e := entry{Mark: t.mark, Pid: t.cmd.Process.Pid}
	waitFor(waitKilled, func() bool { return e.sweep() == 0 })
	if t.spec.RegistryDir != "" {
		_ = os.Remove(filepath.Join(t.spec.RegistryDir, strconv.Itoa(e.Pid)+".json"))
	}
}

func (t *turn) account(res *Result) {
	if res.Duration == 0 {
		res.Duration = time.Since(t.began)
	}
	res.DroppedLines, res.StdoutBytes = t.lines.dropped, t.lines.written
	if info, err := os.Stat(t.spec.Stderr); err == nil {
		res.StderrBytes = info.Size()
	}
}

func (t *turn) readReports(r *os.File) {
	defer close(t.reports) // the last: whoever hears it finds nothing open any more
	defer func() { _ = r.Close() }()
	for d := json.NewDecoder(r); ; {
		var rep report
		if err := d.Decode(&rep); err != nil {
			return
		}
		t.reports <- rep
	}
}

// startFailure says in words why the command did not start, and what helps.
func (t *turn) startFailure(r report) string {
	s := t.spec
	if info, err := os.Stat(s.Dir); s.Dir != "" && (err != nil || !info.IsDir()) {
		return fmt.Sprintf("%s: the working folder %s does not exist or is no folder", s.Name, s.Dir)
	}
	info, err := os.Stat(s.Path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Sprintf("%s: there is no program %s; install it, or name another one", s.Name, s.Path)
	case err == nil && info.IsDir():
		return fmt.Sprintf("%s: %s is a folder, not a program", s.Name, s.Path)
	}
	if r.Never {
		r.Text = "the sandbox did not start it: " + strings.TrimSpace(StderrTail(s.Stderr, 1<<10))
		for text, errno := range map[string]syscall.Errno{"No such file or directory": syscall.ENOENT, "Permission denied": syscall.EACCES} {
			if strings.Contains(r.Text, "execvp") && strings.HasSuffix(r.Text, text) {
				r.Errno = int(errno)
			}
		}
	}
	switch syscall.Errno(r.Errno) {
	case syscall.EACCES:
		return fmt.Sprintf("%s: %s may not be executed (permission denied); chmod +x it, or check the mount option noexec", s.Name, s.Path)
	case syscall.ENOENT:
		return fmt.Sprintf("%s: the interpreter or loader that %s names does not exist; install it", s.Name, s.Path)
	case syscall.ENOEXEC:
		return fmt.Sprintf("%s: %s is no program for this system (a script needs a #! line)", s.Name, s.Path)
	case syscall.E2BIG:
		return fmt.Sprintf("%s: arguments and environment together are too long for the system; shorten the environment", s.Name)
	}
	return fmt.Sprintf("%s: cannot start %s: %s", s.Name, s.Path, r.Text)
}
