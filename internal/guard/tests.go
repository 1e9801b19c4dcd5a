package guard

import (
	"bytes"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Tests finds the tests that a patch takes away: deleted, renamed out of a run, or skipped. A test that only moves to
// another test file is none of them; one that gets another name is, because nobody can tell it from a deleted one.
type Tests struct {
	file    testFile
	gone    []lost // in the order of the patch
	added   map[lost]int
	skipped []lost
	resumed map[lost]int // skips that the patch takes away
	deleted []testFile   // files that are gone, or under a name that is no test's
}

// testFile is the file that is being read.
type testFile struct {
	old, new       string
	before, after  *language
	dropped, taken pending
}

// pending is one side of the patch: what stands before the line that comes next.
type pending struct {
	mark  bool // the next declaration is a test
	moved bool // the mark itself is a line that this side alone has
	open  bool // a comment that lines of this side alone opened
	// covers counts those that go on over lines of both sides.
	covers int
}

// lost is a test, or a line that skips one.
type lost struct {
	language *language
	name     string
	path     string
}

// NewTests gives a Reader to fill.
func NewTests() *Tests { return &Tests{added: map[lost]int{}, resumed: map[lost]int{}} }

// File implements Reader.
func (t *Tests) File(old, new string) {
	t.endHunk()
	t.file = testFile{old: old, new: new, before: languageOf(old), after: languageOf(new)}
	if t.file.before != nil && t.file.after == nil {
		t.deleted = append(t.deleted, t.file)
	}
}

// Hunk implements Reader.
func (t *Tests) Hunk(int, int, int, int) { t.endHunk() }

// Line implements Reader.
func (t *Tests) Line(op byte, text []byte) {
	f := &t.file
	if op != '+' && f.before != nil {
		if name, found := f.dropped.next(f.before, text, op == '-'); found {
			t.gone = append(t.gone, lost{f.before, name, f.path()})
		}
	}
	if op != '-' && f.after != nil {
		if name, found := f.taken.next(f.after, text, op == '+'); found {
			t.added[lost{f.after, name, f.path()}]++
		}
	}
	switch {
	case op == '-' && f.before != nil && f.skips(f.before, text):
		t.resumed[lost{language: f.before, name: string(bytes.TrimSpace(text))}]++
	case op == '+' && f.after != nil && f.skips(f.after, text):
		t.skipped = append(t.skipped, lost{f.after, string(bytes.TrimSpace(text)), f.path()})
	}
}

// path is the name under which a person finds the file.
func (f *testFile) path() string {
	if f.new != "" {
		return f.new
	}
	return f.old
}

// skips reports whether a line takes tests out of a run.
func (f *testFile) skips(l *language, text []byte) bool {
	if f.old != "" && l.always != nil && l.always.Match(text) {
		return true
	}
	return l.skip.Match(text) && !l.comment.Match(text)
}

// next takes the next line of one side. It gives the name of a test that only this side has: whose declaration is a
// line of its own (own), or whose mark was.
func (p *pending) next(l *language, text []byte, own bool) (name string, found bool) {
	p.comment(l, text, own)
	if l.test != nil {
		if name := firstGroup(l.test, text); name != "" && !l.comment.Match(text) {
			p.mark, p.moved = false, false
			return name, own
		}
	}
	if l.mark == nil {
		return "", false
	}
	if l.mark.Match(text) {
		p.mark, p.moved = true, p.moved || own
	}
	if !p.mark {
		return "", false
	}
	name = firstGroup(l.decl, text)
	if rest := bytes.IndexAny(text, "])"); name == "" && l.mark.Match(text) && rest > 0 { // both on one line
		name = firstGroup(l.decl, text[rest+1:])
	}
	if name == "" {
		return "", false
	}
	own = own || p.moved
	p.mark, p.moved = false, false
	return name, own
}

// comment counts the comments that a run of lines of this side alone opens over lines of both sides.
func (p *pending) comment(l *language, text []byte, own bool) {
	trimmed := bytes.TrimSpace(text)
	switch closes := bytes.Contains(trimmed, []byte("*/")); {
	case !own:
		p.endRun()
	case closes:
		p.open = false
	case l.block != "" && bytes.HasPrefix(trimmed, []byte(l.block)):
		p.open = true
	}
}

func (p *pending) endRun() {
	if p.open {
		p.covers++
	}
	p.open = false
}

// endHunk closes what a hunk left open.
func (t *Tests) endHunk() {
	f := &t.file
	if f.dropped.mark && f.dropped.moved { // the test's name stands further below
		t.gone = append(t.gone, lost{f.before, "", f.path()})
	}
	if f.taken.mark && f.taken.moved {
		t.added[lost{f.after, "", f.path()}]++
	}
	f.dropped.endRun()
	f.taken.endRun()
	if f.after != nil && f.taken.covers > f.dropped.covers {
		t.skipped = append(t.skipped, lost{f.after, "a comment is opened over what stands below", f.path()})
	}
	f.dropped, f.taken = pending{}, pending{}
}

// Hits lists what was found, in the order of paths, one for each path and reason.
func (t *Tests) Hits() []Hit {
	t.endHunk()
	t.file = testFile{}
	gone := t.unmatched()
	details := map[Hit][]string{}
	for _, f := range t.deleted {
		names := namesOf(gone, f.path())
		switch {
		case f.new != "":
			details[Hit{Path: f.old, Why: DeletedTest}] = append(names, "the file is now "+f.new)
		case len(names) > 0, looksLikeTest(f.old) && !t.hadTests(f.old):
			details[Hit{Path: f.old, Why: DeletedTest}] = append([]string{"the whole file"}, names...)
		}
	}
	for _, g := range gone {
		if hit := (Hit{Path: g.path, Why: DeletedTest}); !slices.ContainsFunc(t.deleted, func(f testFile) bool { return f.path() == g.path }) {
			details[hit] = append(details[hit], nameOr(g.name, "a test whose name the patch does not show"))
		}
	}
	resumed := maps.Clone(t.resumed)
	for _, s := range t.skipped {
		if resumed[s.anywhere()] > 0 { // the line only moved
			resumed[s.anywhere()]--
			continue
		}
		hit := Hit{Path: s.path, Why: SkippedTest}
		details[hit] = append(details[hit], s.name)
	}
	return sorted(details)
}

// unmatched are the tests that are gone and were not added again: in the same file, else in any other.
func (t *Tests) unmatched() []lost {
	here, anywhere := maps.Clone(t.added), map[lost]int{}
	for key, n := range t.added {
		anywhere[key.anywhere()] += n
	}
	var rest []lost
	for _, g := range t.gone {
		if here[g] == 0 {
			rest = append(rest, g)
			continue
		}
		here[g]--
		anywhere[g.anywhere()]--
	}
	return slices.DeleteFunc(rest, func(g lost) bool {
		found := anywhere[g.anywhere()] > 0
		if found {
			anywhere[g.anywhere()]--
		}
		return found
	})
}

// anywhere forgets the path.
func (l lost) anywhere() lost { return lost{language: l.language, name: l.name} }

// hadTests reports whether the patch showed tests in a file that is gone: then they moved.
func (t *Tests) hadTests(path string) bool {
	return slices.ContainsFunc(t.gone, func(g lost) bool { return g.path == path })
}

func namesOf(gone []lost, path string) []string {
	var names []string
	for _, g := range gone {
		if g.path == path && g.name != "" {
			names = append(names, g.name)
		}
	}
	return names
}

// looksLikeTest reports whether the file's own name says that it holds tests: others in a folder of tests may be helpers.
func looksLikeTest(name string) bool {
	base := strings.ToLower(path.Base(name))
	return strings.Contains(base, "test") || strings.Contains(base, "spec")
}

func nameOr(name, other string) string {
	if name == "" {
		return other
	}
	return name
}

// firstGroup is the first group that matched, "" where nothing did. A match without a name is named by its line.
func firstGroup(pattern *regexp.Regexp, text []byte) string {
	groups := pattern.FindSubmatch(text)
	if groups == nil {
		return ""
	}
	for _, group := range groups[1:] {
		if len(group) > 0 {
			return string(group)
		}
	}
	return strings.TrimSpace(string(text))
}
