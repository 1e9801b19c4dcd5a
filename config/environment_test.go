package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/config"
)

func TestUnknownVariables(t *testing.T) {
	environ := []string{
		"CONCLAVE_PRESET=x", "CONCLAVE_CLAUDE_BIN=x", "CONCLAVE_MY_TOOL_BIN=x", "CONCLAVE_TEST_ZOO=1", "CONCLAVE_DEVSERVER_BIN=x",
		"CONCLAVE_TURN_MARK=x", "CONCLAVE_REVIEW=always", "CONCLAVEX=1", "PATH=/bin",
	}
	require.Empty(t, config.UnknownVariables(environ, []string{"my-tool"}))
	require.Equal(t, []string{
		`the variable "CONCLAVE_CLUADE_BIN" means nothing to Conclave; did you mean CONCLAVE_CLAUDE_BIN?`,
		`the variable "CONCLAVE_STATEDIR" means nothing to Conclave; did you mean CONCLAVE_STATE_DIR?`,
		`the variable "CONCLAVE_XYZZYPLUGH" means nothing to Conclave`,
	}, config.UnknownVariables([]string{"CONCLAVE_STATEDIR=/x", "CONCLAVE_CLUADE_BIN=x", "CONCLAVE_XYZZYPLUGH=1"}, nil))
}
