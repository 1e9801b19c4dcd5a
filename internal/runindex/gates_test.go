package runindex_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"conclave/internal/runindex"
)

func TestGatesAreKeptByTheirDigest(t *testing.T) {
	state := t.TempDir()
	x := runindex.Open(state)
	_, ok, err := x.ReadGate("abc")
	require.NoError(t, err)
	require.False(t, ok)

	want := runindex.Gate{RunID: "review-x-abcde", Verdict: []byte(`{"exit_code":0}`), Ended: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	require.NoError(t, x.WriteGate("abc", runindex.Gate{RunID: "review-x-older"}))
	require.NoError(t, x.WriteGate("abc", want))
	got, ok, err := x.ReadGate("abc")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, want, got)

	require.NoError(t, os.WriteFile(filepath.Join(state, "gates", "abc.json"), []byte("{"), 0o600))
	_, ok, err = x.ReadGate("abc")
	require.ErrorContains(t, err, "abc.json")
	require.False(t, ok)
}
