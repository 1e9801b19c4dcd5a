package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"conclave/internal/localserver"
	"conclave/workflows"
)

func (a *app) devCommand() *cobra.Command {
	var uiPort int
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Keep the local Temporal server up, with its Web UI",
		Long:  "Keeps the local Temporal server up, with its Web UI, until Ctrl-C. Runs share it.",
		Args:  exactly(),
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.dev(cmd.Context(), cmd, uiPort) },
	}
	addHostFlags(cmd)
	cmd.Flags().IntVar(&uiPort, "ui-port", 0, "the port of the Web UI: `N` (default: a free one)")
	return cmd
}

func (a *app) dev(ctx context.Context, cmd *cobra.Command, uiPort int) error {
	index, err := openIndex(cmd)
	if err != nil {
		return err
	}
	stop := watchInterrupts()
	defer stop.stop()
	ctx, done := stop.until(ctx)
	defer done()
	server, err := localserver.Ensure(ctx, localserver.Options{
		StateDir: index.StateDir(), UI: true, UIPort: uiPort, SearchAttributes: workflows.SearchAttributes(),
		Progress: func(line string) { a.say("%s", line) },
	})
	if err != nil {
		return interruptedOr(ctx, err)
	}
	defer func() { _ = server.Close() }()
	a.print("Temporal %s, namespace %s, process %d", server.Version, server.Namespace, server.PID)
	a.print("address: %s", server.Address)
	if server.UIAddress == "" {
		a.say("it was started without its Web UI: end the runs that use it, wait 30 s, and start dev again")
	} else {
		a.print("web ui:  http://%s", server.UIAddress)
	}
	a.say("Ctrl-C ends this; the server goes 30 s after its last user")
	return a.keepUp(ctx, index.StateDir())
}

// keepUp waits for Ctrl-C, or for the server's end.
func (a *app) keepUp(ctx context.Context, stateDir string) error {
	ticker := time.NewTicker(2 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if _, err := localserver.Find(ctx, stateDir); err != nil && ctx.Err() == nil {
				return &fault{code: exitStep, what: "the local Temporal server has ended: " + err.Error()}
			}
		}
	}
}
