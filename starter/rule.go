package main

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"conclave/internal/convergence"
	"conclave/internal/host"
	"conclave/internal/loop"
	"conclave/internal/record"
	"conclave/internal/report"
	"conclave/workflows"
)

// rulePatience is how long a run may take to answer a ruling.
const rulePatience = 30 * time.Second

// ruleFlags are the flags of rule.
type ruleFlags struct {
	stand, fix, abort bool
	reason, by, head  string
	json              bool
}

func (a *app) ruleCommand() *cobra.Command {
	var f ruleFlags
	cmd := &cobra.Command{
		Use:   `rule RUN FINDING --stand|--fix|--abort --reason "..."`,
		Short: "Rule on a finding, or answer what the run asks",
		Long:  "Answers one question of a run that waits: on a finding (F1), on the change's SIZE, on PROTECTED paths or on the BUDGET.\nThe run itself answers whether the ruling was applied. A ruling on a finding that is not asked yet is kept until it is.",
		Example: `  starter rule @last F1 --stand --reason "the caller checks it"
  starter rule add-endpoint F2 --fix --reason "it must not crash on an empty list"
  starter rule @last SIZE --stand`,
		DisableFlagsInUseLine: true,
		Args:                  exactly("RUN", "FINDING"),
		RunE: func(cmd *cobra.Command, args []string) error {
			request, err := f.request(args[1])
			if err != nil {
				return err
			}
			return a.withRun(cmd.Context(), cmd, args[0], func(ctx context.Context, _ *interrupts, c *carriage) error {
				return c.rule(ctx, request, f.json)
			})
		},
	}
	fs := cmd.Flags()
	fs.BoolVar(&f.stand, "stand", false, "let it stand; for SIZE and PROTECTED go on, for BUDGET give the same amount once more")
	fs.BoolVar(&f.fix, "fix", false, "have it repaired once more")
	fs.BoolVar(&f.abort, "abort", false, "end the run")
	fs.StringVar(&f.reason, "reason", "", "why: `TEXT` for the report; required for a finding")
	fs.StringVar(&f.by, "by", "", "who rules: `NAME` (default: the user of this system)")
	fs.StringVar(&f.head, "head", "", "the `COMMIT` or tree that the ruling is about; it is refused when the run stands at another one")
	fs.BoolVar(&f.json, "json", false, "print the run's answer as JSON")
	addHostFlags(cmd)
	return cmd
}

// request is what the flags ask for.
func (f ruleFlags) request(finding string) (loop.RulingRequest, error) {
	var decisions []string
	for _, d := range []struct {
		name string
		set  bool
	}{{convergence.DecisionStand, f.stand}, {convergence.DecisionFix, f.fix}, {convergence.DecisionAbort, f.abort}} {
		if d.set {
			decisions = append(decisions, d.name)
		}
	}
	if len(decisions) != 1 {
		return loop.RulingRequest{}, usage("use exactly one of --stand, --fix and --abort", "a ruling has one decision; %d are given", len(decisions))
	}
	// Without a request id the question is the key: saying the same twice rules once.
	request := loop.RulingRequest{
		Finding: strings.ToUpper(strings.TrimSpace(finding)), Decision: decisions[0], Reason: f.reason, By: f.by, Head: f.head,
	}
	if request.By == "" {
		request.By = whoAmI()
	}
	checked, err := loop.ReadRuling(rulingJSON(request))
	if err != nil {
		return request, usage(`for example: --stand --reason "the caller checks it"`, "this is no ruling: %v", err)
	}
	return checked, nil
}

// whoAmI is the name under which a ruling is recorded that names nobody.
func whoAmI() string {
	if me, err := user.Current(); err == nil && me.Username != "" {
		return me.Username
	}
	return "starter"
}

func (c *carriage) rule(ctx context.Context, request loop.RulingRequest, asJSON bool) error {
	_, run, ended, err := c.stand(ctx)
	if err != nil {
		return err
	}
	if ended {
		return c.nothingToRule(run)
	}
	if err := c.answerer(); err != nil {
		return err
	}
	answer, err := c.send(ctx, request)
	if err != nil {
		return err
	}
	return c.ruled(ctx, answer, asJSON)
}

// answerer starts a worker that only answers where nobody carries a local run.
// What the run does next waits for `resume`.
func (c *carriage) answerer() error {
	if !c.entry.Local() || c.workers != nil || c.index.Carried(c.entry.RunID) {
		return nil
	}
	return c.work(host.WorkflowOnly)
}

func (c *carriage) nothingToRule(run record.Run) error {
	return usage("`starter show "+c.entry.RunID+"` shows how", "run %s has ended, so nothing can be ruled any more: %s", c.entry.RunID, report.Outcome(run))
}

// send brings a ruling to the run and waits for its answer.
func (c *carriage) send(ctx context.Context, request loop.RulingRequest) (loop.RulingAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, rulePatience)
	defer cancel()
	var answer loop.RulingAnswer
	handle, err := c.conn.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: c.entry.WorkflowID, UpdateName: workflows.UpdateRule,
		Args: []any{request}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = handle.Get(ctx, &answer)
	}
	var refused *temporal.ApplicationError
	var gone *serviceerror.NotFound
	switch {
	case err == nil:
		return answer, nil
	case errors.As(err, &refused):
		return answer, usage("", "run %s refused it: %s", c.entry.RunID, refused.Message())
	case errors.As(err, &gone):
		run, _ := readRecord(c.entry)
		return answer, c.nothingToRule(run)
	}
	remedy := "its log is in the folder " + c.index.Dir(c.entry.RunID)
	if !c.entry.Local() {
		remedy = "a worker must poll " + c.entry.TaskQueue + " at " + c.entry.Address
	}
	return answer, &fault{code: exitStep, what: "run " + c.entry.RunID + " does not answer: " + err.Error(), remedy: remedy}
}

// ruled tells what became of a ruling.
func (c *carriage) ruled(ctx context.Context, answer loop.RulingAnswer, asJSON bool) error {
	if answer.Status == loop.RulingApplied {
		c.refreshBundle(ctx)
	}
	if asJSON {
		if err := c.app.printJSON(ruleJSON{c.entry.RunID, answer}); err != nil {
			return err
		}
		if answer.Status == loop.RulingRefused {
			return silent(exitUsage)
		}
		return nil
	}
	if answer.Status == loop.RulingRefused {
		remedy := "`starter show " + c.entry.RunID + "` shows what is asked"
		if len(answer.Open) > 0 {
			remedy = "it asks for a ruling on " + shortList(answer.Open)
		}
		return usage(remedy, "run %s refused the ruling on %s: %s", c.entry.RunID, answer.Finding, answer.Why)
	}
	for _, line := range c.afterRuling(answer) {
		c.app.print("%s", line)
	}
	return nil
}

type ruleJSON struct {
	RunID string `json:"run_id"`
	loop.RulingAnswer
}

// afterRuling says in lines what a ruling did and what comes next.
func (c *carriage) afterRuling(answer loop.RulingAnswer) []string {
	lines := []string{fmt.Sprintf("%s: %s", answer.Finding, answer.Decision)}
	switch {
	case answer.Status == loop.RulingKept:
		return []string{fmt.Sprintf("%s: %s is kept, and applied when the run asks about %s", answer.Finding, answer.Decision, answer.Finding)}
	case answer.Number > 1:
		lines[0] += fmt.Sprintf(" (question %d on it)", answer.Number)
	}
	switch {
	case len(answer.Open) > 0:
		lines = append(lines, "still asked: "+shortList(answer.Open))
	case c.entry.Local() && c.lock == nil && !c.index.Carried(c.entry.RunID):
		lines = append(lines, "nothing is asked any more; `starter resume "+c.entry.RunID+"` "+ifElse(answer.Decision == convergence.DecisionAbort, "ends it", "goes on"))
	default:
		lines = append(lines, "nothing is asked any more: the run goes on")
	}
	return lines
}

// refreshBundle writes into the bundle what was ruled so far. The run itself
// writes it when it goes on; where somebody else carries it that is theirs. A
// local run that nobody carries does not go on: its bundle must not ask any
// more what was answered.
func (c *carriage) refreshBundle(ctx context.Context) {
	left := c.lock == nil && c.entry.Local()
	if c.lock == nil {
		lock, err := c.index.TryLock(c.entry.RunID)
		if err != nil || lock == nil {
			return
		}
		defer lock.Release()
	}
	var status record.Status
	if answer, err := c.conn.QueryWorkflow(ctx, c.entry.WorkflowID, "", workflows.QueryBundle); err != nil || answer.Get(&status) != nil {
		return
	}
	if status.Run.Waiting == "" && !left {
		return
	}
	past, err := host.ReadPast(ctx, c.conn.Client, c.entry.WorkflowID)
	if err == nil {
		err = c.acts.BundleNow(ctx, &loop.BundleRequest{RunID: c.entry.RunID, Source: past.Input.Source, Requirement: past.Input.Requirement, Mark: "ruled"}, status)
	}
	if err != nil {
		c.app.say("warning: the bundle does not show the ruling yet: %v", err)
	}
}

// shortList names a few things in one line.
func shortList(names []string) string {
	const shown = 10
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:shown], ", ") + fmt.Sprintf(" and %d more", len(names)-shown)
}
