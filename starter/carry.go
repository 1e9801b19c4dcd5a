package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.uber.org/zap"

	"conclave/activities"
	"conclave/config"
	"conclave/internal/convergence"
	"conclave/internal/host"
	"conclave/internal/loop"
	"conclave/internal/record"
	"conclave/internal/runindex"
	"conclave/internal/store"
	"conclave/internal/view"
	"conclave/workflows"
)

const (
	// interruptPatience is how long an interrupted run may take to end its agents and write its bundle.
	interruptPatience = 15 * time.Second
	// pollPatience is how long nobody may poll a cluster's queues before we say so.
	pollPatience = 10 * time.Second
)

// carriage is one run as this process has it in hand. Fields are nil until they are needed.
type carriage struct {
	app     *app
	index   runindex.Index
	entry   runindex.Entry
	lock    *runindex.Lock
	conn    *host.Connection
	acts    *activities.Activities
	workers *host.Workers
	log     *zap.Logger
	started bool
	// reused is when the verdict of an ended review was given that is shown again; "" for none.
	reused string
	// replaces says that an open review of the same digest, which nobody carries, makes way.
	replaces bool
	// lost is told when a worker gives up.
	lost chan error
}

// connect reaches the server and makes the activities of this process.
func (c *carriage) connect(ctx context.Context, conf config.Config, target host.Target, artifacts store.Store) error {
	var err error
	if c.log, err = host.FileLogger(filepath.Join(c.index.Dir(c.entry.RunID), "starter.log")); err != nil {
		return err
	}
	c.conn, err = host.Connect(ctx, host.Options{
		Target: target, StateDir: conf.Host.StateDir, Logger: host.NewLogger(c.log), Progress: func(line string) { c.app.say("%s", line) },
	})
	var unreachable *host.UnreachableError
	if errors.As(err, &unreachable) {
		return usage(unreachable.Remedy(), "%v", err)
	}
	if err != nil {
		return err
	}
	c.entry.Namespace = c.conn.Target.Namespace
	environ := os.Environ()
	var hide []string
	if c.entry.Config != "" { // it may hold keys
		hide = append(hide, c.entry.Config)
	}
	c.acts, err = activities.New(activities.Options{
		Store: artifacts, StateDir: conf.Host.StateDir, Agents: conf.Host.AgentSettings(environ), Prices: conf.Host.PriceList(),
		Environ: environ, Client: c.conn.Client, Sandbox: conf.Host.Sandbox, Caches: conf.Host.Caches, IsolateHome: conf.Host.IsolateHome,
		Hide: hide, Own: activities.Own{RunID: c.entry.RunID, Dir: c.entry.Source},
	})
	return err
}

// work starts the workers of this process's share.
func (c *carriage) work(share host.Share) error {
	if err := os.MkdirAll(activities.RegistryDir(c.index.StateDir(), c.entry.RunID), 0o700); err != nil {
		return &fault{code: exitStep, what: err.Error()}
	}
	c.lost = make(chan error, 4)
	workers, err := host.StartWorkers(c.conn.Client, c.acts, c.entry.RunID, share, func(err error) {
		select {
		case c.lost <- err:
		default:
		}
	})
	c.workers = workers
	return err
}

func (c *carriage) share() host.Share {
	if c.entry.Local() {
		return host.Everything
	}
	return host.SourceOnly
}

// close gives everything back. It is safe on half of a carriage.
func (c *carriage) close() {
	c.workers.Stop()
	c.workers = nil
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
	c.lock.Release()
	if c.log != nil {
		_ = c.log.Sync()
	}
}

// carry runs the workers and shows the run to its end, or to a wait.
func (c *carriage) carry(ctx context.Context, stop *interrupts, out output, showDiff bool) error {
	if err := c.work(c.share()); err != nil {
		return err
	}
	v := view.New(out.view)
	end, err := c.followAsking(ctx, stop, v, out)
	return c.finish(v, end, err, out, showDiff)
}

// follow shows the run to its end, or to a wait. The first interrupt ends its agents and waits for that. Where seen is
// given it is told every look, and decides itself about waits.
func (c *carriage) follow(ctx context.Context, stop *interrupts, v view.View, seen func(host.Look)) (host.End, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case err := <-c.lost:
			cancel(err)
		case <-stop.first:
			c.interrupt(ctx, v, cancel)
		case <-ctx.Done():
		}
	}()
	if c.lock != nil {
		stop.atSecond(func() { c.leave(v) })
	}
	poll := pollWatch{patience: pollPatience, cluster: !c.entry.Local()}
	return host.Follow(ctx, c.conn.Client, c.entry.WorkflowID, seen != nil, func(look host.Look) {
		now := time.Now()
		if poll.due(look, now) {
			v.Message("no worker polls " + c.entry.TaskQueue + " and " + workflows.AgentQueueOf(c.entry.TaskQueue) + " at " + c.entry.Address + ": start `worker` there; the run waits")
		}
		if look.Known {
			v.Update(view.Update{Run: look.Run, Actions: look.Actions, Now: now})
		}
		if seen != nil {
			seen(look)
		}
	})
}

// interrupt asks the workflow to pause, which ends its agents. When nobody carries the run here, it only leaves.
func (c *carriage) interrupt(ctx context.Context, v view.View, leave context.CancelCauseFunc) {
	if c.lock == nil {
		leave(errInterrupted)
		return
	}
	v.Message("interrupting: the agents are being ended; Ctrl-C again leaves at once")
	if err := c.conn.SignalWorkflow(ctx, c.entry.WorkflowID, "", workflows.SignalInterrupt, "Ctrl-C"); err != nil {
		leave(errInterrupted)
		return
	}
	select {
	case <-time.After(interruptPatience):
		leave(errInterrupted)
	case <-ctx.Done():
	}
}

// leave gives the terminal back in a hurry. The run stays as it is: its agents end with this process.
func (c *carriage) leave(v view.View) {
	run, _ := readRecord(c.entry)
	run.RunID, run.Stop, run.ExitCode = c.entry.RunID, record.StopInterrupted, exitInterrupt
	v.Message("left at once; `starter resume " + c.entry.RunID + "` goes on")
	v.Close(run, nil)
}

// pollWatch notices that nobody polls the queues of a cluster.
type pollWatch struct {
	patience time.Duration
	cluster  bool
	since    time.Time
	said     bool
}

func (p *pollWatch) due(look host.Look, now time.Time) bool {
	if !p.cluster || p.said {
		return false
	}
	if !look.Unpolled {
		p.since = time.Time{}
		return false
	}
	if p.since.IsZero() {
		p.since = now
	}
	p.said = now.Sub(p.since) >= p.patience
	return p.said
}

// finish shows the outcome and turns it into the exit code.
func (c *carriage) finish(v view.View, end host.End, err error, out output, showDiff bool) error {
	run := c.finalRecord(end)
	if err != nil && !errors.Is(err, errInterrupted) {
		v.Close(run, nil)
		return c.broken(err)
	}
	code := run.Stop.ExitCode()
	if end.Closed {
		code = end.Result.ExitCode
	}
	if errors.Is(err, errInterrupted) {
		run.Stop, code = record.StopInterrupted, exitInterrupt
	}
	run.ExitCode = code
	var more []string
	if _, err := os.Stat(c.entry.Bundle); err == nil { // another machine's is not here
		more = []string{"bundle: " + c.entry.Bundle}
	}
	v.Close(run, more)
	c.results(run, out, showDiff)
	return silent(code)
}

// finalRecord is what the bundle says, or the last look where the bundle is older.
func (c *carriage) finalRecord(end host.End) record.Run {
	run, err := readRecord(c.entry)
	if err != nil || (end.Closed && run.Stop != end.Result.Stop) || (end.Waiting && run.Waiting != end.Run.Waiting) {
		run = end.Run
	}
	run.RunID, run.Reused = c.entry.RunID, c.reused
	if end.Closed {
		r := end.Result
		run.Stop, run.ExitCode, run.Iterations = r.Stop, r.ExitCode, r.Iterations
		run.Landed, run.Branch, run.Message, run.Waiting = r.Landed, r.Branch, r.Message, ""
		run.Converged = r.Stop == record.Converged
	}
	return run
}

// broken explains a run that this process cannot follow any more.
func (c *carriage) broken(err error) error {
	var refused *temporal.ApplicationError
	if errors.As(err, &refused) && (refused.Type() == loop.CodeMismatch || refused.Type() == convergence.CodeInvalidDefinition) {
		return usage("start a new run, or use the version that began this one", "run %s: %s", c.entry.RunID, refused.Message())
	}
	return &fault{code: exitStep, what: "run " + c.entry.RunID + ": " + err.Error(),
		remedy: "`starter resume " + c.entry.RunID + "` goes on; the log is " + filepath.Join(c.index.Dir(c.entry.RunID), "starter.log")}
}

// results prints what was asked for: the record as JSON, the diff.
func (c *carriage) results(run record.Run, out output, showDiff bool) {
	diff := c.app.out
	if out.flags.json {
		diff = c.app.err
		c.printRecord(run)
	}
	if showDiff {
		c.copyOut(diff, "changes.diff")
	}
}

// printRecord prints run.json of the bundle, or the record itself where the bundle is older or missing.
func (c *carriage) printRecord(run record.Run) {
	content, err := os.ReadFile(filepath.Join(c.entry.Bundle, "run.json"))
	var written record.Run
	if err == nil && json.Unmarshal(content, &written) == nil && written.Stop == run.Stop {
		_, _ = c.app.out.Write(c.markReused(content))
		return
	}
	if err := c.app.printJSON(run); err != nil {
		c.app.say("warning: %v", err)
	}
}

// markReused adds to a bundle's document that it is an earlier review's: every other byte stays as it was written.
func (c *carriage) markReused(document []byte) []byte {
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(document), []byte("{"))
	if c.reused == "" || !ok {
		return document
	}
	return fmt.Appendf(nil, "{\n  \"reused_verdict_of\": %q,%s\n", c.reused, rest)
}

func (c *carriage) copyOut(w io.Writer, name string) {
	file, err := os.Open(filepath.Join(c.entry.Bundle, name))
	if errors.Is(err, os.ErrNotExist) {
		return // nothing was changed yet
	}
	if err != nil {
		c.app.say("warning: %v", err)
		return
	}
	defer func() { _ = file.Close() }()
	if _, err := io.Copy(onScreen(w), file); err != nil {
		c.app.say("warning: %s: %v", name, err)
	}
}
