package convergence

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// Evidence is what a review is bound to.
type Evidence struct {
	// InputHashes names the state of each input: a writer node's tree, the
	// requirement, a declared glob. It may be empty, not nil.
	InputHashes map[string]string `json:"inputHashes"`
	// WorkspaceFingerprint identifies the whole workspace.
	WorkspaceFingerprint string `json:"workspaceFingerprint"`
	// ProofArtifactDigest is the digest of the verifier's record.
	ProofArtifactDigest string `json:"proofArtifactDigest"`
}

// readEvidence returns the evidence in a result; nil when any part is missing or
// malformed.
func readEvidence(result value) *Evidence {
	hashes, fingerprint, proof := result.get("inputHashes"), result.get("workspaceFingerprint"), result.get("proofArtifactDigest")
	if hashes.kind() != kindObject || !fingerprint.isText() || !proof.isText() || !isDigest(proof.text()) {
		return nil
	}
	e := &Evidence{
		InputHashes:          make(map[string]string, hashes.count()),
		WorkspaceFingerprint: fingerprint.text(),
		ProofArtifactDigest:  proof.text(),
	}
	for _, hash := range hashes.items() {
		if !hash.isText() {
			return nil
		}
		e.InputHashes[hash.name()] = hash.text()
	}
	return e
}

func isDigest(s string) bool {
	digits, ok := strings.CutPrefix(s, "sha256:")
	if !ok || len(digits) != 64 {
		return false
	}
	return strings.Trim(digits, hexDigits) == ""
}

// view reduces evidence to what a seat watches; nil when a watched key is not
// reported. Nil equals nothing.
func (s *seat) view(e *Evidence) *Evidence {
	if e == nil || len(s.paths) == 0 {
		return e
	}
	reduced := &Evidence{
		InputHashes:          make(map[string]string, len(s.paths)),
		WorkspaceFingerprint: e.WorkspaceFingerprint,
		ProofArtifactDigest:  e.ProofArtifactDigest,
	}
	for _, key := range s.paths {
		hash, ok := e.InputHashes[key]
		if !ok {
			return nil
		}
		reduced.InputHashes[key] = hash
	}
	return reduced
}

// sameView is the comparison at completion: all three parts.
func sameView(a, b *Evidence) bool {
	return a != nil && b != nil && a.WorkspaceFingerprint == b.WorkspaceFingerprint &&
		a.ProofArtifactDigest == b.ProofArtifactDigest && maps.Equal(a.InputHashes, b.InputHashes)
}

// keepsPass is the comparison when new evidence arrives: hashes and proof. With
// Rules.FingerprintBinds a seat that watches everything also compares the
// fingerprint, so any changed byte asks it again even if a host forgot to report
// it among the hashes. A seat with evidencePaths never does: the fingerprint
// changes with every byte of the workspace, and a seat that watches docs/** keeps its pass when only
// code changed.
func (m *Machine) keepsPass(s *seat, old, current *Evidence) bool {
	if old == nil || current == nil {
		return false
	}
	if m.rules.FingerprintBinds && len(s.paths) == 0 && old.WorkspaceFingerprint != current.WorkspaceFingerprint {
		return false
	}
	return old.ProofArtifactDigest == current.ProofArtifactDigest && maps.Equal(old.InputHashes, current.InputHashes)
}

// SeatView returns the evidence a seat must echo now; under full also that of
// the seat "final". It reports false for an
// unknown seat, and where there is no evidence or a watched key is missing. The
// result is a copy.
func (m *Machine) SeatView(s State, seatID string) (Evidence, bool) {
	watcher := &seat{id: FinalSeat} // the final review reads everything
	if n, ok := m.nodes[seatID]; ok && n.seat != nil {
		watcher = n.seat
	} else if !m.full() || seatID != FinalSeat {
		return Evidence{}, false
	}
	view := watcher.view(s.ReviewEvidence)
	if view == nil {
		return Evidence{}, false
	}
	copied := *view
	copied.InputHashes = maps.Clone(view.InputHashes)
	return copied, true
}

// tokenDigits is how much of a view's digest stands in a prompt.
const tokenDigits = 24

// Token is the short form of a view that a prompt carries and an answer echoes.
func Token(view Evidence) string {
	if view.InputHashes == nil {
		view.InputHashes = map[string]string{}
	}
	raw, err := json.Marshal(view)
	if err != nil {
		panic(fmt.Sprintf("convergence: token: %v", err))
	}
	digest, err := Digest(raw)
	if err != nil {
		panic(fmt.Sprintf("convergence: token: %v", err))
	}
	return strings.TrimPrefix(digest, "sha256:")[:tokenDigits]
}
