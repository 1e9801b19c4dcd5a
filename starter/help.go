package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// helpWidth is the width of help where no terminal tells its own, in columns; a wider terminal is not filled.
const (
	helpWidth     = 80
	mostHelpWidth = 110
	leastWidth    = 40
)

// otherWords are names that people try for our commands.
var otherWords = map[string]string{
	"abort": "cancel", "kill": "cancel", "stop": "cancel",
	"list": "runs", "ls": "runs", "ps": "runs",
	"log": "show", "logs": "show", "report": "show", "diff": "show --diff", "status": "show RUN, or runs for all",
	"continue": "resume", "follow": "watch", "attach": "watch", "merge": "apply", "start": "run", "check": "doctor", "server": "dev",
}

// helpful fits the help of all commands to the terminal, and lets help and completion refuse what they do not know.
func (a *app) helpful(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Args, c.RunE = unknownCommand, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
	root.SetHelpCommand(helpCommand())
	width := columns(a.out)
	root.SetUsageTemplate(strings.NewReplacer(
		".LocalFlags.FlagUsages", fmt.Sprintf("(.LocalFlags.FlagUsagesWrapped %d)", width),
		".InheritedFlags.FlagUsages", fmt.Sprintf("(.InheritedFlags.FlagUsagesWrapped %d)", width),
	).Replace(root.UsageTemplate()))
	fitLong(root, width)
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Explain a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, rest, err := cmd.Root().Find(args)
			if err != nil {
				return usage("`"+cmd.Root().Name()+" --help` lists the commands", "%v", err)
			}
			if len(rest) > 0 {
				return unknownCommand(topic, rest)
			}
			topic.InitDefaultHelpFlag()
			topic.InitDefaultVersionFlag()
			return topic.Help()
		},
	}
}

// columns is how wide help is written to w.
func columns(w io.Writer) int {
	_, width := terminalOf(w)
	if width <= 0 {
		return helpWidth
	}
	return max(leastWidth, min(width, mostHelpWidth))
}

// fitLong breaks the long descriptions anew.
func fitLong(cmd *cobra.Command, width int) {
	if cmd.Name() != "completion" { // those come with examples of their own
		cmd.Long = fitWords(cmd.Long, width)
		for _, c := range cmd.Commands() {
			fitLong(c, width)
		}
	}
}

// fitWords breaks a text between words.
func fitWords(text string, width int) string {
	var b strings.Builder
	at := 0
	for _, word := range strings.Fields(text) {
		switch {
		case at > 0 && at+1+len(word) > width:
			b.WriteByte('\n')
			at = 0
		case at > 0:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += len(word)
	}
	return b.String()
}
