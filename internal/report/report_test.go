package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"conclave/internal/artifact"
	"conclave/internal/record"
)

func below(runID string) string { return filepath.Join(".conclave", "runs", runID) }

func writeRun(t *testing.T, root string, s shelf, run record.Run) {
	t.Helper()
	events := []json.RawMessage{json.RawMessage("{\"type\": \"node-dispatched\",\n \"payload\": {}}"), json.RawMessage(`{"type":"x"}`)}
	require.NoError(t, Write(t.Context(), filepath.Join(root, below(run.RunID)), record.Status{Run: run, Events: events}, s.get, []byte("Add a cache\nwith two lines")))
}

func bundleFile(t *testing.T, root string, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, below("add-cache-k3f9q"), filepath.FromSlash(name)))
	require.NoError(t, err)
	return string(content)
}

func TestBundleHoldsEverything(t *testing.T) {
	root, s := t.TempDir(), shelf{}
	run := twoIterations(s)
	run.Steps[4].Artifacts["attempt-2/result.md"] = s.put("second try")
	writeRun(t, root, s, run)

	ignore, err := os.ReadFile(filepath.Join(root, ".conclave", ".gitignore"))
	require.NoError(t, err)
	require.Equal(t, "*\n", string(ignore))
	require.Equal(t, "{\"type\":\"node-dispatched\",\"payload\":{}}\n{\"type\":\"x\"}\n", bundleFile(t, root, "events.jsonl"))
	require.Equal(t, "diff --git a/cache.go b/cache.go\n", bundleFile(t, root, "changes.diff"))
	require.Equal(t, "# Contract\n", bundleFile(t, root, "design-contract.md"))
	require.Equal(t, "added\t30\t0\tcache.go\nmodified\t1\t2\t\"a\\tb\\n# forged.go\"\nadded\t-\t-\tlogo.png\n", bundleFile(t, root, "changed-files.txt"))
	require.Equal(t, blockText, bundleFile(t, root, "agents/03-reviewer-codex/result.md"))
	require.Equal(t, "go test ./...", bundleFile(t, root, "agents/02-verifier/command.txt"))
	require.Equal(t, "second try", bundleFile(t, root, "agents/05-implementer-claude/attempt-2/result.md"))
	require.Contains(t, bundleFile(t, root, "plan.md"), "Add a cache\nwith two lines")
	require.JSONEq(t, "[]", bundleFile(t, root, "rulings.json"))

	var got record.Run
	require.NoError(t, json.Unmarshal([]byte(bundleFile(t, root, "run.json")), &got))
	require.Equal(t, "Add a cache\nwith two lines", got.Requirement)
	require.Equal(t, run.Steps, got.Steps)
	require.NotContains(t, bundleFile(t, root, "run.json"), `"history": null`)
}

// Everything is written again only where it differs.
func TestUnchangedFilesAreNotRewritten(t *testing.T) {
	root, s := t.TempDir(), shelf{}
	run := twoIterations(s)
	writeRun(t, root, s, run)
	before := inodes(t, root)
	writeRun(t, root, shelf{}, run) // an empty store: nothing needs to be fetched again
	require.Equal(t, before, inodes(t, root))

	require.NoError(t, os.WriteFile(filepath.Join(root, below(run.RunID), "agents/03-reviewer-codex/result.md"), []byte(strings.Repeat("x", len(blockText))), 0o644))
	run.TotalMS += 1000
	writeRun(t, root, s, run)
	require.Equal(t, blockText, bundleFile(t, root, "agents/03-reviewer-codex/result.md"))
	after := inodes(t, root)
	for _, name := range []string{"run.json", "report.md"} {
		require.NotEqual(t, before[name], after[name], name)
	}
	require.Equal(t, before["events.jsonl"], after["events.jsonl"])
}

// inodes maps every file below the bundle to its identity.
func inodes(t *testing.T, root string) map[string]string {
	t.Helper()
	found := map[string]string{}
	base := filepath.Join(root, below("add-cache-k3f9q"))
	require.NoError(t, filepath.WalkDir(base, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		name, _ := filepath.Rel(base, path)
		found[name] = info.ModTime().Format(time.RFC3339Nano)
		require.NotContains(t, name, tempPrefix)
		return err
	}))
	return found
}

func TestMissingArtifactBecomesANote(t *testing.T) {
	root, s := t.TempDir(), shelf{}
	run := twoIterations(s)
	gone := run.Steps[2].Artifacts["result.md"]
	damaged := run.Steps[3].Artifacts["result.md"]
	delete(s, gone)
	s[damaged] = []byte("other bytes")
	writeRun(t, root, s, run)
	report := bundleFile(t, root, "report.md")
	require.Contains(t, report, "agents/03-reviewer-codex/result.md is missing in this bundle: the store does not have it")
	require.Contains(t, report, "agents/04-reviewer-claude/result.md is missing in this bundle: its content does not have its digest")
	require.NoFileExists(t, filepath.Join(root, below(run.RunID), "agents/04-reviewer-claude/result.md"))
	require.Contains(t, bundleFile(t, root, "run.json"), gone.Digest)
}

func TestAFailingStoreIsAnErrorAfterTheRest(t *testing.T) {
	root, s := t.TempDir(), shelf{}
	run := twoIterations(s)
	bad := run.Steps[2].Artifacts["result.md"]
	get := func(ctx context.Context, ref artifact.Ref) ([]byte, error) {
		if ref == bad {
			return nil, errors.New("connection refused")
		}
		return s.get(ctx, ref)
	}
	err := Write(t.Context(), filepath.Join(root, below(run.RunID)), record.Status{Run: run}, get, nil)
	require.ErrorContains(t, err, "connection refused")
	require.Contains(t, bundleFile(t, root, "report.md"), "connection refused")
	require.Equal(t, "Good.\nVERDICT: PASS\n", bundleFile(t, root, "agents/07-reviewer-codex/result.md"))
}

func TestAnEndedContextEndsTheWork(t *testing.T) {
	s := shelf{}
	ctx, cancel := context.WithCancel(t.Context())
	get := func(context.Context, artifact.Ref) ([]byte, error) { cancel(); return nil, ctx.Err() }
	require.ErrorIs(t, Write(ctx, filepath.Join(t.TempDir(), below("add-cache-k3f9q")), record.Status{Run: twoIterations(s)}, get, nil), context.Canceled)
}

func TestNamesStayInTheBundle(t *testing.T) {
	root, s := t.TempDir(), shelf{}
	run := twoIterations(s)
	evil := s.put("evil")
	for _, name := range []string{"../../report.md", "/etc/x", "a/b/c", "..", "a/../../b", `a\b`, ""} {
		run.Steps[0].Artifacts[name] = evil
	}
	run.Artifacts["run.json"], run.Artifacts["agents"], run.Artifacts["../x"] = evil, evil, evil
	run.Steps[1].Role = "../../outside"
	writeRun(t, root, s, run)
	report := bundleFile(t, root, "report.md")
	require.Equal(t, 11, strings.Count(report, "its name is not allowed"))
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			content, _ := os.ReadFile(path)
			require.NotEqual(t, "evil", string(content), path)
		}
		return err
	}))
	other := run
	other.RunID = "other-run"
	require.ErrorContains(t, Write(t.Context(), filepath.Join(root, below(run.RunID)), record.Status{Run: other}, s.get, nil), "is not a folder")
	run.RunID = "../x"
	require.ErrorContains(t, Write(t.Context(), filepath.Join(root, below(run.RunID)), record.Status{Run: run}, s.get, nil), "is no file name")
}

// A repository can hold a link where the bundle should go.
func TestALinkOutOfTheRepositoryIsRefused(t *testing.T) {
	root, outside, s := t.TempDir(), t.TempDir(), shelf{}
	require.NoError(t, os.Symlink(outside, filepath.Join(root, ".conclave")))
	require.Error(t, Write(t.Context(), filepath.Join(root, below("add-cache-k3f9q")), record.Status{Run: twoIterations(s)}, s.get, nil))
	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestAnUnwritableFolderIsNamed(t *testing.T) {
	root, s := t.TempDir(), shelf{}
	require.NoError(t, os.WriteFile(filepath.Join(root, ".conclave"), nil, 0o644))
	require.ErrorContains(t, Write(t.Context(), filepath.Join(root, below("add-cache-k3f9q")), record.Status{Run: twoIterations(s)}, s.get, nil), ".conclave")
}

// A write that fails half way leaves the old file and no temporary one.
func TestAFailedWriteLeavesTheOldContent(t *testing.T) {
	root := t.TempDir()
	out, err := openFolder(root, runs+"/r")
	require.NoError(t, err)
	defer out.close()
	require.NoError(t, out.write("a.txt", []byte("old")))
	full := errors.New("no space left on device")
	err = out.fill("a.txt", func(w io.Writer) error {
		_, _ = w.Write([]byte("half"))
		return full
	})
	require.ErrorIs(t, err, full)
	entries, err := os.ReadDir(filepath.Join(root, below("r")))
	require.NoError(t, err)
	require.Len(t, entries, 1)
	content, err := os.ReadFile(filepath.Join(root, below("r"), "a.txt"))
	require.NoError(t, err)
	require.Equal(t, "old", string(content))
}

func TestOldTemporaryFilesAreSwept(t *testing.T) {
	root := t.TempDir()
	out, err := openFolder(root, runs+"/r")
	require.NoError(t, err)
	defer out.close()
	require.NoError(t, out.write("agents/"+tempPrefix+"x", []byte("left by a killed process")))
	require.NoError(t, out.write(tempPrefix+"y", []byte("left by a killed process")))
	out.sweep(time.Now())
	require.FileExists(t, filepath.Join(root, below("r"), tempPrefix+"y"))
	out.sweep(time.Now().Add(2 * tempAge))
	require.NoFileExists(t, filepath.Join(root, below("r"), tempPrefix+"y"))
	require.NoFileExists(t, filepath.Join(root, below("r"), "agents", tempPrefix+"x"))
}

func TestLargeArtifactsAreStreamed(t *testing.T) {
	root, s := t.TempDir(), shelf{}
	run := twoIterations(s)
	noGet := func(context.Context, artifact.Ref) ([]byte, error) { return nil, errors.New("not asked") }
	copied := 0
	stream := func(_ context.Context, ref artifact.Ref, w io.Writer) error {
		copied++
		_, err := io.Copy(w, bytes.NewReader(s[ref]))
		return err
	}
	require.NoError(t, Write(t.Context(), filepath.Join(root, below(run.RunID)), record.Status{Run: run}, noGet, nil, WithCopy(stream)))
	require.Positive(t, copied)
	require.Equal(t, blockText, bundleFile(t, root, "agents/03-reviewer-codex/result.md"))
}
