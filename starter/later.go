package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// laterCommands exist by name, so that nobody takes a refusal for a typing error. No help offers them. What root has already is left out.
func laterCommands(root *cobra.Command) []*cobra.Command {
	var commands []*cobra.Command
	for _, c := range []struct{ use, short string }{
		{"rule RUN FINDING", "rule on a finding (not yet supported)"},
	} {
		later := &cobra.Command{
			Use: c.use, Short: c.short, DisableFlagParsing: true, Hidden: true,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return usage("`starter run` carries a requirement to convergence", "%s is not yet supported", cmd.CommandPath())
			},
		}
		if !slices.ContainsFunc(root.Commands(), func(known *cobra.Command) bool { return known.Name() == later.Name() }) {
			commands = append(commands, later)
		}
	}
	return commands
}

// laterFlag is a flag of run that is known and refused.
type laterFlag struct {
	name, usage string
	boolean     bool
}

var laterFlags = []laterFlag{
	{name: "isolate-home", usage: "give agents a home folder of their own", boolean: true},
	{name: "writer-session", usage: "the session of a repair turn: `resume|fresh`"},
}

func addLaterFlags(fs *pflag.FlagSet) {
	for _, f := range laterFlags {
		if f.boolean {
			fs.Bool(f.name, false, f.usage+" (not yet supported)")
		} else {
			fs.String(f.name, "", f.usage+" (not yet supported)")
		}
		fs.Lookup(f.name).Hidden = true
	}
}

// refuseLater refuses flags that would otherwise be ignored.
func refuseLater(fs *pflag.FlagSet) error {
	for _, f := range laterFlags {
		if fs.Changed(f.name) {
			return usage("leave it out", "--%s is not yet supported", f.name)
		}
	}
	return nil
}
