package record

// Sum adds what a turn consumed, or a sum of several, to a total. A turn that
// reported nothing (nil) is counted as unknown. Neither argument is changed.
func Sum(total, turn *Usage) *Usage {
	out := Usage{}
	if total != nil {
		out = total.asSum()
	}
	if turn == nil {
		out.Unknown++
		return &out
	}
	add := turn.asSum()
	out.InputTokens += add.InputTokens
	out.CachedTokens += add.CachedTokens
	out.OutputTokens += add.OutputTokens
	out.Unknown, out.Turns, out.Unpriced = out.Unknown+add.Unknown, out.Turns+add.Turns, out.Unpriced+add.Unpriced
	if add.CostUSD != nil {
		cost := *add.CostUSD
		if out.CostUSD != nil {
			cost += *out.CostUSD
		}
		out.CostUSD, out.Priced = &cost, out.Priced || add.Priced
	}
	return &out
}

// asSum is the usage of a single turn as a sum of one.
func (u Usage) asSum() Usage {
	if u.Turns+u.Unknown > 0 {
		return u
	}
	u.Turns = 1
	if u.CostUSD == nil {
		u.Unpriced = 1
	}
	return u
}

// Counts are the turns that a usage stands for: those that reported it, those
// of them whose cost is known, and those that reported nothing.
func (u Usage) Counts() (reported, priced, unknown int) {
	u = u.asSum()
	return u.Turns, u.Turns - u.Unpriced, u.Unknown
}

// UsageBy sums what the steps consumed by a name of each; steps without a name
// and steps without an engine are left out.
func UsageBy(steps []Step, name func(Step) string) map[string]Usage {
	sums := map[string]Usage{}
	for _, step := range steps {
		key := name(step)
		if key == "" || step.Role == RoleVerifier || !step.Over() {
			continue
		}
		total := sums[key]
		sums[key] = *Sum(orNil(total), step.Usage)
	}
	if len(sums) == 0 {
		return nil
	}
	return sums
}

func orNil(u Usage) *Usage {
	if u == (Usage{}) {
		return nil
	}
	return &u
}

// Over says that a step ran to an end.
func (s Step) Over() bool {
	return s.Status != "" && s.Status != Running && s.Status != NotRun && s.Status != Skipped
}
