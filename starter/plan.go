package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"conclave/config"
	"conclave/internal/convergence"
)

// planDocument is what plan --json prints.
type planDocument struct {
	Preset       string                 `json:"preset"`
	RestOf       string                 `json:"rest_of_preset,omitempty"` // a named preset in whose place others sit
	File         string                 `json:"definition_file,omitempty"`
	Discipline   string                 `json:"discipline"`
	Rules        string                 `json:"rules"`
	PlanDigest   string                 `json:"plan_digest"`
	Package      convergence.Package    `json:"package"`
	Base         string                 `json:"base,omitempty"`
	Steps        []planStep             `json:"steps"`
	Seats        []convergence.SeatInfo `json:"seats"`
	Lanes        []convergence.PlanLane `json:"lanes"`
	Limits       convergence.Data       `json:"limits"`
	Bounds       convergence.Bounds     `json:"bounds"`
	Commands     map[string]string      `json:"commands"`
	Timeouts     map[string]string      `json:"timeouts"`
	Policy       planPolicy             `json:"policy"`
	SelfReviewed bool                   `json:"self_reviewed"`
	DryRun       bool                   `json:"dry_run"`
	Notes        []string               `json:"notes"`
	Missing      []string               `json:"missing_agents,omitempty"`
	Definition   convergence.Definition `json:"definition"`
}

// planStep is one step in the order in which steps run.
type planStep struct {
	Order    int    `json:"order"`
	Node     string `json:"node"`
	Role     string `json:"role"`
	Lane     string `json:"lane,omitempty"`
	Adapter  string `json:"adapter,omitempty"`
	Provider string `json:"provider,omitempty"`
	Family   string `json:"model_family,omitempty"`
	Model    string `json:"model,omitempty"`
	Lens     string `json:"lens,omitempty"`
	Voting   *bool  `json:"voting,omitempty"`
	// Watches are the seat's evidence paths; none: everything.
	Watches   []string `json:"evidence_paths,omitempty"`
	Skippable bool     `json:"skippable,omitempty"`
	When      string   `json:"when"`
}

func (a *app) planCommand() *cobra.Command {
	var f workFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "plan [flags] REQUIREMENT | -",
		Short: "Show what run would do, without running an agent",
		Args:  oneRequirement,
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := a.readRequirement(args); err != nil {
				return err
			}
			p := &plan{flags: f, unrun: true}
			if err := prepare(cmd.Context(), cmd, p); err != nil {
				return err
			}
			doc := p.document()
			p.config.Warnings = nil // they are the document's notes
			a.warn(p)
			if asJSON {
				return a.printJSON(doc)
			}
			return a.printPlan(doc)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

func (p *plan) document() planDocument {
	c, definition := p.config, p.machine.Definition()
	verify := c.VerifyCmd
	if verify == "" {
		verify = "(none: recorded as not-run)"
	}
	rest := ""
	if c.OwnSeats && c.PresetNamed {
		rest = c.Preset
	}
	return planDocument{
		Preset: c.Named(), RestOf: rest, File: p.flags.definition, Discipline: c.Discipline, Rules: p.machine.Rules().Name, Base: p.base.ID,
		PlanDigest: p.resolved.Digest, Package: p.resolved.Plan.Package, Lanes: p.resolved.Plan.ExecutionLanes,
		Steps: p.steps(), Seats: p.machine.Seats(), Limits: definition.Data, Bounds: p.machine.Bounds(),
		Commands: map[string]string{"verify": verify, "setup": c.SetupCmd, "lint": c.LintCmd},
		Timeouts: map[string]string{"writer": c.WriterTimeout.String(), "others": c.ReaderTimeout.String(), "verify": c.VerifyTimeout.String(), "idle": c.IdleTimeout.String()},
		Policy:   p.policyDocument(), SelfReviewed: p.selfReviewed, DryRun: p.flags.dryRun, Notes: append(append([]string{}, p.machine.Warnings()...), c.Warnings...),
		Missing: p.missingAgents(), Definition: definition,
	}
}

// steps lists the nodes in the order of a run.
func (p *plan) steps() []planStep {
	var steps []planStep
	if p.config.Design {
		t := p.identify(p.config.Designer)
		steps = append(steps, planStep{Order: 1, Node: "design", Role: "designer", Adapter: t.Adapter, Provider: t.Provider, Family: t.ModelFamily, Model: t.Model, When: "once"})
	}
	first := len(steps)
	reviewed := "when the verifier passes"
	if p.config.ReviewWhen == "always" {
		reviewed = "after the verifier, whatever it says"
	}
	for _, n := range p.machine.Definition().Nodes {
		s := planStep{Node: n.ID, Role: string(n.Data.Role)}
		if lane := n.Data.Lane; lane != nil && n.Data.Role != convergence.RoleEvaluator {
			t := lane.Requested
			s.Lane, s.Adapter, s.Provider, s.Family, s.Model = lane.ID, t.Adapter, t.Provider, t.ModelFamily, t.Model
		}
		switch n.Data.Role {
		case convergence.RoleGenerator:
			s.Order, s.When = first+1, "iteration 1"
		case convergence.RoleEvaluator:
			s.Order, s.When = first+2, "each iteration"
		case convergence.RoleSeat:
			voting := p.machine.Voting(n.ID)
			s.Order, s.When, s.Voting, s.Lens = first+3, reviewed, &voting, p.config.Lenses()[n.ID]
			s.Watches, s.Skippable = n.Data.EvidencePaths, slices.Contains(p.machine.Definition().Data.SkippableSeats, n.ID)
		case convergence.RoleRepair:
			s.Order, s.When = first+4, "when something is open and iterations are left; then the verifier again"
		}
		steps = append(steps, s)
	}
	if p.config.Discipline == "full" {
		steps = append(steps, p.finalStep(first+5))
	}
	slices.SortStableFunc(steps, func(a, b planStep) int { return a.Order - b.Order })
	return steps
}

func (a *app) printPlan(d planDocument) error {
	from := "preset " + d.Preset
	switch {
	case d.Preset == "" && d.File == "":
		from = "seats of your own" + ifElse(d.RestOf != "", ", the rest of preset "+d.RestOf, "")
	case d.File != "":
		from = fmt.Sprintf("definition %s (%s, version %d)", d.File, d.Definition.ID, d.Definition.DefinitionVersion)
	}
	a.print("%s, discipline %s, rules %s", from, d.Discipline, d.Rules)
	a.print("plan digest %s", d.PlanDigest)
	a.print("package %s %s %s\n", d.Package.Source, d.Package.Version, d.Package.Digest)
	rows := [][]string{{"ORDER", "STEP", "ROLE", "ENGINE", "WHEN"}}
	for _, s := range d.Steps {
		rows = append(rows, []string{strconv.Itoa(s.Order), s.Node, s.roleWords(), s.engine(), s.When})
	}
	a.printTable(rows)
	a.printLanes(d)
	b, l := d.Bounds, d.Limits
	a.print("\nseats of the same order run in parallel, %d at once", l.SeatConcurrency)
	a.print("iterations: at most %d (%d repairs); a seat is asked again %d time(s) when its answer does not count", l.MaxIterations, min(l.MaxReviewRestarts, l.MaxIterations-1), l.RetryCapPerNode)
	a.print("quorum: %d voting seat(s)%s", l.Quorum, ifElse(l.RequireDiversity, ", of different providers and model families", ""))
	a.print("dispatches: %d to %d, at most %d at once%s", b.Dispatches.Min.Value, b.Dispatches.Max.Value, b.MaxConcurrency.Value,
		ifElse(d.Discipline == "full", "; a turn that confirms a finding, or arbitrates, comes on top", ""))
	a.print("verify: %s (time-out %s)", d.Commands["verify"], d.Timeouts["verify"])
	for _, name := range []string{"setup", "lint"} {
		if d.Commands[name] != "" {
			a.print("%s: %s", name, d.Commands[name])
		}
	}
	a.print("time-outs: writer %s, others %s, without an event %s", d.Timeouts["writer"], d.Timeouts["others"], d.Timeouts["idle"])
	a.printDiscipline(d)
	if d.DryRun {
		a.print("dry run: the stub stands for every engine")
	}
	for _, w := range d.Notes {
		a.print("note: %s", w)
	}
	for _, w := range d.Missing {
		a.print("warning: %s", w)
	}
	return nil
}

// finalStep is the last review of a run of discipline full: the first voting seat's engine in a fresh context, under no lens.
func (p *plan) finalStep(order int) planStep {
	s := planStep{Order: order, Node: finalSeat, Role: "final review", When: "once, when nothing is open, unless a person ruled"}
	seats := p.machine.Seats()
	if i := slices.IndexFunc(seats, func(s convergence.SeatInfo) bool { return s.Voting && s.Lane != nil }); i >= 0 {
		t := seats[i].Lane.Requested
		s.Lane, s.Adapter, s.Provider, s.Family, s.Model = seats[i].Lane.ID, t.Adapter, t.Provider, t.ModelFamily, t.Model
	}
	return s
}

// printLanes lists the engines, and what may stand in for each.
func (a *app) printLanes(d planDocument) {
	a.print("")
	rows := [][]string{{"LANE", "RUNS ON", "ELSE ON"}}
	for _, l := range d.Lanes {
		var others []string
		for _, t := range l.Fallbacks {
			others = append(others, engineWords(t))
		}
		rows = append(rows, []string{l.ID, engineWords(l.Effective), cmp.Or(strings.Join(others, ", "), "-")})
	}
	a.printTable(rows)
}

func (s planStep) roleWords() string {
	words := []string{s.Role}
	if s.Lens != "" {
		words = append(words, s.Lens)
	}
	if s.Voting != nil {
		words = append(words, ifElse(*s.Voting, "voting", "non-voting"))
	}
	if s.Skippable {
		words = append(words, "skippable")
	}
	if len(s.Watches) > 0 {
		words = append(words, "watches "+strings.Join(s.Watches, " "))
	}
	return strings.Join(words, ", ")
}

// engine is short: the table of lanes tells the rest.
func (s planStep) engine() string {
	if s.Adapter == "" {
		return "-"
	}
	return laneWords(config.Lane{Adapter: s.Adapter, Model: s.Model})
}

func engineWords(t convergence.Target) string {
	return fmt.Sprintf("%s (%s/%s, model %s)", t.Adapter, t.Provider, t.ModelFamily, t.Model)
}

func ifElse(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}
