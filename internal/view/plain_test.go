package view

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"conclave/internal/record"
)

func TestPlainGolden(t *testing.T) {
	for name, make := range stories() {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			play(New(Options{Out: &out}), make())
			requireGolden(t, "plain-"+name+".txt", out.String())
			requireNoControl(t, out.String())
		})
	}
}

func requireNoControl(t *testing.T, s string) {
	t.Helper()
	for _, r := range s {
		require.False(t, (unicode.IsControl(r) && r != '\n') || unicode.Is(unicode.Bidi_Control, r), "%U in %q", r, s)
	}
}

func TestNoProgressOnATerminalIsPlain(t *testing.T) {
	var out strings.Builder
	play(New(Options{Out: &out, Terminal: true, NoProgress: true}), converging())
	requireGolden(t, "plain-converging.txt", out.String())
}

func TestQuietShowsTheOutcomeOnly(t *testing.T) {
	var out strings.Builder
	play(New(Options{Out: &out, Terminal: true, Quiet: true}), converging())
	require.Equal(t, "converged in 2 iterations · conclave/add-endpoint-k3f9q\n", out.String())
	out.Reset()
	play(New(Options{Out: &out, Quiet: true}), blocked())
	require.Equal(t, "stopped after 1 iteration (max-iters); not converged · verify fails: exit code 1 · "+blocked().run.Branch+"\n", out.String())
	out.Reset()
	play(New(Options{Out: &out, Quiet: true}), interrupted())
	require.Equal(t, "interrupted in iteration 1: it can be resumed; not converged\n", out.String())
}

func TestForeignTextIsMadeHarmless(t *testing.T) {
	evil := "a\x1b]0;title\x07b\r\nITERATION 9\u202e\u200b \x1b[2J" + strings.Repeat("x", 1000)
	s := newScript()
	s.after(0, func(r *record.Run) {
		s.begin(r, 1, "implementer", evil, evil, evil)
		r.Steps[0].ID = "01\n02"
		r.Notes, r.Waiting = []string{evil}, evil
	})
	s.actions["01\n02"] = evil
	s.after(0, nil)
	s.after(0, func(r *record.Run) {
		s.end(r, 1, record.Failed, "", evil, nil)
		r.Stop, r.Message = record.StepFailed, evil
	})
	var out strings.Builder
	play(New(Options{Out: &out}), s)
	requireNoControl(t, out.String())
	for _, line := range strings.Split(out.String(), "\n") {
		require.Less(t, len([]rune(line)), 600)
		require.False(t, strings.HasPrefix(line, "ITERATION"), line)
	}
}

func TestUseColor(t *testing.T) {
	cases := []struct {
		mode     string
		terminal bool
		env      map[string]string
		want     bool
	}{
		{"auto", true, nil, true},
		{"", true, nil, true},
		{"auto", false, nil, false},
		{"auto", true, map[string]string{"NO_COLOR": "1"}, false},
		{"auto", true, map[string]string{"TERM": "dumb"}, false},
		{"always", false, map[string]string{"NO_COLOR": "1"}, true},
		{"never", true, nil, false},
	}
	for _, c := range cases {
		got, err := UseColor(c.mode, c.terminal, func(name string) string { return c.env[name] })
		require.NoError(t, err)
		require.Equal(t, c.want, got, "%+v", c)
	}
	_, err := UseColor("alwys", true, func(string) string { return "" })
	require.ErrorContains(t, err, "auto, always or never")
}
