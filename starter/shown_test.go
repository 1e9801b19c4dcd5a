package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// hostile sets the title, hides what stands before it and, on some terminals, types for the person.
const hostile = "+ok\x1b]0;evil\x07\r\x1b[2K\u009b31m\x7f tab\there “é” 日本\n"

func TestATerminalObeysNoTextOfOthers(t *testing.T) {
	for _, size := range []int{1, 3, 1000} {
		var out bytes.Buffer
		w := &shown{w: &out}
		for rest := []byte(hostile); len(rest) > 0; rest = rest[min(size, len(rest)):] {
			n, err := w.Write(rest[:min(size, len(rest))])
			require.NoError(t, err)
			require.Equal(t, min(size, len(rest)), n)
		}
		require.Equal(t, "+ok^[]0;evil^G^M^[[2KM-^[31m^? tab\there “é” 日本\n", out.String())
	}
}

func TestAHostileDiffIsShownOnAScreenAndKeptInAPipe(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "changes.diff"), []byte(hostile), 0o600))
	var out bytes.Buffer
	a := &app{out: &out, err: io.Discard}
	require.NoError(t, a.printFile(dir, "changes.diff"))
	require.Equal(t, hostile, out.String(), "another program gets every byte")

	screen := isScreen
	t.Cleanup(func() { isScreen = screen })
	isScreen = func(w io.Writer) bool { return w == &out }
	out.Reset()
	require.NoError(t, a.printFile(dir, "changes.diff"))
	require.NotContains(t, out.String(), "\x1b")
}

func TestMessagesHoldNoControlCharacters(t *testing.T) {
	var out, errs bytes.Buffer
	a := &app{out: &out, err: &errs}
	a.say("warning: %s", hostile)
	a.print("verify: %s", hostile)
	complain(&errs, "unknown key "+hostile, hostile)
	table := a.table()
	_, _ = io.WriteString(table, "verify_cmd\t"+hostile)
	require.NoError(t, table.Flush())
	require.False(t, strings.ContainsAny(out.String()+errs.String(), "\x1b\x07\r\u009b\x7f"), "%q %q", out.String(), errs.String())
}
