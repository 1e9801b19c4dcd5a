package e2e

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

var (
	chaosRun = flag.Bool("chaos", false, "kill starters, servers and process groups at many moments")
	record   = flag.Bool("record", false, "record histories for the replay tests")
	only     = flag.String("situation", "", "with -record: only situations whose name matches, beside those that are recorded")
)

// bin holds the programs under test, built for this test run.
var bin string

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := withPrograms(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(2)
	}
	os.Exit(code)
}

// withPrograms builds the programs, with the race detector when the tests have
// it, beside the devserver that `make build` leaves. Without the race detector
// CONCLAVE_TEST_BIN may name a folder in which all of them are built already.
func withPrograms(run func() int) (int, error) {
	if bin = os.Getenv("CONCLAVE_TEST_BIN"); bin != "" && !raceDetector {
		for _, name := range []string{"starter", "worker", "scriptagent", "devserver"} {
			if _, err := os.Stat(filepath.Join(bin, name)); err != nil {
				return 0, fmt.Errorf("CONCLAVE_TEST_BIN: %w", err)
			}
		}
		return run(), nil
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		return 0, err
	}
	devserver := os.Getenv("CONCLAVE_TEST_DEVSERVER")
	if devserver == "" {
		devserver = filepath.Join(root, "bin", "devserver")
	}
	if _, err := os.Stat(devserver); err != nil {
		return 0, errors.New("the local server is not built: run `make build` first")
	}
	if bin, err = os.MkdirTemp("", "conclave-e2e-bin-"); err != nil {
		return 0, err
	}
	defer os.RemoveAll(bin)
	args := []string{"build", "-o", bin + "/"}
	if raceDetector {
		args = append(args, "-race")
	}
	build := exec.Command("go", append(args, "./starter", "./worker", "./tools/scriptagent")...)
	build.Dir, build.Stderr, build.Stdout = root, os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		return 0, fmt.Errorf("building the programs: %w", err)
	}
	if err := os.Symlink(devserver, filepath.Join(bin, "devserver")); err != nil {
		return 0, err
	}
	return run(), nil
}
