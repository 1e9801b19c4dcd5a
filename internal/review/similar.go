package review

import (
	"slices"
	"strings"
)

// match is how far two titles say the same.
type match struct {
	share   float64 // of their weighted words, 0 to 1
	weight  float64 // of the shared words together
	pointed bool    // they share a word or a name that few defects are described with
	vague   bool    // they share only what could be said of much, and each goes on to say something of its own
	named   bool    // both name the same code
	opposed bool    // one says the opposite of the other
}

// What a word counts. Words that name the very defect count most; words that many defects are described with count
// little; on one line of code its own words count least, since the place has said them already.
const (
	defectWeight  = 2
	wordWeight    = 1
	genericWeight = 0.5
	placeWeight   = 0.25
)

var (
	defects = canonicals("overflow underflow injection race deadlock traversal divide bounds forever timeout inverted xss csrf")
	generic = canonicals("absent fault none dismissed wrong validate test value check handle return result data input param write read close " +
		"variable field list map string file path type state config")
	outcomes = canonicals("crash") // what follows from a defect rather than what it is
)

// canonicals returns a set of words in the form in which they are compared.
func canonicals(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[canonical(word)] = true
	}
	return set
}

// weigh returns what a word counts; here are the words of the line of code that both titles are about.
func weigh(word string, here wordSet) float64 {
	switch {
	case here.has(word), outcomes[word]:
		return placeWeight
	case defects[word]:
		return defectWeight
	case generic[word]:
		return genericWeight
	}
	return wordWeight
}

func compareTitles(a, b titleWords, here wordSet) match {
	var m match
	for _, word := range a.words {
		if b.words.has(word) {
			m.weight += weigh(word, here)
			m.pointed = m.pointed || weigh(word, here) >= wordWeight
		}
	}
	left, ownA := a.weights(b, here)
	right, ownB := b.weights(a, here)
	m.vague = !m.pointed && min(ownA, ownB) >= wordWeight
	if left+right > 0 {
		m.share = 2 * m.weight / (left + right)
	}
	m.named = slices.ContainsFunc(a.names, b.names.has)
	m.pointed = m.pointed || m.named
	for _, aspect := range aspects {
		m.opposed = m.opposed || a.words.has(aspect) != b.words.has(aspect) && !here.has(aspect)
	}
	for _, pair := range opposites {
		m.opposed = m.opposed || opposite(a, b, pair) || opposite(b, a, pair)
	}
	return m
}

// weights returns what all words of a title count together, and the weightiest that the other title does not have.
func (t titleWords) weights(other titleWords, here wordSet) (all, own float64) {
	for _, word := range t.words {
		w := weigh(word, here)
		all += w
		if !other.words.has(word) {
			own = max(own, w)
		}
	}
	return all, own
}

// opposites are words that turn a sentence into another one. Their order does not matter.
var opposites = pairsOf("missing twice", "before after", "read write", "small large", "few many", "lower upper", "min max", "minimum maximum",
	"start end", "first last", "add remove", "encode decode", "lock unlock", "open close", "leak twice", "left right", "short long",
	"early late", "underflow overflow", "request response", "client server", "inside outside", "allow deny", "send receive", "push pop",
	"increment decrement", "input output", "source target", "sender receiver", "marshal unmarshal", "height width", "key value",
	"argument result", "argument return", "return crash")

// aspects are what a change is judged by beside its code. A title that speaks of one is not about what another says
// of the code.
var aspects = []string{canonical("test"), canonical("documentation"), canonical("comment")}

func pairsOf(list ...string) [][2]string {
	pairs := make([][2]string, len(list))
	for i, pair := range list {
		first, second, _ := strings.Cut(pair, " ")
		pairs[i] = [2]string{canonical(first), canonical(second)}
	}
	return pairs
}

// opposite reports whether a says only the first word of a pair and b only the second.
func opposite(a, b titleWords, pair [2]string) bool {
	return a.words.has(pair[0]) && !a.words.has(pair[1]) && b.words.has(pair[1]) && !b.words.has(pair[0])
}

// subjectsDiffer reports whether each of two titles speaks of a name on its line of code that the other does not
// mention, and none that both do.
func subjectsDiffer(a, b titleWords, lineA, lineB string) bool {
	left, right := a.subjects(lineA), b.subjects(lineB)
	return len(left) > 0 && len(right) > 0 && !slices.ContainsFunc(left, b.says) && !slices.ContainsFunc(right, a.says)
}

func (t titleWords) says(word string) bool { return t.words.has(word) || t.names.has(word) }

// properDiffer reports whether each of two titles names something that the other does not, such as the function that
// it is about.
func properDiffer(a, b titleWords) bool {
	return slices.ContainsFunc(a.proper, func(w string) bool { return !b.words.has(w) }) &&
		slices.ContainsFunc(b.proper, func(w string) bool { return !a.words.has(w) })
}

// subjects returns the names on a line of code that a title speaks of. A word that many titles use is no name by
// itself, only as part of one.
func (t titleWords) subjects(anchor string) wordSet {
	var found []string
	for _, word := range lineWords(anchor) {
		if t.words.has(word) && !generic[word] && !outcomes[word] {
			found = append(found, word)
		}
	}
	for _, token := range codeTokens(anchor) {
		if name := strings.ToLower(token); t.names.has(name) {
			found = append(found, name)
		}
	}
	return found
}

// lineWords returns the words that stand on a line of code, in comparable form.
func lineWords(anchor string) wordSet {
	var found []string
	for _, token := range codeTokens(contractions.Replace(anchor)) {
		for _, part := range parts(token) {
			if word := canonical(part); word != "" {
				found = append(found, word)
			}
		}
	}
	return setOfWords(found)
}
