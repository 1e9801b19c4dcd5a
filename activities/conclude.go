package activities

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"conclave/internal/agent"
	"conclave/internal/convergence"
	"conclave/internal/loop"
	"conclave/internal/record"
)

// conclude turns the engine's outcome into a result: a snapshot for a writer, a
// verdict for a reviewer, and for both the check of what was touched.
func (t *turn) conclude(ctx context.Context) (*loop.TurnResult, error) {
	result := &loop.TurnResult{
		Class: t.outcome.Class, Code: t.outcome.Code, Message: t.bounded(t.outcome.Message), Session: t.outcome.Session,
		RetryAfter: t.outcome.RetryAfter, Notes: t.outcome.Notes, Reported: reported(t.outcome), Usage: t.usage(), Sandbox: t.held.kind(),
	}
	result.Notes = append(result.Notes, t.remedy()...)
	if t.held.note != "" {
		result.Notes = append(result.Notes, t.bounded(t.held.note))
	}
	t.tellSettings()
	result.Notes = append(t.notes, result.Notes...)
	// The agent is gone; what it left is looked at even if the run is stopping.
	ctx = context.WithoutCancel(ctx)
	if t.req.Writing {
		if err := t.concludeWriter(ctx, result); err != nil {
			return result, err
		}
		return result, t.holdSession(result)
	}
	if err := t.checkUntouched(ctx, result); err != nil || result.Class != record.ClassOK {
		return result, err
	}
	return result, t.read(ctx, result)
}

// remedy is what a person can do about a failure of the engine that no repetition cures.
func (t *turn) remedy() []string {
	adapter, err := t.Agents.Lookup(t.req.Target.Adapter)
	if err != nil || t.req.DryRun {
		return nil
	}
	cure := agent.Remedy(adapter, target(t.req.Target), t.outcome)
	if cure == "" {
		return nil
	}
	return []string{fmt.Sprintf("step %s: %s: %s", t.req.Step, adapter.Name(), cure)}
}

// usage is what the turn consumed, with its cost: as the engine reported it, else by the prices of this worker.
func (t *turn) usage() *record.Usage {
	model := t.req.Target.Model
	if t.outcome.Reported != nil && t.outcome.Reported.Model != "" {
		model = t.outcome.Reported.Model
	}
	return t.Prices.Priced(t.outcome.Usage.Record(), model)
}

// read takes in the answer of a read-only turn. An answer that is not valid is none.
func (t *turn) read(ctx context.Context, result *loop.TurnResult) error {
	if t.reads() && len(t.outcome.Final) > longestAnswer {
		result.Class, result.Code = record.ClassMalformed, convergence.FailResultTooLarge
		result.Message = fmt.Sprintf("the answer is %d bytes long; at most %d are read", len(t.outcome.Final), longestAnswer)
		return nil
	}
	switch t.req.Turn {
	case record.TurnReview, record.TurnRecheck:
		return t.readReview(ctx, result)
	case record.TurnConfirm:
		return t.readConfirm(result)
	case record.TurnArbitrate:
		return t.readArbitration(result)
	}
	if len(bytes.TrimSpace(t.outcome.Final)) == 0 {
		malformed(result, "the agent gave no final message")
	}
	return nil
}

// longestAnswer bounds what is read as an answer, in bytes: parsing Markdown takes a
// multiple of its size in memory, and no review is that long.
const longestAnswer = 1 << 20

// malformed makes a turn's answer none, for reasons that the next prompt repeats.
func malformed(result *loop.TurnResult, problems ...string) {
	result.Class, result.Code = record.ClassMalformed, convergence.FailResultInvalid
	result.Message = bounded("the answer does not count: " + strings.Join(problems, "; "))
}

// checkUntouched refuses the answer of a read-only turn that changed a file or a mode of its workspace, or the run's
// repository, which is put back.
func (t *turn) checkUntouched(ctx context.Context, result *loop.TurnResult) error {
	tampered, err := t.watch.Tampered()
	if err != nil {
		return err
	}
	touched, err := t.watch.Touched(ctx, t.space.commit, t.space.ours)
	if err != nil || len(touched)+len(tampered) == 0 || result.Class == record.ClassAborted {
		return err
	}
	var changed []string
	if len(touched) > 0 {
		changed = append(changed, listed(touched))
	}
	if len(tampered) > 0 {
		changed = append(changed, "in the run's repository, which was put back, "+listed(tampered))
	}
	result.Class, result.Code = record.ClassViolation, convergence.FailWorkspaceViolation
	result.Message = t.bounded(fmt.Sprintf("the %s turn must not change files, but changed %s; its answer is not used", t.req.Turn, strings.Join(changed, " and ")))
	return nil
}

// mostTouched is how many paths of a violation are named.
const mostTouched = 8

func listed(paths []string) string {
	if more := len(paths) - mostTouched; more > 0 {
		return fmt.Sprintf("%q and %d more", paths[:mostTouched], more)
	}
	return fmt.Sprintf("%q", paths)
}

// putBack makes the run's repository what it was, whatever went wrong with the turn.
func (t *turn) putBack() error {
	if t.watch == nil {
		return nil
	}
	_, err := t.watch.Tampered()
	return err
}
