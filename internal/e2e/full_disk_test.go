package e2e

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	runrecord "conclave/internal/record"
)

// A store without room fails the step, says so, and leaves nothing half-written.
func TestAFullStoreFailsTheStep(t *testing.T) {
	t.Parallel()
	script := twoIterations()
	script[0].Say = strings.Repeat("I added Sum and explain it at length. ", 20_000)
	l := newLab(t, script)
	store := mkdir(t, filepath.Join(l.dir, "small"))
	prefix := smallFolder(store)
	if prefix == nil {
		t.Skip("mounting a small file system is not allowed here")
	}
	args := append(slices.Clip(prefix), filepath.Join(bin, "starter"), "run", "--json", "--no-progress", "--store", store, "--preset", "dual-review", "Add Sum")
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = l.repo, l.env
	end := finish(t, cmd)
	require.Equal(t, 4, end.code, end.String())
	run := decodeRun(t, end.stdout)
	require.Equal(t, runrecord.StepFailed, run.Stop)
	require.Contains(t, run.Message, "no space left")
	require.Equal(t, run, decodeRun(t, l.read(l.bundle(run.RunID, "run.json"))))
	for _, pattern := range []string{"*.tmp", ".*.tmp", "*/*.tmp", "*/*/*.tmp"} {
		left, err := filepath.Glob(l.bundle(run.RunID, pattern))
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

// smallFolder is a command prefix that gives a program 256 KiB in that place.
func smallFolder(dir string) []string {
	for _, flags := range []string{"-m", "-rm"} {
		prefix := []string{"unshare", flags, "sh", "-c", `mount -t tmpfs -o size=256k none "$0" && exec "$@"`, dir}
		if exec.Command(prefix[0], append(prefix[1:], "true")...).Run() == nil {
			return prefix
		}
	}
	return nil
}
