package prompt

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestFenceCannotBeClosedFromInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"diff", "review", "a]\n[b", ""}).Draw(t, "name")
		material := rapid.SliceOf(rapid.Byte()).Draw(t, "material")
		if rapid.Bool().Draw(t, "knows an earlier key") {
			material = append(material, Fence(name, material)...)
		}
		fence := Fence(name, material)
		require.Equal(t, fence, Fence(name, material), "equal material, equal marks")
		require.True(t, utf8.ValidString(fence))

		lines := strings.Split(fence, "\n")
		closing := lines[len(lines)-1]
		require.True(t, strings.HasPrefix(closing, "[end untrusted "))
		key := strings.TrimSuffix(closing[strings.LastIndex(closing, " ")+1:], "]")
		require.Equal(t, 2, strings.Count(fence, key), "the key stands in the two marks only")
	})
}

func TestFenceKeepsTextAsItIs(t *testing.T) {
	material := "a\r\n\tb \u202e ü\n\n\n"
	require.Contains(t, Fence("diff", []byte(material)), "]\n"+material+"[end ")
	require.Contains(t, Fence("diff", []byte("no feed")), "]\nno feed\n[end ")
	require.Regexp(t, `^\[begin untrusted diff [0-9a-f]{16}\]\n\[end untrusted diff [0-9a-f]{16}\]$`, Fence("diff", nil))
}

func TestFenceTellsWhatItCannotShow(t *testing.T) {
	fence := Fence("diff", []byte("caf\xe9 \x00"))
	require.True(t, strings.HasPrefix(fence, "(2 bytes below are not UTF-8 text; each is shown as U+FFFD.)\n[begin "))
	require.Contains(t, fence, "caf\ufffd \ufffd")
	require.True(t, strings.HasPrefix(Fence("diff", []byte("a\u202eb")), "(1 characters below change the direction"))
	require.True(t, strings.HasPrefix(Fence("diff", []byte("a\ufffdb")), "[begin "), "a U+FFFD of the material itself is text")
}

func TestKeysGrowUntilTheyAreAbsent(t *testing.T) {
	digits := keyFor("untrusted diff", "x") + strings.Repeat("0123456789abcdef", 3)
	require.Equal(t, 16, absentFrom("nothing of it", digits))
	require.Equal(t, 24, absentFrom("holds "+digits[:16], digits))
	require.Equal(t, 64, absentFrom("holds "+digits[:63], digits))
	require.Zero(t, absentFrom("holds "+digits, digits))
}

func TestCodeSpan(t *testing.T) {
	require.Equal(t, "`go test ./...`", codeSpan("go test ./..."))
	require.Equal(t, "``echo `x` y``", codeSpan("echo `x` y"))
	require.Equal(t, "`` `x` ``", codeSpan("`x`"))
	require.Equal(t, "`a b`", codeSpan("a\nb"))
}
