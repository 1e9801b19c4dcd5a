package main

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"conclave/activities"
	"conclave/internal/convergence"
	"conclave/internal/host"
	"conclave/internal/loop"
	"conclave/internal/process"
	"conclave/internal/record"
	"conclave/internal/view"
	"conclave/workflows"
)

func (a *app) resumeCommand() *cobra.Command {
	var f showFlags
	var showDiff bool
	var answer loop.Resume
	cmd := &cobra.Command{
		Use:   "resume [flags] RUN",
		Short: "Go on with a run that was killed, interrupted or waits",
		Long:  "Goes on with a run that was killed, interrupted or waits. RUN is any unique part of its id, or @last.\nA run that has ended prints its outcome and exits with its code; a run that another starter carries is watched.\n--reopen asks a seat again, --waive lets the run end without it; both answer a run that waits.",
		Args:  exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkAnswer(cmd, &answer); err != nil {
				return err
			}
			return a.resume(cmd.Context(), cmd, args[0], resuming{f, showDiff, answer})
		},
	}
	f.add(cmd)
	addHostFlags(cmd)
	cmd.Flags().BoolVar(&showDiff, "show-diff", false, "print the whole change after the run")
	cmd.Flags().StringVar(&answer.Reopen, "reopen", "", "ask a `SEAT` again, with a fresh count of attempts")
	cmd.Flags().StringVar(&answer.Waive, "waive", "", "let the run end without a `SEAT` (needs --reason)")
	cmd.Flags().StringVar(&answer.Reason, "reason", "", "why: `TEXT` for the record")
	return cmd
}

// resuming is what the flags of resume ask for.
type resuming struct {
	showFlags
	showDiff bool
	answer   loop.Resume
}

// checkAnswer refuses what no run can be answered with.
func checkAnswer(cmd *cobra.Command, r *loop.Resume) error {
	given := cmd.Flags().Changed
	r.Reason = strings.TrimSpace(r.Reason)
	switch {
	case given("reopen") && given("waive"):
		return usage("use one of them", "--reopen and --waive exclude each other")
	case given("reopen") && r.Reopen == "", given("waive") && r.Waive == "":
		return usage("name a seat; `starter show RUN` lists them", "the seat is empty")
	case given("waive") && r.Reason == "":
		return usage(`say why: --reason "the engine is down until Monday"`, "--waive needs --reason: it lets the run end without that seat's review")
	case r.Reason == "":
		r.Reason = "starter resume"
	}
	return nil
}

// about is the seat that the flags name; "" for none.
func (r resuming) about() string { return cmp.Or(r.answer.Reopen, r.answer.Waive) }

func (a *app) resume(ctx context.Context, cmd *cobra.Command, name string, r resuming) error {
	out, err := a.output(r.showFlags)
	if err != nil {
		return err
	}
	return a.withRun(ctx, cmd, name, func(_ context.Context, stop *interrupts, c *carriage) error {
		return c.resumeOrWatch(ctx, stop, out, r)
	})
}

// resumeOrWatch resumes a run that nobody carries, and watches one that another starter does.
func (c *carriage) resumeOrWatch(ctx context.Context, stop *interrupts, out output, r resuming) (err error) {
	if c.lock, err = c.index.TryLock(c.entry.RunID); err != nil {
		return err
	}
	if c.lock == nil && r.about() != "" {
		return usage("wait until it does; `starter watch "+c.entry.RunID+"` shows it", "run %s is at work: another starter carries it, and it waits for nobody", c.entry.RunID)
	}
	if c.lock == nil {
		c.app.say("another starter carries run %s; watching it", c.entry.RunID)
		return c.watch(ctx, stop, out)
	}
	return c.resume(ctx, stop, out, r)
}

// resume is for the holder of the run's lock.
func (c *carriage) resume(ctx context.Context, stop *interrupts, out output, r resuming) error {
	standing, _, ended, err := c.stand(ctx)
	if err != nil {
		return err
	}
	if ended {
		if r.about() != "" {
			c.app.say("note: run %s has ended; nothing can be asked of seat %s any more", c.entry.RunID, r.about())
		}
		return c.ended(ctx, out, r.showDiff)
	}
	if r.about() != "" {
		if err := c.checkSeat(r.about()); err != nil {
			return err
		}
	}
	c.app.say("resuming run %s", c.entry.RunID)
	if err := c.revive(ctx, standing); err != nil {
		return err
	}
	if err := c.work(c.share()); err != nil {
		return err
	}
	v := view.New(out.view)
	asked, err := c.goOn(ctx, r)
	if err != nil {
		return err
	}
	end, err := c.followAsking(ctx, stop, v, out)
	if err == nil && end.Waiting && !asked && end.Run.Stop == record.StopInterrupted && !stop.asked() {
		// The last starter was killed between its interruption and the wait.
		if err := c.signalResume(ctx, r.answer); err != nil {
			return err
		}
		end, err = c.followAsking(ctx, stop, v, out)
	}
	return c.finish(v, end, err, out, r.showDiff)
}

// revive ends what the dead starter left: its agents, and its claim on activities.
func (c *carriage) revive(ctx context.Context, standing host.Standing) error {
	if _, err := process.KillRegistered(activities.RegistryDir(c.index.StateDir(), c.entry.RunID)); err != nil {
		return &fault{code: exitStep, what: "agents of the dead starter cannot be ended: " + err.Error()}
	}
	if !c.entry.Local() {
		standing = standing.Only("PrepareRun", "Land", "WriteBundle") // turns belong to the cluster's workers
	}
	if err := c.conn.GiveUpLost(ctx, c.entry.WorkflowID, standing); err != nil {
		return &fault{code: exitStep, what: err.Error()}
	}
	return nil
}

// goOn resumes a run that waits, and says whether it did. A run that is at work is left alone.
func (c *carriage) goOn(ctx context.Context, r resuming) (bool, error) {
	look, err := host.AwaitLook(ctx, c.conn.Client, c.entry.WorkflowID)
	if err != nil {
		return false, &fault{code: exitStep, what: "run " + c.entry.RunID + " does not answer: " + err.Error(),
			remedy: "its log is " + filepath.Join(c.index.Dir(c.entry.RunID), "starter.log")}
	}
	if look.Run.Waiting == "" || look.Busy || look.Run.Stop.Final() {
		if r.about() != "" {
			c.app.say("note: run %s does not wait, so nothing is asked of seat %s; it goes on", c.entry.RunID, r.about())
		}
		return false, nil
	}
	return true, c.signalResume(ctx, r.answer)
}

// checkSeat refuses a seat that the run does not have.
func (c *carriage) checkSeat(seat string) error {
	seats, err := c.seats()
	if err != nil {
		return &fault{code: exitStep, what: "the seats of run " + c.entry.RunID + " are not known: " + err.Error()}
	}
	if slices.Contains(seats, seat) {
		return nil
	}
	list := "its seats: " + strings.Join(seats, ", ")
	return usage(didYouMean(seat, seats, list), "run %s has no seat %q", c.entry.RunID, seat)
}

// seats lists the seats of what the run was started with; under full with the final review.
func (c *carriage) seats() ([]string, error) {
	var in loop.Input
	if err := c.index.ReadStart(c.entry.RunID, &in); err != nil {
		return nil, err
	}
	rules, err := convergence.RulesByName(in.Rules)
	if err != nil {
		return nil, err
	}
	machine, err := convergence.Compile(in.Definition, rules)
	if err != nil {
		return nil, err
	}
	var seats []string
	for _, s := range machine.Seats() {
		seats = append(seats, s.ID)
	}
	if machine.Definition().Data.Discipline == convergence.Full {
		seats = append(seats, finalSeat)
	}
	return seats, nil
}

// finalSeat names the last review of a run of discipline full.
const finalSeat = "final"

// signalResume returns when the run has taken the signal in: before, it would still be seen waiting.
func (c *carriage) signalResume(ctx context.Context, answer loop.Resume) error {
	err := c.conn.SignalWorkflow(ctx, c.entry.WorkflowID, "", workflows.SignalResume, answer)
	if err == nil {
		err = host.AwaitTaken(ctx, c.conn.Client, c.entry.WorkflowID)
	}
	if err != nil {
		return &fault{code: exitStep, what: "run " + c.entry.RunID + " cannot be resumed: " + err.Error()}
	}
	return nil
}
