package config

import "github.com/spf13/pflag"

// PolicyFlags adds the flags of loop policy.
func PolicyFlags(fs *pflag.FlagSet) {
	addFlags(fs, policy)
	addFlags(fs, person)
	fs.String("reviewer", "", "the one adapter that reviews: `A`[:MODEL][@LENS]")
	fs.StringArray("seat", nil, "one reviewer's place: `NAME=A`[:MODEL][@LENS] (repeatable)")
}

// HostFlags adds the flags of what runs the loop.
func HostFlags(fs *pflag.FlagSet) { addFlags(fs, host) }

func addFlags(fs *pflag.FlagSet, s scope) {
	for _, k := range keys {
		switch {
		case k.flag == "" || k.scope != s:
		case k.kind == boolean:
			fs.Bool(k.flag, false, k.usage)
		default:
			// Text for every kind: flags, variables and files get the same checks and the same messages.
			fs.String(k.flag, "", withDefault(k))
		}
	}
}

func withDefault(k key) string {
	if k.def == "" {
		return k.usage
	}
	return k.usage + " (default " + k.def + ")"
}
