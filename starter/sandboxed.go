package main

import (
	"context"

	"conclave/activities"
	"conclave/config"
	"conclave/internal/host"
	"conclave/internal/sandbox"
)

// detectSandbox is a variable for tests of machines on which nothing holds.
var detectSandbox = sandbox.Detect

// checkSandbox refuses a run of this machine that needs a sandbox where none works. A worker elsewhere answers for itself.
func checkSandbox(ctx context.Context, c config.Config, target host.Target) error {
	if c.Host.Sandbox != activities.SandboxRequired || !target.Local() {
		return nil
	}
	support := detectSandbox(ctx)
	if support.Kind() != sandbox.None {
		return nil
	}
	return usage("install bubblewrap, or use a kernel with Landlock (Linux 6.2 or newer); --sandbox auto runs without one, and says so",
		"--sandbox required: no sandbox holds on this machine: %s", support.Why())
}
