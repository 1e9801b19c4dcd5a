package convergence

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// defaultChecks keeps `go test -race` short; `make property` runs 100,000.
const defaultChecks = "100"

func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given {
		if err := flag.Set("rapid.checks", defaultChecks); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}
