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
	moved bool   // the lines are not known to be close
	line  string // the line that both are, where they are one
	// lineA and lineB are the two lines as far as they are known.
	lineA, lineB string
}

func comparePlaces(a, b *seen) relatedPlaces {
	p := relatedPlaces{lineA: a.anchor, lineB: b.anchor}
	gap, known := distance(a.Line, b.Line)
	p.moved = !known || gap > touch
	parallel := renamed(p.lineA, p.lineB)
	here := known && gap == 0
	unique := telling(p.lineA) && telling(p.lineB)
	switch {
	case sameAnchor(p.lineA, p.lineB) && (unique || !known || gap <= drift), here && (parallel || p.half()):
		p.kind, p.line = oneLine, longer(p.lineA, p.lineB)
		p.lineA, p.lineB = p.line, p.line
	case !sameAnchor(p.lineA, p.lineB) && !parallel:
		p.kind = p.byDistance(gap, known)
	}
	return p
}

// half reports whether one of the lines is not known.
func (p relatedPlaces) half() bool { return p.lineA == "" || p.lineB == "" }

// byDistance relates places whose lines of code differ or are not known.
func (p relatedPlaces) byDistance(gap int, known bool) relation {
	switch {
	case known && gap <= touch:
		return touching
	case known && gap <= screen && p.half():
		return near
	case known && gap <= screen:
		return nearOther
	case p.half():
		return far
	}
	return farOther
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
