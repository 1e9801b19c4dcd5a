package review

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A finding that was refuted or ruled swallows whatever merges with it. So only the same claim about the same line does.
func TestANewDefectIsNotSwallowedByASettledOne(t *testing.T) {
	at := func(line int, title, code string) Raised {
		return Raised{Severity: "high", Title: title, Claim: title + ".", Anchor: Anchor(code), Places: []Evidence{{Path: "a.go", Line: line}}}
	}
	const query, other = `rows := db.Query("select * from users where name=" + name)`, `return tx.Exec("delete from orders where id=" + id)`
	for name, c := range map[string]struct{ settled, raised Raised }{
		"another query a few lines below": {at(10, "SQL injection via string concatenation", query), at(18, "SQL injection via string concatenation", other)},
		"another field of the same value": {at(10, "nil pointer dereference of user", "name := user.Name"), at(12, "nil pointer dereference of user", "mail := user.Profile.Mail")},
		"the line lost its guard":         {at(10, "Path traversal via name", "open(filepath.Join(root, clean(name)))"), at(10, "Path traversal via name", "open(filepath.Join(root, name))")},
		"another problem of one division": {at(10, "divide by zero when n is 0", "return sum / n"), at(10, "divide result truncated: integer division", "return sum / n")},
		"a place nobody knows":            {at(10, "Panic on empty input: index out of range", ""), at(300, "Panic on empty input: index out of range", "x := list[0]")},
		"far away, by name":               {at(10, "Integer overflow in pkg.Size", "return pkg.Size * 8"), at(300, "Integer overflow in pkg.Size", "total += int32(pkg.Size)")},
		"a line that stands everywhere":   {at(10, "error is lost on return", "return nil"), at(30, "error is lost on return", "return nil")},
	} {
		t.Run(name, func(t *testing.T) {
			for _, may := range []Merge{MergeSame, MergeNever} {
				var l Ledger
				first, _ := l.Raise(c.settled, Raiser{Seat: "a"})
				again, known := l.RaiseWhere(c.raised, Raiser{Seat: "b"}, func(string) Merge { return may })
				require.False(t, known)
				require.NotEqual(t, first, again)
			}
		})
	}
}

// What was decided stays decided: said again, in nearly the same words, of the same line wherever it stands now.
func TestASettledFindingThatComesBackIsKnown(t *testing.T) {
	first := Raised{Severity: "high", Title: "off by one in loop bound", Anchor: "for i := 0; i <= len(users); i++ {", Places: []Evidence{{Path: "a.go", Line: 10}}}
	moved, repeated := first, first
	moved.Title, moved.Places = "Off-by-one in the loop's bound", []Evidence{{Path: "a.go", Line: 57}}
	repeated.Anchor, repeated.Places = "", []Evidence{{Path: "a.go", Line: 10}}
	for _, again := range []Raised{first, moved} {
		var l Ledger
		id, _ := l.Raise(first, Raiser{Seat: "a"})
		got, known := l.RaiseWhere(again, Raiser{Seat: "b"}, func(string) Merge { return MergeSame })
		require.True(t, known)
		require.Equal(t, id, got)
		got, known = l.RaiseWhere(again, Raiser{Seat: "b"}, func(string) Merge { return MergeNever })
		require.False(t, known)
		require.NotEqual(t, id, got)
	}
	var l Ledger
	_, _ = l.Raise(first, Raiser{Seat: "a"})
	_, known := l.RaiseWhere(repeated, Raiser{Seat: "b"}, func(string) Merge { return MergeSame })
	require.False(t, known, "nobody knows which line it is about")
}

// What refutes a claim may stand anywhere in its file: once that is another one, the claim is.
func TestARefutedClaimIsKnownOnlyInTheSameFile(t *testing.T) {
	first := Raised{Severity: "high", Title: "nil pointer dereference of user", Anchor: "name := user.Name", File: "with its guard", Places: []Evidence{{Path: "a.go", Line: 10}}}
	for file, want := range map[string]bool{"with its guard": true, "without its guard": false, "": false} {
		var l Ledger
		_, _ = l.Raise(first, Raiser{Seat: "a"})
		again := first
		again.File = file
		_, known := l.RaiseWhere(again, Raiser{Seat: "b"}, func(string) Merge { return MergeSameFile })
		require.Equal(t, want, known, file)
		_, known = l.RaiseWhere(again, Raiser{Seat: "c"}, func(string) Merge { return MergeSame })
		require.True(t, known, file)
	}
}

// Where nobody knows the line, a title says too little to settle what is claimed under it.
func TestASettledTitleWithoutALineSettlesOnlyItsOwnClaim(t *testing.T) {
	first := Raised{Severity: "high", Title: "an error is lost", Claim: "Close drops it.", Places: []Evidence{{Path: "a.go"}}}
	for claim, want := range map[string]bool{"Close drops it.": true, "Write drops it.": false} {
		var l Ledger
		_, _ = l.Raise(first, Raiser{Seat: "a"})
		again := first
		again.Claim = claim
		_, known := l.RaiseWhere(again, Raiser{Seat: "b"}, func(string) Merge { return MergeSame })
		require.Equal(t, want, known, claim)
	}
}
