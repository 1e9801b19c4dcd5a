package loop

import (
	"fmt"
	"strings"
	"time"

	"conclave/internal/convergence"
	"conclave/internal/record"
)

// Spent is what the turns of a run consumed so far.
type Spent struct {
	// Tokens were reported, in and out, cached ones included; Turns counts who reported them.
	Tokens int64
	Turns  int
	// Unknown counts turns whose tokens nobody reported.
	Unknown int
	// CostUSD is known of Priced turns, as reported or by a price table; what others cost is unknown.
	CostUSD float64
	Priced  int
	// Elapsed is time at work, without waiting for people.
	Elapsed time.Duration
}

// Left says what a budget allows.
type Left struct {
	Fits bool
	// Why says what does not fit, in words for a person.
	Why string
}

// charged are the tokens that count against the budget: those that were
// reported, and for each turn without a report what is assumed.
func (b Budget) charged(s Spent) int64 { return s.Tokens + b.assumed(s) }

func (b Budget) assumed(s Spent) int64 { return int64(s.Unknown) * b.AssumeTokens }

// turnTokens is what is reserved for one turn: what is assumed, or the mean of
// those so far if that is more.
func (b Budget) turnTokens(s Spent) int64 {
	if n := int64(s.Turns + s.Unknown); n > 0 {
		return max(b.AssumeTokens, (b.charged(s)+n-1)/n)
	}
	return b.AssumeTokens
}

// turnCost is the mean of the turns whose cost is known, 0 before the first.
func turnCost(s Spent) float64 {
	if s.Priced == 0 {
		return 0
	}
	return s.CostUSD / float64(s.Priced)
}

// unpriced counts the turns whose cost is unknown.
func unpriced(s Spent) int { return max(s.Turns+s.Unknown-s.Priced, 0) }

// chargedCost is what counts against the budget: what is known, and for each
// turn of unknown cost the mean of the known ones.
func chargedCost(s Spent) float64 { return s.CostUSD + float64(unpriced(s))*turnCost(s) }

// Reserve says whether so many turns may begin together, with the budget
// given 1+extended times. A batch fits whole or not at all.
func (b Budget) Reserve(s Spent, turns, extended int) Left {
	var why []string
	times := int64(1 + extended)
	if limit := b.Tokens * times; b.Tokens > 0 {
		if need := int64(turns) * b.turnTokens(s); b.charged(s)+need > limit {
			why = append(why, fmt.Sprintf("%d of %d tokens are used, %s may need %d more", b.charged(s), limit, plural(turns, "turn"), need))
		}
	}
	if limit := b.CostUSD * float64(times); b.CostUSD > 0 {
		if used, need := chargedCost(s), float64(turns)*turnCost(s); used >= limit || used+need > limit {
			text := fmt.Sprintf("$%.4f of $%.4f are used, %s may cost $%.4f more", used, limit, plural(turns, "turn"), need)
			if n := unpriced(s); n > 0 {
				text += fmt.Sprintf(" ($%.4f of it is assumed for %s of unknown cost)", used-s.CostUSD, plural(n, "turn"))
			}
			why = append(why, text)
		}
	}
	if limit := b.Duration * time.Duration(times); b.Duration > 0 && s.Elapsed >= limit {
		why = append(why, fmt.Sprintf("%s of %s are used", s.Elapsed.Round(time.Second), limit))
	}
	return Left{Fits: len(why) == 0, Why: strings.Join(why, "; ")}
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// bounds says that the budget limits anything.
func (b Budget) bounds() bool { return b.Tokens > 0 || b.CostUSD > 0 || b.Duration > 0 }

// spent reads from the record what the turns consumed.
func (p *Progress) spent(now time.Time) Spent {
	s := Spent{Elapsed: now.Sub(p.Started) - p.waited(now)}
	if u := p.Run.Usage; u != nil {
		s.Tokens = u.InputTokens + u.OutputTokens
		s.Turns, s.Priced, s.Unknown = u.Counts()
		if u.CostUSD != nil {
			s.CostUSD = *u.CostUSD
		}
	}
	return s
}

// spending is the budget for the record, nil without one.
func (p *Progress) spending(now time.Time) *record.Spending {
	b := p.in.Budget
	if !b.bounds() {
		return nil
	}
	s := p.spent(now)
	out := &record.Spending{
		MaxTokens: b.Tokens, MaxCostUSD: b.CostUSD, Tokens: b.charged(s), AssumedTokens: b.assumed(s),
		CostUSD: s.CostUSD, Extended: p.Desk.Extended,
	}
	if b.CostUSD > 0 {
		out.UnpricedTurns = unpriced(s)
	}
	if b.Duration > 0 {
		out.MaxDuration = b.Duration.String()
	}
	return out
}

// beforeDispatch asks for more before a batch that the budget does not hold;
// nothing of it is begun then. It returns nil when the batch may begin.
func (p *Progress) beforeDispatch(commands []convergence.Command, now time.Time) []Call {
	p.Run.Questions = nil // work goes on: what is asked again is a question of its own
	p.Run.Budget = p.spending(now)
	turns := p.turnsOf(commands)
	if turns == 0 || !p.in.Budget.bounds() {
		return nil
	}
	if s := p.spent(now); p.in.Budget.CostUSD > 0 && s.Priced == 0 && unpriced(s) > 0 {
		p.noteOnce("the budget of cost bounds nothing so far: no turn's cost is known, neither reported nor by a price (`prices` in the host configuration)")
	}
	left := p.in.Budget.Reserve(p.spent(now), turns, p.Desk.Extended)
	if left.Fits {
		return nil
	}
	p.pose(convergence.SubjectBudget, fmt.Sprintf("the budget does not hold the next step: %s. stand: the same amount once more; abort: end the run", left.Why))
	return p.Next(now)
}

// turnsOf counts the engine calls that a batch begins with. The design comes alone, before the first batch.
func (p *Progress) turnsOf(commands []convergence.Command) int {
	if !p.Designed {
		return 1
	}
	turns := 0
	for _, command := range commands {
		if p.machine.Role(command.NodeID) != convergence.RoleEvaluator {
			turns++
		}
	}
	return turns
}
