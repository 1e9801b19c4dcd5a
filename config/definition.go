package config

import (
	"fmt"
	"slices"
	"strings"

	"conclave/internal/convergence"
)

// The node ids of a compiled definition, and the lane that implement and
// repair share.
const (
	NodeImplement = "implement"
	NodeVerify    = "verify"
	NodeRepair    = "repair"
	LaneWriter    = "writer"
)

// definitionID names the definitions that presets and flags compile to.
const definitionID = "review-loop"

// seatRetries is how often a seat is asked again in one round.
const seatRetries = 1

// Identify tells the identity of a lane's engine.
type Identify func(Lane) convergence.Target

// Definition compiles the configuration to the definition that decides the
// run. It refuses one in which no seat, or not enough seats, could accept.
func (c Config) Definition(identify Identify) (convergence.Definition, error) {
	writer := convergence.Lane{ID: LaneWriter, Requested: target(identify, c.Writer), KnownSubstitutions: []convergence.Target{}}
	seats := make([]convergence.Lane, len(c.Seats))
	voting, skippable := 0, []string{}
	for i, s := range c.Seats {
		seats[i] = seatLane(s, identify)
		if c.AllowSelfReview || !related(writer, seats[i]) {
			voting++
		}
		if s.Skippable {
			skippable = append(skippable, s.Name)
		}
	}
	if err := c.enough(voting); err != nil {
		return convergence.Definition{}, err
	}
	exclusion, findings := !c.AllowSelfReview, c.RequireFindings
	d := convergence.Definition{
		ID: definitionID, DefinitionVersion: 1,
		Data: convergence.Data{
			MaxIterations:     int64(c.MaxIters),
			MaxReviewRestarts: int64(c.MaxIters - 1),
			Quorum:            int64(positive(c.Quorum, voting)),
			RequireDiversity:  c.RequireDiversity,
			SkippableSeats:    skippable,
			SeatConcurrency:   int64(positive(c.SeatConcurrency, len(c.Seats))),
			RetryCapPerNode:   seatRetries,
			Discipline:        convergence.Discipline(c.Discipline),
			ReviewWhen:        convergence.ReviewWhen(c.ReviewWhen),
			WriterExclusion:   &exclusion,
			RequireFindings:   &findings,
		},
		Edges: []convergence.Edge{},
	}
	d.Nodes = append(d.Nodes,
		convergence.Node{ID: NodeImplement, Data: convergence.NodeData{Role: convergence.RoleGenerator, Lane: &writer}},
		convergence.Node{ID: NodeVerify, Data: convergence.NodeData{Role: convergence.RoleEvaluator}})
	for i, s := range c.Seats {
		d.Nodes = append(d.Nodes, convergence.Node{ID: s.Name, Data: convergence.NodeData{
			Role: convergence.RoleSeat, Lane: &seats[i], EvidencePaths: s.EvidencePaths}})
	}
	d.Nodes = append(d.Nodes, convergence.Node{ID: NodeRepair, Data: convergence.NodeData{Role: convergence.RoleRepair, Lane: &writer}})
	return d, nil
}

// Lenses maps each seat to its lens.
func (c Config) Lenses() map[string]string {
	lenses := make(map[string]string, len(c.Seats))
	for _, s := range c.Seats {
		lenses[s.Name] = s.Lens
	}
	return lenses
}

// SelfReviewed says that a seat of the writer's own engine may count.
func (c Config) SelfReviewed(identify Identify) bool {
	writer := convergence.Lane{Requested: target(identify, c.Writer)}
	return c.AllowSelfReview && slices.ContainsFunc(c.Seats, func(s Seat) bool { return related(writer, seatLane(s, identify)) })
}

// NonVoting lists the seats that can block and cannot count, because they share provider or family with the writer.
func (c Config) NonVoting(identify Identify) []string {
	var found []string
	writer := convergence.Lane{Requested: target(identify, c.Writer)}
	for _, s := range c.Seats {
		if !c.AllowSelfReview && related(writer, seatLane(s, identify)) {
			found = append(found, s.Name)
		}
	}
	return found
}

func (c Config) enough(voting int) error {
	var names []string
	for _, s := range c.Seats {
		names = append(names, s.Name)
	}
	if voting == 0 {
		return Problem{
			What:   fmt.Sprintf("no seat may vote: each of %s has the provider or the model family of the implementer %s", strings.Join(names, ", "), c.Writer.Adapter),
			Remedy: "name a reviewer of another provider, for instance --reviewers codex, or let the writer's own engine vote with --allow-self-review",
		}
	}
	if c.Quorum > voting {
		return Problem{
			What:   fmt.Sprintf("--quorum %d cannot be reached: %d of the seats %s may vote", c.Quorum, voting, strings.Join(names, ", ")),
			Remedy: fmt.Sprintf("use --quorum %d or less, add seats, or pass --allow-self-review where seats share the implementer's engine", voting),
		}
	}
	return nil
}

func positive(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}

func target(identify Identify, lane Lane) convergence.Target {
	t := identify(lane)
	if t.Tools == nil {
		t.Tools = []string{}
	}
	return t
}

func seatLane(s Seat, identify Identify) convergence.Lane {
	lane := convergence.Lane{ID: s.Name, Requested: target(identify, s.Lane), KnownSubstitutions: []convergence.Target{}}
	for _, sub := range s.Substitutions {
		lane.KnownSubstitutions = append(lane.KnownSubstitutions, target(identify, sub))
	}
	return lane
}

// related says that a seat shares provider or family with a writer, over all targets that either may run on.
func related(writer, seat convergence.Lane) bool {
	for _, w := range append([]convergence.Target{writer.Requested}, writer.KnownSubstitutions...) {
		for _, s := range append([]convergence.Target{seat.Requested}, seat.KnownSubstitutions...) {
			if w.Provider == s.Provider || w.ModelFamily == s.ModelFamily {
				return true
			}
		}
	}
	return false
}
