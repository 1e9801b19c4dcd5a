package main

import "github.com/spf13/pflag"

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
