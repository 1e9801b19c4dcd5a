package e2e

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	runrecord "conclave/internal/record"
	"conclave/workflows"
)

// The second Ctrl-C leaves at once: the turn was asked to stop and its worker is
// gone, so the server will not repeat it. The run is interrupted, not failed.
func TestARunLeftByTwoInterruptsIsResumed(t *testing.T) {
	t.Parallel()
	script := twoIterations()
	script[1].Hang = true // it takes its whole grace to end
	l := newLab(t, script)
	cmd, output := l.begin("--preset", "dual-review", "Add Sum")
	eventually(t, time.Minute, func() bool { return l.started("repair") == 1 })
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	time.Sleep(time.Second) // the turn is asked to stop meanwhile
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	require.Error(t, cmd.Wait())
	require.Equal(t, 130, cmd.ProcessState.ExitCode(), output.String())
	l.noAgentLeft()

	script[1].Hang = false
	l.play(script)
	run := l.resume(0)
	require.Equal(t, runrecord.Converged, run.Stop)
	require.Equal(t, 1, l.started("implement"))
	l.checkBundle(run)
}

// A workflow that somebody ended by force has no result: nothing of ours may call that a success.
func TestATerminatedRunIsNoSuccess(t *testing.T) {
	t.Parallel()
	script := twoIterations()
	script[0].SleepMS = 60_000
	l := newLab(t, script)
	cmd, _ := l.begin("--preset", "dual-review", "Add Sum")
	eventually(t, time.Minute, func() bool { return l.started("implement") == 1 })
	server, ok := l.server()
	require.True(t, ok)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	c, err := client.DialContext(ctx, client.Options{HostPort: server.Address})
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.TerminateWorkflow(ctx, workflows.WorkflowID(l.latestRun()), "", "by hand"))
	require.Error(t, cmd.Wait())
	require.NotEqual(t, 0, cmd.ProcessState.ExitCode())
	for _, command := range []string{"resume", "watch"} {
		out := l.starter(command, "@last")
		require.NotEqual(t, 0, out.code, "%s: %s", command, out)
		require.Contains(t, out.stderr, "ended without a result")
	}
}

// A starter that was away when its run ended wrote no last bundle.
func TestResumeWritesABundleThatIsMissing(t *testing.T) {
	t.Parallel()
	l := newLab(t, twoIterations())
	run := l.run(0, "--preset", "dual-review", "Add Sum")
	require.NoError(t, os.RemoveAll(l.bundle(run.RunID)))
	again := l.resume(0)
	require.Equal(t, runrecord.Converged, again.Stop)
	l.checkBundle(again)
}
