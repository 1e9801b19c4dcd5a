package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"conclave/config"
	"conclave/internal/calibration"
	"conclave/internal/record"
	"conclave/internal/report"
)

// calibrateFlags are the flags of calibrate.
type calibrateFlags struct {
	workFlags
	json bool
	jobs int
}

// seatFlags are the policy flags that say who is measured.
var seatFlags = []string{"preset", "reviewers", "reviewer", "seat", "timeout"}

func (f *calibrateFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	all := pflag.NewFlagSet("policy", pflag.ContinueOnError)
	config.PolicyFlags(all)
	all.VisitAll(func(flag *pflag.Flag) {
		if slices.Contains(seatFlags, flag.Name) {
			fs.AddFlag(flag)
		}
	})
	addHostFlags(cmd)
	fs.StringVar(&f.workdir, "workdir", ".", "where conclave.yaml with seats and lenses is looked for: `DIR`")
	fs.BoolVar(&f.dryRun, "dry-run", false, "let the stub stand for every agent: nothing is measured, nothing kept")
	fs.BoolVar(&f.json, "json", false, "print one JSON document")
	fs.IntVar(&f.jobs, "jobs", 4, "how many reviews run at once: `N`")
}

func (a *app) calibrateCommand() *cobra.Command {
	var f calibrateFlags
	cmd := &cobra.Command{
		Use:   "calibrate [flags] CASES...",
		Short: "Measure reviewers over changes whose faults are known",
		Long: "Lets each seat review each case, once, and measures how much of what it raised is right (precision) and how much of what is wrong it raised (recall). " +
			"The result is kept in the state folder: a run of discipline full lets measured seats gate. CASES are folders with a case.yaml, or folders of such folders. " +
			"It exits with 1 when a seat does not reach calibration.min_precision and calibration.min_recall.",
		Example: `  starter calibrate internal/calibration/cases
  starter calibrate --preset panel cases/*
  starter calibrate --seat money=codex@money --json cases/*`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("name folders with a "+calibration.CaseFile+", such as internal/calibration/cases", "%s: CASES are missing", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.calibrate(cmd.Context(), cmd, f, args) },
	}
	f.add(cmd)
	return cmd
}

func (a *app) calibrate(ctx context.Context, cmd *cobra.Command, f calibrateFlags, folders []string) error {
	if f.jobs < 1 {
		return usage("write a number such as 4", "--jobs: %d is too small, the least is 1", f.jobs)
	}
	cases, err := readCases(folders)
	if err != nil {
		return err
	}
	p := &plan{flags: f.workFlags}
	if err := p.prepareCalibration(ctx, cmd); err != nil {
		return err
	}
	for _, w := range p.config.Warnings {
		a.say("warning: %s", w)
	}
	work, err := os.MkdirTemp("", "conclave-calibrate-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	for i := range cases {
		if err := cases[i].build(ctx, work); err != nil {
			return err
		}
	}
	stop := watchInterrupts()
	defer stop.stop()
	running, done := stop.until(ctx)
	defer done()
	m, err := a.measure(running, p, cases, f.jobs, configFileFlag(cmd))
	if err != nil {
		return interruptedOr(running, err)
	}
	return a.conclude(p, cases, m, f.json)
}

// prepareCalibration reads who is measured, as a run would.
func (p *plan) prepareCalibration(ctx context.Context, cmd *cobra.Command) error {
	for _, step := range []func(context.Context, *cobra.Command) error{p.openSource, p.load, p.readPrompts} {
		if err := step(ctx, cmd); err != nil {
			return err
		}
	}
	p.config = p.config.ForGate()
	p.config.Confirmer, p.config.Arbiter = nil, nil
	p.agents = p.config.Host.AgentSettings(os.Environ())
	var err error
	if p.identify, err = p.config.Identify(p.agents); err != nil {
		return err
	}
	if _, err := p.book(); err != nil { // before anything is paid for
		return err
	}
	return p.checkBinaries()
}

// calibrated is one seat's row of the result.
type calibrated struct {
	calibration.Score
	Precision *float64 `json:"precision"`
	Recall    *float64 `json:"recall"`
	// Calibrated says that the thresholds are reached, Lacks why not.
	Calibrated bool   `json:"calibrated"`
	Lacks      string `json:"lacks,omitempty"`
}

// calibratedGroup is a row of several seats.
type calibratedGroup struct {
	calibration.Group
	Precision *float64 `json:"precision"`
	Recall    *float64 `json:"recall"`
}

// calibrationDocument is what calibrate --json prints.
type calibrationDocument struct {
	CasesDigest string             `json:"cases_digest"`
	Cases       []calibration.Case `json:"cases"`
	Thresholds  map[string]float64 `json:"thresholds"`
	Seats       []calibrated       `json:"seats"`
	Lenses      []calibratedGroup  `json:"lenses"`
	Models      []calibratedGroup  `json:"models"`
	// Usage is what all reviews consumed, nil where no engine reported any.
	Usage  *record.Usage `json:"usage"`
	DryRun bool          `json:"dry_run"`
	// Kept is the file that holds the result, "" for none.
	Kept string `json:"kept"`
}

// conclude scores, keeps and prints.
func (a *app) conclude(p *plan, cases []labelled, m *measured, asJSON bool) error {
	plain := make([]calibration.Case, len(cases))
	for i, c := range cases {
		plain[i] = c.Case
	}
	scores := calibration.Measure(plain, m.answers)
	min := p.thresholds()
	doc := calibrationDocument{CasesDigest: calibration.DigestOf(plain), Cases: plain, DryRun: p.flags.dryRun, Usage: m.usage,
		Thresholds: map[string]float64{"precision": min.Precision, "recall": min.Recall},
		Lenses:     grouped(calibration.ByLens(scores)), Models: grouped(calibration.ByModel(scores))}
	enough := true
	for _, s := range scores {
		row := calibrated{Score: s, Lacks: min.Lacks(s.Counts)}
		row.Precision, row.Recall = shares(s.Counts)
		row.Calibrated = row.Lacks == ""
		enough = enough && row.Calibrated
		doc.Seats = append(doc.Seats, row)
	}
	var err error
	if !p.flags.dryRun {
		if doc.Kept, err = p.keep(doc, time.Now().UTC()); err != nil {
			return err
		}
	}
	if asJSON {
		err = a.printJSON(doc)
	} else {
		err = a.printCalibration(doc)
	}
	if err == nil && !enough && !p.flags.dryRun {
		return silent(exitFailed)
	}
	return err
}

func grouped(groups []calibration.Group) []calibratedGroup {
	var rows []calibratedGroup
	for _, g := range groups {
		row := calibratedGroup{Group: g}
		row.Precision, row.Recall = shares(g.Counts)
		rows = append(rows, row)
	}
	return rows
}

// shares are precision and recall, nil where nothing was raised or expected.
func shares(c calibration.Counts) (precision, recall *float64) {
	if p, ok := c.Precision(); ok {
		precision = &p
	}
	if r, ok := c.Recall(); ok {
		recall = &r
	}
	return precision, recall
}

func (a *app) printCalibration(d calibrationDocument) error {
	table := a.table()
	fmt.Fprintln(table, "SEAT\tLENS\tMODEL\tPRECISION\tRECALL\tRESULT")
	for _, s := range d.Seats {
		result := "calibrated"
		if !s.Calibrated {
			result = s.Lacks
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", s.Seat, s.Lens, s.ModelName(), shareWords(s.Precision, s.Correct, s.Raised), shareWords(s.Recall, s.Found, s.Expected), result)
	}
	groups := func(what string, rows []calibratedGroup) {
		fmt.Fprintf(table, "\t\t\t\t\t\n%s\t\t\tPRECISION\tRECALL\t\n", what)
		for _, g := range rows {
			fmt.Fprintf(table, "%s\t\t\t%s\t%s\t\n", g.Name, shareWords(g.Precision, g.Correct, g.Raised), shareWords(g.Recall, g.Found, g.Expected))
		}
	}
	groups("LENS", d.Lenses)
	groups("MODEL", d.Models)
	if err := table.Flush(); err != nil {
		return err
	}
	a.print("\ncases: %d (%s); needed: precision %.2f, recall %.2f", len(d.Cases), d.CasesDigest[:min(len(d.CasesDigest), 19)], d.Thresholds["precision"], d.Thresholds["recall"])
	if !d.DryRun {
		a.print("consumed: %s", report.Consumed(d.Usage))
	}
	for _, s := range d.Seats {
		a.printList(s.Seat+" missed", s.Missed)
		a.printList(s.Seat+" raised beside every fault", s.False)
		a.printList(s.Seat+" gave no valid answer", s.Unanswered)
		if s.Lost > 0 {
			a.print("%s was not measured: its engine could not be asked in %d of %d cases; what was known of it stays", s.Seat, s.Lost, s.Cases)
		}
	}
	if d.DryRun {
		a.print("dry run: the stub stands for every engine; nothing is kept")
	} else {
		a.print("kept in %s", d.Kept)
	}
	return nil
}

func shareWords(share *float64, part, whole int) string {
	if share == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f (%d/%d)", *share, part, whole)
}

func (a *app) printList(what string, entries []string) {
	for _, e := range entries {
		a.print("%s: %s", what, printable(e))
	}
}

// faultsOf turns what is wrong with a case's file into problems.
func faultsOf(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range joined.Unwrap() {
			all = append(all, faultsOf(e)...)
		}
		return all
	}
	var f calibration.Fault
	if errors.As(err, &f) {
		return []error{config.Problem{What: f.What, Remedy: f.Remedy}}
	}
	return []error{config.Problem{What: strings.TrimSpace(err.Error())}}
}
