package agent

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAProgramIsWhatItIsCalledWithAndWhatStandsInItsFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o700))
		return path
	}
	bin, script := write("bin", "one"), write("review.py", "pass")
	base := func() Settings {
		return Settings{Commands: map[string]CommandSettings{"mine": {Argv: []string{bin, "-u", script, "--out={result}", "/no/such/file"}}}}
	}
	digest := func(s Settings) string {
		d, err := ProgramDigest("mine", s)
		require.NoError(t, err)
		require.NotEmpty(t, d)
		return d
	}
	seen := map[string]string{digest(base()): "as it is"}
	other := func(name string, d string) {
		require.NotContains(t, seen, d, name)
		seen[d] = name
	}
	require.Equal(t, digest(base()), digest(base()))
	write("bin", "two")
	other("another binary", digest(base()))
	write("review.py", "block")
	other("another script", digest(base()))
	changed := base()
	changed.Commands["mine"] = CommandSettings{Argv: []string{bin, script}}
	other("other arguments", digest(changed))
	changed = base()
	changed.ExtraEnv = map[string]map[string]string{"mine": {"MODE": "lenient"}}
	other("another environment", digest(changed))
	changed = base()
	changed.Binaries = map[string]string{"mine": script}
	other("another program of that name", digest(changed))
	require.NoError(t, os.Remove(bin))
	other("it is gone", digest(base()))

	ours, err := ProgramDigest("claude", base())
	require.NoError(t, err)
	require.Empty(t, ours)
}
