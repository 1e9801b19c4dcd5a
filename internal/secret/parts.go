package secret

import "strings"

// partsKept is how much of a text that comes in parts is looked at together, in bytes.
const partsKept = 4 << 10

// pieceLeast is the least of a secret in one part that is taken out of it, in bytes: less tells nothing.
const pieceLeast = 4

// Parts finds secrets that lie in several parts of a text, as an agent that shows its words while it makes them tells
// them. What lies in one part is not its business. The zero value finds none.
type Parts struct {
	s      *Scanner
	parts  []string
	size   int
	pieces map[string][]Match // by the part's text
}

// Parts returns a finder for one stream.
func (s *Scanner) Parts() *Parts { return &Parts{s: s, pieces: map[string][]Match{}} }

// Add takes the next part of the text, and returns the text up to its last blank without secrets: what stands behind
// that may go on.
func (p *Parts) Add(part string) (said string) {
	p.parts, p.size = append(p.parts, part), p.size+len(part)
	for len(p.parts) > 1 && p.size-len(p.parts[0]) > partsKept {
		p.size -= len(p.parts[0])
		p.parts = p.parts[1:]
	}
	whole := strings.Join(p.parts, "")
	for _, m := range p.s.Find([]byte(whole)) {
		p.divide(m)
	}
	if end := strings.LastIndexAny(whole, " \t\r\n"); end >= 0 {
		said = p.s.String(whole[:end])
	}
	return said
}

// divide notes which piece of a secret each part has.
func (p *Parts) divide(m Match) {
	at := 0
	for _, part := range p.parts {
		from, to := max(m.Start, at)-at, min(m.End, at+len(part))-at
		at += len(part)
		if to-from < pieceLeast || m.Start >= at-len(part) && m.End <= at {
			continue
		}
		p.pieces[part] = merge(append(p.pieces[part], Match{Rule: m.Rule, Start: from, End: to, Guess: m.Guess}))
	}
}

// End begins another text.
func (p *Parts) End() { p.parts, p.size = nil, 0 }

// Pieces are the parts that hold a piece of a secret, with what stands in its place.
func (p *Parts) Pieces() map[string]string {
	out := make(map[string]string, len(p.pieces))
	for part, found := range p.pieces {
		out[part] = string(replace([]byte(part), found))
	}
	return out
}
