package review

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"conclave/internal/artifact"
)

// anyMark draws marks that meet each other often: few files and lines, titles and lines of code of the corpus and
// mixtures of them.
func anyMark(pairs []pair) *rapid.Generator[Mark] {
	var titles, anchors, words []string
	for _, p := range pairs {
		titles = append(titles, p.A.Title, p.B.Title)
		anchors = append(anchors, p.A.Anchor, p.B.Anchor)
		words = append(words, strings.Fields(p.A.Title)...)
	}
	return rapid.Custom(func(t *rapid.T) Mark {
		title := rapid.OneOf(rapid.SampledFrom(titles), rapid.Map(rapid.SliceOfN(rapid.SampledFrom(words), 0, 6),
			func(w []string) string { return strings.Join(w, " ") }), rapid.String())
		anchor := rapid.OneOf(rapid.SampledFrom(anchors), rapid.String(),
			rapid.Map(rapid.SampledFrom(anchors), func(s string) string { return strings.ReplaceAll(s, "a", "b") }))
		return Mark{
			Path:   rapid.SampledFrom([]string{"", "a.go", "./a.go", "a/b.go"}).Draw(t, "path"),
			Line:   rapid.SampledFrom([]int{0, 1, 2, 9, 30, 300, -1}).Draw(t, "line"),
			Title:  title.Draw(t, "title"),
			Anchor: anchor.Draw(t, "anchor"),
		}
	})
}

func sure(a, b Mark) float64 { return alike(seeing(a), seeing(b)) }

func TestSameIsReflexiveAndSymmetric(t *testing.T) {
	marks := anyMark(corpus(t))
	rapid.Check(t, func(t *rapid.T) {
		a, b := marks.Draw(t, "a"), marks.Draw(t, "b")
		require.True(t, Same(a, a))
		require.InDelta(t, sure(a, b), sure(b, a), 0, "%+v %+v", a, b)
		require.InDelta(t, sure(a, b), sure(a, b), 0, "asked twice")
		if Same(a, b) {
			require.Equal(t, cleanPath(a.Path), cleanPath(b.Path), "findings of two files are two")
		}
		a.Anchor, b.Anchor = Anchor(a.Anchor), Anchor(b.Anchor)
		require.True(t, Same(a, a))
	})
}

func TestAnAnchorIsItsOwnAnchor(t *testing.T) {
	lines := []string{}
	for _, p := range corpus(t) {
		lines = append(lines, p.A.Anchor, p.B.Anchor)
	}
	any := rapid.OneOf(rapid.SampledFrom(lines), rapid.String(), rapid.StringMatching("[ +`>0-9:|a-c/#*;,{]{0,40}"), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
	rapid.Check(t, func(t *rapid.T) {
		line := any.Draw(t, "line")
		anchor := Anchor(line)
		require.Equal(t, anchor, Anchor(anchor), "%q", line)
		require.LessOrEqual(t, len([]rune(anchor)), anchorLimit)
		require.Equal(t, anchor, strings.ToValidUTF8(anchor, ""))
		require.NotContains(t, anchor, "\n")
		spaced := strings.ReplaceAll(line, " ", "   ")
		require.Equal(t, anchor, Anchor("\t"+spaced+"  "), "blanks do not matter")
	})
}

// TestLedgerMergesTheSameAfterEveryRoundTrip raises the same findings into a ledger that stays in memory and into one
// that is written and read between any two: a run that is carried over must not know its findings differently.
func TestLedgerMergesTheSameAfterEveryRoundTrip(t *testing.T) {
	marks := anyMark(corpus(t))
	rapid.Check(t, func(t *rapid.T) {
		var kept, carried Ledger
		for range rapid.IntRange(1, 12).Draw(t, "n") {
			f, by := anyRaised(t, marks.Draw(t, "mark"))
			id, known := kept.Raise(f, by)
			again, same := carried.Raise(f, by)
			require.Equal(t, id, again)
			require.Equal(t, known, same)
			if rapid.Bool().Draw(t, "note") {
				kept.Note(id, "noted")
				carried.Note(id, "noted")
			}
			text, err := json.Marshal(carried)
			require.NoError(t, err)
			carried = Ledger{}
			require.NoError(t, json.Unmarshal(text, &carried))
			expected, err := json.Marshal(kept)
			require.NoError(t, err)
			require.Equal(t, string(expected), string(text))
		}
		requireSound(t, kept)
	})
}

func anyRaised(t *rapid.T, m Mark) (Raised, Raiser) {
	f := Raised{
		Severity: rapid.SampledFrom([]string{"high", "medium", "low", "", "x"}).Draw(t, "severity"),
		Kind:     rapid.SampledFrom([]string{"patch", "decision", ""}).Draw(t, "kind"),
		Title:    m.Title, Claim: m.Title, Anchor: m.Anchor, Text: artifact.Of([]byte(m.Title)),
	}
	if m.Path != "" {
		f.Places = []Evidence{{Path: m.Path, Line: m.Line}}
	}
	return f, Raiser{
		Seat:  rapid.SampledFrom([]string{"codex", "claude"}).Draw(t, "seat"),
		Step:  rapid.SampledFrom([]string{"s1", "s2", "s3", ""}).Draw(t, "step"),
		Round: rapid.IntRange(0, 2).Draw(t, "round"),
	}
}

// requireSound checks what holds for every ledger.
func requireSound(t *rapid.T, l Ledger) {
	seen := map[string]bool{}
	for _, e := range l.Entries {
		require.False(t, seen[e.ID], "an id stands once")
		seen[e.ID] = true
		require.Contains(t, []string{"high", "medium", "low"}, e.Severity)
		require.NotEmpty(t, e.Raisers)
		require.GreaterOrEqual(t, len(e.History), len(e.Raisers))
		require.LessOrEqual(t, len(e.Later), mostLater)
		require.LessOrEqual(t, len(e.Places), mostPlaces)
		for _, p := range e.Places {
			require.Equal(t, cleanPath(e.Mark.Path), cleanPath(p.Path), "one file per entry")
		}
	}
}

func TestAMergeNeverLowersTheSeverity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l Ledger
		highest := Low
		for i := range rapid.IntRange(1, 6).Draw(t, "n") {
			severity := rapid.SampledFrom([]string{"low", "medium", "high"}).Draw(t, "severity")
			highest = min(highest, severityWords.find(severity))
			id, known := l.Raise(raised(severity, "Write to a nil map", "a.go", 3, "m[k] = v"), Raiser{Seat: "codex", Round: i, Step: "s"})
			require.Equal(t, "F1", id)
			require.Equal(t, i > 0, known)
		}
		e, _ := l.Entry("F1")
		require.Equal(t, highest.String(), e.Severity)
	})
}
