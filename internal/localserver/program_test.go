package localserver

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProgramIsWhatEnsureWouldStart(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "server")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755))
	t.Setenv(binaryVariable, program)
	path, err := Program(dir)
	require.NoError(t, err)
	require.Equal(t, program, path)

	t.Setenv(binaryVariable, filepath.Join(dir, "none"))
	_, err = Program(dir)
	require.ErrorContains(t, err, binaryVariable)
}
