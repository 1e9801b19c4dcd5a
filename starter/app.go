package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"conclave/config"
	"conclave/internal/report/text"
	"conclave/internal/runindex"
)

// app is one invocation of the starter: its streams. Results go to out, everything else to err.
type app struct {
	in  io.Reader
	out io.Writer
	err io.Writer
	// asks overrides whether a person can be asked in place; nil looks at the streams.
	asks *bool
	// lines are read from in since the first question.
	lines chan string
}

// run executes one command line and gives the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(args)
	return explain(a.err, root.ExecuteContext(ctx))
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "starter",
		Short:         "A durable review loop for coding agents",
		Long:          "starter drives coding agents through implement, verify, review and repair until the change converges.\nThe run survives crashes: a killed one goes on with `starter resume`.",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       versionOf().line(),
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) { a.warnOfVariables(cmd) }
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		a.runCommand(), a.reviewCommand(), a.planCommand(), a.runsCommand(), a.showCommand(), a.watchCommand(), a.applyCommand(),
		a.resumeCommand(), a.cancelCommand(), a.ruleCommand(), a.presetsCommand(), a.adaptersCommand(), a.doctorCommand(), a.devCommand(),
		a.configCommand(), a.verdictCommand(), a.lintPromptsCommand(), a.versionCommand(), a.decideCommand(), a.calibrateCommand(),
	)
	root.SetVersionTemplate("{{.Version}}\n")
	a.helpful(root)
	return root
}

// warnOfVariables tells a mistyped setting from one that takes effect.
func (a *app) warnOfVariables(cmd *cobra.Command) {
	warnings := config.UnknownVariables(os.Environ(), nil)
	if len(warnings) == 0 || strings.HasPrefix(cmd.Name(), "__") { // the shell's own question
		return
	}
	if c, err := hostSettings(cmd, runindex.Entry{}); err == nil { // configured agents have variables too
		warnings = config.UnknownVariables(os.Environ(), slices.Sorted(maps.Keys(c.Host.AgentSettings(nil).Commands)))
	}
	for _, w := range warnings {
		a.say("warning: %s", w)
	}
}

// unknownCommand is the argument check of a command that has only sub-commands.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	lists := "`" + cmd.CommandPath() + " --help` lists the commands"
	if known := otherWords[args[0]]; known != "" && !cmd.HasParent() {
		return usage("did you mean "+known+"? "+lists, "unknown command %q for %s", args[0], cmd.CommandPath())
	}
	return usage(didYouMean(args[0], names, lists), "unknown command %q for %s", args[0], cmd.CommandPath())
}

// flagError turns pflag's complaint into ours, with the nearest flag.
func flagError(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	what := err.Error()
	help := "`" + cmd.CommandPath() + " --help` lists the flags"
	if name, ok := strings.CutPrefix(what, "unknown flag: --"); ok {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := config.Nearest(name, names); near != "" {
			return usage("did you mean --"+near+"? "+help, "unknown flag --%s", name)
		}
	}
	return usage(help, "%s", what)
}

func didYouMean(word string, names []string, otherwise string) string {
	if near := config.Nearest(word, names); near != "" {
		return "did you mean " + near + "? " + otherwise
	}
	return otherwise
}

// exactly checks the number of arguments and names what is missing.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return usage("usage: "+cmd.UseLine(), "%s: %s is missing", cmd.CommandPath(), names[len(args)])
		case len(args) > len(names):
			return usage("usage: "+cmd.UseLine(), "%s: %q is one argument too many", cmd.CommandPath(), args[len(names)])
		}
		return nil
	}
}

// say and print drop what a terminal would obey: much of what they say are words of a repository, a run or an agent.
func (a *app) say(format string, args ...any) {
	fmt.Fprintln(a.err, text.Block(fmt.Sprintf(format, args...)))
}

func (a *app) print(format string, args ...any) {
	fmt.Fprintln(a.out, text.Block(fmt.Sprintf(format, args...)))
}
