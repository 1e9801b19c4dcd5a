package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/localserver"
)

// TestAServerOfAnotherVersionIsAProblemWithARemedy: after an update the starter may stand beside an older server, which
// refuses what it is told.
func TestAServerOfAnotherVersionIsAProblemWithARemedy(t *testing.T) {
	old := filepath.Join(t.TempDir(), "devserver")
	require.NoError(t, os.WriteFile(old, []byte("#!/bin/sh\necho 'flag provided but not defined: -guarded' >&2\nexit 2\n"), 0o700))
	_, err := localserver.Ensure(t.Context(), localserver.Options{StateDir: t.TempDir(), Binary: old, Progress: func(string) {}})
	require.ErrorIs(t, err, localserver.ErrEndedAtOnce)
	var out bytes.Buffer
	require.Equal(t, exitUsage, explain(&out, fmt.Errorf("run: %w", err)))
	require.Len(t, strings.Split(strings.TrimSpace(out.String()), "\n"), 2, out.String())
	require.Contains(t, out.String(), "-guarded")
	require.Contains(t, out.String(), "make build")

	out.Reset()
	explain(&out, errors.New("something else"))
	require.NotContains(t, out.String(), "make build")
}
