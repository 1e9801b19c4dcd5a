package prompt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTheSumOfThePartsIsTheDiff(t *testing.T) {
	line := rapid.SampledFrom([]string{
		"diff --git a/x b/x\n", "diff --git a/y b/z\n", "rename from y\n", "rename to z\n", "--- a/x\n", "+++ b/x\n", "--- /dev/null\n", "@@ -1 +1 @@\n",
		"+diff --git a/no b/no\n", " diff --git a/no b/no\n", "-old\n", "+\r\n", "\\ No newline at end of file\n", "GIT binary patch\n", "zcmV\n", "\n", "+\xff\x00", "diff --git ",
		"+" + strings.Repeat("long", 40_000) + "\n",
	})
	rapid.Check(t, func(t *rapid.T) {
		diff := []byte(strings.Join(rapid.SliceOfN(line, 0, 40).Draw(t, "lines"), ""))
		m, err := ReadManifest(iotest.HalfReader(bytes.NewReader(diff)))
		require.NoError(t, err)
		pieces, err := m.Split(diff)
		require.NoError(t, err)
		require.Equal(t, string(diff), string(bytes.Join(pieces, nil)))
		lines, size, next := 0, int64(0), 1
		for i, p := range m.Parts {
			require.Equal(t, next, p.FirstLine)
			require.Equal(t, size, p.Offset)
			require.Equal(t, len(bytes.SplitAfter(pieces[i], []byte("\n")))-b2i(bytes.HasSuffix(pieces[i], []byte("\n"))), p.Lines)
			lines, size, next = lines+p.Lines, size+p.Bytes, next+p.Lines
			require.NotZero(t, p.Bytes)
		}
		require.Equal(t, m.Lines, lines)
		require.Equal(t, int64(len(diff)), size)
		require.Equal(t, m.Bytes, size)
	})
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestAManifestOfWhatGitPrints(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) []byte {
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.Output()
		require.NoError(t, err, "git %v", args)
		return out
	}
	write := func(name, content string) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	git("init", "-q")
	write("text.txt", "a\nb\nc\n")
	write("gone.txt", "one\ntwo\n")
	write("old name.txt", strings.Repeat("the same line\n", 20))
	write("mode.sh", "#!/bin/sh\n")
	write("image.bin", "\x00\x01")
	git("add", "-A")
	git("commit", "-q", "-m", "base")

	write("text.txt", "a\nB\nc\n++ d\n-- e\n")
	require.NoError(t, os.Remove(filepath.Join(dir, "gone.txt")))
	require.NoError(t, os.Rename(filepath.Join(dir, "old name.txt"), filepath.Join(dir, "new name.txt")))
	require.NoError(t, os.Chmod(filepath.Join(dir, "mode.sh"), 0o755))
	write("image.bin", strings.Repeat("\x00\x02\xff", 300))
	write("empty", "")
	write("üni\t\"quoted\".txt", "diff --git a/trap b/trap\n")
	write("with blank b/with blank", "x\n")
	git("add", "-A")
	diff := git("diff", "--cached", "-p", "--binary", "--full-index", "-M", "--src-prefix=a/", "--dst-prefix=b/")

	m, err := ReadManifest(bytes.NewReader(diff))
	require.NoError(t, err)
	got := map[string]string{}
	for _, p := range m.Parts {
		got[p.Path] = fmt.Sprintf("%s +%d -%d %s", p.Kind, p.Added, p.Removed, p.OldPath)
	}
	require.Equal(t, map[string]string{
		"text.txt":                "text +3 -1 ",
		"gone.txt":                "text +0 -2 ",
		"new name.txt":            "bare +0 -0 old name.txt",
		"mode.sh":                 "bare +0 -0 ",
		"image.bin":               "binary +0 -0 ",
		"empty":                   "bare +0 -0 ",
		"üni\t\"quoted\".txt":     "text +1 -0 ",
		"with blank b/with blank": "text +1 -0 ",
	}, got)
	require.Equal(t, bytes.Count(diff, []byte("\n")), m.Lines)
}

func TestAReaderThatFailsGivesNoManifest(t *testing.T) {
	m, err := ReadManifest(io.MultiReader(strings.NewReader("diff --git a/x b/x\n"), iotest.ErrReader(errors.New("gone"))))
	require.ErrorContains(t, err, "gone")
	require.Empty(t, m)
}

// longChange is a change of three files, one of them generated and one without a part.
func longChange() Review {
	r := full()
	var b strings.Builder
	for i, path := range []string{"a.go", "gen.pb.go", "c d.go"} {
		fmt.Fprintf(&b, "diff --git a/%[1]s b/%[1]s\n--- a/%[1]s\n+++ b/%[1]s\n@@ -0,0 +1,300 @@\n", path)
		b.WriteString(strings.Repeat(fmt.Sprintf("+line of file %d\n", i), 300))
	}
	r.Diff = []byte(b.String())
	r.ChangedFiles = []string{"a.go", "gen.pb.go", "c d.go", "sub"}
	r.Generated = []string{"gen.pb.go"}
	return r
}

const wantManifest = `part 1: lines 1-304 (304), text +300 -0, "a.go"
part 2: lines 305-608 (304), text +300 -0, generated, "gen.pb.go"
part 3: lines 609-912 (304), text +300 -0, "c d.go"
no part: "sub"
`

func TestALongDiffIsShownFileByFileAndWhole(t *testing.T) {
	r := longChange()
	got, err := RenderReview(r)
	p := text(t, got, err)
	require.Contains(t, p, wantManifest)
	require.Contains(t, p, fmt.Sprintf("(912 lines, %d bytes)", len(r.Diff)))
	require.Contains(t, p, "Its 3 parts leave nothing out")
	var shown strings.Builder
	fences, _ := marked(p)
	for _, f := range fences {
		if strings.HasPrefix(f.label, "untrusted diff part ") {
			shown.WriteString(f.text)
		}
	}
	require.Equal(t, string(r.Diff), shown.String())

	r.Diff = r.Diff[:len(r.Diff)/3]
	got, err = RenderReview(r)
	require.NotContains(t, text(t, got, err), "diff part", "a short diff stays in one piece")
}

func TestADiffInAFileIsAccountedFor(t *testing.T) {
	r := longChange()
	m, err := ReadManifest(bytes.NewReader(r.Diff))
	require.NoError(t, err)
	size := len(r.Diff)
	r.Diff, r.DiffFile, r.Manifest = nil, "CONCLAVE_REVIEW.diff", &m
	got, err := RenderReview(r)
	p := text(t, got, err)
	require.Contains(t, p, fmt.Sprintf("`CONCLAVE_REVIEW.diff` (912 lines, %d bytes)", size))
	require.Contains(t, p, wantManifest)
	require.NotContains(t, p, "+line of file")
}

func TestAForeignManifestIsRefused(t *testing.T) {
	r := longChange()
	m, err := ReadManifest(strings.NewReader("diff --git a/x b/x\n"))
	require.NoError(t, err)
	r.Manifest = &m
	_, err = RenderReview(r)
	require.ErrorContains(t, err, "another diff")
	_, err = m.Split(r.Diff)
	require.ErrorContains(t, err, "accounts for")
}
