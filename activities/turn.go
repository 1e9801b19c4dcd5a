package activities

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/activity"

	"conclave/internal/agent"
	"conclave/internal/artifact"
	"conclave/internal/convergence"
	"conclave/internal/gitrepo"
	"conclave/internal/guard"
	"conclave/internal/loop"
	"conclave/internal/process"
	"conclave/internal/record"
	"conclave/internal/secret"
)

// RunTurn runs one agent turn to its end. A turn that finished before is not
// run again: its stored result is returned.
func (a *Activities) RunTurn(ctx context.Context, req *loop.TurnRequest) (_ *loop.TurnResult, err error) {
	defer a.hide(&err)
	if err := a.admit(req.RunID, req.Step); err != nil {
		return nil, err
	}
	beat := startPulse(ctx, req.Step, a.secrets)
	defer beat.stop()
	run, cancel := stopping(ctx)
	defer cancel()
	if req.Writing {
		unlock, err := a.lockWriter(run, req.RunID)
		if err != nil {
			return nil, a.unfinished(ctx, run, err)
		}
		defer unlock()
	}
	key := resultKey(req.RunID, req.Step, req.Try)
	if before, err := readResult[loop.TurnResult](ctx, a, key, req); err != nil || before != nil {
		return before, err
	}
	t := &turn{Activities: a, req: req, attempt: int(activity.GetInfo(ctx).Attempt), beat: beat, began: time.Now()}
	defer t.clean()
	result, err := t.run(run)
	if err != nil || result.Class == record.ClassAborted && stopped(run) {
		return nil, a.unfinished(ctx, run, err)
	}
	// A turn that is over is kept, whatever happens to its worker or its run meanwhile.
	saving := context.WithoutCancel(ctx)
	result.DurationMS, result.Attempt = time.Since(t.began).Milliseconds(), t.attempt
	result.Worked, result.Lost = t.worked, t.attempt-1
	if t.outcome.UsageOpen && result.Usage != nil {
		result.Lost++
	}
	if err = t.store(saving, result); err == nil {
		result, err = spotless(a, result)
	}
	if err != nil {
		return nil, a.failed(typeEffect, err)
	}
	if result.Class == record.ClassAborted {
		return result, nil
	}
	return result, a.writeResult(saving, key, req, result)
}

// turn is one attempt of one agent turn on this machine.
type turn struct {
	// changes are the paths of a fix diff; see changed.
	changes []gitrepo.Change
	// rules are what a writing turn's change is scanned for.
	rules *guard.Rules
	*Activities
	req     *loop.TurnRequest
	attempt int
	beat    *pulse
	began   time.Time
	// scratch holds prompt, streams and the last message, outside the workspace.
	scratch string
	space   *workspace
	outcome agent.Outcome
	// worked says that the model said or did something.
	worked bool
	// parts are the agent's words, where they come in parts.
	parts *secret.Parts
	// watch is over what a reader must not change.
	watch *gitrepo.Watch
	// held is what contains the agent.
	held containment
	// resumed is the session that the turn goes on with, nil for a new one; notes tell a reader what became of it.
	resumed *loop.Earlier
	notes   []string
}

func (t *turn) run(ctx context.Context) (*loop.TurnResult, error) {
	if err := t.open(ctx); err != nil {
		return nil, err
	}
	if failure, err := t.setup(ctx); failure != nil || err != nil {
		return failure, err
	}
	t.resume()
	invocation, parser, err := t.compose(ctx)
	if err != nil {
		return t.refusal(err)
	}
	if t.held, err = t.containTurn(ctx, invocation); err != nil {
		return t.refusal(err)
	}
	if t.req.Writing {
		if err := t.markWriting(t.req.RunID, t.space, t.req.From.Commit, true); err != nil {
			return nil, err
		}
	} else if t.watch, err = t.space.repo.Watch(t.space.dir); err != nil { // what we put there lies there already
		return nil, err
	}
	if err := t.call(ctx, invocation, parser); err != nil {
		return nil, errors.Join(err, t.putBack())
	}
	if err := t.afresh(ctx); err != nil {
		return nil, err
	}
	return t.conclude(ctx)
}

// refusal is a turn that cannot begin because of how it is configured.
func (a *Activities) refusal(err error) (*loop.TurnResult, error) {
	var uncontained errNoSandbox
	if !agent.IsUnavailable(err) && !errors.As(err, &uncontained) {
		return nil, err
	}
	return &loop.TurnResult{Class: record.ClassPermanent, Code: convergence.FailEngineUnavailable, Message: a.bounded(err.Error())}, nil
}

// open makes the scratch folder and the workspace.
func (t *turn) open(ctx context.Context) (err error) {
	t.scratch = filepath.Join(RunDir(t.StateDir, t.req.RunID), "turns", fmt.Sprintf("%s.%d-%d-%d", t.req.Step, t.req.Try, t.attempt, time.Now().UnixNano()))
	if err := os.MkdirAll(t.agentScratch(), 0o700); err != nil {
		return err
	}
	if t.req.Writing {
		t.space, err = t.writerWorkspace(ctx, t.req.Workspace, t.req.Step, t.attempt)
		if err == nil { // before the agent is paid: a bad glob is found here
			t.rules, err = guardRules(ctx, t.space.repo, t.req.Base.Commit, t.req.Protected, t.req.Generated, t.req.VerifyCommand)
		}
		if err == nil {
			_, err = t.added(t.rules, t.req.AllowSecrets)
		}
		if err == nil && !t.space.fresh { // the agent sees the last snapshot as clean
			err = t.space.repo.RefreshAgentGit(ctx, t.space.dir, t.req.From.Commit, agentGit(t.req.Workspace).AgentRefs)
		}
	} else {
		t.space, err = t.seatWorkspace(ctx, t.req.Workspace, t.req.Step, t.attempt, t.req.At)
	}
	return err
}

// setup runs the user's set-up command once in each new writer workspace.
func (t *turn) setup(ctx context.Context) (*loop.TurnResult, error) {
	if !t.req.Writing || !t.space.fresh || t.req.Setup == "" {
		return nil, nil
	}
	t.beat.act("set-up: " + t.req.Setup)
	c := command{Activities: t.Activities, runID: t.req.RunID, step: t.req.Step, name: "setup", text: t.req.Setup, timeout: t.req.SetupTimeout}
	out, err := c.run(ctx, t.space, t.scratch)
	if err != nil || ctx.Err() != nil {
		return nil, firstError(err, ctx.Err())
	}
	if out.problem() == "" {
		_, err = t.space.repo.Restore(ctx, t.space.dir, t.req.From.Commit, t.space.ours)
		return nil, err
	}
	class, code := out.class()
	return &loop.TurnResult{Class: class, Code: code, Message: t.bounded(fmt.Sprintf("the set-up command `%s` %s\n%s", t.req.Setup, out.problem(), out.tail()))}, nil
}

// call runs the engine and reads its stream.
func (t *turn) call(ctx context.Context, inv agent.Invocation, parser agent.Parser) error {
	stderr := filepath.Join(t.scratch, "stderr")
	log := newEventLog(filepath.Join(t.scratch, "events.jsonl"))
	defer log.close()
	t.parts = t.secrets.Parts()
	end, err := process.Run(ctx, process.Spec{
		Sandbox: t.held.Confinement,
		Name:    t.req.Target.Adapter, Path: inv.Path, Args: inv.Args, Env: inv.Env, Dir: inv.Dir, Stdin: inv.StdinFile,
		Stdout: filepath.Join(t.scratch, "transcript.jsonl"), Stderr: stderr, StopSignal: inv.StopSignal,
		Timeout: t.req.Timeout, IdleTimeout: t.req.IdleTimeout, RegistryDir: RegistryDir(t.StateDir, t.req.RunID),
		Labels: map[string]string{"run": t.req.RunID, "turn": t.req.Step},
	}, t.follow(parser, log))
	if err != nil {
		return err
	}
	if err := t.cleanFile(stderr); err != nil {
		return err
	}
	last, err := readOptional(inv.LastMessageFile)
	if err != nil {
		return err
	}
	t.outcome = parser.Outcome(agent.ProcessEnd{
		Code: end.ExitCode, Signal: end.Signal, Cause: string(end.Cause), Message: end.Message,
		Stderr: process.StderrTail(stderr, 16<<10), LastMessage: t.secrets.Redact(last), Limit: t.req.Timeout,
		Dropped: end.DroppedLines, SessionDir: inv.SessionDir,
	})
	// What came in parts is looked at whole.
	t.outcome.Final, t.outcome.Structured = t.secrets.Redact(t.outcome.Final), t.secrets.Redact(t.outcome.Structured)
	return nil
}

// follow shows the agent's actions as heartbeats, keeps the normalised events
// on disk and stops the turn at a failure that cannot pass.
func (t *turn) follow(parser agent.Parser, log *eventLog) func([]byte) error {
	return func(line []byte) error {
		// Whatever is made of a line has no secret to lose: an event's text is cut, and so might be a secret.
		for _, event := range parser.Line(t.secrets.Redact(line)) {
			if err := log.add(event); err != nil {
				return err
			}
			t.worked = t.worked || event.Kind == agent.EventMessage || event.Kind == agent.EventAction
			if action := t.doing(event); action != "" {
				t.beat.act(action)
			}
			if event.Fatal {
				return fmt.Errorf("%w: %s", process.ErrStop, event.Text)
			}
		}
		return nil
	}
}

// doing is what people read of an event. Of a message in parts it is what was said up to the last blank: a secret may lie
// in several parts.
func (t *turn) doing(event agent.Event) string {
	if !event.Part {
		t.parts.End()
		return event.Action()
	}
	said := t.parts.Add(event.Text)
	if cut := len(said) - saidKept; cut > 0 {
		said = said[cut:]
	}
	return said
}

// saidKept is how much of a message in parts people read, in bytes.
const saidKept = 160

// store puts what the turn left into the store and names it in the result.
func (t *turn) store(ctx context.Context, result *loop.TurnResult) error {
	if result.Artifacts == nil {
		result.Artifacts = map[string]artifact.Ref{}
	}
	for _, name := range []string{"prompt.md", "transcript.jsonl", "events.jsonl", "stderr", "setup.log"} {
		path := filepath.Join(t.scratch, name)
		info, err := os.Stat(path)
		if err != nil || info.Size() == 0 {
			continue
		}
		if err := errors.Join(t.cleanFile(path), withoutPieces(path, t.parts)); err != nil {
			return err
		}
		ref, err := t.Store.PutFile(ctx, path)
		if err != nil {
			return err
		}
		result.Artifacts[t.place(name)] = ref
	}
	if len(t.outcome.Final) == 0 {
		return nil
	}
	ref, err := t.Store.Put(ctx, t.outcome.Final)
	result.Final, result.Artifacts[t.place("result.md")] = ref, ref
	return err
}

// place is an artifact's name in the step's folder of the bundle: what a later
// attempt left, after a lost worker, stands in a folder of its own.
func (t *turn) place(name string) string {
	if t.attempt == 1 {
		return name
	}
	return fmt.Sprintf("attempt-%d/%s", t.attempt, name)
}

// clean removes what only this attempt needed. Trouble with it is no reason to
// lose a result: `starter doctor` lists leftovers.
func (t *turn) clean() {
	t.held.clean()
	if t.scratch != "" {
		_ = gitrepo.RemoveTree(t.scratch)
	}
	if t.space != nil && !t.req.Writing {
		_ = t.space.repo.Discard(t.space.dir)
	}
}
