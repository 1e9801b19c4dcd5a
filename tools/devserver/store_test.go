package main

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	persistencespb "go.temporal.io/server/api/persistence/v1"
)

func exitCode(t *testing.T, err error) int {
	t.Helper()
	var c *codedError
	require.True(t, errors.As(err, &c), "%v", err)
	return c.code
}

func TestTakenPortNamesPortAndFlag(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	port := strconv.Itoa(taken.Addr().(*net.TCPAddr).Port)

	_, err = reservePorts(parse(t, "--port", port, "--ui-port", "0"))
	require.ErrorContains(t, err, "port "+port+" (--port) is already in use")
	require.Equal(t, exitUsage, exitCode(t, err))

	_, err = reservePorts(parse(t, "--port", "0", "--ui-port", port))
	require.ErrorContains(t, err, "port "+port+" (--ui-port) is already in use")

	h, err := reservePorts(parse(t, "--port", "0", "--ui-port", port, "--headless"))
	require.NoError(t, err, "a headless server needs no port for the UI")
	h.drop()
	require.Zero(t, h.ports.ui)
}

func TestPortsAreHeldUntilReleased(t *testing.T) {
	h, err := reservePorts(parse(t, "--port", "0"))
	require.NoError(t, err)
	defer h.drop()
	p := h.ports
	seen := map[int]bool{}
	for _, port := range []int{p.frontend, p.history, p.matching, p.worker, p.ui} {
		require.NotZero(t, port)
		require.False(t, seen[port])
		seen[port] = true
		_, err := net.Listen("tcp", hostPort(loopback, port))
		require.Error(t, err)
	}
	h.release()
	h.release()
	l, err := net.Listen("tcp", hostPort(loopback, p.frontend))
	require.NoError(t, err)
	l.Close()
}

func TestUnspecifiedAddressIsReachedByLoopback(t *testing.T) {
	require.Equal(t, "127.0.0.1:1", reachable(net.IPv4zero, 1))
	require.Equal(t, "[::1]:1", reachable(net.IPv6loopback, 1))
	require.Equal(t, "[::1]", bracketed(net.IPv6loopback))
}

func TestOneServerPerDatabase(t *testing.T) {
	db := filepath.Join(t.TempDir(), "x.db")
	lock, err := lockDatabase(db)
	require.NoError(t, err)
	_, err = lockDatabase(db)
	require.ErrorContains(t, err, "in use by another server (process "+strconv.Itoa(os.Getpid())+")")
	require.Equal(t, exitLocked, exitCode(t, err))
	lock.Close()
	again, err := lockDatabase(db)
	require.NoError(t, err)
	again.Close()
}

func TestDatabaseOfAnotherVersionIsRefused(t *testing.T) {
	db := filepath.Join(t.TempDir(), "x.db")
	err := checkVersion(db, "1.2.3")
	require.ErrorContains(t, err, "does not say which server version")
	require.Equal(t, exitVersion, exitCode(t, err))

	require.NoError(t, os.WriteFile(db+versionSuffix, []byte("1.2.2\n"), 0o600))
	err = checkVersion(db, "1.2.3")
	require.ErrorContains(t, err, `written by server "1.2.2" and this is server "1.2.3"`)
	require.Equal(t, exitVersion, exitCode(t, err))
	require.NoError(t, checkVersion(db, "1.2.2"))
}

func TestCreationThatWasCutShortIsDoneAgain(t *testing.T) {
	// The name has all that means something in an SQLite URI.
	path := filepath.Join(t.TempDir(), "a b%20?c=d#e", "x.db")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte("half a database"), 0o600))
	require.NoError(t, os.WriteFile(path+makingSuffix, nil, 0o600))
	s, err := openStore(path, defaultPragmas())
	require.NoError(t, err)
	require.NoFileExists(t, path+makingSuffix)
	require.NoError(t, s.prepareNamespace(t.Context(), "default", nil, time.Hour), "it has its schema")
	s.close()
	s, err = openStore(path, defaultPragmas())
	require.NoError(t, err, "it opens again")
	s.close()
	entries, err := os.ReadDir(filepath.Dir(filepath.Dir(path)))
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing was made beside the folder")
}

func TestForeignDatabaseIsNotTouched(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	require.NoError(t, os.WriteFile(path, []byte("foreign"), 0o600))
	_, err := openStore(path, defaultPragmas())
	require.Equal(t, exitVersion, exitCode(t, err))
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "foreign", string(content))
	free, err := lockDatabase(path)
	require.NoError(t, err, "a refusal keeps no lock")
	free.Close()
}

const (
	keyword = enumspb.INDEXED_VALUE_TYPE_KEYWORD
	integer = enumspb.INDEXED_VALUE_TYPE_INT
)

func TestMergeAliases(t *testing.T) {
	first, err := mergeAliases(nil, attributeTypes{"B": keyword, "A": keyword, "N": integer})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"Keyword01": "A", "Keyword02": "B", "Int01": "N"}, first)

	more, err := mergeAliases(first, attributeTypes{"C": keyword, "A": keyword})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"Keyword01": "A", "Keyword02": "B", "Keyword03": "C", "Int01": "N"}, more)
	require.Len(t, first, 3, "the input is not changed")

	_, err = mergeAliases(first, attributeTypes{"A": integer})
	require.ErrorContains(t, err, "A is Keyword in this database and cannot become Int")
	_, err = mergeAliases(first, attributeTypes{"O": integer, "P": integer, "Q": integer})
	require.ErrorContains(t, err, "only 3 of type Int")
	_, err = mergeAliases(nil, attributeTypes{"WorkflowId": keyword})
	require.ErrorContains(t, err, "reserved")
}

func TestAdjustChangesOnlyWhatDiffers(t *testing.T) {
	c := &persistencespb.NamespaceConfig{}
	changed, err := adjust(c, attributeTypes{"A": keyword}, time.Hour)
	require.NoError(t, err)
	require.True(t, changed)
	changed, err = adjust(c, attributeTypes{"A": keyword}, time.Hour)
	require.NoError(t, err)
	require.False(t, changed)
	changed, err = adjust(c, nil, 2*time.Hour)
	require.NoError(t, err)
	require.True(t, changed)
	require.Equal(t, map[string]string{"Keyword01": "A"}, c.GetCustomSearchAttributeAliases(), "an attribute that is not asked for stays")
}
