package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	runrecord "conclave/internal/record"
)

// token is one of a known shape, which no file of ours holds.
func token() string {
	const set = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz23456789"
	b := []byte("ghp_")
	for range 36 {
		b = append(b, set[rand.IntN(len(set))])
	}
	return string(b)
}

// shown names the files below some folders that hold a text. The run's own repositories hold the writer's work.
func shown(t *testing.T, text string, dirs ...string) []string {
	t.Helper()
	var found []string
	for _, dir := range dirs {
		require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || entry.IsDir() {
				if entry != nil && (entry.Name() == "repo.git" || entry.Name() == ".git") {
					return fs.SkipDir
				}
				return err
			}
			content, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				return nil // the server's, which runs on
			}
			if bytes.Contains(content, []byte(text)) {
				found = append(found, path)
			}
			return err
		}))
	}
	return found
}

// The writer puts a key into the change and tells everybody: the gate closes, the repair takes it out, and neither the
// record, nor the report, nor a prompt, nor the server's database ever holds it.
func TestASecretOfTheWritersIsFoundAndNeverShown(t *testing.T) {
	for _, discipline := range []string{"basic", "full"} {
		t.Run(discipline, func(t *testing.T) {
			t.Parallel()
			key := token()
			l := newLab(t, []step{
				{Role: "implement", Write: map[string]string{"calc.go": mended, "deploy.env": "NAME=x\nGH=" + key + "\n"}, Say: "I put " + key + " into deploy.env.", Stderr: "warning: " + key + "\n"},
				{Role: "repair", Contains: "deploy.env:2: GitHub token (github-token), ghp_...", Delete: []string{"deploy.env"}, Say: "Gone: " + key},
				{Role: "review", Say: "Nothing left to object to.\n\nVERDICT: PASS", Review: map[string]object{"full": clean()}[discipline]},
			})
			args := map[string][]string{"full": l.fullArgs()}[discipline]
			run := l.run(0, append(args, "--verify-cmd", "cat *.env 2>/dev/null; true", "Add Sum")...)
			require.Equal(t, runrecord.Converged, run.Stop, run.Message)
			require.Equal(t, 2, run.Iterations)
			require.Len(t, run.Findings, 1)
			f := run.Findings[0]
			require.Equal(t, "S1 high addressed conclave", fmt.Sprintf("%s %s %s %s", f.ID, f.Severity, f.Disposition, strings.Join(f.RaisedBy, ",")))
			require.Equal(t, "deploy.env", f.Evidence[0].Path)
			require.Equal(t, 2, f.Evidence[0].Line)
			checkSchema(t, l.bundle(run.RunID, "run.json"))
			report, err := os.ReadFile(l.bundle(run.RunID, "report.md"))
			require.NoError(t, err)
			require.Contains(t, string(report), "GitHub token")
			require.Empty(t, shown(t, key[4:], filepath.Dir(l.bundle(run.RunID, "report.md")), l.state))
			require.NotContains(t, l.git("show", "conclave/"+run.RunID), key, "the branch is one commit on the base")
		})
	}
}

// A person who writes a key into the requirement has it in the store, for the requirement is theirs, and nowhere else: not
// in the prompt, the record, the list of runs, the commit, nor the server's database.
func TestASecretOfTheRequirementIsNotShown(t *testing.T) {
	t.Parallel()
	key := token()
	l := newLab(t, []step{
		{Role: "implement", Write: map[string]string{"calc.go": mended}, Say: "Done."}, {Role: "review", Say: passes},
	})
	run := l.run(0, "Call it with "+key+" and add Sum")
	require.Equal(t, "Call it with [redacted:github-token] and add Sum", run.Requirement)
	require.Contains(t, l.git("log", "-1", "--format=%s", "conclave/"+run.RunID), "[redacted:github-token]")
	for _, shows := range []done{l.starter("show", run.RunID, "--json"), l.starter("show", run.RunID), l.starter("runs"), l.starter("show", run.RunID, "--diff")} {
		require.Equal(t, 0, shows.code, shows.String())
		require.NotContains(t, strings.ToLower(shows.String()), strings.ToLower(key[4:]))
	}
	require.Len(t, shown(t, key[4:], l.bundle(run.RunID), l.state), 1, "the requirement in the store")
	require.NotContains(t, run.RunID, strings.ToLower(key[4:12]))
}

func TestAReviewFindsASecretWithoutAModel(t *testing.T) {
	t.Parallel()
	key := token()
	l := newGate(t, []step{{Role: "review", Say: passes}})
	l.commit("Deploy", map[string]string{"deploy.env": "GH=" + key + "\n"})
	run, _ := l.review(1)
	require.Equal(t, runrecord.MaxIters, run.Stop, run.Message)
	require.Contains(t, run.Message, "blocking findings: S1 (high) the change brings in a secret: GitHub token, deploy.env:1")
	require.Empty(t, shown(t, key[4:], filepath.Dir(l.bundle(run.RunID, "report.md")), l.state))

	// A person allows it, in the configuration that the change does not reach.
	allowed := l.starter("review", "--json", "--no-progress", "--config", l.config("review: {allow_secrets: [\"deploy.env\"]}\n"))
	require.Equal(t, 0, allowed.code, allowed.String())
}

// config writes a configuration file outside of the repository.
func (l *lab) config(text string) string {
	path := filepath.Join(l.dir, "conclave.yaml")
	require.NoError(l.t, os.WriteFile(path, []byte(text), 0o600))
	return path
}
