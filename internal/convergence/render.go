package convergence

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// DispatchInput is the input of a dispatch command. Generator and evaluator get
// the summary only; see the fields for the rest.
type DispatchInput struct {
	// PositionSummary says in words which attempt this is.
	PositionSummary string `json:"positionSummary"`
	// ProofArtifactDigest is what a seat must echo.
	ProofArtifactDigest string `json:"proofArtifactDigest,omitempty"`
	// Findings is what a repair must address; never nil for a repair.
	Findings *[]Blocking `json:"findings,omitempty"`
	// GateMet tells a repair whether the verifier passed (Rules.SpokenCommands).
	GateMet *bool `json:"gateMet,omitempty"`

	// The rest is set under the full discipline only.

	// Scope is what a seat reads: all, fix (the diff since Since, and Recheck) or
	// final (everything, with the log).
	Scope string `json:"scope,omitempty"`
	// Since is the workspace fingerprint the seat judged last.
	Since string `json:"since,omitempty"`
	// Recheck lists the older findings the seat has to answer for.
	Recheck []string `json:"recheck,omitempty"`
	// Escalated: the repair goes to the escalation target.
	Escalated bool `json:"escalated,omitempty"`
	// Reask: the repair of this round left findings unanswered in its fix report.
	Reask bool `json:"reask,omitempty"`
}

// Scopes of a seat's dispatch.
const (
	ScopeAll   = "all"
	ScopeFix   = "fix"
	ScopeFinal = "final"
)

// TurnInput is the input of a confirm or arbitrate command.
type TurnInput struct {
	PositionSummary string `json:"positionSummary"`
	// Lane is the id of the lane whose engine runs the turn in a fresh context.
	Lane     string   `json:"lane"`
	Findings []string `json:"findings"`
	// Proof says how strong a confirmation is: independent or same-engine.
	Proof string `json:"proof,omitempty"`
	// Rebuttal: the writer refuted the finding; the confirmer decides between both.
	Rebuttal bool `json:"rebuttal,omitempty"`
}

// CompleteOutput is the output of a complete command.
type CompleteOutput struct {
	Iterations int64             `json:"iterations"`
	Restarts   int64             `json:"restarts"`
	Seats      map[string]string `json:"seats"`
	Findings   []Blocking        `json:"findings"`
	// Outcome is converged, ruled or advisory (Rules.SpokenCommands).
	Outcome string `json:"outcome,omitempty"`
	// Ruled lists the findings that were ruled to stand.
	Ruled []string `json:"ruled,omitempty"`
}

// Outcomes of a complete run.
const (
	EndConverged = "converged"
	EndRuled     = "ruled"
	EndAdvisory  = "advisory" // findings stand that were not to stop the end
)

// render writes the input and output of a step.
func (m *Machine) render(s *State, st step) Command {
	c := Command{Kind: st.kind, NodeID: st.nodeID, Position: st.position, Reason: st.reason, Code: st.code, Message: st.message, Subjects: st.subjects}
	var in DispatchInput
	var out CompleteOutput
	switch st.kind {
	case KindDispatch:
		in = m.dispatchInput(s, st)
		if st.node != nil {
			c.NodeID = st.node.id
		}
	case KindConfirm, KindArbitrate:
		c.Reason, c.Findings = "", st.findings
		c.Input = encode(m.turnInput(s, st))
	case KindComplete:
		out = m.output(s)
	}
	if !m.rules.SpokenCommands {
		plain(&c, &in, &out)
	}
	switch st.kind {
	case KindDispatch:
		c.Input = encode(in)
	case KindComplete:
		c.Output = encode(out)
	}
	return c
}

func (m *Machine) dispatchInput(s *State, st step) DispatchInput {
	if st.scope == ScopeFinal {
		return DispatchInput{
			PositionSummary:     summary(turnFinal, s.Iteration, st.nodeID, s.Review.Final.All+1),
			ProofArtifactDigest: s.ReviewEvidence.ProofArtifactDigest, Scope: ScopeFinal,
		}
	}
	n, attempt := st.node, m.nodeState(s, st.node).Attempts+1
	switch n.role {
	case RoleSeat:
		in := DispatchInput{PositionSummary: summary("review", s.Iteration, n.id, attempt), ProofArtifactDigest: s.ReviewEvidence.ProofArtifactDigest}
		if m.full() {
			rec, _ := s.Seats.Get(n.id)
			in.Scope, in.Since, in.Recheck = ScopeAll, rec.Judged, m.toRecheck(s, n.id)
			if rec.Judged != "" {
				in.Scope = ScopeFix
			}
		}
		return in
	case RoleRepair:
		findings, met := listed(st.blocking), s.GateMet
		return DispatchInput{
			PositionSummary: "repair round " + itoa(s.Restarts+1), Findings: &findings, GateMet: &met,
			Escalated: m.full() && s.Restarts+1 >= EscalationRound, Reask: s.Review.Asked,
		}
	}
	return DispatchInput{PositionSummary: summary("convergence", s.Iteration, n.id, attempt)}
}

func (m *Machine) turnInput(s *State, st step) TurnInput {
	in := TurnInput{PositionSummary: st.position, Lane: st.laneID, Findings: st.findings, Proof: st.reason}
	if st.kind == KindConfirm {
		finding, _ := s.Review.Findings.Get(st.findings[0])
		in.Rebuttal = finding.Rebuttal
	}
	return in
}

func summary(prefix string, iteration int64, id string, attempt int64) string {
	return fmt.Sprintf("%s/%d, node %s, attempt %d", prefix, iteration, id, attempt)
}

// listed never is null: the form's lists are always there.
func listed(blocking []Blocking) []Blocking { return append([]Blocking{}, blocking...) }

// plain reduces a command to the form's exact shape.
func plain(c *Command, in *DispatchInput, out *CompleteOutput) {
	if c.Kind == KindPause {
		c.Code = ""
	}
	in.GateMet, out.Outcome = nil, ""
	if in.Findings != nil {
		plainFindings(*in.Findings)
	}
	plainFindings(out.Findings)
}

func plainFindings(findings []Blocking) {
	for i := range findings {
		findings[i].Seat, findings[i].Severity = "", ""
	}
}

func (m *Machine) output(s *State) CompleteOutput {
	out := CompleteOutput{Iterations: s.Iteration, Restarts: s.Restarts, Seats: map[string]string{}, Findings: listed(m.blocking(s))}
	for _, seat := range m.seats {
		out.Seats[seat.id] = m.label(s, seat)
	}
	out.Ruled = s.Review.Ruled
	switch {
	case len(s.Review.Standing) > 0:
		out.Outcome = EndAdvisory
	case len(s.Review.Ruled) > 0:
		out.Outcome = EndRuled
	default:
		out.Outcome = EndConverged
	}
	return out
}

// Labels of a seat beyond the outcomes.
const (
	LabelAccepted  = "accepted"
	LabelPending   = "pending"
	LabelNonVoting = "non-voting" // a pass of a seat that does not vote
)

func (m *Machine) label(s *State, seat *seat) string {
	rec, _ := s.Seats.Get(seat.id)
	switch rec.Outcome {
	case OutcomeNone:
		return LabelPending
	case OutcomeValid:
		switch {
		case m.countsNot(s, seat) == "":
			return LabelAccepted
		case !seat.voting:
			return LabelNonVoting
		}
		return string(OutcomeInvalid)
	}
	return string(rec.Outcome)
}

// SeatOutcome is where one seat stands: Outcome as the form knows it (null when
// it was not asked or gave no verdict), Label as a complete output would show it.
type SeatOutcome struct {
	Outcome *Outcome `json:"outcome"`
	Label   string   `json:"label"`
	Verdict Verdict  `json:"verdict,omitempty"`
	Voting  bool     `json:"voting"`
	// Reason says why the seat does not count, if it answered.
	Reason string `json:"reason,omitempty"`
}

// Outcomes returns where every seat stands, by seat id.
func (m *Machine) Outcomes(s State) map[string]SeatOutcome {
	outcomes := make(map[string]SeatOutcome, len(m.seats))
	for _, seat := range m.seats {
		rec, _ := s.Seats.Get(seat.id)
		o := SeatOutcome{Label: m.label(&s, seat), Verdict: rec.Verdict, Voting: seat.voting}
		if rec.Outcome != OutcomeNone {
			o.Outcome = &rec.Outcome
			o.Reason = m.countsNot(&s, seat)
		}
		outcomes[seat.id] = o
	}
	return outcomes
}

// encode writes JSON without HTML escapes, so that a printed command reads as
// it is. Map keys are sorted by encoding/json. It panics only on a bug here.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("convergence: encode %T: %v", v, err))
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
