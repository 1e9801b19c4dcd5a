package review

// relation says how two places of one file relate.
type relation uint8

const (
	apart     relation = iota // parallel lines: what is said of one is not said of the other
	oneLine                   // the same line of code, wherever it stands now
	touching                  // within a statement's length
	near                      // within a screen, one of the lines unknown
	nearOther                 // within a screen, on lines that differ
	far                       // anywhere, one of the lines unknown
	farOther                  // anywhere, on lines that differ
)

const (
	touch  = 3  // lines
	screen = 15 // lines
	drift  = 40 // lines that one edit may move a line which stands in many places
)

// relatedPlaces is how two places relate.
type relatedPlaces struct {
	kind  relation
	line  string     // the line that both are, where they are one
	names []renaming // what the second place calls the first one's names
	// lineA and lineB are the two lines as far as they are known.
	lineA, lineB string
}

func comparePlaces(a, b Mark) relatedPlaces {
	p := relatedPlaces{lineA: Anchor(a.Anchor), lineB: Anchor(b.Anchor)}
	gap, known := distance(a.Line, b.Line)
	if names, ok := renamed(p.lineA, p.lineB); ok && known && gap == 0 {
		p.names, p.lineA = names, p.lineB
	}
	if sameAnchor(p.lineA, p.lineB) {
		if telling(p.lineA) && telling(p.lineB) || !known || gap <= drift {
			p.kind, p.line = oneLine, longer(p.lineA, p.lineB)
			p.lineA, p.lineB = p.line, p.line
		}
		return p
	}
	if _, parallel := renamed(p.lineA, p.lineB); parallel {
		return p
	}
	both := p.lineA != "" && p.lineB != ""
	switch {
	case known && gap == 0 && !both:
		p.kind, p.line = oneLine, longer(p.lineA, p.lineB)
		p.lineA, p.lineB = p.line, p.line
	case known && gap <= touch:
		p.kind = touching
	case known && gap <= screen && both:
		p.kind = nearOther
	case known && gap <= screen:
		p.kind = near
	case both:
		p.kind = farOther
	default:
		p.kind = far
	}
	return p
}

// longer returns the longer of two texts, of equal lengths the one that sorts first: the order asked in is no matter.
func longer(a, b string) string {
	if len(b) > len(a) || len(b) == len(a) && b < a {
		return b
	}
	return a
}

// distance returns how many lines lie between two lines; known is false where one is not named.
func distance(a, b int) (gap int, known bool) {
	if a <= 0 || b <= 0 {
		return 0, false
	}
	return max(a-b, b-a), true
}
