package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	runrecord "conclave/internal/record"
)

// begin starts a run in the background and returns it.
func (l *lab) begin(args ...string) (*exec.Cmd, *bytes.Buffer) {
	l.t.Helper()
	cmd := l.command("starter", append([]string{"run", "--no-progress"}, args...)...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	require.NoError(l.t, cmd.Start())
	return cmd, &output
}

// resume carries the newest run to its end.
func (l *lab) resume(wantExit int) runrecord.Run {
	l.t.Helper()
	out := l.starter("resume", "--json", "@last")
	require.Equal(l.t, wantExit, out.code, out.String())
	return decodeRun(l.t, out.stdout)
}

func TestAKilledStarterIsResumed(t *testing.T) {
	t.Parallel()
	script := together(twoIterations())
	script[1].SleepMS = 600_000
	l := newLab(t, script)
	cmd, _ := l.begin("--preset", "dual-review", "Add Sum")
	eventually(t, patience, func() bool { return l.started("repair") == 1 })
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	script[1].SleepMS = 0
	l.play(script)
	began := time.Now()
	run := l.resume(0)
	require.Equal(t, runrecord.Converged, run.Stop)
	l.checkTwoIterations(run)
	require.Equal(t, 1, l.started("implement"))
	require.Equal(t, 2, l.started("repair"))
	require.Equal(t, 2, run.Steps[4].Attempts)
	require.Equal(t, 1, run.Steps[4].Usage.Unknown, "what the lost attempt consumed is known to nobody")
	var again int64
	for _, n := range l.notes() {
		if n.What == "start" && n.Role == "repair" {
			again = n.At
		}
	}
	t.Logf("at work again %d ms after resume began", again-began.UnixMilli())

	// Resuming an ended run prints its outcome and exits with its code.
	require.Equal(t, run.RunID, l.resume(0).RunID)
}

func TestCtrlCEndsAgentsAndTheRunCanBeResumed(t *testing.T) {
	t.Parallel()
	script := twoIterations()
	script[1].SleepMS = 600_000
	l := newLab(t, script)
	cmd, output := l.begin("--preset", "dual-review", "Add Sum")
	eventually(t, patience, func() bool { return l.started("repair") == 1 })
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	began := time.Now()
	require.Error(t, cmd.Wait())
	require.Equal(t, 130, cmd.ProcessState.ExitCode(), output.String())
	require.Less(t, time.Since(began), patience, "the agent would have worked for ten minutes")
	require.Contains(t, output.String(), "resume")
	l.noAgentLeft()
	shown := decodeRun(t, l.starter("show", "--json", "@last").stdout)
	require.Equal(t, runrecord.StopInterrupted, shown.Stop)
	require.NotEmpty(t, shown.Waiting)

	script[1].SleepMS = 0
	l.play(script)
	run := l.resume(0)
	require.Equal(t, runrecord.Converged, run.Stop)
	require.Equal(t, 2, run.Iterations)
	require.Equal(t, 1, l.started("implement"))
	l.checkBundle(run)
}

func TestCancelEndsTheRun(t *testing.T) {
	t.Parallel()
	script := twoIterations()
	script[1].SleepMS = 600_000
	l := newLab(t, script)
	cmd, output := l.begin("--preset", "dual-review", "Add Sum")
	eventually(t, patience, func() bool { return l.started("repair") == 1 })
	out := l.starter("cancel", "@last")
	require.Equal(t, 0, out.code, out.String())
	require.Error(t, cmd.Wait())
	require.Equal(t, 130, cmd.ProcessState.ExitCode(), output.String())
	l.noAgentLeft()
	run := decodeRun(t, l.starter("show", "--json", "@last").stdout)
	require.Equal(t, runrecord.Cancelled, run.Stop)
	require.True(t, run.Landed)
	require.Equal(t, flawed, l.git("show", "conclave/"+run.RunID+":calc.go"))
}

// noAgentLeft: no process of this lab's agents is alive.
func (l *lab) noAgentLeft() {
	l.t.Helper()
	eventually(l.t, patience, func() bool { return len(l.processes()) == 0 })
}

// processes lists the processes that mention this lab's folder, without its server and the tests.
func (l *lab) processes() []string {
	var found []string
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	server, _ := l.server()
	for _, dir := range dirs {
		if pid, _ := strconv.Atoi(filepath.Base(dir)); pid == os.Getpid() || pid == server.PID {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		cwd, _ := os.Readlink(filepath.Join(dir, "cwd"))
		if strings.HasPrefix(cwd, l.state) || bytes.Contains(line, []byte(l.ledger)) {
			found = append(found, filepath.Base(dir)+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

func TestAHangingAgentIsEndedWithItsWholeTree(t *testing.T) {
	t.Parallel()
	l := newLab(t, []step{{Role: "implement", Hang: true}})
	run := l.run(4, "--preset", "dual-review", "--timeout", "2s", "Add Sum")
	require.Equal(t, runrecord.StepFailed, run.Stop)
	require.Contains(t, run.Message, "timed out")
	require.Empty(t, l.processes())
}

func TestAHangingAgentDiesWithItsStarter(t *testing.T) {
	t.Parallel()
	l := newLab(t, []step{{Role: "implement", Hang: true}})
	cmd, _ := l.begin("--preset", "dual-review", "Add Sum")
	eventually(t, patience, func() bool { return len(l.processes()) >= 4 })
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	l.noAgentLeft()
}

func TestApplyIntoAnotherClone(t *testing.T) {
	t.Parallel()
	l := newLab(t, twoIterations())
	run := l.run(0, "--preset", "dual-review", "Add Sum")
	clone := filepath.Join(l.dir, "clone")
	l.git("clone", "-q", l.repo, clone)
	out := l.starter("apply", run.RunID, "--workdir", clone)
	require.Equal(t, 0, out.code, out.String())
	require.Contains(t, out.stdout, "calc.go")
	require.Equal(t, mended, l.read(filepath.Join(clone, "calc.go")))

	// A file that changed since the base is not overwritten.
	require.NoError(t, os.WriteFile(filepath.Join(clone, "calc.go"), []byte("package mine\n"), 0o644))
	out = l.starter("apply", run.RunID, "--workdir", clone)
	require.NotEqual(t, 0, out.code)
	require.Contains(t, out.stderr, "calc.go")
	require.Equal(t, "package mine\n", l.read(filepath.Join(clone, "calc.go")))
	out = l.starter("apply", run.RunID, "--workdir", clone, "--force")
	require.Equal(t, 0, out.code, out.String())
	require.Equal(t, mended, l.read(filepath.Join(clone, "calc.go")))
}

func TestARunThatDidNotConvergeIsAppliedByForceOnly(t *testing.T) {
	t.Parallel()
	l := newLab(t, twoIterations())
	run := l.run(1, "--preset", "dual-review", "--max-iters", "1", "Add Sum")
	out := l.starter("apply", run.RunID)
	require.NotEqual(t, 0, out.code)
	require.Contains(t, out.stderr, "--force")
	require.Equal(t, 0, l.starter("apply", run.RunID, "--force").code)
	require.Equal(t, flawed, l.read(filepath.Join(l.repo, "calc.go")))
}

func TestIncludeDirty(t *testing.T) {
	t.Parallel()
	l := newLab(t, twoIterations())
	l.write("notes.txt", "half an idea\n")
	out := l.starter("run", "--dry-run", "x")
	require.Equal(t, 0, out.code, out.String())
	require.Contains(t, out.stderr, "notes.txt", "what is left out is listed")
	run := l.run(0, "--preset", "dual-review", "--include-dirty", "Add Sum")
	require.Equal(t, "calc.go\n", l.git("diff", "--name-only", "conclave/"+run.RunID+"~1", "conclave/"+run.RunID))
	require.Equal(t, "half an idea\n", l.git("show", "conclave/"+run.RunID+":notes.txt"))
	require.Equal(t, "?? notes.txt", strings.TrimSpace(l.git("status", "--porcelain")))
}

func TestAFolderWithoutARepository(t *testing.T) {
	t.Parallel()
	l := newLab(t, twoIterations())
	plain := mkdir(t, filepath.Join(l.dir, "plain"))
	require.NoError(t, os.WriteFile(filepath.Join(plain, "calc.go"), []byte("package calc\n"), 0o644))
	out := l.starter("run", "--json", "--preset", "dual-review", "--workdir", plain, "Add Sum")
	require.Equal(t, 0, out.code, out.String())
	run := decodeRun(t, out.stdout)
	require.False(t, run.Landed)
	require.Equal(t, "package calc\n", l.read(filepath.Join(plain, "calc.go")))
	out = l.starter("apply", run.RunID, "--workdir", plain)
	require.Equal(t, 0, out.code, out.String())
	require.Equal(t, mended, l.read(filepath.Join(plain, "calc.go")))
}
