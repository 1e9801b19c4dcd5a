package review

import "strings"

// match is how far two titles say the same.
type match struct {
	share   float64 // of their weighted words, 0 to 1
	weight  float64 // of the shared words together
	named   bool    // both name the same code
	opposed bool    // one says the opposite of the other
}

// genericWeight is what a word counts that many defects are described with; others count 1.
const genericWeight = 0.5

var generic = setOf("absent", "fault", "none", "dismissed", "wrong", "validate", "test", "value", "check", "handl", "return", "result", "data", "input",
	"user", "param", "write", "read", "read", "close", "variable", "variabl", "field", "list", "map", "string", "file", "path", "type", "state")

func weigh(word string) float64 {
	if generic[word] {
		return genericWeight
	}
	return 1
}

func compareTitles(a, b titleWords) match {
	var m match
	var all float64
	for word := range a.words {
		all += weigh(word)
		if b.words[word] {
			m.weight += weigh(word)
		}
	}
	for word := range b.words {
		all += weigh(word)
	}
	if all > 0 {
		m.share = 2 * m.weight / all
	}
	for name := range a.names {
		m.named = m.named || b.names[name]
	}
	for _, pair := range opposites {
		m.opposed = m.opposed || opposite(a, b, pair) || opposite(b, a, pair)
	}
	return m
}

// opposites are words that turn a sentence into another one. Their order does not matter.
var opposites = [][2]string{
	{"absent", "twice"}, {"before", "aft"}, {"before", "after"}, {"read", "write"}, {"small", "larg"}, {"few", "many"}, {"low", "upp"}, {"min", "max"},
	{"start", "end"}, {"first", "last"}, {"add", "remove"}, {"encod", "decod"}, {"lock", "unlock"}, {"open", "close"}, {"leak", "twice"}, {"left", "right"},
	{"short", "long"}, {"early", "lat"}, {"ear", "lat"}, {"underflow", "overflow"}, {"request", "respons"}, {"cli", "serv"}, {"client", "server"},
}

// opposite reports whether a says only the first word of a pair and b only the second.
func opposite(a, b titleWords, pair [2]string) bool {
	return a.words[pair[0]] && !a.words[pair[1]] && b.words[pair[1]] && !b.words[pair[0]]
}

// subjectsDiffer reports whether two titles speak of different names of one line of code.
func subjectsDiffer(a, b titleWords, anchor string) bool {
	left, right := a.subjects(anchor), b.subjects(anchor)
	if len(left) == 0 || len(right) == 0 {
		return false
	}
	for word := range left {
		if right[word] {
			return false
		}
	}
	return true
}

// subjects returns which of a title's words are names in a line of code. What every title says is none.
func (t titleWords) subjects(anchor string) map[string]bool {
	found := map[string]bool{}
	for _, token := range codeTokens(anchor) {
		for _, part := range parts(token) {
			if word := canonical(part); word != "" && t.words[word] && (!generic[word] || word == "user") {
				found[word] = true
			}
		}
	}
	return found
}

// rename returns the title as it reads with other names for the code.
func (t titleWords) rename(names map[string]string) titleWords {
	out := titleWords{words: map[string]bool{}, names: map[string]bool{}}
	swap := map[string]string{}
	for from, to := range names {
		if before, after := parts(from), parts(to); len(before) == 1 && len(after) == 1 {
			swap[canonical(before[0])] = canonical(after[0])
		}
	}
	for word := range t.words {
		if to, ok := swap[word]; ok && to != "" {
			word = to
		}
		out.words[word] = true
	}
	for name := range t.names {
		for from, to := range names {
			name = strings.ReplaceAll(name, strings.ToLower(from), strings.ToLower(to))
		}
		out.names[name] = true
	}
	return out
}
