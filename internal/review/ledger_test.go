package review

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/artifact"
)

func raised(severity, title, path string, line int, anchor string) Raised {
	return Raised{
		Severity: severity, Kind: "patch", Title: title, Claim: title + ".", Anchor: anchor,
		Places: []Evidence{{Path: path, Line: line}}, Text: artifact.Of([]byte(severity + title + path)),
	}
}

func TestLedgerMergesOverSeatsAndKeepsWhoRaisedWhat(t *testing.T) {
	var l Ledger
	codex := Raiser{Seat: "codex", Lens: "correctness", Step: "03-reviewer", Round: 0}
	claude := Raiser{Seat: "claude", Lens: "tests", Step: "04-reviewer", Round: 0}
	id, known := l.Raise(raised("medium", "Write to nil map", "a.go", 12, "m[k] = v"), codex)
	require.Equal(t, "F1", id)
	require.False(t, known)
	id, known = l.Raise(raised("high", "Nil map is written to", "a.go", 13, "m[k] = v"), claude)
	require.Equal(t, "F1", id)
	require.True(t, known)
	id, known = l.Raise(raised("high", "Write to nil map", "b.go", 12, "m[k] = v"), claude)
	require.Equal(t, "F2", id)
	require.False(t, known)

	e, ok := l.Entry("F1")
	require.True(t, ok)
	require.Equal(t, "high", e.Severity, "the higher one is kept")
	require.Equal(t, []Raiser{codex, claude}, e.Raisers)
	require.Len(t, e.Texts, 2)
	require.Len(t, e.Places, 2)
	l.Note("F1", "confirmed by gemini in 05-confirmer")
	l.Note("F9", "nobody")
	require.Equal(t, []string{
		"raised by codex@correctness in 03-reviewer (round 0) as medium patch",
		"raised again by claude@tests in 04-reviewer (round 0) as high patch",
		"confirmed by gemini in 05-confirmer",
	}, e.History)
	_, ok = l.Entry("F9")
	require.False(t, ok)
}

func TestLedgerIsPlainJSON(t *testing.T) {
	var l, read Ledger
	l.Raise(raised("high", "Write to nil map", "a.go", 12, "m[k] = v"), Raiser{Seat: "codex", Step: "s1"})
	text, err := json.Marshal(l)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &read))
	require.Equal(t, l, read)
	empty, err := json.Marshal(Ledger{})
	require.NoError(t, err)
	require.JSONEq(t, `{}`, string(empty))
}

func TestOneAnswerThatListsTwoMeansTwo(t *testing.T) {
	var l Ledger
	by := Raiser{Seat: "codex", Step: "s1"}
	first, _ := l.Raise(raised("high", "Error of Close is ignored", "a.go", 12, "in.Close()"), by)
	second, known := l.Raise(raised("high", "Error of Close is ignored", "a.go", 13, "out.Close()"), by)
	require.NotEqual(t, first, second)
	require.False(t, known)
	again, known := l.Raise(raised("high", "Error of Close is ignored", "a.go", 13, "out.Close()"), by)
	require.Equal(t, second, again, "the very same words are one finding")
	require.True(t, known)
	other, known := l.Raise(raised("high", "Close error ignored", "a.go", 13, "out.Close()"), Raiser{Seat: "claude", Step: "s2"})
	require.True(t, known)
	require.Equal(t, second, other, "the likest one is taken")
}

func TestBlocksWithoutAPlaceMergeByTheirWords(t *testing.T) {
	var l Ledger
	block := func(claim string) Raised { return Raised{Severity: "high", Title: "blocking review", Claim: claim} }
	first, _ := l.Raise(block("a.go writes to a nil map"), Raiser{Seat: "codex"})
	other, known := l.Raise(block("b.go leaks"), Raiser{Seat: "claude"})
	require.False(t, known, "two messages are two findings, whatever title stands for them")
	require.NotEqual(t, first, other)
	again, known := l.Raise(block("a.go writes to a nil map"), Raiser{Seat: "codex", Round: 1})
	require.True(t, known)
	require.Equal(t, first, again)
}

func TestAFindingWithoutASeverityIsHigh(t *testing.T) {
	var l Ledger
	id, _ := l.Raise(Raised{Title: "x"}, Raiser{})
	e, _ := l.Entry(id)
	require.Equal(t, "high", e.Severity)
	require.Equal(t, "patch", e.Kind)
}

func TestOneAnswerThatListsTwoAlikeMeansTwo(t *testing.T) {
	first := raised("high", "Response body is never closed", "get.go", 25, "resp, err := http.Get(url)")
	second := raised("high", "Response body is not closed", "get.go", 29, "body, err := io.ReadAll(resp.Body)")
	require.True(t, Same(first.mark(), second.mark()))
	var one, two Ledger
	for l, by := range map[*Ledger]Raiser{&one: {Seat: "codex", Step: "s1"}, &two: {Seat: "claude", Step: "s2"}} {
		l.Raise(first, Raiser{Seat: "codex", Step: "s1"})
		l.Raise(second, by)
	}
	require.Len(t, one.Entries, 2, "the same reviewer in the same answer")
	require.Len(t, two.Entries, 1)
}

func TestAFindingIsKnownByHowOthersSawIt(t *testing.T) {
	say := func(line int, title string) Raised {
		return raised("high", title, "cache.go", line, "c.entries[key] = entry")
	}
	first, second := say(60, "Entries are never evicted"), say(60, "Cache grows without limit: no eviction of entries")
	third := say(60, "Cache grows without any limit")
	require.True(t, Same(first.mark(), second.mark()))
	require.True(t, Same(second.mark(), third.mark()))
	require.False(t, Same(first.mark(), third.mark()))
	var l Ledger
	for i, f := range []Raised{first, second, third} {
		id, known := l.Raise(f, Raiser{Seat: "codex", Round: i})
		require.Equal(t, "F1", id)
		require.Equal(t, i > 0, known)
	}
	require.Len(t, l.Entries[0].Later, 2)
	require.Equal(t, "Entries are never evicted", l.Entries[0].Title, "it keeps the title that people know")
}
