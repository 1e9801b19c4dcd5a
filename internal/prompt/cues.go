package prompt

import "regexp/syntax"

// cues are texts of which at least one stands in whatever matches a pattern: a cheap look before a dear one. nil says
// that there is no such set.
func cues(pattern string) []string {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		panic(err) // compiled already
	}
	return required(parsed)
}

func required(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{string(re.Rune)}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if set := required(sub); shortest(set) > shortest(best) {
				best = set
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			set := required(sub)
			if set == nil {
				return nil
			}
			all = append(all, set...)
		}
		return all
	}
	return nil
}

// shortest is the length of a set's shortest text: the longer, the rarer.
func shortest(set []string) int {
	length := 0
	for i, text := range set {
		if i == 0 || len(text) < length {
			length = len(text)
		}
	}
	return length
}
