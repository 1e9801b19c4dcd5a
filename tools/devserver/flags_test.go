package main

import (
	"flag"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/headers"
)

func parse(t *testing.T, args ...string) options {
	t.Helper()
	o, err := parseFlags(args, io.Discard)
	require.NoError(t, err)
	return o
}

// The command line that testsuite.StartDevServer of the Temporal SDK passes.
func TestCommandLineOfTheSDK(t *testing.T) {
	o := parse(t, "server", "start-dev", "--ip", "localhost", "--port", "4000", "--namespace", "ns",
		"--dynamic-config-value", "frontend.enableServerVersionCheck=false", "--log-level", "warn", "--log-format", "json", "--headless",
		"--db-filename", "x.db", "--ui-port", "4711", "--search-attribute", "Phase=Keyword", "--search-attribute", "Round=Int")
	require.True(t, o.ip.IsLoopback())
	require.Equal(t, 4000, o.port)
	require.Equal(t, 4711, o.uiPort)
	require.Equal(t, "ns", o.namespace)
	require.True(t, o.headless)
	require.Equal(t, "x.db", o.dbFilename)
	require.Equal(t, map[string]enumspb.IndexedValueType{"Phase": enumspb.INDEXED_VALUE_TYPE_KEYWORD, "Round": enumspb.INDEXED_VALUE_TYPE_INT}, o.searchAttributes)
}

func TestDefaults(t *testing.T) {
	o := parse(t)
	require.Equal(t, "127.0.0.1", o.ip.String())
	require.Equal(t, 7233, o.port)
	require.Equal(t, 8233, o.uiPort)
	require.Equal(t, "default", o.namespace)
	require.Equal(t, 720*time.Hour, o.retention)
	require.Equal(t, 30*time.Second, o.idleExit)
	require.Equal(t, "error", o.logLevel)
	require.Empty(t, o.dbFilename)
	require.Equal(t, "wal", o.pragmas["journal_mode"])
	require.Equal(t, false, o.dynamic[dynamicconfig.MakeKey("frontend.enableServerVersionCheck")], "no phoning home")
	require.Equal(t, true, o.dynamic[dynamicconfig.MakeKey("frontend.WorkerCommandsEnabled")])
	require.Equal(t, true, o.dynamic[dynamicconfig.MakeKey("system.enableCancelActivityWorkerCommand")])

	require.Equal(t, 0, parse(t, "--port", "0").uiPort, "a free port for both")
	require.Equal(t, 5100, parse(t, "-p", "4100").uiPort)
	require.Equal(t, "s-"+headers.ServerVersion+".db", parse(t, "-f", "s-{version}.db").dbFilename)
	require.Equal(t, "::1", parse(t, "--ip", "::1").uiIP.String())
}

func TestBadFlagsNameTheFlag(t *testing.T) {
	tests := []struct{ args, want string }{
		{"serve", `unknown command "serve"`},
		{"server stop now", `unknown command "server stop"`},
		{"--port 70000", "--port 70000"},
		{"--port 65000", "--ui-port 66000"},
		{"--port 4000 --ui-port 4000", "must differ"},
		{"--port 4000 stray", `"stray"`},
		{"--ip no.such.host.invalid", "--ip"},
		{"--namespace=", "--namespace"},
		{"--retention 10m", "--retention 10m"},
		{"--idle-exit -1s", "--idle-exit"},
		{"--guarded --ip 0.0.0.0", "--guarded"},
		{"--guarded --ui-ip 0.0.0.0", "--guarded"},
		{"--log-level loud", "--log-level"},
		{"--log-format xml", "--log-format"},
		{"--search-attribute Phase", "Name=Type"},
		{"--search-attribute Phase=Word", `unknown type "Word"`},
		{"--search-attribute Phase=Unspecified", "unknown type"},
		{"--dynamic-config-value x", "Key=JSON"},
		{"--dynamic-config-value x=word", "not JSON"},
		{"--sqlite-pragma synchronous", "name=value"},
		{"--no-such-flag", "no-such-flag"},
	}
	for _, tt := range tests {
		_, err := parseFlags(strings.Fields(tt.args), io.Discard)
		require.ErrorContains(t, err, tt.want, tt.args)
	}
}

func TestHelpIsNoError(t *testing.T) {
	var usage strings.Builder
	_, err := parseFlags([]string{"server", "start-dev", "--help"}, &usage)
	require.ErrorIs(t, err, flag.ErrHelp)
	require.Contains(t, usage.String(), "ready-file")
}

func TestDynamicValuesHaveTheTypesThatTheServerReads(t *testing.T) {
	tests := []struct {
		in   string
		want any
	}{
		{"k=true", true},
		{"k=12", 12},
		{"k=1.5", 1.5},
		{`k="10s"`, "10s"},
		{`k={"a":[1,"b"]}`, map[string]any{"a": []any{1, "b"}}},
	}
	for _, tt := range tests {
		key, value, err := parseDynamicValue(tt.in)
		require.NoError(t, err, tt.in)
		require.Equal(t, dynamicconfig.MakeKey("k"), key)
		require.Equal(t, tt.want, value, tt.in)
	}
	o := parse(t, "--dynamic-config-value", "Frontend.PersistenceMaxQPS=7")
	require.Equal(t, 7, o.dynamic[dynamicconfig.FrontendPersistenceMaxQPS.Key()], "it overrides the default whatever its case")
}
