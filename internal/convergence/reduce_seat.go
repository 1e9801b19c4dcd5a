package convergence

import "slices"

// seatDone judges a seat's answer. Identity comes from the receipt of this
// attempt, never from the answer; findings count only on equal evidence.
func (f *fold) seatDone(n *node, st NodeState, result value) {
	if f.seat(n).Stale {
		f.setSeat(n, f.seat(n).forgotten(OutcomeInvalid))
		f.finish(n, st, StatusPending)
		return
	}
	rechecked := f.m.readRechecked(result)
	rec := f.m.readAnswer(f.s.ReviewEvidence, n.seat, st, result, rechecked)
	rec.Judged = f.seat(n).Judged
	if rec.Answered {
		rec.Judged = f.s.ReviewEvidence.WorkspaceFingerprint
	}
	f.countFindings(rec.Findings)
	switch {
	case f.m.trusted(rec):
		f.finish(n, st, StatusPassed)
	case f.m.counted(st) <= f.m.definition.Data.RetryCapPerNode:
		f.finish(n, st, StatusPending)
	default:
		rec.Outcome = OutcomeNonVerdict
		f.finish(n, st, StatusPassed)
	}
	f.setSeat(n, rec)
	if f.m.full() && rec.Answered {
		f.report(Raiser{Seat: n.id, ModelFamily: rec.ModelFamily}, rec.Findings, rechecked)
	}
}

// trusted reports whether an answer stands as given; what is not trusted is
// asked again while the cap permits.
func (m *Machine) trusted(rec SeatState) bool {
	if m.rules.ReaskUntrusted {
		return rec.Answered
	}
	return rec.Verdict != VerdictPass || rec.Outcome == OutcomeValid
}

// readAnswer turns a result into a seat record.
func (m *Machine) readAnswer(current *Evidence, s *seat, st NodeState, result value, rechecked rechecks) SeatState {
	rec := SeatState{Verdict: readVerdict(result.get("verdict"))}
	confidence := result.get("confidence")
	if confidence.kind() == kindNumber {
		number := confidence.number()
		rec.Confidence = &number
	}
	if st.Receipt != nil {
		rec.Provider, rec.ModelFamily = st.Receipt.Provider, st.Receipt.ModelFamily
	}
	rec.Evidence = s.view(readEvidence(result))
	bound := sameView(rec.Evidence, s.view(current))
	if bound {
		rec.Findings = readFindings(result.get("findings"))
	}
	stands := bound && (!m.rules.ConsistentAnswers || consistent(rec, rechecked))
	rec.Outcome, rec.Answered = m.judge(rec.Verdict, stands, confidence.kind())
	return rec
}

// judge says what an answer is worth. stands: it is bound to the current
// evidence and agrees with itself.
func (m *Machine) judge(verdict Verdict, stands bool, confidence valueKind) (outcome Outcome, answered bool) {
	sure := confidence == kindNumber
	switch verdict {
	case VerdictNone:
		return OutcomeNone, false
	case VerdictPass:
		none := confidence == kindNull || confidence == kindAbsent
		if stands && (sure || none && m.rules.VerdictOnly && !m.RequireFindings()) {
			return OutcomeValid, true
		}
		return OutcomeInvalid, false
	}
	answered = stands && (sure || !m.RequireFindings())
	if m.full() && answered && verdict == VerdictFindings {
		return OutcomeValid, true // the ledger decides whether the seat accepts
	}
	return OutcomeInvalid, answered
}

// consistent reports whether a verdict agrees with its findings: a block names
// one, or one that was not addressed; a pass none of high severity and none that
// was not addressed.
func consistent(rec SeatState, rechecked rechecks) bool {
	if rec.Verdict == VerdictFindings {
		return len(rec.Findings) > 0 || rechecked.unaddressed
	}
	return rec.Verdict != VerdictPass || !rechecked.unaddressed && !slices.ContainsFunc(rec.Findings, isHigh)
}

// isHigh takes a finding without a known severity for a high one.
func isHigh(f Finding) bool { return f.Severity != SeverityMedium && f.Severity != SeverityLow }

// rechecks is what an answer says of older findings.
type rechecks struct {
	addressed   map[string]bool
	unaddressed bool // it names one that was not addressed
}

// readRechecked reads what a full answer says of older findings: only an explicit
// "addressed" is one, and the same finding named twice is only if both say so.
func (m *Machine) readRechecked(result value) rechecks {
	list := result.get("rechecked")
	if !m.full() || list.kind() != kindArray {
		return rechecks{}
	}
	found := rechecks{addressed: make(map[string]bool, list.count())}
	for _, item := range list.items() {
		id := item.get("finding").text()
		addressed := item.get("status").text() == string(FindingAddressed)
		before, said := found.addressed[id]
		found.addressed[id] = addressed && (before || !said)
		found.unaddressed = found.unaddressed || !addressed
	}
	return found
}

func readVerdict(v value) Verdict {
	switch verdict := Verdict(v.text()); verdict {
	case VerdictPass, VerdictFindings, VerdictLowConfidence:
		return verdict
	}
	return VerdictNone
}

// Finding kinds and severities.
const (
	KindPatch      = "patch"
	KindDecision   = "decision"
	SeverityHigh   = "high"
	SeverityMedium = "medium"
	SeverityLow    = "low"
)

func readFindings(list value) []Finding {
	if list.kind() != kindArray {
		return nil
	}
	var findings []Finding
	for _, item := range list.items() {
		id, kind, evidence := item.get("id"), item.get("kind"), item.get("evidence")
		if !id.isText() || !evidence.isText() || kind.text() != KindPatch && kind.text() != KindDecision {
			continue
		}
		findings = append(findings, Finding{ID: id.text(), Kind: kind.text(), Severity: item.get("severity").text(), Evidence: evidence.text()})
	}
	return findings
}

// countFindings counts reports, or, with CountReturns, rounds in which a known
// finding came back.
func (f *fold) countFindings(findings []Finding) {
	for _, finding := range findings {
		if f.m.rules.CountReturns {
			seen, known := f.s.FindingSeen.Get(finding.ID)
			f.s.FindingSeen = f.s.FindingSeen.With(finding.ID, f.s.Iteration)
			if !known || seen == f.s.Iteration {
				continue
			}
		}
		rounds, _ := f.s.FindingRounds.Get(finding.ID)
		f.s.FindingRounds = f.s.FindingRounds.With(finding.ID, rounds+1)
	}
}

// counted is how many attempts of a node the retry cap counts.
func (m *Machine) counted(st NodeState) int64 {
	if m.rules.RetryPerRound {
		return st.RoundAttempts
	}
	return st.Attempts
}
