// Package activities does the work of a run: agent turns, verifiers and git.
// Activities are idempotent by the turn's key, heartbeat from a ticker, honour
// cancellation and classify their errors; none of them decides what comes next.
package activities

import (
	"errors"
	"fmt"
	"path/filepath"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"conclave/internal/agent"
	"conclave/internal/price"
	"conclave/internal/secret"
	"conclave/internal/store"
)

// Options are what a process brings to its activities: its configuration and
// its places, never anything of a run.
type Options struct {
	Store    store.Store
	StateDir string
	Agents   agent.Settings
	// Prices are what models cost, for engines that report tokens only.
	Prices price.List
	// IsolateHome gives agents a home folder of the run's own.
	IsolateHome bool
	// Environ is the process environment that commands may inherit parts of.
	Environ []string
	// Sandbox is auto, required or off; "" is auto. Caches are folders that writers and commands may fill beside the
	// well-known ones.
	Sandbox string
	Caches  []string
	// Hide are more places that no turn reads: the configuration, where a file was named.
	Hide []string
	// Own is set where the process works for one run only.
	Own Own
	// Client asks the workflow for its record; only source activities need it.
	Client client.Client
}

// Activities holds the process's side of every activity.
type Activities struct {
	Options
	secrets *secret.Scanner
	bundles bundleList
}

// New checks the options.
func New(o Options) (*Activities, error) {
	if o.Store == nil || o.StateDir == "" {
		return nil, errors.New("activities need a store and a state folder")
	}
	abs, err := filepath.Abs(o.StateDir)
	if err != nil {
		return nil, fmt.Errorf("state folder %s: %w", o.StateDir, err)
	}
	o.StateDir = abs
	for i, path := range o.Hide {
		if o.Hide[i], err = filepath.Abs(path); err != nil {
			return nil, fmt.Errorf("configuration %s: %w", path, err)
		}
	}
	return &Activities{Options: o, secrets: secretsOf(o)}, nil
}

// RegisterTurns registers what runs agents and commands.
func (a *Activities) RegisterTurns(r worker.ActivityRegistry) {
	r.RegisterActivity(a.RunTurn)
	r.RegisterActivity(a.Verify)
}

// RegisterSource registers what touches the user's repository.
func (a *Activities) RegisterSource(r worker.ActivityRegistry) {
	r.RegisterActivity(a.PrepareRun)
	r.RegisterActivity(a.Land)
	r.RegisterActivity(a.WriteBundle)
}

// RunDir is the folder of a run in the state folder.
func RunDir(stateDir, runID string) string { return filepath.Join(stateDir, "runs", runID) }

// RepoDir is the run's own repository.
func RepoDir(stateDir, runID string) string {
	return filepath.Join(RunDir(stateDir, runID), "repo.git")
}

// RegistryDir is where the supervisors of a run's processes are written down.
func RegistryDir(stateDir, runID string) string {
	return filepath.Join(RunDir(stateDir, runID), "procs")
}
