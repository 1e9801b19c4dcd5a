package activities

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/artifact"
	"conclave/internal/loop"
	"conclave/internal/record"
)

// Whoever may start workflows on the namespace writes such requests: a run called ../../x had its repository and its
// folders made, and removed, outside of the state folder.
func TestARequestNamesNoPathOfItsOwn(t *testing.T) {
	l := newLab(t).prepare(false)
	config := filepath.Join(l.source, ".git/config")
	before, err := os.ReadFile(config)
	require.NoError(t, err)
	evil := record.Status{Run: record.Run{Schema: record.Schema, Artifacts: map[string]artifact.Ref{"config": l.put("[core]\n\tfsmonitor = touch /tmp/pwned\n")}}}
	for _, bad := range []string{"", ".", "..", "../../.git", "/abs", "a/b", "a\x00b", "-x", "a b", strings.Repeat("a", 200)} {
		request := l.turn("01")
		request.RunID = bad
		_, err := try[loop.TurnResult](attempt{}, l.acts.RunTurn, request)
		require.ErrorContains(t, err, "is no name", bad)
		_, err = try[loop.TurnResult](attempt{}, l.acts.RunTurn, l.turn(bad))
		require.ErrorContains(t, err, "is no name", bad)
		_, err = try[loop.VerifyResult](attempt{}, l.acts.Verify, l.verify(bad, l.prepared.Base, "true"))
		require.ErrorContains(t, err, "is no name", bad)
		_, err = try[loop.Prepared](attempt{}, l.acts.PrepareRun, &loop.PrepareRequest{RunID: bad, Source: loop.Source{Dir: l.source}, At: began})
		require.ErrorContains(t, err, "is no name", bad)
		land := l.landRequest(l.prepared.Base, false)
		land.RunID = bad
		_, err = l.acts.LandNow(t.Context(), land)
		require.ErrorContains(t, err, "is no name", bad)
		err = l.acts.BundleNow(t.Context(), &loop.BundleRequest{RunID: bad, Source: loop.Source{Dir: l.source}, Requirement: l.put("x")}, evil)
		require.ErrorContains(t, err, "is no name", bad)
	}
	require.NoDirExists(t, filepath.Join(l.source, ".git/repo.git"))
	after, err := os.ReadFile(config)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
}

func TestAStarterWorksForItsOwnRunOnly(t *testing.T) {
	l := newLab(t).prepare(false)
	l.acts.Own = Own{RunID: runID, Dir: l.source}
	other := t.TempDir()

	_, err := try[loop.Prepared](attempt{}, l.acts.PrepareRun, &loop.PrepareRequest{RunID: runID, Source: loop.Source{Dir: other}, At: began})
	require.ErrorContains(t, err, "works in")
	request := l.turn("01")
	request.RunID = "another-run"
	_, err = try[loop.TurnResult](attempt{}, l.acts.RunTurn, request)
	require.ErrorContains(t, err, "works for run")

	land := l.landRequest(l.prepared.Base, false)
	land.Branch = "release"
	_, err = l.acts.LandNow(t.Context(), land)
	require.ErrorContains(t, err, "lands on conclave/"+runID)
	land = l.landRequest(l.prepared.Base, false)
	land.Source.Dir = other
	_, err = l.acts.LandNow(t.Context(), land)
	require.ErrorContains(t, err, "works in")
	err = l.acts.BundleNow(t.Context(), &loop.BundleRequest{RunID: runID, Source: loop.Source{Dir: other}}, record.Status{})
	require.ErrorContains(t, err, "works in")
	require.NoDirExists(t, filepath.Join(other, ".conclave"))

	_, err = l.acts.LandNow(t.Context(), l.landRequest(l.prepared.Base, false))
	require.NoError(t, err)
}
