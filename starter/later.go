package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// laterCommands exist by name, so that nobody takes a refusal for a typing error. No help offers them.
func laterCommands() []*cobra.Command {
	var commands []*cobra.Command
	for _, c := range []struct{ use, short string }{
		{"review [flags]", "review a change that exists already (not yet supported)"},
		{"rule RUN FINDING", "rule on a finding (not yet supported)"},
		{"calibrate CASES...", "measure reviewers over labelled changes (not yet supported)"},
		{"lint-prompts", "look for steering in prompts (not yet supported)"},
	} {
		commands = append(commands, &cobra.Command{
			Use: c.use, Short: c.short, DisableFlagParsing: true, Hidden: true,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return usage("`starter run` carries a requirement to convergence", "%s is not yet supported", cmd.CommandPath())
			},
		})
	}
	return commands
}

// laterFlag is a flag of run that is known and refused.
type laterFlag struct {
	name, usage string
	boolean     bool
}

var laterFlags = []laterFlag{
	{name: "trust-reviewers", usage: "let reviewers gate that are not calibrated", boolean: true},
	{name: "advisory", usage: "findings cannot stop the end", boolean: true},
	{name: "allow-protected", usage: "let writers change protected paths", boolean: true},
	{name: "max-tokens", usage: "budget: `N` tokens"},
	{name: "max-cost", usage: "budget: `USD`"},
	{name: "max-duration", usage: "budget: `D`"},
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
