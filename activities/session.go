package activities

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"conclave/internal/agent"
	"conclave/internal/loop"
	"conclave/internal/record"
)

// heldSession is the writer's session whose state this machine holds. The programs find a session by the folder that
// they ran in, so it is good for that folder alone.
type heldSession struct {
	Adapter string `json:"adapter"`
	Session string `json:"session"`
	Dir     string `json:"dir"`
}

func (a *Activities) sessionFile(runID string) string {
	return filepath.Join(RunDir(a.StateDir, runID), "session.json")
}

// resume decides whether the turn goes on with the session that it was asked to: only where this machine holds it, in
// the workspace that it was held in. A workspace that was rebuilt lost what the session remembers of it.
func (t *turn) resume() {
	asked := t.req.Resume
	if asked == nil || !t.req.Writing || t.req.Turn != record.TurnRepair {
		return
	}
	var held heldSession
	err := readJSON(t.sessionFile(t.req.RunID), &held)
	switch {
	case err != nil || held.Session != asked.Session || held.Adapter != t.req.Target.Adapter:
		t.note("the writer's session is not on this worker: a fresh one was begun")
	case held.Dir != t.space.dir:
		t.note("the writer's workspace was rebuilt, which its session does not know: a fresh one was begun")
	default:
		t.resumed = asked
	}
}

// earlier is what the session used before this turn.
func earlier(e *loop.Earlier) agent.Usage {
	if e == nil || e.Usage == nil || e.Usage.Unknown > 0 {
		return agent.Usage{}
	}
	return agent.Usage{InputTokens: e.Usage.InputTokens, CachedTokens: e.Usage.CachedTokens, OutputTokens: e.Usage.OutputTokens, CostUSD: e.Usage.CostUSD, Known: true}
}

// afresh runs the turn again with a new session when the one to resume is lost; nothing was done in it.
func (t *turn) afresh(ctx context.Context) error {
	if t.resumed == nil || !t.outcome.NoSession || t.outcome.Class == record.ClassOK || t.outcome.Class == record.ClassAborted {
		return nil
	}
	t.note("%s does not know the writer's session any more: a fresh one was begun", t.req.Target.Adapter)
	t.resumed = nil
	for _, name := range []string{"transcript.jsonl", "events.jsonl", "stderr"} {
		from := filepath.Join(t.scratch, name)
		if err := os.Rename(from, from+".lost-session"); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	invocation, parser, err := t.compose(ctx)
	if err != nil {
		return err
	}
	t.held.clean() // of the call that found no session; with Landlock its temporary files lie outside of the turn's folder
	if t.held, err = t.containTurn(ctx, invocation); err != nil {
		return err
	}
	return t.call(ctx, invocation, parser)
}

// holdSession remembers, or forgets, the session that a writing turn ended in.
func (t *turn) holdSession(result *loop.TurnResult) error {
	if !t.req.Writing {
		return nil
	}
	if result.Class != record.ClassOK || result.Session == "" {
		err := os.Remove(t.sessionFile(t.req.RunID))
		if os.IsNotExist(err) {
			return nil
		}
		return err
	}
	result.Resumed = t.resumed != nil && t.resumed.Session == result.Session
	return writeJSON(t.sessionFile(t.req.RunID), heldSession{Adapter: t.req.Target.Adapter, Session: result.Session, Dir: t.space.dir})
}

func (t *turn) note(format string, args ...any) {
	t.notes = append(t.notes, fmt.Sprintf("step %s: ", t.req.Step)+t.bounded(fmt.Sprintf(format, args...)))
}
