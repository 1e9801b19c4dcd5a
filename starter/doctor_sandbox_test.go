//go:build linux

package main

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/config"
	"conclave/internal/sandbox"
)

func TestDoctorTriesTheSandbox(t *testing.T) {
	support := sandbox.Detect(context.Background())
	if support.Kind() == sandbox.None {
		t.Skip(support.Why())
	}
	for _, kind := range []sandbox.Kind{sandbox.Bubblewrap, sandbox.Landlock} {
		if support.Only(kind).Kind() != kind {
			continue
		}
		p, err := newProving(support.Only(kind))
		require.NoError(t, err)
		defer p.close()
		checks := p.prove(context.Background(), true)
		require.Len(t, checks, 10)
		for _, c := range checks {
			require.True(t, c.OK || !c.Needed && kind == sandbox.Landlock && strings.HasSuffix(c.Name, "protected"), "%s %+v", kind, c)
			require.True(t, strings.HasPrefix(c.Name, "sandbox: "), c.Name)
		}
	}
}

// A guarantee that does not hold is told: here by a policy that lets everything through.
func TestDoctorFindsABrokenSandbox(t *testing.T) {
	support := sandbox.Detect(context.Background())
	if support.Kind() == sandbox.None {
		t.Skip(support.Why())
	}
	p, err := newProving(support)
	require.NoError(t, err)
	defer p.close()
	p.broken = true
	var broken []string
	for _, c := range p.prove(context.Background(), true) {
		if !c.OK {
			require.Contains(t, c.Says, "BROKEN")
			broken = append(broken, strings.TrimPrefix(c.Name, "sandbox: "))
		}
	}
	require.Equal(t, []string{"secrets", "other runs", "readers", "writers", "protected", "processes", "signals", "privileges"}, broken)
}

func TestDoctorWithoutASandbox(t *testing.T) {
	checks := checkSandboxes(context.Background(), config.Host{Sandbox: "off"})
	require.NotEmpty(t, checks)
	require.Equal(t, "sandbox", checks[0].Name)
	require.False(t, checks[0].Needed)
}

func TestARequiredSandboxIsMissing(t *testing.T) {
	detectSandbox = func(context.Context) sandbox.Support {
		return sandbox.Support{BwrapWhy: "is not installed", LandlockWhy: "is not in this kernel"}
	}
	t.Cleanup(func() { detectSandbox = sandbox.Detect })
	c := newCLI(t)
	got := c.run("", "run", "--dry-run", "--sandbox", "required", "r")
	require.Equal(t, exitUsage, got.code, got.err)
	require.Contains(t, got.err, "bubblewrap is not installed")
	require.Contains(t, got.err, "--sandbox auto")

	checks := checkSandboxes(context.Background(), config.Host{Sandbox: "required"})
	require.Len(t, checks, 1)
	require.True(t, checks[0].Needed && !checks[0].OK)
}
