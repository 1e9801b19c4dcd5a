package activities

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"conclave/internal/loop"
	"conclave/internal/record"
)

func TestAVerifierLeavesTheWorkspaceAsItWas(t *testing.T) {
	l := newLab(t).prepare(false)
	change := l.wrote("01", draft).Snapshot
	req := l.verify("02", change, "echo tested; echo x >> calc.go; rm .gitignore; touch coverage.xml; test -e cache/x")
	req.Lint = "echo 'calc.go:1: too short'; echo \"$CONCLAVE_CHANGED_FILES\"; exit 1"
	out := do[loop.VerifyResult](l, l.acts.Verify, req)
	require.Equal(t, loop.GatePass, out.Gate, out.Message)
	require.ElementsMatch(t, []string{".gitignore", "calc.go", "coverage.xml"}, out.Restored)
	require.Equal(t, "tested\n", l.get(out.Artifacts["verify.log"]))
	require.Equal(t, "calc.go:1: too short\ncalc.go\n", l.get(out.Lint))
	req2 := l.turn("03")
	req2.Workspace = l.workspace(change)
	l.plays("ls > $LAB/files; echo done")
	next := do[loop.TurnResult](l, l.acts.RunTurn, req2)
	require.False(t, next.Changed)
	require.Equal(t, "cache\ncalc.go\n", l.read("files"), "caches stay")
}

func TestWhatAVerifierSays(t *testing.T) {
	l := newLab(t).prepare(false)
	change := l.wrote("01", draft).Snapshot
	cases := []struct {
		command string
		limit   time.Duration
		class   record.Class
		gate    string
		exit    int
	}{
		{"true", 5 * time.Minute, record.ClassOK, loop.GatePass, 0},
		{"echo '--- FAIL: TestSum'; exit 3", 5 * time.Minute, record.ClassOK, loop.GateFail, 3},
		{"kill -9 $$", 5 * time.Minute, record.ClassOK, loop.GateFail, -1},
		{"no-such-program-here", 5 * time.Minute, record.ClassPermanent, loop.GateNotRun, 0},
		{"exec sleep 600", time.Second, record.ClassTimeout, loop.GateNotRun, 0},
		{"", 5 * time.Minute, record.ClassOK, loop.GateNotRun, 0},
	}
	for i, c := range cases {
		req := l.verify(fmt.Sprintf("%02d", i+2), change, c.command)
		req.Timeout = c.limit
		out := do[loop.VerifyResult](l, l.acts.Verify, req)
		require.Equal(t, c.class, out.Class, c.command)
		require.Equal(t, c.gate, out.Gate, c.command)
		require.Equal(t, c.exit, out.ExitCode, c.command)
		if c.gate == loop.GateFail {
			require.NotEmpty(t, l.get(out.Failure))
		}
	}
}

func TestAFinishedVerificationIsNotRunAgain(t *testing.T) {
	l := newLab(t).prepare(false)
	change := l.wrote("01", draft).Snapshot
	req := l.verify("02", change, "echo run >> "+l.dir+"/verified")
	first := do[loop.VerifyResult](l, l.acts.Verify, req)
	require.Equal(t, first, do[loop.VerifyResult](l, l.acts.Verify, req))
	require.Equal(t, "run\n", l.read("verified"))
}

func TestAStoppedVerificationGivesNoAnswer(t *testing.T) {
	l := newLab(t).prepare(false)
	change := l.wrote("01", draft).Snapshot
	started := filepath.Join(l.dir, "verifying")
	command := "touch " + started + "; test -e " + l.dir + "/fast || exec sleep 600"
	stop := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var watching sync.WaitGroup
	defer watching.Wait() // the second attempt may have stopped before it began
	for _, how := range []func(){func() { close(stop) }, cancel} {
		watching.Go(func() {
			eventually(t, func() bool { _, err := os.Stat(started); return err == nil })
			how()
		})
		_, err := try[loop.VerifyResult](attempt{stop: stop, background: ctx}, l.acts.Verify, l.verify("02", change, command))
		_ = os.Remove(started)
		if err != nil {
			requireType(t, err, TypeWorkerLost, false)
		}
	}
	_, err := l.store.Key(context.Background(), resultKey(runID, "02", 1))
	require.Error(t, err, "no answer is kept")
	require.NoError(t, os.WriteFile(filepath.Join(l.dir, "fast"), nil, 0o600))
	require.Equal(t, loop.GatePass, do[loop.VerifyResult](l, l.acts.Verify, l.verify("02", change, command)).Gate)
}

// Reviewers get the linter's words in their prompts.
func TestTheLintersWordsAreBounded(t *testing.T) {
	l := newLab(t).prepare(false)
	change := l.wrote("01", draft).Snapshot
	req := l.verify("02", change, "")
	req.Lint = "yes 'calc.go:1: too short' | head -n 100000; echo the last words"
	out := do[loop.VerifyResult](l, l.acts.Verify, req)
	require.Less(t, out.Lint.Size, int64(100<<10))
	require.Contains(t, l.get(out.Lint), "the last words")
	require.Contains(t, l.get(out.Lint), "left out")
	require.Greater(t, out.Artifacts["lint.log"].Size, int64(2_000_000), "all of it is kept")
}

// Times, folders and lines differ from run to run; a failure is recognised for all that.
func TestTheSameFailureHasTheSameDigest(t *testing.T) {
	l := newLab(t).prepare(false)
	change := l.wrote("01", draft).Snapshot
	digest := func(step, command string, from loop.Snapshot) string {
		out := do[loop.VerifyResult](l, l.acts.Verify, l.verify(step, from, command))
		return out.FailureDigest
	}
	fails := `echo "$(date +%H:%M:%S) --- FAIL: TestSum (0.$$s)"; echo "    $PWD/calc.go:$(wc -l < calc.go): open $(mktemp -d)/x: got 3"; exit 1`
	first := digest("02", fails, change)
	require.NotEmpty(t, first)
	l.plays("echo >> calc.go; echo >> calc.go; echo done")
	req := l.turn("03")
	req.Workspace = l.workspace(change)
	next := do[loop.TurnResult](l, l.acts.RunTurn, req).Snapshot
	require.NoError(t, os.Remove(l.acts.writerStateFile(runID)), "the next workspace is another folder")
	require.Equal(t, first, digest("04", fails, next))
	require.NotEqual(t, first, digest("05", strings.Replace(fails, "got 3", "got 4", 1), next))
	require.Empty(t, digest("06", "true", next), "nothing failed")
	require.Empty(t, digest("07", "no-such-program-here", next), "and nothing was judged")
}
