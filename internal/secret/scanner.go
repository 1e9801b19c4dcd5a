package secret

import (
	"bytes"
	"encoding/base64"
	"slices"
)

// Match is a secret in a text.
type Match struct {
	// Rule is the id of the rule, or "environment:" and a variable's name.
	Rule string
	// Start and End are its place in the text, in bytes.
	Start, End int
	// Guess says that a name told it, not a shape: it may be none.
	Guess bool
	// key is where the keyword begins that told it.
	key int
}

// Scanner finds secrets. It is immutable, and safe for concurrent use. The zero value finds none.
type Scanner struct {
	set    *ruleSet
	auto   *automaton
	words  []word
	values []value
}

// word is what the automaton looks for: the keyword of a rule, its form in base64, or the beginning of a value.
type word struct {
	rule, value int
	// encoded says that the keyword stands in base64, before bytes behind the beginning of a group.
	encoded bool
	before  int
}

// New makes a scanner for the kept rules and the exact values of variables, each "NAME=value".
func New(variables ...string) *Scanner {
	s := &Scanner{set: defaults()}
	var words []string
	for i, r := range s.set.rules {
		for _, keyword := range r.Keywords {
			words = append(words, keyword)
			s.words = append(s.words, word{rule: i, value: -1})
		}
		for _, beginning := range r.Encoded {
			for before := range 3 {
				words = append(words, within(base64.RawStdEncoding, before, beginning))
				s.words = append(s.words, word{rule: i, value: -1, encoded: true, before: before})
			}
		}
	}
	for i, v := range valuesOf(variables) {
		s.values = append(s.values, v)
		words = append(words, string(v.text[:min(len(v.text), anchored)]))
		s.words = append(s.words, word{value: i, rule: -1})
	}
	s.auto = newAutomaton(words)
	return s
}

// anchored is how much of a value the automaton looks for; the rest is compared.
const anchored = 12

// Find returns the secrets of a text in their order. None overlaps another one.
func (s *Scanner) Find(text []byte) []Match {
	if s == nil || s.auto == nil {
		return nil
	}
	return merge(s.candidates(text, 0, len(text)))
}

// candidates are the matches of a text that begin in [from, to), in no order.
func (s *Scanner) candidates(text []byte, from, to int) []Match {
	var found []Match
	done := 0 // a key within a key is the same one
	s.auto.scan(text, func(n, start int) {
		if start < from || start >= to {
			return
		}
		w := s.words[n]
		if w.value >= 0 {
			v := s.values[w.value]
			if n := v.covers(text[start:]); n > 0 {
				found = append(found, Match{Rule: v.rule, Start: start, End: start + n, key: start})
			}
			return
		}
		r := &s.set.rules[w.rule]
		if r.Kind == kindPEM && start < done {
			return
		}
		if w.encoded {
			if m, ok := s.set.encoded(r, text, start, w.before); ok {
				found = append(found, m)
			}
			return
		}
		if m, ok := s.set.match(r, text, start); ok {
			found = append(found, m)
			if r.Kind == kindPEM {
				done = m.End
			}
		}
	})
	return found
}

// match tries a rule at the place of one of its keywords.
func (s *ruleSet) match(r *rule, text []byte, at int) (Match, bool) {
	if !r.begins(text, at) {
		return Match{}, false
	}
	start, end := r.find(text, at)
	if end <= start || r.Ends && end < len(text) && (alnum(text[end]) || text[end] == '_') {
		return Match{}, false
	}
	if r.Kind != kindPEM && !s.judges(r, text, at, start, end) {
		return Match{}, false
	}
	return Match{Rule: r.ID, Start: start, End: end, Guess: r.Guess, key: at}, true
}

// begins reports whether what stands before a keyword lets the rule's secret begin there.
func (r *rule) begins(text []byte, at int) bool {
	if r.after != nil && (at == 0 || !r.after.Match(text[at-1:at])) {
		return false
	}
	return r.Inside || r.Kind == kindAssigned || edge(text, at)
}

// find is the place of a rule's secret; it ends where it starts when there is none.
func (r *rule) find(text []byte, at int) (start, end int) {
	if r.Kind == kindAssigned {
		return r.assigned(text, at)
	}
	window := text[at:min(len(text), at+r.Window)]
	if start, end = r.place(window); end <= start {
		return 0, 0
	}
	start, end = at+start, at+end
	switch {
	case end < at+len(window):
	case r.Kind == kindPEM: // cut by the window: the rest of it is as secret
		end = unescaped(text, end, skip(text, end, inPEM))
	default:
		end = skip(text, end, solid)
	}
	return start, end
}

// place finds a rule's secret in a window that begins with a keyword.
func (r *rule) place(window []byte) (start, end int) {
	switch r.Kind {
	case kindPEM:
		return privateKey(window)
	case kindJWT:
		return webToken(window)
	}
	place := r.pattern.FindSubmatchIndex(window)
	switch {
	case place == nil:
		return 0, 0
	case len(place) > 2 && place[2] >= 0:
		return place[2], place[3]
	}
	return place[0], place[1]
}

// webToken finds a JSON web token at the start of a text: two parts that begin as JSON in base64 does, and a signature.
func webToken(text []byte) (start, end int) {
	least := [...]int{13, 13, 16}
	for i, n := range least {
		from := end
		end = skip(text, end, urlSafe)
		if end-from < n || i < 2 && !bytes.HasPrefix(text[from:], []byte("eyJ")) {
			return 0, 0
		}
		if i < 2 {
			if end == len(text) || text[end] != '.' {
				return 0, 0
			}
			end++
		}
	}
	return 0, end
}

func urlSafe(b byte) bool { return alnum(b) || b == '_' || b == '-' }

// solid are the characters of tokens.
func solid(b byte) bool {
	return alnum(b) || b == '+' || b == '/' || b == '=' || b == '_' || b == '-' || b == '.'
}

// inPEM are the characters of a private key, with what lies between its lines.
func inPEM(b byte) bool {
	return material(b) || b == '\n' || b == '\r' || b == ' ' || b == '\t' || b == '\\'
}

// unescaped takes an end back that would part a backslash from what it stands before.
func unescaped(text []byte, start, end int) int {
	for end > start && end < len(text) && text[end-1] == '\\' {
		end--
	}
	return end
}

// merge orders matches and joins those that overlap, so that nothing of either is left. The surest rule names the
// whole: a value that is known, then a shape, then a guess; the longest among equals.
func merge(found []Match) []Match {
	slices.SortFunc(found, func(a, b Match) int {
		if a.Start != b.Start {
			return a.Start - b.Start
		}
		return b.End - a.End
	})
	var out []Match
	for _, m := range found {
		if n := len(out); n > 0 && m.Start < out[n-1].End {
			last := &out[n-1]
			if last.Guess && !m.Guess {
				last.Rule, last.Guess = m.Rule, false
			}
			last.End, last.key = max(last.End, m.End), min(last.key, m.key)
			continue
		}
		out = append(out, m)
	}
	return out
}
