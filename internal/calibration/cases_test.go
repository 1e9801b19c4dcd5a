package calibration_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/calibration"
)

// TestOurCases: each parses, its change applies to its base, and what it expects lies in lines that the change adds.
func TestOurCases(t *testing.T) {
	folders, err := filepath.Glob("cases/*/" + calibration.CaseFile)
	require.NoError(t, err)
	required, clean := map[string]int{}, 0
	for _, file := range folders {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		c, err := calibration.Parse(file, content)
		require.NoError(t, err)
		require.Equal(t, filepath.Base(filepath.Dir(file)), c.Name)
		added := addedLines(t, filepath.Dir(file), c)
		if c.Clean() {
			clean++
		}
		for _, e := range c.Expected {
			require.NotEmpty(t, e.Why, c.Name)
			require.NotZero(t, e.From, c.Name)
			hit := false
			for line := range added[e.Path] {
				hit = hit || line >= e.From && line <= e.To
			}
			require.True(t, hit, "%s: the change adds none of %s", c.Name, e)
			if !e.Optional {
				required[e.Lens]++
			}
		}
	}
	require.Equal(t, 1, clean)
	require.Equal(t, map[string]int{"correctness": 3, "security": 1, "tests": 1, "conventions": 1, "contract": 1}, required, "every built-in lens can be measured")
}

// addedLines applies the change of a case and gives the numbers of the lines that it adds, by path.
func addedLines(t *testing.T, dir string, c calibration.Case) map[string]map[int]bool {
	t.Helper()
	work := t.TempDir()
	require.NoError(t, os.CopyFS(work, os.DirFS(filepath.Join(dir, c.Base))))
	change, err := filepath.Abs(filepath.Join(dir, c.Diff))
	require.NoError(t, err)
	git := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "core.autocrlf=false"}, args...)...)
		cmd.Dir = work
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, c.Name+": "+string(out))
	}
	git("init", "-q")
	git("add", "-A")
	git("commit", "-qm", "base")
	git("apply", "--index", change)
	added := map[string]map[int]bool{}
	patch, err := os.ReadFile(change)
	require.NoError(t, err)
	path, line := "", 0
	for text := range strings.SplitSeq(string(patch), "\n") {
		switch {
		case strings.HasPrefix(text, "+++ b/"):
			path = strings.TrimPrefix(text, "+++ b/")
			added[path] = map[int]bool{}
		case strings.HasPrefix(text, "@@"):
			line = hunkStart(t, text)
		case strings.HasPrefix(text, "+"):
			added[path][line] = true
			line++
		case strings.HasPrefix(text, " "):
			line++
		}
	}
	return added
}

// hunkStart reads the new side's first line of "@@ -a,b +c,d @@".
func hunkStart(t *testing.T, head string) int {
	t.Helper()
	_, rest, ok := strings.Cut(head, "+")
	require.True(t, ok)
	n := 0
	for _, r := range rest {
		if r < '0' || r > '9' {
			break
		}
		n = n*10 + int(r-'0')
	}
	return n
}
