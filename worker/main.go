// Command worker runs Conclave's workflows and agent turns on a Temporal
// cluster. It never touches a user's repository: that is the starter's part.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"conclave/config"
	"conclave/internal/agent"
	"conclave/internal/process"
)

func main() {
	process.Main() // does not return in a supervisor of an agent
	agent.StubMain()
	if runtime.GOOS == "windows" {
		fmt.Fprintln(os.Stderr, "worker: Windows is not supported yet; use Linux or macOS")
		os.Exit(2)
	}
	if err := execute(); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(2)
	}
}

// execute runs the command until it ends or a signal asks it to.
func execute() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return newCommand().ExecuteContext(ctx)
}

// settings are the worker's own flags; the others belong to config.
type settings struct {
	slots, workflowSlots int
	stopTimeout          time.Duration
	agentsOnly           bool
	configFile           string
}

func newCommand() *cobra.Command {
	var s settings
	command := &cobra.Command{
		Use: "worker", Short: "Run Conclave's workflows and agent turns on a Temporal cluster",
		Long: "worker polls <task-queue> for workflows and <task-queue>-agents for agent turns and verifiers.\n" +
			"Starters and workers of one cluster name the same --store.",
		Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(command *cobra.Command, _ []string) error { return s.run(command) },
	}
	flags := command.Flags()
	config.HostFlags(flags)
	flags.StringVar(&s.configFile, "config", "", "a configuration `FILE` instead of the user's")
	flags.IntVar(&s.slots, "slots", 4, "agent turns and verifiers at the same time")
	flags.IntVar(&s.workflowSlots, "workflow-slots", 100, "workflow tasks at the same time")
	flags.DurationVar(&s.stopTimeout, "stop-timeout", defaultStop, "how long running turns may take to end when the worker stops; at least "+leastStop.String())
	flags.BoolVar(&s.agentsOnly, "agents-only", false, "poll for agent turns only, not for workflows")
	return command
}

func (s settings) run(command *cobra.Command) error {
	if err := s.check(); err != nil {
		return err
	}
	user, named, err := config.ReadFiles(s.configFile)
	if err != nil {
		return err
	}
	loaded, err := config.Load(config.Sources{Flags: command.Flags(), User: user, Named: named, HostOnly: true})
	if err != nil {
		return err
	}
	logger, err := zap.NewProduction()
	if err != nil {
		return err
	}
	return s.serve(command.Context(), loaded.Host, logger)
}

func (s settings) check() error {
	switch {
	case s.slots < 1:
		return fmt.Errorf("--slots %d: at least 1", s.slots)
	case s.workflowSlots < 2:
		return fmt.Errorf("--workflow-slots %d: at least 2", s.workflowSlots)
	case s.stopTimeout < leastStop:
		return fmt.Errorf("--stop-timeout %s: at least %s, which an agent may need to end", s.stopTimeout, leastStop)
	}
	return nil
}
