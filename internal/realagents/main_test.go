//go:build linux || darwin

package realagents

import (
	"os"
	"testing"

	"conclave/internal/agent"
	"conclave/internal/process"
)

// binsVariable names the folder of the real programs.
const binsVariable = "CONCLAVE_TEST_AGENTS"

func TestMain(m *testing.M) {
	process.Main()
	agent.StubMain()
	code := m.Run()
	for _, clean := range cleanUp {
		clean()
	}
	printTable()
	os.Exit(code)
}

// bins is the folder of the real programs; without one the test is skipped.
func bins(t *testing.T) string {
	t.Helper()
	dir := os.Getenv(binsVariable)
	if dir == "" {
		t.Skip("the real agent programs are driven by `make test-agents` only")
	}
	return dir
}
