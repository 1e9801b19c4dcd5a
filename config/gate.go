package config

import (
	"github.com/spf13/pflag"

	"conclave/internal/convergence"
)

// gateID names the definitions that `starter review` compiles to.
const gateID = "review-gate"

// notForGates are policy flags that say something about writers or about further rounds.
var notForGates = map[string]bool{
	"implementer": true, "designer": true, "design": true, "allow-self-review": true, "max-iters": true, "writer-session": true,
}

// GateFlags adds the flags of loop policy that mean something without a writer.
func GateFlags(fs *pflag.FlagSet) {
	all := pflag.NewFlagSet("policy", pflag.ContinueOnError)
	PolicyFlags(all)
	all.VisitAll(func(f *pflag.Flag) {
		if !notForGates[f.Name] {
			fs.AddFlag(f)
		}
	})
}

// ForGate is the configuration where nobody writes. The writer's place goes to the first seat's engine, which is asked for
// anyway, so that no other engine is looked for.
func (c Config) ForGate() Config {
	if len(c.Seats) > 0 {
		c.Writer = c.Seats[0].Lane
	}
	c.Design, c.Escalation, c.WriterSession = false, nil, ""
	c.AllowSelfReview = true // there is no writer whose engine a seat could share
	return c
}

// CompileGate is Compile for a change that exists already: a definition that writes and repairs nothing.
func (c Config) CompileGate(identify Identify) ([]byte, *convergence.Machine, error) {
	d, err := c.GateDefinition(identify)
	if err != nil {
		return nil, nil, err
	}
	return compiled(d)
}

// GateDefinition is what presets and flags stand for where nobody writes: the
// nodes of the writer have no engine, so every seat votes, and an open finding
// ends the review instead of a repair or a ruling.
func (c Config) GateDefinition(identify Identify) (convergence.Definition, error) {
	d, err := c.ForGate().Definition(identify)
	if err != nil {
		return d, err
	}
	rulings := false
	d.ID = gateID
	d.Data.MaxIterations, d.Data.MaxReviewRestarts = 1, 0
	d.Data.Rulings, d.Data.Arbiter, d.Data.Escalation, d.Data.WriterExclusion = &rulings, nil, nil, nil
	for i := range d.Nodes {
		switch d.Nodes[i].Data.Role {
		case convergence.RoleGenerator, convergence.RoleRepair:
			d.Nodes[i].Data.Lane = nil
		}
	}
	return d, nil
}
