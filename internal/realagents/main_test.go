//go:build linux || darwin

package realagents

import (
	"flag"
	"fmt"
	"os"
	"runtime"
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
	for _, problem := range append(printCalls(), missing()...) {
		fmt.Println("FAIL:", problem)
		code = 1
	}
	os.Exit(code)
}

// missing says what a run of all tests did not show.
func missing() (problems []string) {
	if flag.Lookup("test.run").Value.String() != "" || flag.Lookup("test.skip").Value.String() != "" || os.Getenv(binsVariable) == "" {
		return nil
	}
	if len(table) < 60 {
		problems = append(problems, fmt.Sprintf("only %d cases were played", len(table)))
	}
	if runtime.GOOS != "linux" { // elsewhere no /proc tells how a program was called
		return problems
	}
	for _, e := range engines {
		for _, role := range []string{"implement", "repair", "review"} {
			if !known(who{e.name, role}) {
				problems = append(problems, fmt.Sprintf("nobody saw how %s was called as %s", e.name, role))
			}
		}
	}
	return problems
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
