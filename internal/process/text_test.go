package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// memory is a transcript that is not on disk.
type memory struct{ bytes.Buffer }

func (m *memory) ReadAt(p []byte, off int64) (int, error) { return copy(p, m.Bytes()[off:]), nil }

// However a stream is cut into chunks: the file holds its bytes, and the lines are those between line feeds.
func TestSplitterProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stream := []byte(rapid.StringOfN(rapid.RuneFrom([]rune("ab\n\r\u2028\x00")), 0, 200, -1).Draw(t, "stream"))
		limit := rapid.IntRange(1, 30).Draw(t, "limit")
		var got []string
		file := &memory{}
		s := splitter{file: file, max: limit, onLine: func(line []byte) { got = append(got, string(line)) }}
		for rest := stream; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "chunk")
			require.NoError(t, s.add(rest[:n]))
			rest = rest[n:]
		}
		require.NoError(t, s.end())

		var want []string
		dropped := 0
		lines := strings.Split(string(stream), "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		for _, line := range lines {
			if len(line) > limit {
				dropped++
			} else {
				want = append(want, line)
			}
		}
		require.Equal(t, want, got)
		require.Equal(t, dropped, s.dropped)
		require.True(t, bytes.Equal(stream, file.Bytes()))
		require.EqualValues(t, len(stream), s.written)
	})
}

// Lines beyond what is kept in memory are read back whole.
func TestSplitterReadsLongLinesBack(t *testing.T) {
	for _, size := range []int{keepLine - 1, keepLine, keepLine + 1, 3*keepLine + 17} {
		line := bytes.Repeat([]byte("0123456789"), size/10+1)[:size]
		var got [][]byte
		s := splitter{file: &memory{}, max: DefaultMaxLine, onLine: func(l []byte) { got = append(got, bytes.Clone(l)) }}
		stream := append(append([]byte("first\n"), line...), "\nlast"...)
		for rest := stream; len(rest) > 0; {
			n := min(len(rest), 100_001)
			require.NoError(t, s.add(rest[:n]))
			rest = rest[n:]
		}
		require.NoError(t, s.end())
		require.Len(t, got, 3)
		require.True(t, bytes.Equal(line, got[1]))
		require.Equal(t, "last", string(got[2]))
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":                   "plain\ttext\n",
		"\x1b[1;31mred\x1b[0m":            "red",
		"\x1b]0;title\x07after":           "after",
		"\x1b]8;;http://x\x1b\\link":      "link",
		"\x1b[12":                         "",
		"\x1b":                            "",
		"\x1b(Bx":                         "Bx",
		"a\r\nb\x00\x08c\u0085\u2028d":    "a\nbcd",
		"\xff\xfeé":                       "�é",
		"\x1b]never closed\nnext line":    "\nnext line",
		"\x1b[3\nbroken sequence":         "\nbroken sequence",
		"\x1bé":                           "é",
		"10%\u200b":                       "10%\u200b",
		"tab\tand \u009b31mcontrol bytes": "tab\tand 31mcontrol bytes",
	} {
		require.Equal(t, want, Clean(in), "%q", in)
	}
	rapid.Check(t, func(t *rapid.T) {
		out := Clean(string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")))
		require.True(t, utf8.ValidString(out))
		for _, r := range out {
			require.True(t, r == '\n' || r == '\t' || !unicode.IsControl(r))
		}
	})
}

func TestStderrTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stderr")
	require.Empty(t, StderrTail(path, 10), "no file")
	require.NoError(t, os.WriteFile(path, []byte("first line\nsecond line\nthird\n"), 0o600))
	require.Equal(t, "first line\nsecond line\nthird\n", StderrTail(path, 1000))
	require.Equal(t, "third\n", StderrTail(path, 10))
	require.Equal(t, "second line\nthird\n", StderrTail(path, 20))
	require.Empty(t, StderrTail(path, 0))
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("\xff", 100)), 0o600))
	require.LessOrEqual(t, len(StderrTail(path, 10)), 10)
	require.NoError(t, os.WriteFile(path, []byte("é"), 0o600))
	require.True(t, utf8.ValidString(StderrTail(path, 1)))
}
