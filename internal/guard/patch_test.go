package guard

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// log writes down what a Reader is told.
type log []string

func (l *log) File(old, new string) { *l = append(*l, fmt.Sprintf("%q %q", old, new)) }
func (l *log) Hunk(a, b, c, d int)  { *l = append(*l, fmt.Sprintf("@@ %d %d %d %d", a, b, c, d)) }
func (l *log) Line(op byte, text []byte) {
	*l = append(*l, string(op)+string(text))
}

func read(t require.TestingT, diff string) []string {
	var l log
	p := NewPatch(&l)
	_, err := p.Write([]byte(diff))
	require.NoError(t, err)
	require.NoError(t, p.Close())
	return l
}

func TestWhatAPatchTells(t *testing.T) {
	for _, c := range []struct {
		name, diff string
		told       []string
	}{
		{"nothing", "", nil},
		{"foreign", "hello\n@@ -1 +1 @@\n-x\n+y\n", nil},
		{"a change", "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@ func f()\n-a\n+b\n+c\n\\ No newline at end of file\n", []string{`"x" "x"`, "@@ 1 1 1 2", "-a", "+b", "+c"}},
		{"two hunks", "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n+d\n", []string{`"x" "x"`, "@@ 1 1 1 1", "-a", "+b", "@@ 9 1 9 1", "-c", "+d"}},
		{"new and gone", "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\ndiff --git a/g b/g\ndeleted file mode 100644\n--- a/g\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", []string{`"" "n"`, "@@ 0 0 1 1", "+a", `"g" ""`, "@@ 1 1 0 0", "-a"}},
		{"an empty file", "diff --git a/a b b/a b\nnew file mode 100644\nindex 0..1\n", []string{`"" "a b"`}},
		{"a rename", "diff --git a/one two b/three b/four\nsimilarity index 100%\nrename from one two\nrename to three b/four\n", []string{`"one two" "three b/four"`}},
		{"a mode", "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", []string{`"x" "x"`}},
		{"a binary", "diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKcmd-x\n\nliteral 0\nHcmV?d00001\n\n", []string{`"x" "x"`}},
		{"a quoted name", "diff --git \"a/\\303\\274 \\\"x\\\"\" \"b/\\303\\274 \\\"x\\\"\"\n--- \"a/\\303\\274 \\\"x\\\"\"\n+++ \"b/\\303\\274 \\\"x\\\"\"\n@@ -1 +1 @@\n-a\n+b\n", []string{`"ü \"x\"" "ü \"x\""`, "@@ 1 1 1 1", "-a", "+b"}},
		{"a name with a blank", "diff --git a/a b b/a b\n--- a/a b\t\n+++ b/a b\t\n@@ -1 +1 @@\n-a\n+b\n", []string{`"a b" "a b"`, "@@ 1 1 1 1", "-a", "+b"}},
		{"a header in a hunk", "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/y\n+++ b/y\n diff --git a/z b/z\n", []string{`"x" "x"`, "@@ 1 2 1 2", "--- a/y"[:1] + "-- a/y", "+++ b/y"[:1] + "++ b/y", " diff --git a/z b/z"}},
		{"cut off", "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n-a", []string{`"x" "x"`, "@@ 1 9 1 9", "-a"}},
	} {
		require.Equal(t, c.told, read(t, c.diff), c.name)
	}
}

// Whatever is written: no panic, and the pieces do not matter.
func TestAPatchIsReadAsAWhole(t *testing.T) {
	pieces := []string{"diff --git a/x b/x\n", "--- a/x\n", "+++ b/x\n", "@@ -1,2 +1 @@\n", "@@ -99999999999999999999 +1 @@\n", "@@ - + @@\n", "-a\n", "+b\n", " c\n", "\\ No\n", "\n", "\"", "rename to \"\\400\n", "\x00\xff", "diff --git \n", "diff --git a\n", strings.Repeat("x", 100)}
	rapid.Check(t, func(t *rapid.T) {
		diff := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "pieces"), "")
		var l log
		p := NewPatch(&l, NewRegions(), NewTests(), NewLines(func(string) bool { return false }))
		for rest := diff; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			_, err := p.Write([]byte(rest[:n]))
			require.NoError(t, err)
			rest = rest[n:]
		}
		require.NoError(t, p.Close())
		require.Equal(t, read(t, diff), []string(l))
	})
}

func TestALineOfManyMegabytesIsNotKept(t *testing.T) {
	var l log
	p := NewPatch(&l)
	_, err := p.Write([]byte("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-"))
	require.NoError(t, err)
	for range 64 {
		_, err := p.Write([]byte(strings.Repeat("y", maxLine)))
		require.NoError(t, err)
		require.LessOrEqual(t, cap(p.line), 4*maxLine)
	}
	_, err = p.Write([]byte("\n+z\n"))
	require.NoError(t, err)
	require.Len(t, l[2], maxLine)
	require.Equal(t, "+z", l[3])
}

func TestWhatAFixDiffCovers(t *testing.T) {
	r := NewRegions()
	p := NewPatch(r)
	_, err := p.Write([]byte(patch("a.go", "b.go", " 1", "-2", "+2", " 3") + patch("", "new.go", "+1", "+2") + patch("gone.go", "", "-1") + patch("bin", "bin")))
	require.NoError(t, err)
	require.NoError(t, p.Close())
	for _, c := range []struct {
		path      string
		line, end int
		covered   bool
	}{
		{"b.go", 2, 0, true}, {"a.go", 3, 0, true}, {"b.go", 4, 0, false}, {"b.go", 4, 9, false}, {"b.go", 0, 0, true},
		{"new.go", 2, 0, true}, {"new.go", 3, 0, false}, {"gone.go", 1, 0, true}, {"bin", 77, 0, true},
		{"c.go", 1, 0, false}, {"c.go", 0, 0, false}, {"", 0, 0, false},
	} {
		require.Equal(t, c.covered, r.Covers(c.path, c.line, c.end), "%s:%d", c.path, c.line)
	}
}
