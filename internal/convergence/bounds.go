package convergence

// Bound is a number that a plan states before the run.
type Bound struct {
	Kind  string `json:"kind"` // "known"
	Value int64  `json:"value"`
}

// DispatchBounds are the fewest dispatches of a complete run and the most of any.
type DispatchBounds struct {
	Min Bound `json:"min"`
	Max Bound `json:"max"`
}

// Bounds is what a plan promises about cost and concurrency, in dispatches.
// Confirm and arbitrate turns are counted apart; docs/convergence.md names the
// allowances that a person's decisions add under conclave/v1.
type Bounds struct {
	Dispatches     DispatchBounds `json:"dispatches"`
	MaxConcurrency Bound          `json:"maxConcurrency"`
	MaxFanOut      Bound          `json:"maxFanOut"`
}

func known(n int64) Bound { return Bound{Kind: "known", Value: n} }

// Bounds returns the machine's bounds. Min is generator, evaluator and every
// seat once, because all seats are always asked, and under full the final review.
func (m *Machine) Bounds() Bounds {
	k := m.definition.Data.SeatConcurrency
	least := 2 + int64(len(m.seats))
	if m.full() {
		least++
	}
	return Bounds{
		Dispatches:     DispatchBounds{Min: known(least), Max: known(int64(m.maxDispatches()))},
		MaxConcurrency: known(k),
		MaxFanOut:      known(k),
	}
}

// maxDispatches is computed in floating point, so that limits near the largest
// integer show as too large and do not wrap. Below 2^53 it is exact.
func (m *Machine) maxDispatches() float64 {
	d := m.definition.Data
	I, R, c, S := float64(d.MaxIterations), float64(d.MaxReviewRestarts), float64(d.RetryCapPerNode), float64(len(m.seats))
	if !m.rules.BoundPerIteration {
		return (2*(I+R) + S*(R+1) + R) * (1 + c)
	}
	most := 2*I + S*I*(1+c)
	if m.full() {
		most += float64(m.repairLimit) + 1 + c
	}
	return most
}

// setLimits derives how often the loop may turn.
func (m *Machine) setLimits() {
	d := m.definition.Data
	m.repairLimit, m.iterationCap = d.MaxReviewRestarts, d.MaxIterations
	if m.rules.RepairTakesIteration {
		m.repairLimit, m.iterationCap = min(d.MaxReviewRestarts, d.MaxIterations-1), maxSafe
	}
}
