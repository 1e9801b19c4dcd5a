package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"conclave/activities"
	"conclave/config"
	"conclave/internal/artifact"
	"conclave/internal/host"
	"conclave/internal/loop"
	"conclave/internal/record"
	"conclave/internal/runindex"
	"conclave/internal/store"
	"conclave/workflows"
)

const (
	// taskTimeout is how long a dead starter can hold a workflow task.
	taskTimeout = 2 * time.Second
	// What the server takes as summary and details of a workflow, in bytes.
	summaryBytes, detailsBytes = 400, 20_000
	// inputBytes bounds the workflow's input.
	inputBytes = 16 << 10
	// startTimeout bounds the call that starts the workflow.
	startTimeout = 10 * time.Second
)

// launch writes the run down, connects and starts the workflow. Nothing polls its queues yet.
func (a *app) launch(ctx context.Context, p *plan, configFile string) (*carriage, error) {
	host, err := targetOf(p.config)
	if err != nil {
		return nil, err
	}
	if err := checkSandbox(ctx, p.config, host); err != nil {
		return nil, err
	}
	c := &carriage{app: a, index: runindex.Open(p.config.Host.StateDir), entry: newEntry(p, configFile)}
	c.entry.Address, c.entry.Namespace, c.entry.TaskQueue = host.Address, host.Namespace, p.config.Host.TaskQueue
	if err := c.start(ctx, p, host); err != nil {
		c.close()
		c.undo()
		return nil, err
	}
	return c, nil
}

// start writes everything down before the run can be found, and lets it be found
// before anything is started: whenever this process dies, resume can go on.
func (c *carriage) start(ctx context.Context, p *plan, target host.Target) error {
	if err := makeBundle(c.entry); err != nil {
		return err
	}
	if err := c.index.Reserve(c.entry.RunID); err != nil {
		return usage("set CONCLAVE_STATE_DIR to a folder you can write", "%v", err)
	}
	var err error
	if c.lock, err = c.index.TryLock(c.entry.RunID); err != nil {
		return err
	}
	artifacts, err := store.OpenFolder(p.config.Host.Store)
	if err != nil {
		return usage("name another folder with --store or CONCLAVE_STORE", "%v", err)
	}
	in, err := input(ctx, p, c.entry, artifacts)
	if err != nil {
		return err
	}
	if err := c.index.WriteStart(c.entry.RunID, in); err != nil {
		return err
	}
	if err := c.index.Write(c.entry); err != nil {
		return err
	}
	if err := c.connect(ctx, p.config, target, artifacts); err != nil {
		return err
	}
	if p.gate != nil {
		if err := c.seekStanding(ctx, p.gate); err != nil {
			return err
		}
	}
	return c.startWorkflow(ctx, in)
}

func targetOf(c config.Config) (host.Target, error) {
	origin := "the configuration"
	for _, e := range c.Effective() {
		if e.Key == "address" {
			origin = e.Origin
		}
	}
	target, err := host.Resolve(c.Host.Address, c.Host.Namespace, origin)
	if err != nil {
		return target, usage("correct it, or unset the variable to use the local server", "%v", err)
	}
	return target, nil
}

func newEntry(p *plan, configFile string) runindex.Entry {
	id := runindex.NewID(withoutSecrets(string(p.requirement)))
	if configFile != "" {
		if abs, err := filepath.Abs(configFile); err == nil {
			configFile = abs
		}
	}
	e := runindex.Entry{
		RunID: id, WorkflowID: workflows.WorkflowID(id), Source: p.source.Root(), Bundle: activities.BundleDir(p.source.Root(), id),
		Title: title(string(p.requirement)), Preset: p.config.Named(), Created: time.Now().UTC(), Store: p.config.Host.Store, Config: configFile,
	}
	if p.gate != nil {
		p.gate.entry(&e, string(p.requirement))
	}
	return e
}

// makeBundle makes the bundle's folder before anything is paid for. A link of
// the repository that leads out of it is not followed.
func makeBundle(e runindex.Entry) error {
	root, err := os.OpenRoot(e.Source)
	if err == nil {
		defer func() { _ = root.Close() }()
		var below string
		if below, err = filepath.Rel(e.Source, e.Bundle); err == nil {
			err = root.MkdirAll(below, 0o755)
		}
	}
	const ignore = ".conclave/.gitignore"
	if err == nil {
		if _, missing := root.Lstat(ignore); errors.Is(missing, os.ErrNotExist) {
			err = root.WriteFile(ignore, []byte("*\n"), 0o644)
		}
	}
	if err != nil {
		return usage("make .conclave in "+e.Source+" writable: the run's bundle goes there", "the bundle folder cannot be written: %v", err)
	}
	return nil
}

// undo removes the traces of a run that never started.
func (c *carriage) undo() {
	if c.started {
		return
	}
	_ = os.Remove(c.entry.Bundle) // only when empty
	_ = c.index.Forget(c.entry.RunID)
}

// input is the workflow's input: loop policy and names of artifacts.
func input(ctx context.Context, p *plan, e runindex.Entry, artifacts store.Store) (loop.Input, error) {
	ref, err := artifacts.Put(ctx, p.requirement)
	if err != nil {
		return loop.Input{}, err
	}
	in := loop.Input{
		Schema: loop.InputSchema, RunID: e.RunID, Rules: p.machine.Rules().Name, Definition: p.definition, PlanDigest: p.resolved.Digest,
		Requirement: ref, Title: e.Title, Preset: p.config.Named(),
		Source:   loop.Source{Dir: e.Source, Base: p.base.ID, IncludeDirty: p.flags.includeDirty},
		Commands: loop.Commands{Setup: p.config.SetupCmd, Lint: p.config.LintCmd, Verify: p.config.VerifyCmd},
		Limits: loop.Limits{WriterTimeout: p.config.WriterTimeout, ReaderTimeout: p.config.ReaderTimeout,
			VerifyTimeout: p.config.VerifyTimeout, IdleTimeout: p.config.IdleTimeout},
		Queues:      loop.Queues{Source: workflows.SourceQueue(e.RunID), Agents: workflows.RunQueue(e.RunID)},
		VerdictMode: p.config.VerdictMode, DryRun: p.flags.dryRun, SelfReviewed: p.selfReviewed, Lenses: p.config.Lenses(), Budget: p.budget(),
		WriterSession: p.config.WriterSession,
	}
	if !e.Local() {
		in.Queues.Agents, in.Queues.Shared = workflows.AgentQueueOf(e.TaskQueue), true
	}
	if in.Policy, err = p.policy(ctx, artifacts); err != nil {
		return in, err
	}
	if p.config.Design {
		t := p.identify(p.config.Designer)
		in.Designer = &record.Engine{Adapter: t.Adapter, Provider: t.Provider, ModelFamily: t.ModelFamily, Model: t.Model}
	}
	for _, c := range p.constraints {
		var ref artifact.Ref
		if ref, err = artifacts.Put(ctx, c.text); err != nil {
			return in, err
		}
		in.Constraints = append(in.Constraints, loop.NamedRef{Name: c.name, Ref: ref})
	}
	if p.gate != nil {
		p.gate.input(&in)
	}
	return in, checkSize(in)
}

func checkSize(in loop.Input) error {
	raw, err := json.Marshal(in)
	if err != nil {
		return err
	}
	if len(raw) > inputBytes {
		return usage("shorten commands, evidence paths, review.generated, review.protected or the list of constraints", "the run's description is %d bytes, the limit is %d", len(raw), inputBytes)
	}
	return nil
}

func (c *carriage) startWorkflow(ctx context.Context, in loop.Input) error {
	// Once asked for, the workflow may exist: an interrupt must not make us forget it.
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), startTimeout)
	defer done()
	requirement, err := c.acts.Store.Get(ctx, in.Requirement)
	if err != nil {
		return &fault{code: exitStep, what: "the requirement of run " + c.entry.RunID + " is not in the store: " + err.Error()}
	}
	o := client.StartWorkflowOptions{
		ID: c.entry.WorkflowID, TaskQueue: c.entry.TaskQueue,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		TypedSearchAttributes:    workflows.StartAttributes(in, filepath.Base(c.entry.Source)),
		StaticSummary:            cutBytes(c.entry.Title, summaryBytes),
		StaticDetails:            cutBytes(strings.ToValidUTF8(withoutSecrets(string(requirement)), "\uFFFD"), detailsBytes),
	}
	if c.entry.Local() {
		o.TaskQueue, o.WorkflowTaskTimeout = workflows.RunQueue(c.entry.RunID), taskTimeout
	}
	kind := workflows.ReviewLoopName
	if in.Source.Gate != nil {
		kind = workflows.ReviewGateName
		c.gateOptions(&o)
	}
	_, err = c.conn.ExecuteWorkflow(ctx, o, kind, in)
	if unknownAttributes(err) {
		c.app.say("note: the namespace %s does not know Conclave's search attributes; the run goes on without them", c.entry.Namespace)
		in.Unindexed, o.TypedSearchAttributes = true, temporal.SearchAttributes{}
		_, err = c.conn.ExecuteWorkflow(ctx, o, kind, in)
	}
	if standing := c.gateStarted(ctx, in, err); standing != nil {
		return standing
	}
	if err != nil {
		return &fault{code: exitStep, what: fmt.Sprintf("the workflow of run %s did not start: %v", c.entry.RunID, err)}
	}
	c.started = true
	return nil
}

// unknownAttributes recognises the refusal of a server that lacks a search
// attribute. The server has no code for it, so its words must do.
func unknownAttributes(err error) bool {
	var invalid *serviceerror.InvalidArgument
	return errors.As(err, &invalid) && strings.Contains(invalid.Error(), "search attribute")
}

// cutBytes shortens a text at a character's border.
func cutBytes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	const mark = "..."
	cut := 0
	for i := range s {
		if i > most-len(mark) {
			break
		}
		cut = i
	}
	return s[:cut] + mark
}
