package review

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// A title's words are compared by what they mean to a reviewer: without places, inflections and filler, and with one
// word for each of a few defects that everybody names differently.

// titleWords is a finding's title in comparable form.
type titleWords struct {
	words wordSet // canonical words
	names wordSet // words that stand for code: they have a capital inside, an underscore or a dot
	// proper are the words, as canonical ones, that name something: capitals behind the title's beginning, back-ticks.
	proper wordSet
}

// wordSet is a set of words in their order: what is summed over it comes out the same in every replay of a run.
type wordSet []string

func setOfWords(words []string) wordSet {
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	slices.Sort(words)
	return slices.Compact(words)
}

func (s wordSet) has(word string) bool {
	_, found := slices.BinarySearch(s, word)
	return found
}

// places in a title say where and not what: they move with the code.
var places = regexp.MustCompile(`(?i)\b(lines?|l)\.?\s?\d+(\s?(-|–|to|and|,)\s?\d+)*\b|[\w./-]+\.\w{1,5}:\d+(:\d+)?(-\d+)?|\(\s*\)`)

// labels at the front of a title state its severity or lens.
var labels = regexp.MustCompile(`^(?i)\W*(\[?\(?(p[0-4]|high|medium|low|critical|major|minor|blocker|nit|bug|issue|security|correctness|tests?|conventions?|contract|f\d+)\)?\]?\s*[:\-–—]\s*|\[[\w -]+\]\s*)+`)

// readTitle takes a title apart.
func readTitle(s string) titleWords {
	var words, names, proper []string
	s = normalise([]byte(strings.ToValidUTF8(s, " ")))
	s = contractions.Replace(strings.ReplaceAll(s, "’", "'"))
	s = mainClause(withoutLabels(s))
	ticked := tickedWords(s)
	for i, word := range strings.FieldsFunc(withoutPlaces(s), func(r rune) bool { return !wordRune(r) && r != '.' }) {
		word = strings.Trim(word, ".")
		for segment := range strings.SplitSeq(word, ".") {
			if segment != word || len(parts(segment)) > 1 {
				names = append(names, strings.ToLower(segment))
			}
		}
		named := ticked.has(word) || i > 0 && word != "" && unicode.IsUpper([]rune(word)[0])
		for _, part := range parts(word) {
			for _, piece := range ideographs(part) {
				for _, canonical := range meaningsOf(piece) {
					words = append(words, canonical)
					if named && canonical != "" {
						proper = append(proper, canonical)
					}
				}
			}
		}
	}
	return titleWords{words: setOfWords(words), names: setOfWords(names), proper: setOfWords(proper)}
}

// withoutLabels and withoutPlaces look before they search: titles are compared often, and most have neither.
func withoutLabels(s string) string {
	if !strings.ContainsAny(s, ":-–—[") {
		return s
	}
	if rest := labels.ReplaceAllString(s, ""); rest != "" {
		return rest
	}
	return s
}

func withoutPlaces(s string) string {
	if !strings.ContainsAny(s, "0123456789(") {
		return s
	}
	return places.ReplaceAllString(s, " ")
}

// clauses begin what a title says beyond the defect: what follows from it, and why it matters.
var clauses = regexp.MustCompile(`(, so |, which |, although |, even though |, causing |, leading to |, because |; )`)

// mainClause cuts a title before the first such clause, where something is left.
func mainClause(s string) string {
	if !strings.ContainsAny(s, ",;") && !strings.Contains(s, "ing ") && !strings.Contains(s, "ough ") && !strings.Contains(s, "because ") {
		return s
	}
	at := clauses.FindStringIndex(s)
	if at == nil || len(strings.Fields(s[:at[0]])) < 3 {
		return s
	}
	return s[:at[0]]
}

// tickedWords returns what stands in back-ticks, word by word.
func tickedWords(s string) wordSet {
	var found []string
	for i, span := range strings.Split(s, "`") {
		if i%2 == 1 {
			found = append(found, strings.FieldsFunc(span, func(r rune) bool { return !wordRune(r) && r != '.' })...)
		}
	}
	return setOfWords(found)
}

// meaningsOf returns a word in canonical form; one that denies another in its first letters is both.
func meaningsOf(word string) []string {
	if rest, ok := strings.CutPrefix(word, "un"); ok && len(rest) > 4 && strings.HasSuffix(rest, "ed") && canonical(word) == stem(word) {
		return []string{"absent", canonical(rest)}
	}
	return []string{canonical(word)}
}

// contractions keep their negation, which the split at marks would lose.
var contractions = strings.NewReplacer("n't ", " not ", "'s ", " ", "off-by-one", "offbyone", "off by one", "offbyone", "Off-by-one", "offbyone",
	"Off by one", "offbyone", "off-by-1", "offbyone", "c++", "cpp", "time zone", "timezone", "Time zone", "timezone",
	"regular expression", "regexp", "Regular expression", "regexp", "RegExp", "regexp", "regex ", "regexp ", "Regex ", "regexp ")

// parts splits a name at dots, underscores and inner capitals, into lower-case words.
func parts(word string) []string {
	var all []string
	var current []rune
	flush := func() {
		if len(current) > 0 {
			all = append(all, strings.ToLower(string(current)))
			current = nil
		}
	}
	runes := []rune(word)
	for i, r := range runes {
		switch {
		case r == '.' || r == '_':
			flush()
			continue
		case i > 0 && unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || unicode.IsUpper(runes[i-1]) && i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			flush()
		}
		current = append(current, r)
	}
	flush()
	return all
}

// ideographs cuts a word of a script without blanks into pairs of signs.
func ideographs(word string) []string {
	runes := []rune(word)
	if len(runes) < 3 || !unicode.In(runes[0], unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
		return []string{word}
	}
	pairs := make([]string, 0, len(runes)-1)
	for i := range len(runes) - 1 {
		pairs = append(pairs, string(runes[i:i+2]))
	}
	return pairs
}

// canonical returns the word under which a word is compared, "" for filler.
func canonical(word string) string {
	for _, form := range []string{word, stem(word)} {
		if filler[form] {
			return ""
		}
		if meaning, ok := meanings[form]; ok {
			return meaning
		}
	}
	return stem(word)
}

// stem removes the inflections that reviewers vary most; it need not find the dictionary's form, only the same one.
func stem(w string) string {
	for _, suffix := range []string{"ations", "ation", "isons", "ison", "ions", "ion", "ings", "ing", "edly", "ied", "ies", "ers", "ed", "es", "er", "ly", "s", "e", "y"} {
		if rest, ok := strings.CutSuffix(w, suffix); ok && len(rest) >= 3 && (suffix != "s" || !strings.HasSuffix(rest, "s")) {
			if n := len(rest); n > 3 && rest[n-1] == rest[n-2] && rest[n-1] != 's' && rest[n-1] != 'l' {
				rest = rest[:n-1]
			}
			return rest
		}
	}
	return w
}

var filler = setOf("a", "an", "the", "of", "in", "on", "at", "to", "for", "from", "by", "with", "and", "or", "is", "are", "was", "be", "been",
	"it", "its", "this", "that", "these", "those", "as", "if", "when", "while", "then", "there", "here", "can", "could", "may", "might", "will",
	"would", "should", "must", "does", "do", "did", "has", "have", "had", "which", "who", "into", "via", "through", "so", "also", "any", "some",
	"all", "due", "because", "cause", "caus", "possible", "potential", "potentially", "still", "now", "code", "function", "method", "line", "new", "instead", "being",
	"used", "use", "using", "up", "out", "given", "too", "0", "1", "2", "os", "io", "fs", "std", "get", "make", "mak", "lead", "where", "but", "than", "case", "call", "see", "seen", "happen", "occur")

// meanings gives one word to what is called by many. Keys are words or stems.
var meanings = groups(
	"none", "nil null none undefined nullptr nullable",
	"absent", "missing miss no not never without lack lacking absent omit omitted omits forget forgotten forgot forgets cannot",
	"dismissed", "ignore ignored ignoring swallow swallowed drop dropped discard discarded unchecked unhandled suppress suppressed",
	"twice", "twice double doubly duplicate duplicated repeated repeatedly again",
	"crash", "panic panics crash crashes abort segfault blow",
	"fault", "error err errors exception failure fail fails failed failing",
	"deref", "deref dereference dereferenced dereferencing dereferences",
	"divide", "divide division divides dividing divisor denominator zerodivision zerodivisionerror",
	"write", "write writes written writing assign assignment assigned assigning store stored insert insertion",
	"leak", "leak leaked leaks unclosed",
	"close", "close closed closing closes",
	"bounds", "bound bounds index indexes indices range outofrange oob offbyone",
	"race", "race races racy concurrent concurrently concurrency unsynchronised unsynchronized",
	"traverse", "traversal traverse dotdot outside",
	"validate", "validate validated validation validates verify verified sanitise sanitize sanitised sanitized sanitization unsanitised unsanitized unvalidated",
	"inject", "injection inject injected injectable interpolated interpolation concatenated concatenation",
	"secret", "secret secrets password passwords credential credentials token tokens apikey",
	"log", "log logs logged logging print printed prints",
	"assert", "assert asserts assertion assertions asserted",
	"empty", "empty blank",
	"remove", "remove removed removes delete deleted deletes removal deletion",
	"timeout", "timeout timeouts deadline",
	"context", "context contexts ctx",
	"forever", "infinite forever endless endlessly hang hangs unbounded hung",
	"lock", "lock locked locks mutex",
	"deadlock", "deadlock deadlocks deadlocked",
	"config", "config configuration configurations settings setting",
	"initialise", "initialise initialize initialised initialized initialization uninitialised uninitialized",
	"dir", "dir directory folder directories folders",
	"param", "param parameter argument arg params parameters arguments args",
	"wrong", "wrong incorrect incorrectly wrongly invalid bad broken",
	"test", "test tests tested testing untested",
)

// groups reads pairs of a meaning and the words that have it.
func groups(pairs ...string) map[string]string {
	all := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		for _, word := range strings.Fields(pairs[i+1]) {
			all[word] = pairs[i]
		}
		all[pairs[i]] = pairs[i]
	}
	return all
}
