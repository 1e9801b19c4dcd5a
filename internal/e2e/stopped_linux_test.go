package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	runrecord "conclave/internal/record"
)

// livingIn names the processes that work in a folder, be it removed or not.
func livingIn(dir string) []string {
	entries, _ := filepath.Glob("/proc/[0-9]*")
	var found []string
	for _, entry := range entries {
		if cwd, err := os.Readlink(entry + "/cwd"); err == nil && strings.HasPrefix(cwd, dir+"/") {
			command, _ := os.ReadFile(entry + "/cmdline")
			if len(command) == 0 {
				continue // it was killed: without memory it runs nothing any more
			}
			found = append(found, filepath.Base(entry)+" "+strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return found
}

// A worker that is told to stop takes its agents along, also those that do not listen, and another one does their work.
func TestAWorkerThatIsToldToStopLeavesNothing(t *testing.T) {
	t.Parallel()
	script := twoIterations()
	script[1].Shell = `(setsid sh -c 'trap "" TERM INT HUP; while :; do sleep 300; done' > /dev/null 2>&1 &); sleep 0.2`
	script[1].SleepMS = 600_000
	l := newLab(t, script)
	c := newCluster(l, nil)
	first := l.worker(c, "a")
	require.NoError(t, first.Start())
	ends := make(chan done, 1)
	starter := l.starterOn(c, "run", "--json", "--preset", "dual-review", "Add Sum")
	go func() { ends <- finish(t, starter) }()
	work := filepath.Join(l.dir, "worker-a", "runs")
	eventually(t, patience, func() bool {
		return l.started("repair") == 1 && strings.Contains(strings.Join(livingIn(work), "\n"), "sleep 300")
	})
	require.NoError(t, first.Process.Signal(syscall.SIGTERM))
	late := time.AfterFunc(patience, func() { _ = first.Process.Kill() })
	_ = first.Wait()
	require.True(t, late.Stop(), "it ended by itself")
	require.Empty(t, livingIn(work))
	script[1].SleepMS = 0
	l.play(script)
	startInBackground(t, l.worker(c, "b"))
	end := <-ends
	require.Equal(t, 0, end.code, end.String())
	run := decodeRun(t, end.stdout)
	require.Equal(t, runrecord.Converged, run.Stop, run.Message)
	require.Equal(t, 2, l.started("repair"))
	require.Empty(t, livingIn(filepath.Join(l.dir, "worker-b", "runs")))
}
