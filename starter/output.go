package main

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"conclave/internal/report/text"
	"conclave/internal/secret"
	"conclave/internal/view"
)

// showFlags say how a run is shown.
type showFlags struct {
	json, quiet, noProgress bool
	color                   string
}

func (f *showFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.BoolVar(&f.json, "json", false, "print run.json on standard output, everything else on standard error")
	fs.BoolVar(&f.quiet, "quiet", false, "show the outcome only")
	fs.BoolVar(&f.noProgress, "no-progress", false, "plain lines, also on a terminal")
	fs.StringVar(&f.color, "color", "auto", "use colour: `auto|always|never`")
}

// output is where and how a run is shown.
type output struct {
	flags showFlags
	view  view.Options
}

// output decides between the live view and plain lines. With --json the view goes to standard error.
func (a *app) output(f showFlags) (output, error) {
	out := a.out
	if f.json {
		out = a.err
	}
	terminal, width := terminalOf(out)
	color, err := view.UseColor(f.color, terminal, os.Getenv)
	if err != nil {
		modes := []string{"auto", "always", "never"}
		return output{}, usage(didYouMean(f.color, modes, "use auto, always or never"), "--color: unknown value %q", f.color)
	}
	return output{flags: f, view: view.Options{
		Out: out, Terminal: terminal, Width: width, Color: color, Quiet: f.quiet, NoProgress: f.noProgress,
	}}, nil
}

func terminalOf(w io.Writer) (bool, int) {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) || os.Getenv("TERM") == "dumb" {
		return false, 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		width = 0
	}
	return true, width
}

// askTerminal says that something is read from the terminal, where one would wait for it for ever.
func (a *app) askTerminal(what string) {
	if file, ok := a.in.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		a.say("reading %s from the terminal; Ctrl-D on a line of its own ends it", what)
	}
}

// printable makes a path or text of others fit for a line on the terminal.
func printable(s string) string { return text.OneLine(s, 300) }

// title is the first line of a requirement, for lists, records, the commit and the workflow's summary: without secrets.
func title(requirement string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(withoutSecrets(requirement)), "\n")
	return text.OneLine(first, 120)
}

// withoutSecrets is what may be shown of a user's words.
func withoutSecrets(words string) string {
	return secret.New(secret.KeyVariables(os.Environ(), nil)...).String(words)
}
