package convergence

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// demoteWriterLanes takes the vote from every seat whose declared lane shares
// provider or family with a declared writer target. Such a seat can still block.
func (m *Machine) demoteWriterLanes(r *report) {
	if !m.writerExclusion() {
		return
	}
	m.checkEscalation(r)
	for _, s := range m.seats {
		if reason := m.writerConflict(s.lane, nil); reason != "" && s.voting {
			s.voting, s.reason = false, reason
			m.warnings = append(m.warnings, fmt.Sprintf("seat %q does not vote: %s", s.id, reason))
		}
	}
}

// writerConflict says what a lane shares with a writer; a target equal to
// except is left out of the comparison.
func (m *Machine) writerConflict(lane *Lane, except *Target) string {
	if lane == nil {
		return ""
	}
	for _, w := range m.writers() {
		if w.lane == nil {
			continue
		}
		if w.lane.ID == lane.ID && except == nil {
			return fmt.Sprintf("it shares the lane %q with the %s %q", lane.ID, w.role, w.id)
		}
		for _, theirs := range w.lane.targets() {
			if except != nil && equalTarget(theirs, *except) {
				continue
			}
			for _, ours := range lane.targets() {
				if ours.Provider == theirs.Provider {
					return fmt.Sprintf("it shares the provider %q with the %s %q", ours.Provider, w.role, w.id)
				}
				if ours.ModelFamily == theirs.ModelFamily {
					return fmt.Sprintf("it shares the model family %q with the %s %q", ours.ModelFamily, w.role, w.id)
				}
			}
		}
	}
	return ""
}

// checkEscalation refuses an escalation target that is undeclared, or that
// alone would take the vote from a seat.
func (m *Machine) checkEscalation(r *report) {
	target := m.definition.Data.Escalation
	if target == nil {
		return
	}
	if m.repair.lane == nil || !slices.ContainsFunc(m.repair.lane.KnownSubstitutions, func(t Target) bool { return equalTarget(t, *target) }) {
		r.add(CodeUnknownSubstitution, "/data/escalation", "must be one of the declared substitutions of the repair lane")
		return
	}
	for _, s := range m.seats {
		if s.voting && m.writerConflict(s.lane, target) == "" && m.writerConflict(s.lane, nil) != "" {
			r.add(CodeEscalationConflict, "/data/escalation", "is of the provider or family of the voting seat %q: choose another escalation target", s.id)
		}
	}
}

func equalTarget(a, b Target) bool {
	return a.Adapter == b.Adapter && a.Provider == b.Provider && a.ModelFamily == b.ModelFamily &&
		a.Model == b.Model && slices.Equal(a.Tools, b.Tools)
}

// checkReachable refuses definitions that no sequence of events completes.
func (m *Machine) checkReachable(r *report) {
	voting, required := 0, 0
	for _, s := range m.seats {
		if s.voting {
			voting++
			if !s.skippable {
				required++
			}
		}
		m.checkReported(r, s)
	}
	quorum := m.definition.Data.Quorum
	switch {
	case voting == 0:
		r.add(CodeNoVotingSeat, "/nodes", "no seat may vote (%s): add a seat of another provider and family, or pass --allow-self-review (data.writerExclusion: false)", m.votelessReasons())
	case quorum > int64(required):
		r.add(CodeUnreachableQuorum, "/data/quorum", "is %d, but only %d voting seats are sure to be asked (%d voting, less the skippable ones): lower the quorum or add seats", quorum, required, voting)
	case m.definition.Data.RequireDiversity && !m.canBeDiverse():
		r.add(CodeUnreachableDiversity, "/data/requireDiversity", "no %d voting seats have declared lanes that differ in provider and family: add a lane of another provider and family, or lower the quorum", quorum)
	}
	if I, R := m.definition.Data.MaxIterations, m.definition.Data.MaxReviewRestarts; R >= I {
		m.warnings = append(m.warnings, fmt.Sprintf("only %d of %d repairs can happen: each needs an iteration, and there are %d", I-1, R, I))
	}
}

func (m *Machine) votelessReasons() string {
	reasons := make([]string, 0, len(m.seats))
	for _, s := range m.seats {
		reasons = append(reasons, fmt.Sprintf("%s: %s", s.id, s.reason))
	}
	return strings.Join(reasons, "; ")
}

// reportedKeys are the input hashes that every evaluator of a live run reports
// beside the writers' trees and the declared globs.
var reportedKeys = []string{"requirement", "contract", "constraints"}

// checkReported refuses an evidence key that nobody will ever report: a seat
// that watches it could never answer on current evidence.
func (m *Machine) checkReported(r *report, s *seat) {
	for i, key := range s.paths {
		if m.reportedAlways(key) || looksLikeGlob(key) {
			continue
		}
		r.add(CodeUnreportedEvidence, nodePath(s.id, "/data/evidencePaths/"+strconv.Itoa(i)),
			"nobody reports %q: name a writer node (%q, %q), %s, or a glob of the repository such as \"docs/**\"",
			key, m.generator.id, m.repair.id, strings.Join(reportedKeys, ", "))
	}
}

// reportedAlways reports whether every evaluator of a live run reports the key.
func (m *Machine) reportedAlways(key string) bool {
	return key == m.generator.id || key == m.repair.id || slices.Contains(reportedKeys, key)
}

// looksLikeGlob accepts relative patterns inside the repository. A plain word is
// taken for a misspelt key, not for a file at the root (write "./README").
func looksLikeGlob(key string) bool {
	if strings.HasPrefix(key, "/") || slices.Contains(strings.Split(key, "/"), "..") {
		return false
	}
	return strings.ContainsAny(key, "*?[/.")
}

// diversitySteps bounds the exact search; beyond it the answer of the relaxed
// question is used, which never refuses a definition that can be reached.
const diversitySteps = 100_000

// canBeDiverse asks whether quorum voting seats can run on targets that are
// pairwise distinct in provider and in family.
func (m *Machine) canBeDiverse() bool {
	var lanes [][]Target
	var pairs []identityPair
	for _, s := range m.seats {
		if s.voting && s.lane != nil {
			lanes = append(lanes, s.lane.targets())
			for _, t := range s.lane.targets() {
				pairs = append(pairs, identityPair{t.Provider, t.ModelFamily})
			}
		}
	}
	quorum := int(m.definition.Data.Quorum)
	if len(lanes) < quorum || maxMatching(pairs) < quorum {
		return false
	}
	steps := diversitySteps
	found := pickDiverse(lanes, quorum, map[string]bool{}, map[string]bool{}, &steps)
	return found || steps <= 0
}

func pickDiverse(lanes [][]Target, need int, providers, families map[string]bool, steps *int) bool {
	if need == 0 {
		return true
	}
	if len(lanes) < need {
		return false
	}
	for _, t := range lanes[0] {
		if *steps--; *steps <= 0 {
			return false
		}
		if providers[t.Provider] || families[t.ModelFamily] {
			continue
		}
		providers[t.Provider], families[t.ModelFamily] = true, true
		if pickDiverse(lanes[1:], need-1, providers, families, steps) {
			return true
		}
		delete(providers, t.Provider)
		delete(families, t.ModelFamily)
	}
	return pickDiverse(lanes[1:], need, providers, families, steps)
}
