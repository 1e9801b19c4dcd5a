// Package artifact names stored bytes by their digest. Prompts, transcripts,
// diffs and outputs live in the store; histories and records hold these names.
package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

const prefix = "sha256:"

// Ref names one stored artifact. The zero Ref names nothing.
type Ref struct {
	// Digest is "sha256:" and 64 lower-case hex digits of the content.
	Digest string `json:"digest,omitempty"`
	// Size is the content's length in bytes.
	Size int64 `json:"size,omitempty"`
}

// Of returns the name of the given content.
func Of(content []byte) Ref {
	sum := sha256.Sum256(content)
	return Ref{Digest: prefix + hex.EncodeToString(sum[:]), Size: int64(len(content))}
}

// IsZero reports whether the Ref names nothing.
func (r Ref) IsZero() bool { return r.Digest == "" }

// Hex returns the 64 hex digits, or an error when the digest is malformed:
// a digest becomes a file name, so nothing else may pass.
func (r Ref) Hex() (string, error) {
	digits, ok := strings.CutPrefix(r.Digest, prefix)
	if !ok || len(digits) != 64 || strings.Trim(digits, "0123456789abcdef") != "" {
		return "", fmt.Errorf("malformed artifact digest %q", r.Digest)
	}
	return digits, nil
}
