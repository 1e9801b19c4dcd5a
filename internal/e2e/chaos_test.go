package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	runrecord "conclave/internal/record"
)

// A kill is when and what `kill -9` hits.
type kill struct {
	what killed
	// notes waits for that many lines in the ledger; after is a pause on top of it.
	notes int
	after time.Duration
}

type killed string

const (
	starterAlone killed = "starter"
	withGroup    killed = "starter and its process group"
	withServer   killed = "starter and server"
)

func (k kill) String() string {
	return fmt.Sprintf("%s, %d agent marks + %d ms", k.what, k.notes, k.after.Milliseconds())
}

// A plot is a run that is killed, and what is known about it.
type plot struct {
	script []step
	args   func(*lab) []string
	// turns are the agents' turns by the numbers of their steps: role/round/seat.
	turns map[string]string
}

// marks is how many lines the run leaves in the ledger: each agent starts and ends.
func (p plot) marks() int { return 2 * len(p.turns) }

// basicPlot are two iterations of a dual review.
func basicPlot() plot {
	return plot{
		script: shortIterations(),
		args:   func(*lab) []string { return []string{"--preset", "dual-review"} },
		turns: map[string]string{
			"01": "implement/0/-", "03": "review/0/codex", "04": "review/0/claude",
			"05": "repair/1/-", "07": "review/1/codex", "08": "review/1/claude",
		},
	}
}

// workAgain is the longest time until a resumed run is at work.
const workAgain = 3 * time.Second

func TestKillsAtSomeMoments(t *testing.T) {
	t.Parallel()
	p := basicPlot()
	l := newLab(t, p.script)
	for _, k := range []kill{
		{starterAlone, 1, 0}, {withGroup, 2, 0}, {withServer, 4, 20 * time.Millisecond}, {starterAlone, 6, 0}, {withGroup, 7, 0}, {withServer, 11, 0},
	} {
		l.survive(p, k)
	}
}

// TestChaos is the long version: every step boundary in three ways, and sixty random moments.
func TestChaos(t *testing.T) {
	if !*chaosRun {
		t.Skip("the long version: make chaos")
	}
	p := basicPlot()
	l := newLab(t, p.script)
	l.surviveBoundaries(p)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 60 {
		what := []killed{starterAlone, withGroup, withServer}[random.IntN(3)]
		l.survive(p, kill{what, 0, time.Duration(random.IntN(3500)) * time.Millisecond})
	}
}

// surviveBoundaries kills in three ways wherever an agent starts or ends.
func (l *lab) surviveBoundaries(p plot) {
	for _, what := range []killed{starterAlone, withGroup, withServer} {
		for notes := range p.marks() + 1 {
			l.survive(p, kill{what, notes, 0})
		}
	}
}

// shortIterations are two iterations of agents that work for a moment.
func shortIterations() []step {
	script := twoIterations()
	for i := range script {
		script[i].SleepMS = 150
	}
	return script
}

// survive kills a run once, resumes it, and checks what must hold.
func (l *lab) survive(p plot, k kill) {
	l.t.Helper()
	require.NoError(l.t, os.RemoveAll(l.ledger))
	cmd, _ := l.begin(append(p.args(l), "--verify-cmd", "sleep 0.1; "+goTest, "Add Sum")...)
	over := make(chan struct{})
	go func() { _ = cmd.Wait(); close(over) }()
	l.moment(k, over)
	l.strike(k.what, cmd)
	<-over
	done, starts := l.finished(p), l.startsBySeat()

	began := time.Now()
	known := len(l.notes())
	run := l.resumeOrSkip(k)
	if run == nil {
		return
	}
	tookUp := min(time.Since(began), l.nextStart(known, began))
	require.Equal(l.t, runrecord.Converged, run.Stop, "%s: %s", k, run.Message)
	require.Equal(l.t, mended, l.git("show", "conclave/"+run.RunID+":calc.go"), k.String())
	if *chaosRun { // a bound on time has no place among tests that share the machine
		assert.Less(l.t, tookUp, workAgain, "%s: at work again", k) // and on to the next point
	}
	for turn, count := range l.startsBySeat() {
		if done[turn] {
			require.Equal(l.t, starts[turn], count, "%s: %s had finished and was started again", k, turn)
		}
	}
	l.checkEvents(*run, []byte(l.read(l.bundle(run.RunID, "definition.json"))))
	l.t.Logf("%-60s converged, at work again after %4d ms, %d finished turns kept", k, tookUp.Milliseconds(), len(done))
}

// moment waits until the kill is due or the run is over.
func (l *lab) moment(k kill, over <-chan struct{}) {
	for len(l.notes()) < k.notes {
		select {
		case <-over:
			return
		case <-time.After(time.Millisecond):
		}
	}
	select {
	case <-over:
	case <-time.After(k.after):
	}
}

func (l *lab) strike(what killed, cmd *exec.Cmd) {
	if server, ok := l.server(); ok && what == withServer {
		_ = syscall.Kill(server.PID, syscall.SIGKILL)
	}
	if what == withGroup {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		return
	}
	_ = cmd.Process.Kill()
}

// resumeOrSkip resumes the newest run. A starter that was killed before it wrote
// the run down has started nothing: there is nothing to resume.
func (l *lab) resumeOrSkip(k kill) *runrecord.Run {
	l.t.Helper()
	out := l.starter("resume", "--json", "@last")
	if out.code == 2 && len(l.notes()) == 0 {
		l.t.Logf("%-60s nothing had begun", k)
		return nil
	}
	require.Equal(l.t, 0, out.code, "%s: %s", k, out)
	run := decodeRun(l.t, out.stdout)
	return &run
}

// finished lists the agent turns whose result is in the store.
func (l *lab) finished(p plot) map[string]bool {
	out := map[string]bool{}
	latest := l.latestRun()
	if latest == "" {
		return out
	}
	for step, turn := range p.turns {
		if _, err := os.Stat(filepath.Join(l.state, "store", "keys", "runs", latest, "turns", step+".1", "result.json")); err == nil {
			out[turn] = true
		}
	}
	return out
}

func (l *lab) latestRun() string {
	entries, _ := os.ReadDir(filepath.Join(l.state, "runs"))
	newest, at := "", time.Time{}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), "add-sum-") {
			continue
		}
		if created := birth(filepath.Join(l.state, "runs", entry.Name())); created.After(at) || newest == "" {
			newest, at = entry.Name(), created
		}
	}
	return newest
}

// birth is when a run's folder was made: the time of its index entry.
func birth(dir string) time.Time {
	info, err := os.Stat(filepath.Join(dir, "run.json"))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func (l *lab) startsBySeat() map[string]int {
	out := map[string]int{}
	for _, n := range l.notes() {
		if n.What == "start" {
			out[n.Role+"/"+n.Round+"/"+n.Seat]++
		}
	}
	return out
}

// nextStart is how long it took until an agent was started again; an hour if none was needed.
func (l *lab) nextStart(known int, began time.Time) time.Duration {
	for i, n := range l.notes() {
		if i >= known && n.What == "start" {
			return time.UnixMilli(n.At).Sub(began)
		}
	}
	return time.Hour
}
