package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"conclave/config"
)

func (a *app) configCommand() *cobra.Command {
	parent := &cobra.Command{
		Use: "config", Short: "Look at the configuration", Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var f workFlags
	var asJSON bool
	show := &cobra.Command{
		Use: "show", Short: "Print every setting with where it comes from", Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			p := &plan{flags: f, unrun: true}
			if err := p.openSource(cmd.Context(), cmd); err != nil {
				return err
			}
			if err := p.load(cmd.Context(), cmd); err != nil {
				return err
			}
			for _, w := range p.config.Warnings {
				a.say("warning: %s", w)
			}
			return a.printSettings(p.config.Effective(), asJSON)
		},
	}
	f.add(show)
	show.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	parent.AddCommand(show)
	return parent
}

// notePolicy says that the policy file as it lies there is not the one that counts. A review is of commits, and says so itself.
func (p *plan) notePolicy(ctx context.Context, w io.Writer) {
	if !p.source.IsRepository() || p.gate != nil {
		return
	}
	there, err := os.ReadFile(filepath.Join(p.source.Root(), config.RepositoryFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return
	}
	counts, committed, baseErr := baseFile(ctx, p.source, p.base, config.RepositoryFile)
	if baseErr != nil || committed == (err == nil) && bytes.Equal(unixLines(there), unixLines(counts)) {
		return
	}
	fmt.Fprintf(w, "note: %s here differs from the one of commit %s, and it is read from the commit; commit it to make it count\n", config.RepositoryFile, p.base.ID[:12])
}

// unixLines is a text as a commit has it, whatever a checkout made of its line ends.
func unixLines(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }

func (a *app) printSettings(settings []config.Effective, asJSON bool) error {
	if asJSON {
		return a.printJSON(map[string]any{"settings": settings})
	}
	table := a.table()
	fmt.Fprintln(table, "KEY\tVALUE\tFROM")
	for _, s := range settings {
		fmt.Fprintf(table, "%s\t%s\t%s\n", s.Key, s.Value, s.Origin)
	}
	return table.Flush()
}
