package config

import (
	"encoding/json"
	"fmt"
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
	// LaneRepair is the repair's own lane where its escalation target is a substitution that the first draft has not.
	LaneRepair = "writer-repair"
)

// The lanes of turns that have no node.
const (
	laneConfirmer = "confirmer"
	laneArbiter   = "arbiter"
)

// definitionID names the definitions that presets and flags compile to.
const definitionID = "review-loop"

// seatRetries is how often a seat is asked again in one round.
const seatRetries = 1

// Identify tells the identity of a lane's engine.
type Identify func(Lane) convergence.Target

// Compile gives the definition that decides the run, as a document and compiled under the live rules: that of the
// definition file, else the one that presets and flags stand for.
func (c Config) Compile(identify Identify) ([]byte, *convergence.Machine, error) {
	if c.graph != nil {
		return c.graph.document, c.graph.machine, nil
	}
	d, err := c.Definition(identify)
	if err != nil {
		return nil, nil, err
	}
	return compiled(d)
}

// compiled gives a definition of our own as a document, and compiled under the live rules.
func compiled(d convergence.Definition) ([]byte, *convergence.Machine, error) {
	document, err := json.Marshal(d)
	if err != nil {
		return nil, nil, err
	}
	machine, err := convergence.Compile(document, convergence.V1)
	if err != nil {
		return nil, nil, Issues("the definition of these settings", err)
	}
	return document, machine, nil
}

// Definition is what presets and flags stand for. It refuses one in which no
// seat, or not enough seats, could accept.
func (c Config) Definition(identify Identify) (convergence.Definition, error) {
	writer := convergence.Lane{ID: LaneWriter, Requested: target(identify, c.Writer), KnownSubstitutions: []convergence.Target{}}
	seats := make([]convergence.Lane, len(c.Seats))
	voting, sure, skippable := 0, 0, []string{}
	for i, s := range c.Seats {
		seats[i] = seatLane(s, identify)
		votes := c.AllowSelfReview || !related(writer, seats[i])
		if s.Skippable {
			skippable = append(skippable, s.Name)
		}
		if votes {
			voting++
		}
		if votes && !s.Skippable {
			sure++
		}
	}
	if err := c.enough(voting, sure); err != nil {
		return convergence.Definition{}, err
	}
	if err := c.checkTurnLanes(writer, identify); err != nil {
		return convergence.Definition{}, err
	}
	exclusion, findings := !c.AllowSelfReview, c.RequireFindings
	d := convergence.Definition{
		ID: definitionID, DefinitionVersion: 1,
		Data: convergence.Data{
			MaxIterations:     int64(c.MaxIters),
			MaxReviewRestarts: int64(c.MaxIters - 1),
			Quorum:            int64(positive(c.Quorum, sure)), // a seat that may be missing cannot be needed
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
	repair := c.discipline(&d.Data, writer, identify)
	d.Nodes = append(d.Nodes,
		convergence.Node{ID: NodeImplement, Data: convergence.NodeData{Role: convergence.RoleGenerator, Lane: &writer}},
		convergence.Node{ID: NodeVerify, Data: convergence.NodeData{Role: convergence.RoleEvaluator}})
	for i, s := range c.Seats {
		d.Nodes = append(d.Nodes, convergence.Node{ID: s.Name, Data: convergence.NodeData{
			Role: convergence.RoleSeat, Lane: &seats[i], EvidencePaths: s.EvidencePaths}})
	}
	d.Nodes = append(d.Nodes, convergence.Node{ID: NodeRepair, Data: convergence.NodeData{Role: convergence.RoleRepair, Lane: &repair}})
	return d, nil
}

// discipline adds what only full reads, and gives the repair's lane: the writer's, with the escalation target where there is one.
func (c Config) discipline(data *convergence.Data, writer convergence.Lane, identify Identify) convergence.Lane {
	if !c.full() {
		return writer
	}
	data.Advisory = c.Advisory
	data.Confirmer, data.Arbiter = turnLane(laneConfirmer, c.Confirmer, identify), turnLane(laneArbiter, c.Arbiter, identify)
	if c.Escalation == nil {
		return writer
	}
	to := target(identify, *c.Escalation)
	data.Escalation = &to
	writer.ID, writer.KnownSubstitutions = LaneRepair, []convergence.Target{to}
	return writer
}

func turnLane(id string, lane *Lane, identify Identify) *convergence.Lane {
	if lane == nil {
		return nil
	}
	return &convergence.Lane{ID: id, Requested: target(identify, *lane), KnownSubstitutions: []convergence.Target{}}
}

// checkTurnLanes refuses writers' engines where another one has to judge.
func (c Config) checkTurnLanes(writer convergence.Lane, identify Identify) error {
	if !c.full() || c.AllowSelfReview {
		return nil
	}
	for _, turn := range []struct {
		key  string
		lane *Lane
	}{{"review.confirmer", c.Confirmer}, {"review.arbiter", c.Arbiter}} {
		if l := turnLane(turn.key, turn.lane, identify); l != nil && related(writer, *l) {
			return Problem{What: fmt.Sprintf("%s %s has the provider or the model family of the implementer %s", turn.key, turn.lane.text(), c.Writer.Adapter),
				Remedy: "name an engine of another provider, or leave it out: then a reviewer that is no writer is taken"}
		}
	}
	return nil
}

// Lenses maps each seat to its lens.
func (c Config) Lenses() map[string]string {
	lenses := make(map[string]string, len(c.Seats))
	for _, s := range c.Seats {
		lenses[s.Name] = s.Lens
	}
	return lenses
}

// Choices are the settings that a plan means beside its definition, whoever made them: a preset, flags, or files.
func (c Config) Choices() map[string]string {
	choices := map[string]string{"implementer": c.Writer.text(), "reviewers": strings.Join(c.seatTexts(), ","), "verdict_mode": c.VerdictMode}
	if c.WriterSession == "fresh" { // not the default, so that plans of before keep their digest
		choices["writer_session"] = c.WriterSession
	}
	if c.Design {
		choices["designer"] = c.Designer.text()
	}
	return choices
}

// SelfReviewed says that a seat of a writer's own engine may count.
func SelfReviewed(d convergence.Definition) bool {
	if d.Data.WriterExclusion == nil || *d.Data.WriterExclusion {
		return false
	}
	for _, writer := range d.Nodes {
		if writer.Data.Lane == nil || writer.Data.Role != convergence.RoleGenerator && writer.Data.Role != convergence.RoleRepair {
			continue
		}
		for _, seat := range d.Nodes {
			if seat.Data.Role == convergence.RoleSeat && seat.Data.Lane != nil && related(*writer.Data.Lane, *seat.Data.Lane) {
				return true
			}
		}
	}
	return false
}

// enough refuses a quorum that no run could reach: of the voting seats, only the sure ones are always asked.
func (c Config) enough(voting, sure int) error {
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
	if sure == 0 {
		return Problem{
			What:   fmt.Sprintf("each voting seat of %s is skippable: a run could end without any review", strings.Join(names, ", ")),
			Remedy: "set skippable: false for one of them, or add a seat",
		}
	}
	if c.Quorum > sure {
		remedy := fmt.Sprintf("use --quorum %d or less, or add seats", sure)
		if !c.AllowSelfReview { // a review has no implementer, and no such flag
			remedy = fmt.Sprintf("use --quorum %d or less, add seats, or pass --allow-self-review where seats share the implementer's engine", sure)
		}
		return Problem{
			What:   fmt.Sprintf("--quorum %d cannot be reached: %d of the seats %s may vote%s", c.Quorum, voting, strings.Join(names, ", "), skips(voting-sure)),
			Remedy: remedy,
		}
	}
	return nil
}

func skips(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", and %d of them may be skipped", n)
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
