package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"conclave/internal/record"
)

func TestApplyRefusals(t *testing.T) {
	c := newCLI(t)
	c.have(record.Run{RunID: "bad-aaaaa", Stop: record.MaxIters, Steps: []record.Step{{Role: "implementer", Status: record.OK, Tree: "t"}}}, time.Hour)
	got := c.run("", "apply", "bad")
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "did not converge")
	require.Contains(t, got.err, "--force")
	got = c.run("", "apply", "--force", "bad")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, "not in the state folder")

	c.have(record.Run{RunID: "going-bbbbb"}, time.Hour)
	got = c.run("", "apply", "going")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, "has not ended")

	c.have(record.Run{RunID: "nothing-ccccc", Stop: record.Converged}, time.Hour)
	got = c.run("", "apply", "nothing")
	require.Equal(t, 0, got.code)
	require.Contains(t, got.err, "changed nothing")
}
