package secret

import "encoding/base64"

// encoded tries a rule on what stands in base64, where its beginning was found before bytes behind a group's beginning.
// What such a secret tells of its beginning may be a part of the character before it, which stays.
func (s *ruleSet) encoded(r *rule, text []byte, at, before int) (Match, bool) {
	first := at - (before*8+5)/6
	if first < 0 {
		return Match{}, false
	}
	run, places := based(text, first, r.Window*4/3)
	plain := make([]byte, base64.RawStdEncoding.DecodedLen(len(run)))
	n, err := base64.RawStdEncoding.Decode(plain, run)
	if err != nil || n <= before {
		return Match{}, false
	}
	m, ok := s.match(r, plain[:n], before)
	if !ok {
		return Match{}, false
	}
	last := min((m.End*8+5)/6, len(run)) - 1
	m.Start, m.End, m.key = at, places[last]+1, at
	if last == len(run)-1 { // what was cut by the window, and what fills the last group
		m.End = skip(text, m.End, solid)
	}
	return m, true
}

// based gathers the characters of base64 from a place on, of whole groups and at most so many, over the ends of lines, and
// where each stands.
func based(text []byte, at, most int) (run []byte, places []int) {
	for at < len(text) && len(run) < most {
		switch b := text[at]; {
		case b == '-':
			b = '+'
			fallthrough
		case material(b) && b != '=':
			run, places = append(run, b), append(places, at)
			at++
		case b == '_':
			run, places = append(run, '/'), append(places, at)
			at++
		default:
			next := lineEnd(text[at:])
			if next == 0 {
				at = len(text)
			}
			at += next
		}
	}
	if len(run)%4 == 1 {
		run = run[:len(run)-1]
	}
	return run, places
}
