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
	kind   relation
	anchor string            // the longer anchor, where it is one line
	names  map[string]string // what the second place calls the first one's names
}

func comparePlaces(a, b Mark) relatedPlaces {
	left, right := Anchor(a.Anchor), Anchor(b.Anchor)
	gap, known := distance(a.Line, b.Line)
	if sameAnchor(left, right) {
		long := left
		if len(right) > len(left) {
			long = right
		}
		if telling(left) && telling(right) || !known || gap <= drift {
			return relatedPlaces{kind: oneLine, anchor: long}
		}
		return relatedPlaces{kind: apart}
	}
	if names, ok := renamed(left, right); ok {
		if known && gap == 0 {
			return relatedPlaces{kind: oneLine, anchor: right, names: names}
		}
		return relatedPlaces{kind: apart}
	}
	other := left != "" && right != ""
	switch {
	case known && gap == 0 && !other:
		return relatedPlaces{kind: oneLine, anchor: left + right}
	case known && gap <= touch:
		return relatedPlaces{kind: touching}
	case known && gap <= screen && other:
		return relatedPlaces{kind: nearOther}
	case known && gap <= screen:
		return relatedPlaces{kind: near}
	case other:
		return relatedPlaces{kind: farOther}
	}
	return relatedPlaces{kind: far}
}

// distance returns how many lines lie between two lines; known is false where one is not named.
func distance(a, b int) (gap int, known bool) {
	if a <= 0 || b <= 0 {
		return 0, false
	}
	return max(a-b, b-a), true
}
