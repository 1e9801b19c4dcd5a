package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.uber.org/zap"

	"conclave/activities"
	"conclave/config"
	"conclave/internal/host"
	"conclave/internal/process"
	"conclave/internal/store"
	"conclave/workflows"
)

const (
	// leastStop is an agent's grace and what its activity needs after it.
	leastStop   = process.DefaultGrace + 5*time.Second
	defaultStop = 30 * time.Second
	beatCap     = 5 * time.Second
)

// serve polls until the context ends, then stops gracefully.
func (s settings) serve(ctx context.Context, h config.Host, logger *zap.Logger) error {
	target, err := host.Resolve(h.Address, h.Namespace, "--address or CONCLAVE_ADDRESS")
	if err != nil {
		return err
	}
	if target.Local() {
		return errors.New("no Temporal server is named: use --address HOST:PORT (CONCLAVE_ADDRESS), or TEMPORAL_ADDRESS; a single developer needs no worker, `starter run` brings its own")
	}
	connection, err := host.Connect(ctx, host.Options{Target: target, StateDir: h.StateDir, Logger: host.NewLogger(logger)})
	if err != nil {
		return err
	}
	defer connection.Close()
	acts, err := open(h, connection.Client, s.configFile)
	if err != nil {
		return err
	}
	return s.poll(ctx, connection.Client, acts, h.TaskQueue, logger)
}

func open(h config.Host, c client.Client, configFile string) (*activities.Activities, error) {
	folder, err := store.OpenFolder(h.Store)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(h.StateDir, "runs"), 0o700); err != nil {
		return nil, fmt.Errorf("state folder (CONCLAVE_STATE_DIR): %w", err)
	}
	environ := os.Environ()
	var hide []string
	if configFile != "" { // it may hold keys
		hide = append(hide, configFile)
	}
	return activities.New(activities.Options{
		Store: folder, StateDir: h.StateDir, Agents: h.AgentSettings(environ), Prices: h.PriceList(), Environ: environ, Client: c,
		Sandbox: h.Sandbox, Caches: h.Caches, IsolateHome: h.IsolateHome, Hide: hide,
	})
}

func (s settings) poll(ctx context.Context, c client.Client, acts *activities.Activities, queue string, logger *zap.Logger) error {
	host.NameBuild()
	fatal := make(chan error, 2)
	options := worker.Options{
		MaxConcurrentActivityExecutionSize:     s.slots,
		MaxConcurrentWorkflowTaskExecutionSize: s.workflowSlots,
		WorkerStopTimeout:                      s.stopTimeout,
		MaxHeartbeatThrottleInterval:           beatCap,
		DisableRegistrationAliasing:            true,
		DeadlockDetectionTimeout:               workflows.TaskPatience,
		OnFatalError:                           func(err error) { fatal <- err },
	}
	turns := worker.New(c, workflows.AgentQueueOf(queue), options)
	acts.RegisterTurns(turns)
	started := []worker.Worker{turns}
	if !s.agentsOnly {
		options.LocalActivityWorkerOnly = true
		loops := worker.New(c, queue, options)
		workflows.Register(loops)
		started = append(started, loops)
	}
	for _, w := range started {
		if err := w.Start(); err != nil {
			return err
		}
		defer w.Stop()
	}
	logger.Info("polling", zap.String("workflows", queue), zap.String("turns", workflows.AgentQueueOf(queue)), zap.Int("slots", s.slots))
	select {
	case err := <-fatal:
		return err
	case <-ctx.Done():
		logger.Info("stopping", zap.Duration("within", s.stopTimeout))
		return nil
	}
}
