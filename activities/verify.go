package activities

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"

	"conclave/internal/artifact"
	"conclave/internal/gitrepo"
	"conclave/internal/loop"
	"conclave/internal/record"
	"conclave/internal/verifier"
)

// Verify runs the verifier and the linter on the writer's workspace, and puts
// the workspace back to the snapshot: what a command leaves is no change of the run.
func (a *Activities) Verify(ctx context.Context, req *loop.VerifyRequest) (_ *loop.VerifyResult, err error) {
	defer a.hide(&err)
	if err := a.admit(req.RunID, req.Step); err != nil {
		return nil, err
	}
	beat := startPulse(ctx, req.Step, a.secrets)
	defer beat.stop()
	run, cancel := stopping(ctx)
	defer cancel()
	if req.Command != "" || req.Lint != "" {
		unlock, err := a.lockWriter(run, req.RunID)
		if err != nil {
			return nil, a.unfinished(ctx, run, err)
		}
		defer unlock()
	}
	key := resultKey(req.RunID, req.Step, 1)
	if before, err := readResult[loop.VerifyResult](ctx, a, key, req); err != nil || before != nil {
		return before, err
	}
	began := time.Now()
	v := &verification{Activities: a, req: req, attempt: int(activity.GetInfo(ctx).Attempt), beat: beat}
	defer v.clean()
	result, err := v.run(run)
	if err != nil || result.Class == record.ClassAborted && stopped(run) {
		return nil, a.unfinished(ctx, run, err)
	}
	result.DurationMS, result.Attempt = time.Since(began).Milliseconds(), v.attempt
	if result, err = spotless(a, result); err != nil {
		return nil, a.failed(typeEffect, err)
	}
	if result.Class == record.ClassAborted {
		return result, nil
	}
	return result, a.writeResult(context.WithoutCancel(ctx), key, req, result)
}

type verification struct {
	*Activities
	req     *loop.VerifyRequest
	attempt int
	beat    *pulse
	scratch string
	space   *workspace
	result  loop.VerifyResult
}

func (v *verification) run(ctx context.Context) (*loop.VerifyResult, error) {
	v.result = loop.VerifyResult{Class: record.ClassOK, Gate: loop.GateNotRun, Artifacts: map[string]artifact.Ref{}}
	if v.req.Command == "" && v.req.Lint == "" {
		return &v.result, errors.Join(v.closeGate(ctx), v.digestGlobs(ctx))
	}
	if err := v.open(ctx); err != nil {
		return nil, err
	}
	for _, command := range v.commands() {
		if command.text == "" || v.result.Class != record.ClassOK {
			continue
		}
		if err := v.execute(ctx, command); err != nil {
			return nil, err
		}
	}
	ending := context.WithoutCancel(ctx)
	return &v.result, errors.Join(v.closeGate(ending), v.digestGlobs(ending))
}

func (v *verification) open(ctx context.Context) (err error) {
	v.scratch = filepath.Join(RunDir(v.StateDir, v.req.RunID), "turns", fmt.Sprintf("%s-%d-%d", v.req.Step, v.attempt, time.Now().UnixNano()))
	if err := os.MkdirAll(v.scratch, 0o700); err != nil {
		return err
	}
	v.space, err = v.writerWorkspace(ctx, v.req.Workspace, v.req.Step, v.attempt)
	if err != nil {
		return err
	}
	// A command of a lost attempt may have left its traces.
	_, err = v.space.repo.Restore(ctx, v.space.dir, v.req.From.Commit, v.space.ours)
	return err
}

func (v *verification) commands() []command {
	base := command{Activities: v.Activities, runID: v.req.RunID, step: v.req.Step, timeout: v.req.Timeout}
	setup, verify, lint := base, base, base
	setup.name, verify.name, lint.name = "setup", "verify", "lint"
	if v.space.fresh {
		setup.text = v.req.Setup
	}
	verify.text, lint.text = v.req.Command, v.req.Lint
	return []command{setup, verify, lint}
}

// execute runs one command, keeps its output, and restores the workspace.
func (v *verification) execute(ctx context.Context, c command) error {
	v.beat.act(c.name + ": " + c.text)
	if c.name == "lint" {
		changed, err := v.space.repo.Changes(ctx, v.req.Base.Commit, v.req.From.Commit)
		if err != nil {
			return err
		}
		c.env = []string{"CONCLAVE_CHANGED_FILES=" + strings.Join(fitting(paths(changed), changedBytes), "\n")}
	}
	end, err := c.run(ctx, v.space, v.scratch)
	if err != nil {
		return err
	}
	v.result.Sandbox = end.sandbox
	if end.note != "" && !slices.Contains(v.result.Notes, end.note) {
		v.result.Notes = append(v.result.Notes, end.note)
	}
	saving := context.WithoutCancel(ctx)
	ref, err := v.Store.PutFile(saving, end.log)
	if err != nil {
		return err
	}
	v.result.Artifacts[c.name+".log"] = ref
	if v.result.Artifacts[c.name+".command"], err = v.Store.Put(saving, v.secrets.Redact([]byte(c.text+"\n"))); err != nil {
		return err
	}
	restored, err := v.space.repo.Restore(saving, v.space.dir, v.req.From.Commit, v.space.ours)
	if err != nil {
		return err
	}
	v.result.Restored = append(v.result.Restored, fitting(restored, restoredBytes)...)
	if c.name == "setup" && end.problem() == "" {
		if err := v.markWriting(v.req.RunID, v.space, v.req.From.Commit, false); err != nil {
			return err
		}
	}
	return v.judge(saving, c, end, ref)
}

// restoredBytes bounds the list of what one command left behind.
const restoredBytes = 2 << 10

// judge notes what the command's end means for the step.
func (v *verification) judge(ctx context.Context, c command, end commandEnd, log artifact.Ref) (err error) {
	problem := end.unjudged()
	if c.name == "setup" && problem == "" {
		problem = end.problem()
	}
	switch {
	case problem != "" && c.name != "lint":
		v.result.Class, v.result.Code = end.class()
		v.result.Message = v.bounded(fmt.Sprintf("the %s command `%s` %s", c.name, c.text, problem))
	case c.name == "lint":
		v.result.Lint, err = v.Store.Put(ctx, end.words(log.Size))
	case c.name == "verify":
		v.result.Gate, v.result.ExitCode = loop.GatePass, end.ExitCode
		if end.problem() != "" {
			v.result.Gate, v.result.Message = loop.GateFail, v.bounded(end.problem()+end.firstCheck())
			v.result.FailureDigest = verifier.Digest(end.output, end.ExitCode, v.space.dir, end.temp)
			v.result.Failure, err = v.Store.Put(ctx, v.secrets.Redact([]byte(fmt.Sprintf("`%s` %s\n\n%s", c.text, end.problem(), end.failure()))))
			v.result.Artifacts["result.md"] = v.result.Failure
		}
	}
	return err
}

func (v *verification) digestGlobs(ctx context.Context) error {
	if len(v.req.Globs) == 0 {
		return nil
	}
	repo, err := v.repository(ctx, v.req.Workspace)
	if err != nil {
		return err
	}
	for _, glob := range v.req.Globs {
		digest, err := repo.GlobTree(ctx, v.req.From.Commit, []string{glob})
		if err != nil {
			return err
		}
		v.result.Globs = append(v.result.Globs, digest)
	}
	return nil
}

func (v *verification) clean() {
	if v.scratch != "" {
		_ = gitrepo.RemoveTree(v.scratch)
	}
}

// changedBytes is what one environment variable holds of the changed paths.
const changedBytes = 100 << 10

// fitting keeps as many paths as there is room for, in bytes.
func fitting(paths []string, room int) []string {
	for i, path := range paths {
		if room -= len(path) + 1; room < 0 {
			return paths[:i]
		}
	}
	return paths
}
