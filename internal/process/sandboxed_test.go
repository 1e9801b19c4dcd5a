//go:build linux

package process

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/sandbox"
)

func init() {
	if contained == "" {
		return
	}
	kind := sandbox.Kind(contained)
	contain = func(s Spec) Spec {
		temp, err := os.MkdirTemp("", "zoo")
		if err != nil {
			panic(err)
		}
		turn := sandbox.Turn{
			Role: sandbox.Writer, Program: s.Path, Args: s.Args, Env: append(s.Env, "PATH="+os.Getenv("PATH")), Workspace: s.Dir, Temp: temp,
		}
		policy, err := turn.Policy()
		if err != nil {
			return s // what does not exist cannot be started, in a sandbox or without
		}
		if s.Sandbox, err = sandbox.Detect(context.Background()).Only(kind).Confine(policy, s.Dir); err != nil {
			panic(err)
		}
		return s
	}
}

// Every test of this package holds as well when the command is contained.
func TestTheZooInASandbox(t *testing.T) {
	if contained != "" {
		t.Skip("is the zoo in a sandbox")
	}
	support := sandbox.Detect(context.Background())
	for _, kind := range []sandbox.Kind{sandbox.Bubblewrap, sandbox.Landlock} {
		t.Run(string(kind), func(t *testing.T) {
			if support.Only(kind).Kind() != kind {
				t.Skip(support.Why())
			}
			cmd := exec.Command(os.Args[0], "-test.short", "-test.timeout=20m")
			cmd.Env = append(os.Environ(), "CONCLAVE_TEST_SANDBOX="+string(kind), "TMPDIR="+filepath.Clean(t.TempDir()))
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, string(out))
		})
	}
}
