package main

import (
	"fmt"
	"strings"

	"conclave/internal/convergence"
)

// planPolicy is what a plan tells about questions and bounds.
type planPolicy struct {
	SizeLimit      int      `json:"size_limit"`
	Ask            bool     `json:"ask"`
	AllowProtected bool     `json:"allow_protected"`
	Generated      []string `json:"generated"`
	Protected      []string `json:"protected"`
	AllowSecrets   []string `json:"allow_secrets,omitempty"`
	MaxFindings    int      `json:"max_findings"`
	ServedIdentity bool     `json:"served_identity"`
	Reminder       string   `json:"reminder"`
	// Deadline is empty where a question waits for ever.
	Deadline         string      `json:"deadline,omitempty"`
	DeadlineDecision string      `json:"deadline_decision,omitempty"`
	Budget           *planBudget `json:"budget"`
}

// planBudget bounds a run; 0 or "" bounds nothing.
type planBudget struct {
	MaxTokens    int64   `json:"max_tokens,omitempty"`
	MaxCostUSD   float64 `json:"max_cost_usd,omitempty"`
	MaxDuration  string  `json:"max_duration,omitempty"`
	AssumeTokens int64   `json:"assume_tokens"`
}

func (p *plan) policyDocument() planPolicy {
	c := p.config
	d := planPolicy{
		SizeLimit: c.Review.SizeLimit, Ask: c.Discipline == string(convergence.Full), AllowProtected: c.AllowProtected,
		Generated: append([]string{}, generatedGlobs(c)...), Protected: []string{}, AllowSecrets: c.Review.AllowSecrets, MaxFindings: c.Review.MaxFindings,
		ServedIdentity: c.Review.ServedIdentity, Reminder: c.Rulings.Reminder.String(),
	}
	for _, line := range protectedGlobs(c) {
		_, glob, _ := strings.Cut(line, "\t")
		d.Protected = append(d.Protected, glob)
	}
	if c.Rulings.Deadline > 0 {
		d.Deadline, d.DeadlineDecision = c.Rulings.Deadline.String(), c.Rulings.DeadlineDecision
	}
	if b := c.Budget; b.Bounds() {
		d.Budget = &planBudget{MaxTokens: b.MaxTokens, MaxCostUSD: b.MaxCostUSD, AssumeTokens: b.AssumeTokens}
		if b.MaxDuration > 0 {
			d.Budget.MaxDuration = b.MaxDuration.String()
		}
	}
	return d
}

// printDiscipline says what the discipline does beside the steps, and what bounds the run.
func (a *app) printDiscipline(d planDocument) {
	p := d.Policy
	if d.Discipline == string(convergence.Full) {
		rules := "an engine that did not write"
		confirms := rules + " (another than raised them, where there is one)"
		if l := d.Limits.Confirmer; l != nil {
			confirms = engineWords(l.Requested)
		}
		if l := d.Limits.Arbiter; l != nil {
			rules = engineWords(l.Requested)
		}
		a.print("high findings: confirmed by %s; what stays open is ruled by %s, then by a person", confirms, rules)
		if t := d.Limits.Escalation; t != nil {
			a.print("repairs from round %d on: %s", convergence.EscalationRound, engineWords(*t))
		}
		if d.Limits.Advisory {
			a.print("advisory: findings are repaired and reported but cannot stop the end")
		}
	}
	if p.Ask {
		a.print("before seats run a person is asked about %s%s", ifElse(p.SizeLimit > 0, fmt.Sprintf("more than %d changed lines", p.SizeLimit), "no size"),
			ifElse(p.AllowProtected, "", " and about protected paths"))
	}
	if p.Deadline != "" && p.Ask {
		a.print("a question that nobody answers for %s is answered with %s", p.Deadline, p.DeadlineDecision)
	}
	if b := p.Budget; b != nil {
		var bounds []string
		if b.MaxTokens > 0 {
			bounds = append(bounds, fmt.Sprintf("%d tokens (a turn that reports none counts %d)", b.MaxTokens, b.AssumeTokens))
		}
		if b.MaxCostUSD > 0 {
			bounds = append(bounds, fmt.Sprintf("%g USD", b.MaxCostUSD))
		}
		if b.MaxDuration != "" {
			bounds = append(bounds, b.MaxDuration)
		}
		a.print("budget: %s", strings.Join(bounds, ", "))
	}
}
