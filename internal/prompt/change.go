package prompt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// longDiff is from how many lines on a diff of several files is shown file by file.
const longDiff = 500

// account gives the manifest of a diff that a prompt shows or names; a given one must be the diff's own. It is nil for
// a diff that stands in a file only and that the caller did not account for.
func account(role string, diff []byte, given *Manifest) (*Manifest, error) {
	if diff == nil {
		return given, nil
	}
	own, err := ReadManifest(bytes.NewReader(diff))
	if err != nil {
		return nil, fmt.Errorf("%s prompt: %w", role, err)
	}
	if given != nil && (given.Bytes != own.Bytes || given.Lines != own.Lines || !slices.Equal(given.Parts, own.Parts)) {
		return nil, fmt.Errorf("%s prompt: the manifest accounts for another diff", role)
	}
	return &own, nil
}

// inParts says whether a diff is shown file by file.
func (m *Manifest) inParts() bool { return m != nil && len(m.Parts) > 1 && m.Lines >= longDiff }

// diffParts cuts a long diff of several files; nil for one that is shown in one piece.
func diffParts(m *Manifest, diff []byte) ([]Part, error) {
	if !m.inParts() {
		return nil, nil
	}
	pieces, err := m.Split(diff)
	if err != nil {
		return nil, err
	}
	parts := make([]Part, len(pieces))
	for i, piece := range pieces {
		parts[i] = Part{Name: fmt.Sprintf("diff part %d of %d: %s", i+1, len(pieces), m.Parts[i].Path), Text: piece}
	}
	return parts, nil
}

// list names every part with its lines and kind, and every changed path that has none.
func (m *Manifest) list(changed, generated []string) string {
	var b strings.Builder
	seen := map[string]bool{}
	for i, p := range m.Parts {
		seen[p.Path], seen[p.OldPath] = true, true
		fmt.Fprintf(&b, "part %d: lines %d-%d (%d), %s", i+1, p.FirstLine, p.FirstLine+p.Lines-1, p.Lines, p.Kind)
		if p.Kind == KindText {
			fmt.Fprintf(&b, " +%d -%d", p.Added, p.Removed)
		}
		if slices.Contains(generated, p.Path) {
			b.WriteString(", generated")
		}
		fmt.Fprintf(&b, ", %s", quote(p.Path))
		if p.OldPath != "" {
			fmt.Fprintf(&b, ", from %s", quote(p.OldPath))
		}
		b.WriteByte('\n')
	}
	for _, path := range changed {
		if !seen[path] {
			fmt.Fprintf(&b, "no part: %s\n", quote(path))
		}
	}
	return b.String()
}

// quote writes a path as a JSON string, the form in which an answer returns it.
func quote(path string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(path) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

// pathList writes one path per line.
func pathList(paths []string) string {
	var b strings.Builder
	for _, p := range paths {
		b.WriteString(quote(p) + "\n")
	}
	return b.String()
}
