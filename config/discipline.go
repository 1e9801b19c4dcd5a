package config

import (
	"fmt"
	"strconv"

	"conclave/internal/convergence"
)

// fullIterations is the default of max_iters under full: a draft and five rounds of repair.
const fullIterations = 6

// discipline reads what belongs to reviews, rulings and budgets.
func (l *loading) discipline(c *Config) {
	c.Review = Review{
		SizeLimit: l.number("review.size_limit"), MaxFindings: l.number("review.max_findings"), ServedIdentity: l.text("review.identity") == "served",
		Generated: splitGlobs(l.text("review.generated")), Protected: splitGlobs(l.text("review.protected")),
		AllowSecrets: splitGlobs(l.text("review.allow_secrets")),
	}
	c.Rulings = Rulings{Reminder: l.duration("rulings.reminder", 0), Deadline: l.duration("rulings.deadline", 0), DeadlineDecision: l.text("rulings.deadline_decision")}
	c.Calibration = Calibration{MinPrecision: l.amount("calibration.min_precision"), MinRecall: l.amount("calibration.min_recall")}
	c.Budget = Budget{MaxTokens: int64(l.number("budget.max_tokens")), MaxCostUSD: l.amount("budget.max_cost"),
		MaxDuration: l.duration("budget.max_duration", 0), AssumeTokens: int64(l.number("budget.assume_tokens"))}
	c.LensFiles = l.promptFiles(func(f layer) map[string]PromptFile { return f.lenses })
	c.PromptFiles = l.promptFiles(func(f layer) map[string]PromptFile { return f.prompts })
	if r := c.Rulings; r.Deadline > 0 && r.DeadlineDecision == "" && !l.sources.HostOnly {
		l.problems = append(l.problems, Problem{What: l.where["rulings.deadline"] + ": rulings.deadline says when and not what",
			Remedy: "set rulings.deadline_decision too: stand, fix or abort; without both a run waits for ever"})
	}
}

func (l *loading) amount(name string) float64 {
	n, _ := strconv.ParseFloat(l.text(name), 64)
	return n
}

// defaultsOf are the defaults that depend on the discipline.
func (l *loading) defaultsOf(c *Config) {
	if c.graph != nil {
		return // the definition has said it
	}
	if l.text("review.require_findings") == "" {
		c.RequireFindings = c.full()
	}
	if c.full() && l.where["max_iters"] == "default" {
		c.MaxIters = fullIterations
	}
	l.turnLanes(c)
}

func (c Config) full() bool { return c.Discipline == string(convergence.Full) }

// turnLanes are the engines of turns of their own. The escalation target writes, so it is the implementer's adapter.
func (l *loading) turnLanes(c *Config) {
	for _, turn := range []struct {
		key  string
		lane **Lane
	}{{"review.confirmer", &c.Confirmer}, {"review.arbiter", &c.Arbiter}} {
		if text := l.text(turn.key); text != "" {
			*turn.lane = new(l.lane(*c, text, l.where[turn.key]+": "+turn.key))
		}
	}
	switch model := l.text("escalation.model"); model {
	case "":
	case c.Writer.Model:
		l.warnings = append(l.warnings, fmt.Sprintf("%s: escalation.model is the implementer's model; late repairs get a fresh session of it", l.where["escalation.model"]))
	default:
		c.Escalation = &Lane{Adapter: c.Writer.Adapter, Model: model}
	}
}

// ineffective warns of what somebody set and nothing, or only full, reads.
func (l *loading) ineffective(c Config) {
	if r := c.Rulings; r.DeadlineDecision != "" && r.Deadline == 0 {
		l.warnings = append(l.warnings, l.where["rulings.deadline_decision"]+": rulings.deadline_decision has no effect without rulings.deadline: a question waits for ever")
	}
	if c.full() {
		if c.TrustReviewers && c.Advisory {
			l.warnings = append(l.warnings, l.where["trust_reviewers"]+" has no effect beside "+l.where["advisory"]+": findings cannot stop the end")
		}
		return
	}
	for _, key := range []string{"review.confirmer", "review.arbiter", "escalation.model", "trust_reviewers", "advisory"} {
		if set := l.text(key); set != "" && set != "false" && l.where[key] != "default" {
			l.warnings = append(l.warnings, fmt.Sprintf("%s: %s has no effect under discipline %s; --discipline full reads it", l.where[key], key, c.Discipline))
		}
	}
}
