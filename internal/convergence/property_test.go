package convergence

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const propertySteps = 80

// ledger is what the properties know of a run, kept apart from the machine.
type ledger struct {
	dispatches int64 // accepted dispatches, final reviews included
	aborts     int64
	fixes      int64 // accepted fix rulings
	reopened   int64 // seats put back by a person
	providers  []string
	families   []string
	rejected   int
}

// TestPropertyLiveRules drives random definitions under conclave/v1, hostile
// events included, and checks every state on the way.
func TestPropertyLiveRules(t *testing.T) {
	ends := map[string]int{}
	proves := func() bool {
		return ends["complete basic after repairs"]*ends["complete full after repairs"]*ends[KindAsk] > 0
	}
	for draws := 0; draws == 0 || draws < 4 && !proves() && !t.Failed(); draws++ { // one draw in seventy has none of one kind
		checkLiveRules(t, ends)
	}
	t.Log(ends)
	require.True(t, proves(), "no run completed, or none asked: the property proves nothing")
}

func checkLiveRules(t *testing.T, ends map[string]int) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMachine(t, V1)
		w := newWorld(t, m)
		l := &ledger{}
		for range propertySteps {
			e := w.draw()
			before := w.s
			w.s = m.Reduce(before, e)
			l.note(m, before, w.s, e)
			requireSane(t, m, w.s)
			require.LessOrEqual(t, l.dispatches, l.allowed(m), "more dispatches than the bounds allow")
			requireRightEnd(t, m, w.s, l)
			if end := w.ended(ends); end && chance(t, "stop at the end", 70) {
				break
			}
		}
		requireRoundTrip(t, w.s)
	})
}

func (w *world) ended(ends map[string]int) bool {
	commands := w.m.Decide(w.s)
	if len(commands) != 1 {
		return false
	}
	switch c := commands[0]; c.Kind {
	case KindComplete, KindFail:
		end := strings.TrimSpace(c.Kind+" "+c.Code) + " " + string(w.m.definition.Data.Discipline)
		ends[end]++
		if w.s.Restarts > 0 {
			ends[end+" after repairs"]++
		}
		return true
	case KindAsk:
		ends[c.Kind]++
	}
	return false
}

// requireSane: Decide is total and deterministic, also after a round trip.
func requireSane(t require.TestingT, m *Machine, s State) {
	commands := m.Decide(s)
	if s.inFlight() {
		require.Empty(t, commands, "a batch is a barrier")
	} else {
		require.NotEmpty(t, commands, "a run that does nothing and waits for nothing")
	}
	positions := map[string]bool{}
	for _, c := range commands {
		if c.Position == "" {
			require.Len(t, commands, 1, "%s must stand alone", c.Kind)
			continue
		}
		require.False(t, positions[c.Position], "position %s twice", c.Position)
		positions[c.Position] = true
		require.True(t, json.Valid(c.Input))
	}
	require.Equal(t, commands, m.Decide(s))
}

func (l *ledger) note(m *Machine, before, after State, e Event) {
	var p struct {
		NodeID    string `json:"nodeId"`
		Position  string `json:"position"`
		SeatID    string `json:"seatId"`
		Code      string `json:"code"`
		Effective *struct {
			Provider    string `json:"provider"`
			ModelFamily string `json:"modelFamily"`
		} `json:"effective"`
	}
	if json.Unmarshal(e.Payload, &p) != nil || e.Version < 1 {
		return
	}
	was, _ := before.Nodes.Get(p.NodeID)
	is, _ := after.Nodes.Get(p.NodeID)
	final := before.Review.Final.All != after.Review.Final.All
	switch e.Type {
	case EventDispatched:
		if is.Attempts > was.Attempts || final {
			l.dispatches++
		}
	case EventFailed:
		turn := slices.ContainsFunc(before.Review.Turns, func(t TurnState) bool { return t.Position == p.Position && t.Kind == turnFinal })
		if p.Code == FailAborted && (is.Status == StatusFailed && was.Status == StatusInFlight || turn) {
			l.aborts++
		}
	case EventSeatReopened, EventRunResumed:
		for id, rec := range after.Seats.All() {
			old, _ := before.Seats.Get(id)
			oldNode, _ := before.Nodes.Get(id)
			newNode, _ := after.Nodes.Get(id)
			if newNode.RoundAttempts == 0 && oldNode.RoundAttempts > 0 || old.Outcome != rec.Outcome {
				l.reopened++
			}
		}
		if before.Review.Final.Tries > after.Review.Final.Tries {
			l.reopened++
		}
	case EventEngine:
		if after.EngineReceiptRejections != before.EngineReceiptRejections {
			l.rejected++
			return
		}
		n, ok := m.nodes[p.NodeID]
		if !ok || was.InFlight != p.Position || n.role != RoleGenerator && n.role != RoleRepair {
			return
		}
		if p.Effective != nil && p.Effective.Provider != "" {
			l.providers, l.families = append(l.providers, p.Effective.Provider), append(l.families, p.Effective.ModelFamily)
		} else {
			for _, target := range n.lane.targets() {
				l.providers, l.families = append(l.providers, target.Provider), append(l.families, target.ModelFamily)
			}
		}
	}
	for id, st := range after.Review.Findings.All() {
		if old, _ := before.Review.Findings.Get(id); st.Fix && !old.Fix {
			l.fixes++
		}
	}
}

// allowed is the declared maximum and what each person's or arbiter's act adds.
func (l *ledger) allowed(m *Machine) int64 {
	d := m.definition.Data
	seats := int64(len(m.seats)) * (1 + d.RetryCapPerNode)
	return m.Bounds().Dispatches.Max.Value + l.aborts + l.fixes*(3+seats) + l.reopened*(1+d.RetryCapPerNode)
}

// requireRightEnd recomputes from the records alone that a complete is one.
func requireRightEnd(t *rapid.T, m *Machine, s State, l *ledger) {
	commands := m.Decide(s)
	if len(commands) != 1 || commands[0].Kind != KindComplete {
		return
	}
	d := m.definition.Data
	require.True(t, s.GateMet, "complete without the gate")
	require.NotNil(t, s.ReviewEvidence)
	accepted, waived := []SeatState{}, int64(0)
	for _, info := range m.Seats() {
		rec, _ := s.Seats.Get(info.ID)
		if rec.Outcome == OutcomeWaived || rec.Outcome == OutcomeSkipped {
			require.True(t, rec.Outcome == OutcomeWaived || info.Skippable)
			if rec.Outcome == OutcomeWaived && info.Voting {
				waived++
			}
			continue
		}
		require.True(t, rec.Answered, "%s never answered", info.ID)
		requireCurrent(t, info, rec, s)
		if d.Discipline == Basic {
			require.NotEqual(t, VerdictFindings, rec.Verdict, "a block of %s is open", info.ID)
		}
		accepts := rec.Verdict == VerdictPass || d.Discipline == Full && rec.Verdict == VerdictFindings
		if accepts && info.Voting && l.independent(m, info, rec) {
			accepted = append(accepted, rec)
		}
	}
	need := max(1, d.Quorum-waived)
	require.GreaterOrEqual(t, int64(len(accepted)), need, "no quorum")
	if d.RequireDiversity {
		require.True(t, diverse(accepted, int(need), nil), "no diverse quorum")
	}
	for id, st := range s.Review.Findings.All() {
		closed := []Disposition{FindingAddressed, FindingRefuted, FindingRuled, FindingLogged}
		require.Contains(t, closed, st.Status, "%s is open", id)
		require.False(t, st.Severity == SeverityHigh && st.Status == FindingLogged, "%s is high and was only logged", id)
	}
}

func requireCurrent(t *rapid.T, info SeatInfo, rec SeatState, s State) {
	require.NotNil(t, rec.Evidence)
	for key, hash := range s.ReviewEvidence.InputHashes {
		if len(info.EvidencePaths) == 0 || slices.Contains(info.EvidencePaths, key) {
			require.Equal(t, hash, rec.InputHashes[key], "%s judged another %s", info.ID, key)
		}
	}
	require.Equal(t, s.ReviewEvidence.ProofArtifactDigest, rec.ProofArtifactDigest)
	if len(info.EvidencePaths) == 0 {
		require.Equal(t, s.ReviewEvidence.WorkspaceFingerprint, rec.WorkspaceFingerprint)
	}
}

// independent is the exclusion of writers' engines, from the accepted receipts.
func (l *ledger) independent(m *Machine, info SeatInfo, rec SeatState) bool {
	if info.Lane == nil || !m.writerExclusion() {
		return true
	}
	return rec.Provider != "" && rec.ModelFamily != "" && !slices.Contains(l.providers, rec.Provider) && !slices.Contains(l.families, rec.ModelFamily)
}

// diverse tries every choice: it is the definition, not the algorithm.
func diverse(seats []SeatState, need int, chosen []SeatState) bool {
	if need == 0 {
		return true
	}
	for i, rec := range seats {
		clash := rec.Provider == "" || rec.ModelFamily == "" || slices.ContainsFunc(chosen, func(c SeatState) bool {
			return c.Provider == rec.Provider || c.ModelFamily == rec.ModelFamily
		})
		if !clash && diverse(seats[i+1:], need-1, append(slices.Clone(chosen), rec)) {
			return true
		}
	}
	return false
}

// TestPropertyPublishedRules: under convergence/v3 a run that dispatches only
// what is decided, and sees no invalidation, stays within the form's bound.
func TestPropertyPublishedRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMachine(t, V3)
		w := newWorld(t, m)
		dispatches := int64(0)
		for range propertySteps {
			e := w.draw()
			if e.Type == EventInvalidated && !w.hostile {
				continue
			}
			before := w.s.attempts()
			w.s = m.Reduce(w.s, e)
			dispatches += w.s.attempts() - before
			requireSane(t, m, w.s)
			if !w.hostile {
				require.LessOrEqual(t, dispatches, m.Bounds().Dispatches.Max.Value)
			}
		}
		requireRoundTrip(t, w.s)
	})
}

func (s *State) attempts() int64 {
	var all int64
	for _, st := range s.Nodes.All() {
		all += st.Attempts
	}
	return all
}

// TestPropertyEqualEventsGiveEqualStates folds the same events twice, once with
// a JSON round trip after every event.
func TestPropertyEqualEventsGiveEqualStates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMachine(t, oneOf(t, "rules", V1, V3))
		w := newWorld(t, m)
		carried := m.Initial()
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			e := w.draw()
			w.s = m.Reduce(w.s, e)
			carried = m.Reduce(carried, e)
			var back State
			require.NoError(t, json.Unmarshal(encode(carried), &back))
			carried = back
		}
		require.Equal(t, w.s, carried)
	})
}
