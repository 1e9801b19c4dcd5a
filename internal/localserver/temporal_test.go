//go:build unix

package localserver

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// plainTemporal is a program called `temporal` that knows nothing of our protocol.
func plainTemporal(t *testing.T) Options {
	o := fakeOptions(t)
	link := filepath.Join(t.TempDir(), "temporal")
	require.NoError(t, os.Symlink(o.Binary, link))
	o.Binary = link
	return o
}

func TestPlainTemporalIsEndedByItsLastClient(t *testing.T) {
	o := plainTemporal(t)
	o.SearchAttributes = map[string]string{"RunPhase": "Keyword"}
	first, err := Ensure(testContext(t), o)
	require.NoError(t, err)
	second, err := Ensure(testContext(t), o)
	require.NoError(t, err)
	require.Equal(t, first.PID, second.PID)
	require.Equal(t, fakeVersion, first.Version)
	require.Empty(t, first.UIAddress)
	held, err := locked(lockOf(first.db))
	require.NoError(t, err)
	require.True(t, held, "the process holds the lock that it inherited")

	require.NoError(t, first.Close())
	_, err = Find(testContext(t), o.StateDir)
	require.NoError(t, err, "one client is left")
	require.NoError(t, second.Close())
	_, err = Find(testContext(t), o.StateDir)
	require.ErrorIs(t, err, ErrNotRunning)
	held, err = locked(lockOf(first.db))
	require.NoError(t, err)
	require.False(t, held, "it has ended")
	require.NoFileExists(t, filepath.Join(o.StateDir, "server.json"))
}

func TestPlainTemporalOfAKilledClientIsEndedByTheNextOne(t *testing.T) {
	o := plainTemporal(t)
	killed, err := Ensure(testContext(t), o)
	require.NoError(t, err)
	killed.client.close() // what the death of the process does to its lock

	next, err := Ensure(testContext(t), o)
	require.NoError(t, err)
	require.Equal(t, killed.PID, next.PID)
	require.NoError(t, next.Close())
	_, err = Find(testContext(t), o.StateDir)
	require.ErrorIs(t, err, ErrNotRunning)
}

func TestPlainTemporalServesTheWebUIWhenWanted(t *testing.T) {
	var info ready
	args, drop, err := temporalArgs(Options{UI: true, UIPort: 4711}, "x.db", &info)
	require.NoError(t, err)
	defer drop()
	require.Contains(t, args, "--ui-port")
	require.NotContains(t, args, "--headless")
	require.Equal(t, "127.0.0.1:4711", info.UIAddress)
}

func TestDatabaseOfAPlainTemporalSaysWhichServerWroteIt(t *testing.T) {
	o := plainTemporal(t)
	s, err := Ensure(testContext(t), o)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	noted, err := os.ReadFile(s.db + ".version")
	require.NoError(t, err)
	require.Equal(t, fakeVersion+"\n", string(noted))
	require.Equal(t, files{o.StateDir}.database(fakeVersion), s.db)
}
