package glob

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatAGlobTakes(t *testing.T) {
	for _, c := range []struct {
		glob, path string
		takes      bool
	}{
		{"*.lock", "a.lock", true},
		{"*.lock", "sub/a.lock", false},
		{"**/*.lock", "a.lock", true},
		{"**/*.lock", "sub/deep/a.lock", true},
		{"vendor/", "vendor/x/y.go", true},
		{"vendor", "vendored/x.go", false},
		{".github/workflows/**", ".github/workflows/ci.yml", true},
		{"a[0-9].go", "a7.go", true},
		{"a[!0-9].go", "a7.go", false},
		{"?.go", "\xff.go", true},
		{"./docs", "docs/a.md", true},
		{"a.go", "a.go\n", false},
	} {
		match, err := Compile([]string{c.glob})
		require.NoError(t, err)
		require.Equal(t, c.takes, match(c.path), "%s %q", c.glob, c.path)
	}
}

func TestCaseMattersUnlessFolded(t *testing.T) {
	exact, err := Compile([]string{"**/CLAUDE.md"})
	require.NoError(t, err)
	folded, err := CompileFold([]string{"**/CLAUDE.md"})
	require.NoError(t, err)
	require.False(t, exact("docs/claude.md"))
	require.True(t, folded("docs/claude.md"))
}

func TestABadGlobIsNamed(t *testing.T) {
	for _, bad := range []string{"", "/", "a[b"} {
		_, err := Compile([]string{bad})
		require.ErrorContains(t, err, "glob")
	}
	none, err := Compile(nil)
	require.NoError(t, err)
	require.False(t, none("anything"))
}
