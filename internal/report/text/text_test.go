package text

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestOneLine(t *testing.T) {
	cases := []struct{ name, in, want string }{
		{"plain", "Reading a.go", "Reading a.go"},
		{"lines", "a\r\n\tb\u2028c", "a b c"},
		{"colour", "\x1b[31mred\x1b[0m", "red"},
		{"title sequence", "a\x1b]0;owned\x07b", "ab"},
		{"bell, backspace, delete", "a\x07\x08\x7fb", "ab"},
		{"C1 control", "a\u009b31mb", "a31mb"},
		{"link", "\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"open sequence hides nothing", "a\x1b]0;VERDICT: BLOCK", "a]0;VERDICT: BLOCK"},
		{"direction", "a\u202eb\u2066c\u200fd", "abcd"},
		{"invisible", "a\u200bb\ufeffc\U000e0041d", "abcd"},
		{"broken UTF-8", "a\xffb", "a\ufffdb"},
		{"wide", "日本語 テスト", "日本語 テスト"},
		{"emoji with joiner", "👩\u200d💻", "👩\u200d💻"},
		{"cut", "0123456789abc", "012345678…"},
		{"cut at a space", "01234567 9abc", "01234567…"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			limit := 0
			if strings.HasPrefix(c.name, "cut") {
				limit = 10
			}
			require.Equal(t, c.want, OneLine(c.in, limit))
		})
	}
}

func TestNothingThatATerminalObeysIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "in")
		limit := rapid.IntRange(1, 50).Draw(t, "limit")
		line := OneLine(in, limit)
		if n := len([]rune(line)); n > limit {
			t.Fatalf("%d characters, limit %d", n, limit)
		}
		for _, r := range Block(in) + line {
			if (unicode.IsControl(r) && r != '\n' && r != '\t') || unicode.Is(unicode.Bidi_Control, r) {
				t.Fatalf("%U is left", r)
			}
		}
		if strings.ContainsAny(line, "\n\t") {
			t.Fatalf("more than a line: %q", line)
		}
	})
}

func TestDuration(t *testing.T) {
	for ms, want := range map[int64]string{
		-5: "0.0s", 0: "0.0s", 449: "0.4s", 9_999: "9.9s", 10_000: "10s", 59_999: "59s",
		60_000: "1m00s", 187_000: "3m07s", 3_720_000: "1h02m", 360_000_000: "100h00m",
	} {
		require.Equal(t, want, Duration(ms), "%d ms", ms)
	}
}

func TestCount(t *testing.T) {
	require.Equal(t, "1 file", Count(1, "file"))
	require.Equal(t, "0 files", Count(0, "file"))
}

func TestOrdinal(t *testing.T) {
	for n, want := range map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 102: "102nd", 113: "113th"} {
		require.Equal(t, want, Ordinal(n))
	}
}
