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

	"conclave/internal/artifact"
	"conclave/internal/loop"
	"conclave/internal/record"
	"conclave/internal/store"
)

func TestPreparingTwiceGivesTheSameBase(t *testing.T) {
	l := newLab(t)
	l.write("notes.txt", "half an idea\n")
	for _, dirty := range []bool{false, true} {
		req := &loop.PrepareRequest{RunID: runID, Source: loop.Source{Dir: l.source, IncludeDirty: dirty}, At: began}
		first := do[loop.Prepared](l, l.acts.PrepareRun, req)
		require.Equal(t, first, do[loop.Prepared](l, l.acts.PrepareRun, req))
		require.Equal(t, strings.TrimSpace(l.git("rev-parse", "HEAD")), first.Head)
		require.Equal(t, dirty, first.Base.Commit != first.Head)
		if dirty {
			require.Empty(t, first.LeftOut)
		} else {
			require.Equal(t, []string{"notes.txt"}, first.LeftOut)
		}
	}
}

func TestABadBaseIsNotTriedAgain(t *testing.T) {
	l := newLab(t)
	_, err := try[loop.Prepared](attempt{}, l.acts.PrepareRun, &loop.PrepareRequest{RunID: runID, Source: loop.Source{Dir: l.source, Base: "nowhere"}, At: began})
	requireType(t, err, typeInput, true)
	require.ErrorContains(t, err, "nowhere")
}

// A forgotten ignore rule leaves a hundred thousand paths, which no history and no record can hold.
func TestTheListOfWhatIsLeftOutIsBounded(t *testing.T) {
	l := newLab(t)
	dir := filepath.Join(l.source, "node_modules")
	require.NoError(t, os.Mkdir(dir, 0o755))
	const files = 3000
	for i := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("a-module-with-a-rather-long-name-%05d.js", i)), nil, 0o600))
	}
	l.prepare(false)
	kept := len(l.prepared.LeftOut)
	require.Positive(t, kept)
	require.Less(t, len(strings.Join(l.prepared.LeftOut, "\n")), 8<<10)
	require.Contains(t, strings.Join(l.prepared.Notes, "\n"), fmt.Sprint(files-kept))
}

func (l *lab) landRequest(final loop.Snapshot, shared bool) *loop.LandRequest {
	return &loop.LandRequest{
		RunID: runID, Source: loop.Source{Dir: l.source}, Prepared: *l.prepared, Final: final, Branch: "conclave/" + runID,
		Title: "Add Sum", Outcome: "converged", At: began.Add(time.Hour), Shared: shared,
	}
}

func TestLandingTwiceIsOneBranch(t *testing.T) {
	l := newLab(t).prepare(false)
	final := l.wrote("01", draft).Snapshot
	first := do[loop.Landed](l, l.acts.Land, l.landRequest(final, false))
	require.Equal(t, first, do[loop.Landed](l, l.acts.Land, l.landRequest(final, false)))
	require.Equal(t, "calc.go\n", l.git("diff", "--name-only", "main", "conclave/"+runID))
	require.Contains(t, l.git("log", "-1", "--format=%B", "conclave/"+runID), "Conclave-Outcome: converged")
	require.Equal(t, "main\n", l.git("branch", "--show-current"))
}

// On a cluster an attempt that the server gave up may still end, elsewhere and
// later than the one that counts. Both find their objects in the store.
func TestAGivenUpAttemptElsewhereHidesNothing(t *testing.T) {
	l := newLab(t).prepare(true)
	elsewhere := l.machine("elsewhere", l.store)
	req := l.turn("01")
	req.Shared = true
	l.plays("echo counts >> calc.go; echo done")
	counts := do[loop.TurnResult](l, elsewhere.RunTurn, req)
	require.Equal(t, record.ClassOK, counts.Class, counts.Message)

	l.forget("01")
	l.plays("echo given up >> calc.go; echo done")
	givenUp := do[loop.TurnResult](l, l.machine("third", l.store).RunTurn, req)
	require.NotEqual(t, counts.Snapshot, givenUp.Snapshot)

	do[loop.Landed](l, l.acts.Land, l.landRequest(counts.Snapshot, true))
	require.Equal(t, "package calc\ncounts\n", l.git("show", "conclave/"+runID+":calc.go"))
}

func TestAWorkerWithAnotherStoreSaysSo(t *testing.T) {
	l := newLab(t).prepare(true)
	other, err := store.OpenFolder(filepath.Join(l.dir, "other-store"))
	require.NoError(t, err)
	req := l.turn("01")
	req.Shared = true
	l.plays(draft)
	_, err = try[loop.TurnResult](attempt{}, l.machine("elsewhere", other).RunTurn, req)
	requireType(t, err, typeEffect, true)
	require.ErrorContains(t, err, "must name the same store")
}

// status is the record of an ended run with one step.
func (l *lab) status(artifacts map[string]artifact.Ref) record.Status {
	return record.Status{Run: record.Run{
		Schema: record.Schema, RunID: runID, Stop: record.Converged, Converged: true, Artifacts: map[string]artifact.Ref{},
		Steps: []record.Step{{ID: "01", Role: "implementer", Adapter: "hand", Status: record.OK, Artifacts: artifacts}},
	}, Definition: []byte("{}")}
}

func (l *lab) bundle(acts *Activities, status record.Status) error {
	return acts.BundleNow(context.Background(), &loop.BundleRequest{RunID: runID, Source: loop.Source{Dir: l.source}, Requirement: l.put("Add Sum")}, status)
}

// Transcripts are as long as agents make them.
func TestTheBundleHoldsNoArtifactInMemory(t *testing.T) {
	l := newLab(t).prepare(false)
	big := l.put(strings.Repeat("x", 1<<20))
	watched := &readStore{Folder: l.store, refuse: big}
	require.NoError(t, l.bundle(l.machine("state", watched), l.status(map[string]artifact.Ref{"transcript.jsonl": big})))
	info, err := os.Stat(filepath.Join(BundleDir(l.source, runID), "agents", "01-implementer-hand", "transcript.jsonl"))
	require.NoError(t, err)
	require.EqualValues(t, 1<<20, info.Size())
}

// readStore refuses to read one artifact whole.
type readStore struct {
	*store.Folder
	refuse artifact.Ref
}

func (s *readStore) Get(ctx context.Context, ref artifact.Ref) ([]byte, error) {
	if ref == s.refuse {
		return nil, errors.New("it was to be read in parts")
	}
	return s.Folder.Get(ctx, ref)
}

func TestLeftoversAreNoReasonToLoseABundle(t *testing.T) {
	l := newLab(t).prepare(false)
	file := l.acts.writerStateFile(runID)
	require.NoError(t, os.MkdirAll(filepath.Join(file, "in-the-way"), 0o700)) // cannot be removed as a file
	require.NoError(t, l.bundle(l.acts, l.status(nil)))
	require.FileExists(t, filepath.Join(BundleDir(l.source, runID), "run.json"))
}

// Objects arrive with the commit first: a worker that was killed in between has a commit without its files.
func TestAWorkerThatDiedWhileItFetchedFetchesAgain(t *testing.T) {
	l := newLab(t).prepare(true)
	elsewhere := l.machine("elsewhere", l.store)
	_, err := elsewhere.openRepository(context.Background(), l.workspace(l.prepared.Base))
	require.NoError(t, err)
	object := filepath.Join("objects", l.prepared.Base.Commit[:2], l.prepared.Base.Commit[2:])
	content, err := os.ReadFile(filepath.Join(RepoDir(l.acts.StateDir, runID), object))
	require.NoError(t, err)
	there := filepath.Join(RepoDir(elsewhere.StateDir, runID), object)
	require.NoError(t, os.MkdirAll(filepath.Dir(there), 0o755))
	require.NoError(t, os.WriteFile(there, content, 0o444))

	req := l.turn("01")
	req.Shared = true
	l.plays(draft)
	out := do[loop.TurnResult](l, elsewhere.RunTurn, req)
	require.Equal(t, record.ClassOK, out.Class, out.Message)
}
