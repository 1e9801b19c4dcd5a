package e2e

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"
)

// realCommits makes the lab's repository a clone of this one, and gives its newest commits with a parent that a person
// could review at once: Go and Markdown only, at most 400 lines. A checkout without enough history (a shallow clone, or
// an archive) gets commits that are made of its present files instead.
func (l *lab) realCommits(n int) []string {
	l.t.Helper()
	ours, err := filepath.Abs("../..")
	require.NoError(l.t, err)
	lab := l.repo
	l.repo = ours
	found := l.reviewable(n)
	if len(found) == n {
		clone := filepath.Join(l.dir, "conclave")
		l.git("clone", "-q", "--no-checkout", "file://"+ours, clone)
		l.repo = clone
		l.git("checkout", "-q", "-B", "main", found[0])
		return found
	}
	l.t.Logf("only %d commits of this checkout can be reviewed; commits are made of its files", len(found))
	l.repo = lab
	files, err := filepath.Glob(filepath.Join(ours, "internal", "convergence", "c*[a-su-z].go"))
	require.NoError(l.t, err)
	require.GreaterOrEqual(l.t, len(files), n)
	found = nil
	for _, file := range files[:n] {
		found = append(found, l.commit("Take "+filepath.Base(file), map[string]string{filepath.Base(file): l.read(file)}))
	}
	return found
}

func (l *lab) reviewable(n int) []string {
	l.t.Helper()
	log := exec.Command("git", "log", "--no-merges", "-n", "200", "--format=%x00%H %P", "--numstat", "--no-renames")
	log.Dir = l.repo
	out, err := log.Output()
	if err != nil {
		return nil // no repository at all
	}
	var found []string
	for _, entry := range strings.Split(string(out), "\x00") {
		first, changes, _ := strings.Cut(entry, "\n")
		ids := strings.Fields(first)
		if len(found) < n && len(ids) == 2 && easy(changes) && exec.Command("git", "-C", l.repo, "cat-file", "-e", ids[1]).Run() == nil {
			found = append(found, ids[0])
		}
	}
	return found
}

// easy says that a numstat is small and of files that no person has to be asked about.
func easy(numstat string) bool {
	lines, any := 0, false
	for line := range strings.Lines(strings.TrimSpace(numstat)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return false
		}
		added, addErr := strconv.Atoi(fields[0])
		removed, removeErr := strconv.Atoi(fields[1])
		name := fields[2]
		if addErr != nil || removeErr != nil || !strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, ".md") ||
			strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, ".") {
			return false
		}
		lines, any = lines+added+removed, true
	}
	return any && lines <= 400
}
