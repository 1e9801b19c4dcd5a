package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"

	"conclave/workflows"
)

// histories is where the replay tests of package workflows look.
const histories = "../../workflows/testdata/histories"

// A situation is a run that left a history. play carries the run and returns
// its histories by file name: most leave one.
type situation struct {
	name string
	play func(*lab) []*historypb.History
}

var situations = append([]situation{
	{"converged-first-time", func(l *lab) []*historypb.History {
		l.play(passAtOnce())
		return l.recorded(0, "--verify-cmd", goTest)
	}},
	{"converged-in-the-second-iteration", func(l *lab) []*historypb.History {
		return l.recorded(0, "--verify-cmd", goTest)
	}},
	{"converged-after-a-failed-verifier", func(l *lab) []*historypb.History {
		return l.recorded(0, "--review", "always", "--verify-cmd", "grep -q 'i <= n' calc.go || { echo '--- FAIL: TestBounds'; exit 1; }")
	}},
	{"converged-with-a-design", func(l *lab) []*historypb.History {
		l.play(append([]step{{Role: "design", Say: "# Contract\n\n1. Sum(3) is 6."}}, passAtOnce()...))
		return l.recorded(0, "--design")
	}},
	{"max-iters", func(l *lab) []*historypb.History { return l.recorded(1, "--max-iters", "1") }},
	{"stalled", func(l *lab) []*historypb.History {
		script := shortIterations()
		script[1].Write = map[string]string{"calc.go": flawed}
		l.play(script)
		return l.recorded(1)
	}},
	{"step-failed", func(l *lab) []*historypb.History {
		l.play([]step{{Role: "implement", Silent: true, Stderr: "license server is on fire\n", Exit: 3}})
		return l.recorded(4)
	}},
	{"seat-without-an-answer", func(l *lab) []*historypb.History {
		script := passAtOnce()
		l.play(append([]step{{Role: "review", As: "codex", Say: "Looks great, ship it!"}}, script...))
		return l.recorded(4)
	}},
	{"waited-for-a-quota", waitForQuota},
	{"cancelled", cancelled},
	{"cancelled-in-the-verifier", cancelledInTheVerifier},
	{"interrupted-and-waiting", interruptedAndWaiting},
	{"interrupted-and-resumed", interruptedAndResumed},
	{"resumed-after-kill", resumedAfterKill},
	{"continued-as-new", continuedAsNew},
}, fullSituations...)

// fileNames lists the files that the situations leave.
func fileNames() []string {
	var names []string
	for _, s := range situations {
		if s.name == "continued-as-new" {
			for part := range continuations {
				names = append(names, partFile(s.name, part))
			}
			continue
		}
		names = append(names, historyFile(s.name))
	}
	slices.Sort(names)
	return names
}

func historyFile(name string) string { return name + ".json.gz" }

func partFile(name string, part int) string { return historyFile(fmt.Sprintf("%s-%d", name, part+1)) }

// TestFixtures holds the recorded histories to the list of situations and to
// their neutrality. With -record (`make fixtures`) it plays and records them first.
func TestFixtures(t *testing.T) {
	if *record {
		recordAll(t)
	}
	entries, err := os.ReadDir(histories)
	require.NoError(t, err, "record the histories with `make fixtures`")
	var found []string
	for _, entry := range entries {
		found = append(found, entry.Name())
		checkNeutral(t, filepath.Join(histories, entry.Name()))
	}
	require.Equal(t, fileNames(), found, "record the histories with `make fixtures`")
}

// recordAll replaces the recorded histories, all or none; with -situation it adds to them.
func recordAll(t *testing.T) {
	fresh, chosen := t.TempDir(), regexp.MustCompile(*only)
	for _, s := range situations {
		if !chosen.MatchString(s.name) {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			l := newLab(t, shortIterations())
			played := s.play(l)
			for part, history := range played {
				name := historyFile(s.name)
				if len(played) > 1 {
					name = partFile(s.name, part)
				}
				writeHistory(t, filepath.Join(fresh, name), history, l.scrubber())
			}
		})
	}
	if t.Failed() {
		return
	}
	if *only == "" {
		require.NoError(t, os.RemoveAll(histories))
	}
	entries, err := os.ReadDir(fresh)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(histories, 0o755))
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(fresh, entry.Name()))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(histories, entry.Name()), content, 0o644))
	}
}

// passAtOnce is a draft without a flaw and two passes.
func passAtOnce() []step {
	return []step{
		{Role: "implement", Write: map[string]string{"calc.go": mended}, Say: "Sum is there."},
		{Role: "review", Say: "Nothing to object to.\n\nVERDICT: PASS"},
	}
}

// recorded carries a dual review to its end and returns its history.
func (l *lab) recorded(wantExit int, args ...string) []*historypb.History {
	l.t.Helper()
	run := l.run(wantExit, append(append([]string{"--preset", "dual-review"}, args...), "Add Sum")...)
	return []*historypb.History{l.history(run.RunID)}
}

// history fetches a run's history from the lab's own server.
func (l *lab) history(runID string) *historypb.History {
	l.t.Helper()
	server, ok := l.server()
	require.True(l.t, ok, "the lab's server has ended")
	return fetch(l.t, server.Address, runID, "")
}

// fetch reads the history of one execution of a run; without its id, of the newest.
func fetch(t *testing.T, address, runID, executionID string) *historypb.History {
	t.Helper()
	return fetchWorkflow(t, address, workflows.WorkflowID(runID), executionID)
}

func fetchWorkflow(t *testing.T, address, workflowID, executionID string) *historypb.History {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := client.DialContext(ctx, client.Options{HostPort: address, Logger: quiet{}})
	require.NoError(t, err)
	defer c.Close()
	history := &historypb.History{}
	events := c.GetWorkflowHistory(ctx, workflowID, executionID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		require.NoError(t, err)
		history.Events = append(history.Events, event)
	}
	return history
}

// quiet is a logger that says nothing.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}

// waitForQuota: the writer's account is used up for a moment.
func waitForQuota(l *lab) []*historypb.History {
	const pause = 1500 // ms; the script is replaced meanwhile
	l.play([]step{{Role: "implement", Silent: true, SleepMS: pause, Stderr: "API Error: 429 rate limit, try again in 2 seconds\n", Exit: 1}})
	cmd, output := l.begin("--preset", "dual-review", "Add Sum")
	eventually(l.t, patience, func() bool { return l.started("implement") == 1 })
	time.Sleep(pause / 3 * time.Millisecond)
	l.play(passAtOnce())
	require.NoError(l.t, cmd.Wait(), output.String())
	require.Equal(l.t, 2, l.started("implement"))
	return []*historypb.History{l.history(l.latestRun())}
}

// inRepair starts a run whose repair takes its time, and waits for that.
func (l *lab) inRepair() (wait func() int, kill, interrupt func()) {
	script := shortIterations()
	script[1].SleepMS = 60_000
	l.play(script)
	cmd, output := l.begin("--preset", "dual-review", "Add Sum")
	eventually(l.t, patience, func() bool { return l.started("repair") == 1 })
	wait = func() int {
		_ = cmd.Wait()
		l.t.Log(output.String())
		return cmd.ProcessState.ExitCode()
	}
	signal := func(s syscall.Signal) func() {
		return func() { require.NoError(l.t, cmd.Process.Signal(s)) }
	}
	return wait, signal(syscall.SIGKILL), signal(syscall.SIGINT)
}

func cancelled(l *lab) []*historypb.History {
	wait, _, _ := l.inRepair()
	out := l.starter("cancel", "@last")
	require.Equal(l.t, 0, out.code, out.String())
	require.Equal(l.t, 130, wait())
	return []*historypb.History{l.history(l.latestRun())}
}

func cancelledInTheVerifier(l *lab) []*historypb.History {
	const forLong = "sleep 61"
	cmd, output := l.begin("--preset", "dual-review", "--verify-cmd", forLong, "Add Sum")
	eventually(l.t, patience, func() bool {
		return slices.ContainsFunc(l.processes(), func(p string) bool { return strings.HasSuffix(strings.TrimSpace(p), forLong) })
	})
	out := l.starter("cancel", "@last")
	require.Equal(l.t, 0, out.code, out.String())
	require.Error(l.t, cmd.Wait())
	require.Equal(l.t, 130, cmd.ProcessState.ExitCode(), output.String())
	return []*historypb.History{l.history(l.latestRun())}
}

// interruptedAndWaiting leaves an open history: the one that a new release meets.
func interruptedAndWaiting(l *lab) []*historypb.History {
	wait, _, interrupt := l.inRepair()
	interrupt()
	require.Equal(l.t, 130, wait())
	return []*historypb.History{l.history(l.latestRun())}
}

func interruptedAndResumed(l *lab) []*historypb.History {
	interruptedAndWaiting(l)
	l.play(shortIterations())
	return []*historypb.History{l.history(l.resume(0).RunID)}
}

func resumedAfterKill(l *lab) []*historypb.History {
	wait, kill, _ := l.inRepair()
	kill()
	require.Equal(l.t, -1, wait())
	l.play(shortIterations())
	return []*historypb.History{l.history(l.resume(0).RunID)}
}

// continuations is how many executions continuedAsNew leaves.
const continuations = 3

// continuedAsNew lets a server suggest it after few events: once in the review
// of each iteration, so that a draft, a repair and a landing are in executions of their own.
func continuedAsNew(l *lab) []*historypb.History {
	c := newCluster(l, workflows.SearchAttributes(), "--dynamic-config-value", "limit.historyCount.suggestContinueAsNew=33")
	startInBackground(l.t, l.worker(c, "a"))
	end := finish(l.t, l.starterOn(c, "run", "--json", "--preset", "dual-review", "Add Sum"))
	require.Equal(l.t, 0, end.code, end.String())
	runID := decodeRun(l.t, end.stdout).RunID
	var chain []*historypb.History
	for executionID, newest := "", true; newest || executionID != ""; newest = false {
		history := fetch(l.t, c.address, runID, executionID)
		chain = append([]*historypb.History{history}, chain...)
		executionID = history.Events[0].GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId()
	}
	require.Equal(l.t, continuations, len(chain))
	return chain
}
