package activities

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"conclave/internal/artifact"
	"conclave/internal/loop"
	"conclave/internal/record"
	"conclave/internal/store"
)

const draft = "echo 'func Sum() {}' >> calc.go; mkdir -p cache; echo x > cache/x; echo done"

func TestAWritingTurnLeavesASnapshot(t *testing.T) {
	l := newLab(t).prepare(false)
	out := l.wrote("01", draft)
	require.True(t, out.Changed)
	require.Equal(t, []string{"calc.go"}, l.paths(out.Snapshot.Commit), "ignored files are no part of the change")
	require.Equal(t, &record.Stats{Files: 1, Added: 1}, out.Stats)
	ref, err := l.repo().Ref(context.Background(), "refs/conclave/"+runID+"/01")
	require.NoError(t, err)
	require.Equal(t, out.Snapshot.Commit, ref)
	require.Contains(t, l.get(out.Artifacts["changes.diff"]), "+func Sum() {}")
	require.Contains(t, l.get(out.Artifacts["prompt.md"]), "Add Sum")
	require.Equal(t, "done\n", l.get(out.Artifacts["result.md"]))
	require.Contains(t, l.get(out.Artifacts["events.jsonl"]), "done")
	require.Equal(t, "hand", out.Reported.Adapter)
	left, err := os.ReadDir(filepath.Join(RunDir(l.acts.StateDir, runID), "turns"))
	require.NoError(t, err)
	require.Empty(t, left, "what only the turn needed is removed")
}

func TestAFinishedTurnIsNotRunAgain(t *testing.T) {
	l := newLab(t).prepare(false)
	first := l.wrote("01", draft)
	l.plays("echo other > calc.go; echo other")
	again := do[loop.TurnResult](l, l.acts.RunTurn, l.turn("01"))
	require.Equal(t, first, again)
	require.Equal(t, 1, l.starts())

	// The same step of another snapshot, as after a reset of the workflow, is another turn.
	other := l.turn("01")
	other.From = first.Snapshot
	require.NotEqual(t, first, do[loop.TurnResult](l, l.acts.RunTurn, other))
	require.Equal(t, 2, l.starts())

	// A turn of which no result was kept is run again, in a fresh workspace, and
	// the same files give the same commit.
	l.forget("01")
	third := l.wrote("01", draft)
	require.Equal(t, 3, l.starts())
	require.Equal(t, first.Snapshot, third.Snapshot)
}

func TestATurnThatNeedsItsTimeKeepsWhatThereIs(t *testing.T) {
	l := newLab(t).prepare(false)
	l.plays("echo half > calc.go; exec sleep 600")
	req := l.turn("01")
	req.Timeout = 10 * time.Second // until then it has written, on a busy machine too
	out := do[loop.TurnResult](l, l.acts.RunTurn, req)
	require.Equal(t, record.ClassTimeout, out.Class)
	require.Equal(t, "TIMEOUT", out.Code)
	require.Empty(t, out.Snapshot.Commit, "it is no part of the run")
	ref := "refs/conclave/" + runID + "/01-partial"
	require.Contains(t, strings.Join(out.Notes, "\n"), fmt.Sprintf("git fetch %q %s", RepoDir(l.acts.StateDir, runID), ref))
	commit, err := l.repo().Ref(context.Background(), ref)
	require.NoError(t, err)
	content, found, err := l.repo().File(context.Background(), commit, "calc.go")
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, "half\n", string(content))

	// The next writer starts from the snapshot, not from the half-done files.
	next := l.wrote("02", "cat calc.go > seen.txt; echo done")
	require.Equal(t, []string{"seen.txt"}, l.paths(next.Snapshot.Commit))
}

func TestAReviewerThatTouchesFilesIsNotBelieved(t *testing.T) {
	l := newLab(t).prepare(false)
	change := l.wrote("01", draft).Snapshot
	l.plays("echo mine > calc.go; printf 'fixed it\\n\\nVERDICT: PASS\\n'")
	out := do[loop.TurnResult](l, l.acts.RunTurn, l.review("02", change))
	require.Equal(t, record.ClassViolation, out.Class)
	require.Equal(t, "WORKSPACE_VIOLATION", out.Code)
	require.Contains(t, out.Message, "calc.go")
	require.Empty(t, out.Verdict)

	l.plays("printf 'looked at it\\n\\nVERDICT: PASS\\n'")
	out = do[loop.TurnResult](l, l.acts.RunTurn, l.review("03", change))
	require.Equal(t, record.ClassOK, out.Class, out.Message)
	require.Equal(t, "pass", out.Verdict)

	l.plays("echo looks great")
	out = do[loop.TurnResult](l, l.acts.RunTurn, l.review("04", change))
	require.Equal(t, record.ClassMalformed, out.Class)
	require.Empty(t, out.Verdict)

	left, err := os.ReadDir(filepath.Join(RunDir(l.acts.StateDir, runID), "work"))
	require.NoError(t, err)
	require.Len(t, left, 1, "only the writer's workspace is kept")
	indexes, err := os.ReadDir(filepath.Join(RepoDir(l.acts.StateDir, runID), "indexes"))
	require.NoError(t, err)
	require.Len(t, indexes, 1, "and only its index")
}

func TestTheContractIsNoPartOfTheChange(t *testing.T) {
	l := newLab(t).prepare(false)
	req := l.turn("01")
	req.Contract = l.put("Sum(3) is 6.")
	l.plays("cat " + contractFile + " > $LAB/contract; echo worse >> " + contractFile + "; echo x >> calc.go; echo done")
	out := do[loop.TurnResult](l, l.acts.RunTurn, req)
	require.Equal(t, record.ClassOK, out.Class, out.Message)
	require.Equal(t, []string{"calc.go"}, l.paths(out.Snapshot.Commit))
	require.Equal(t, "Sum(3) is 6.", l.read("contract"))
	require.Contains(t, l.read("prompt"), contractFile)

	verify := l.verify("02", out.Snapshot, `cat "$CONCLAVE_DESIGN_CONTRACT" > `+l.dir+"/verified")
	verify.Contract = req.Contract
	require.Equal(t, loop.GatePass, do[loop.VerifyResult](l, l.acts.Verify, verify).Gate)
	require.Equal(t, "Sum(3) is 6.", l.read("verified"), "the writer's version does not count")
}

func TestAFileOfTheBaseIsNotTakenForTheContract(t *testing.T) {
	l := newLab(t)
	l.write(contractFile, "the project's own\n")
	l.git("add", ".")
	l.git("commit", "-qm", "own contract")
	l.prepare(false)
	req := l.turn("01")
	req.Contract = l.put("Sum(3) is 6.")
	l.plays("cat " + contractFile + " > $LAB/contract; echo x >> calc.go; echo done")
	require.Equal(t, record.ClassOK, do[loop.TurnResult](l, l.acts.RunTurn, req).Class)
	require.Equal(t, "the project's own\n", l.read("contract"))
	require.Contains(t, l.read("prompt"), "Sum(3) is 6.")
	require.NotContains(t, l.read("prompt"), contractFile, "the prompt names no file that holds something else")
}

func TestALongDiffIsAFileOfTheWorkspace(t *testing.T) {
	l := newLab(t).prepare(false)
	change := l.wrote("01", "yes 'a line of the change' | head -n 60000 > big.txt; echo done").Snapshot
	l.plays(`wc -c < ` + materialFile + ` > $LAB/material
cat <<'END'
{"type":"thread.started","thread_id":"1"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"read it\n\nVERDICT: PASS"}}
{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}
END
while [ $# -gt 1 ]; do [ "$1" = -o ] && printf 'read it\n\nVERDICT: PASS\n' > "$2"; shift; done`)
	req := l.review("02", change)
	req.Target = record.Engine{Adapter: "codex", Provider: "openai", ModelFamily: "gpt", Model: "m1"}
	out := do[loop.TurnResult](l, l.acts.RunTurn, req)
	require.Equal(t, record.ClassOK, out.Class, out.Message)
	require.Equal(t, "pass", out.Verdict)
	require.Less(t, len(l.read("prompt")), 100_000)
	require.Contains(t, l.read("prompt"), materialFile)
	require.Greater(t, len(strings.TrimSpace(l.read("material"))), 6, "the whole diff stands there")
}

func TestAWorkerThatStopsGivesTheTurnBack(t *testing.T) {
	l := newLab(t).prepare(false)
	l.plays("echo half > calc.go; exec sleep 600")
	stop := make(chan struct{})
	go func() {
		eventually(t, func() bool { return l.starts() == 1 })
		close(stop)
	}()
	_, err := try[loop.TurnResult](attempt{stop: stop}, l.acts.RunTurn, l.turn("01"))
	requireType(t, err, TypeWorkerLost, false)
	next := l.wrote("01", "cat calc.go > seen.txt; echo done")
	require.Equal(t, 2, l.starts())
	require.Equal(t, []string{"seen.txt"}, l.paths(next.Snapshot.Commit), "the second attempt starts from the snapshot")
}

func requireType(t *testing.T, err error, kind string, nonRetryable bool) {
	t.Helper()
	var application *temporal.ApplicationError
	require.ErrorAs(t, err, &application)
	require.Equal(t, kind, application.Type(), err)
	require.Equal(t, nonRetryable, application.NonRetryable(), err)
}

// A turn whose agent has ended is finished, whatever happens to its worker or
// its run while the result is being stored.
func TestATurnThatEndsWhileItsWorkerStopsIsNotPaidTwice(t *testing.T) {
	for _, cancelled := range []bool{false, true} {
		l := newLab(t).prepare(false)
		l.plays(draft)
		a := attempt{stop: make(chan struct{})}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		a.background = ctx
		slow := &hookedStore{Folder: l.store, put: func() { // the first thing that is stored after the agent ended
			if cancelled {
				cancel()
			} else {
				close(a.stop)
			}
			time.Sleep(200 * time.Millisecond) // until the activity has heard of it
		}}
		acts := l.machine("state", slow)
		out, err := try[loop.TurnResult](a, acts.RunTurn, l.turn("01"))
		require.NoError(t, err)
		require.Equal(t, record.ClassOK, out.Class, out.Message)
		require.NotEmpty(t, out.Snapshot.Commit)
		do[loop.TurnResult](l, l.acts.RunTurn, l.turn("01"))
		require.Equal(t, 1, l.starts())
	}
}

// hookedStore calls a function once before the first Put.
type hookedStore struct {
	*store.Folder
	put  func()
	fail error
}

func (s *hookedStore) Put(ctx context.Context, content []byte) (artifact.Ref, error) {
	if s.put != nil {
		s.put()
		s.put = nil
	}
	if s.fail != nil {
		return artifact.Ref{}, s.fail
	}
	return s.Folder.Put(ctx, content)
}

func TestAnUnwritableStoreFailsTheTurnForGood(t *testing.T) {
	l := newLab(t).prepare(false)
	l.plays(draft)
	acts := l.machine("state", &hookedStore{Folder: l.store, fail: errors.New("no space left on device")})
	_, err := try[loop.TurnResult](attempt{}, acts.RunTurn, l.turn("01"))
	requireType(t, err, typeEffect, true)
	require.ErrorContains(t, err, "no space left")
	_, err = l.store.Key(context.Background(), resultKey(runID, "01", 1))
	require.ErrorIs(t, err, store.ErrNotFound, "no result is kept of a turn whose artifacts are lost")
}

// A set-up command that did not end leaves a workspace that is not set up.
func TestAnInterruptedSetUpIsRepeated(t *testing.T) {
	for _, name := range []string{"turn", "verify"} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t).prepare(false)
			l.plays("test -e cache/ready || echo 'not set up' >> calc.go; echo x >> calc.go; echo done")
			setup := "echo start >> " + l.dir + "/setups; mkdir -p cache; test -e " + l.dir + "/fast || exec sleep 600; touch cache/ready"
			turn, verify := l.turn("01"), l.verify("01", l.prepared.Base, "test -e cache/ready")
			turn.Setup, turn.SetupTimeout, verify.Setup, verify.SetupTimeout = setup, 5*time.Minute, setup, 5*time.Minute
			stop := make(chan struct{})
			go func() {
				eventually(t, func() bool { return l.read("setups") != "" })
				close(stop)
			}()
			var err error
			if name == "turn" {
				_, err = try[loop.TurnResult](attempt{stop: stop}, l.acts.RunTurn, turn)
			} else {
				_, err = try[loop.VerifyResult](attempt{stop: stop}, l.acts.Verify, verify)
			}
			requireType(t, err, TypeWorkerLost, false)

			require.NoError(t, os.WriteFile(filepath.Join(l.dir, "fast"), nil, 0o600))
			if name == "turn" {
				out := do[loop.TurnResult](l, l.acts.RunTurn, turn)
				require.Equal(t, record.ClassOK, out.Class, out.Message)
				require.Equal(t, "+x\n", addedLines(l.get(out.TotalDiff)))
				verify.Step, verify.From = "02", out.Snapshot
			}
			require.Equal(t, loop.GatePass, do[loop.VerifyResult](l, l.acts.Verify, verify).Gate)
			require.Equal(t, "start\nstart\n", l.read("setups"), "a workspace that is set up stays so")
		})
	}
}

func addedLines(diff string) string {
	var added strings.Builder
	for line := range strings.Lines(diff) {
		if strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "+++") {
			added.WriteString(line)
		}
	}
	return added.String()
}

// The heartbeats of an attempt can be lost while it works: the server starts a
// second one beside it, on the same machine.
func TestASecondAttemptWaitsForTheFirst(t *testing.T) {
	l := newLab(t).prepare(false)
	l.plays("echo x >> calc.go; echo first >> $LAB/order; while ! test -e $LAB/go; do sleep 0.01; done; echo last >> $LAB/order; echo done")
	ends := make(chan *loop.TurnResult, 2)
	run := func() {
		out, err := try[loop.TurnResult](attempt{}, l.acts.RunTurn, l.turn("01"))
		if err != nil {
			out = &loop.TurnResult{Message: err.Error()}
		}
		ends <- out
	}
	go run()
	eventually(t, func() bool { return l.read("order") != "" })
	go run()
	time.Sleep(300 * time.Millisecond) // room for the second one to do harm
	require.NoError(t, os.WriteFile(filepath.Join(l.dir, "go"), nil, 0o600))
	one, two := <-ends, <-ends
	require.Equal(t, record.ClassOK, one.Class, one.Message)
	require.Equal(t, one, two)
	require.Equal(t, "first\nlast\n", l.read("order"), "the turn was paid once")
}

// A verifier that was given up must not put the workspace back under the next writer's hands.
func TestAVerifierAndAWriterNeverShareTheWorkspace(t *testing.T) {
	l := newLab(t).prepare(false)
	first := l.wrote("01", draft).Snapshot
	verified := make(chan error, 1)
	go func() {
		_, err := try[loop.VerifyResult](attempt{}, l.acts.Verify, l.verify("02", first, "touch "+l.dir+"/verifying; while ! test -e "+l.dir+"/go; do sleep 0.01; done"))
		verified <- err
	}()
	eventually(t, func() bool { _, err := os.Stat(filepath.Join(l.dir, "verifying")); return err == nil })
	wrote := make(chan *loop.TurnResult, 1)
	go func() {
		req := l.turn("03")
		req.Workspace = l.workspace(first)
		l.plays("echo mended > calc.go; touch $LAB/go; sleep 0.5; echo done")
		out, err := try[loop.TurnResult](attempt{}, l.acts.RunTurn, req)
		if err != nil {
			out = &loop.TurnResult{Message: err.Error()}
		}
		wrote <- out
	}()
	time.Sleep(300 * time.Millisecond)
	require.NoError(t, os.WriteFile(filepath.Join(l.dir, "go"), nil, 0o600))
	require.NoError(t, <-verified)
	out := <-wrote
	require.Equal(t, record.ClassOK, out.Class, out.Message)
	content, _, err := l.repo().File(context.Background(), out.Snapshot.Commit, "calc.go")
	require.NoError(t, err)
	require.Equal(t, "mended\n", string(content))
}

func TestATurnLeavesNoFileOpen(t *testing.T) {
	l := newLab(t).prepare(false)
	l.wrote("01", draft)
	for _, link := range openFiles(t) {
		require.NotContains(t, link, l.dir)
	}
}

func openFiles(t *testing.T) []string {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc here")
	}
	var links []string
	for _, entry := range entries {
		if link, err := os.Readlink("/proc/self/fd/" + entry.Name()); err == nil {
			links = append(links, link)
		}
	}
	return links
}
