package main

import (
	"encoding/json"
	"io"
	"os"

	"github.com/spf13/cobra"

	"conclave/internal/review"
)

func (a *app) verdictCommand() *cobra.Command {
	var mode string
	cmd := &cobra.Command{
		Use:   "verdict [--mode strict|heuristic] [FILE | -]",
		Short: "Read the verdict of a review text",
		Long:  "Prints {\"verdict\",\"line\",\"reason\"} and exits with 0 for pass, 1 for block, 6 for invalid.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("usage: "+cmd.UseLine(), "%s: %q is one argument too many", cmd.CommandPath(), args[1])
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			m, err := review.ParseMode(mode)
			if err != nil {
				return usage(didYouMean(mode, []string{"strict", "heuristic"}, "use strict or heuristic"), "--mode: unknown value %q", mode)
			}
			text, err := a.read(args)
			if err != nil {
				return err
			}
			line := review.ParseVerdict(text, m)
			if err := a.printJSON(line); err != nil {
				return err
			}
			return silent(verdictExit(line.Verdict))
		},
	}
	cmd.Flags().StringVar(&mode, "mode", "strict", "how a text without a verdict line is read: `strict|heuristic`")
	return cmd
}

func verdictExit(v review.Verdict) int {
	switch v {
	case review.Pass:
		return 0
	case review.Block:
		return 1
	default:
		return 6
	}
}

// read gives the content of the named file, or of standard input.
func (a *app) read(args []string) ([]byte, error) {
	if len(args) == 0 || args[0] == "-" {
		a.askTerminal("the review")
		return io.ReadAll(a.in)
	}
	content, err := os.ReadFile(args[0])
	if err != nil {
		return nil, usage("name a file that exists, or - for standard input", "%v", err)
	}
	return content, nil
}

// printJSON prints a value as one line.
func (a *app) printJSON(v any) error {
	encoder := json.NewEncoder(a.out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}
