package e2e

import (
	"context"
	"math/rand/v2"
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
	eventually(t, patience, func() bool { return l.started("repair") == 1 })
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
	script[0].SleepMS = 600_000
	l := newLab(t, script)
	cmd, _ := l.begin("--preset", "dual-review", "Add Sum")
	eventually(t, patience, func() bool { return l.started("implement") == 1 })
	server, ok := l.server()
	require.True(t, ok)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
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

// The starter that carries a run may die while it ends it: whoever asked for the end sees to it then.
func TestACancellationOutlivesTheStarterThatCarriesIt(t *testing.T) {
	t.Parallel()
	script := twoIterations()
	script[1].Hang = true // it takes its whole grace to end
	l := newLab(t, script)
	cmd, _ := l.begin("--preset", "dual-review", "Add Sum")
	eventually(t, patience, func() bool { return l.started("repair") == 1 })
	ends := make(chan done, 1)
	cancel := l.command("starter", "cancel", "@last")
	go func() { ends <- finish(t, cancel) }()
	time.Sleep(1500 * time.Millisecond) // the end is asked for, the agent has its grace
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	out := <-ends
	require.Equal(t, 0, out.code, out.String())
	l.noAgentLeft()
	run := decodeRun(t, l.starter("show", "--json", "@last").stdout)
	require.Equal(t, runrecord.Cancelled, run.Stop)
	require.True(t, run.Landed)
}

// Whenever Ctrl-C comes, the run can be resumed, or had ended, or had not begun.
func TestInterruptsAtSomeMoments(t *testing.T) {
	t.Parallel()
	l := newLab(t, shortIterations())
	require.Equal(t, 0, l.starter("run", "--dry-run", "warm").code) // the server is up
	for i, after := range []time.Duration{300, 500, 800, 1200, 1700, 2300} {
		l.interrupt(after*time.Millisecond, i%2 == 1)
	}
}

// TestChaosOfInterrupts is the long version.
func TestChaosOfInterrupts(t *testing.T) {
	if !*chaosRun {
		t.Skip("the long version: make chaos")
	}
	l := newLab(t, shortIterations())
	for i := range 40 {
		l.interrupt(rand.N(3500*time.Millisecond), i%4 == 3)
	}
}

// interrupt presses Ctrl-C once or twice, resumes the run, and checks what must hold.
func (l *lab) interrupt(after time.Duration, twice bool) {
	l.t.Helper()
	require.NoError(l.t, os.RemoveAll(l.ledger))
	before := l.latestRun()
	cmd, output := l.begin("--preset", "dual-review", "--verify-cmd", "sleep 0.1; "+goTest, "Add Sum")
	time.Sleep(after)
	_ = cmd.Process.Signal(syscall.SIGINT)
	if twice {
		time.Sleep(after / 4)
		_ = cmd.Process.Signal(syscall.SIGINT)
	}
	_ = cmd.Wait()
	code := cmd.ProcessState.ExitCode()
	ended := code == -1 && l.latestRun() != before && l.shown().Stop.Final() // it came when the last word was said
	if code == 0 || ended || l.latestRun() == before {
		l.t.Logf("after %v: exit code %d, nothing to resume", after, code)
		return
	}
	require.Equal(l.t, 130, code, output.String())
	known := len(l.notes())
	run := l.resume(0)
	require.Equal(l.t, runrecord.Converged, run.Stop)
	require.True(l.t, run.Landed)
	l.checkEvents(run, []byte(l.read(l.bundle(run.RunID, "definition.json"))))
	l.t.Logf("after %v, twice %v: resumed after %d agent marks, %d steps", after, twice, known, len(run.Steps))
}
