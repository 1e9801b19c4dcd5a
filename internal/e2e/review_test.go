package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	runrecord "conclave/internal/record"
)

const (
	passes = "Read it all.\n\nVERDICT: PASS"
	blocks = objected + "\n\nVERDICT: BLOCK"
)

// newGate is a lab whose branch "feature" has one commit beyond main, checked out.
func newGate(t *testing.T, script []step) *lab {
	l := newLab(t, script)
	l.git("checkout", "-qb", "feature")
	l.commit("Add Sum\n\nIt adds the first n numbers.", map[string]string{"calc.go": flawed})
	return l
}

// commit writes files and commits them, and gives the commit's id.
func (l *lab) commit(message string, files map[string]string) string {
	l.t.Helper()
	for path, text := range files {
		l.write(path, text)
	}
	l.git("add", "-A")
	l.git("commit", "-qm", message)
	return strings.TrimSpace(l.git("rev-parse", "HEAD"))
}

// review runs `starter review --json` and returns the record that it printed and what it said.
func (l *lab) review(wantExit int, args ...string) (runrecord.Run, string) {
	l.t.Helper()
	out := l.starter(append([]string{"review", "--json", "--no-progress"}, args...)...)
	require.Equal(l.t, wantExit, out.code, out.String())
	return decodeRun(l.t, out.stdout), out.stderr
}

// turns counts the agent turns that began so far.
func (l *lab) turns() int {
	n := 0
	for _, note := range l.notes() {
		if note.What == "start" {
			n++
		}
	}
	return n
}

func TestACleanReviewExitsZeroAndIsUsedAgain(t *testing.T) {
	t.Parallel()
	l := newGate(t, []step{{Role: "review", Contains: "It adds the first n numbers.", Say: passes}})
	head, base := strings.TrimSpace(l.git("rev-parse", "feature")), strings.TrimSpace(l.git("rev-parse", "main"))
	before := l.git("for-each-ref")
	run, said := l.review(0)
	require.Equal(t, runrecord.Converged, run.Stop)
	require.Equal(t, "review", run.Kind)
	require.Equal(t, []string{base, head}, []string{run.Base, run.Head})
	require.Regexp(t, `^gate-[0-9a-f]{64}$`, run.WorkflowID)
	require.Contains(t, said, "base the default: main")
	require.Equal(t, before, l.git("for-each-ref"), "nothing is landed")
	require.Len(t, run.Changed, 1)
	for _, s := range run.Steps {
		require.NotEqual(t, "implementer", s.Role)
	}
	require.Equal(t, 1, l.turns())
	for _, name := range []string{"plan.md", "report.md", "run.json", "changes.diff", "changed-files.txt", "findings.json", "events.jsonl"} {
		require.FileExists(t, l.bundle(run.RunID, name))
	}
	checkSchema(t, l.bundle(run.RunID, "run.json"))

	again, said := l.review(0)
	require.NotEmpty(t, again.Reused)
	again.Reused = ""
	require.Equal(t, run, again)
	require.Regexp(t, `re-used verdict of \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \(run `+run.RunID, said)
	require.Equal(t, 1, l.turns(), "nobody was asked again")

	fresh, said := l.review(0, "--fresh")
	require.NotEqual(t, run.RunID, fresh.RunID)
	require.Equal(t, run.WorkflowID, fresh.WorkflowID)
	require.NotContains(t, said, "re-used")
	require.Equal(t, 2, l.turns())
}

func TestABlockingReviewExitsOneEachTime(t *testing.T) {
	t.Parallel()
	l := newGate(t, []step{{Role: "review", Say: blocks}})
	run, _ := l.review(1)
	require.Contains(t, run.Message, "blocking findings: F1")
	require.False(t, run.Converged)
	_, said := l.review(1)
	require.Contains(t, said, "re-used verdict")
	require.Equal(t, 1, l.turns())
}

// Field reports, row 11: an empty diff was "reviewed" with exit 0.
func TestAnEmptyDiffIsNoReviewAndNotExitZero(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	for name, args := range map[string][]string{
		"the branch itself": nil, "the same commit": {"--base", "main", "--head", "main"},
	} {
		run, said := l.review(6, args...)
		require.Contains(t, said, "nothing to review", name)
		require.Equal(t, runrecord.NoReview, run.Stop)
	}
	l.git("checkout", "-qb", "feature")
	l.commit("one way", map[string]string{"calc.go": flawed})
	l.git("revert", "--no-edit", "HEAD")
	_, said := l.review(6)
	require.Contains(t, said, "nothing to review", "commits that undo each other")
	_, served := l.server()
	require.False(t, served, "no server was started")
	require.Zero(t, l.turns())
	require.NoDirExists(t, filepath.Join(l.repo, ".conclave"))
}

func TestAnUnresolvedBaseIsNoReview(t *testing.T) {
	t.Parallel()
	l := newGate(t, nil)
	for _, args := range [][]string{{"--base", "nowhere"}, {"--head", "nowhere"}, {"--base", strings.Repeat("0", 40)}} {
		_, said := l.review(6, args...)
		require.Contains(t, said, "no review")
	}
	l.git("checkout", "-q", "--orphan", "island")
	l.commit("unrelated", map[string]string{"other.go": "package other\n"})
	_, said := l.review(6)
	require.Contains(t, said, "no merge base")
	l.git("branch", "-D", "main")
	_, said = l.review(6)
	require.Contains(t, said, "no base to compare with")
	_, served := l.server()
	require.False(t, served, "no server was started")
}

// Field reports, row 11: in a shallow clone the base is missing and the diff looks empty or whole.
func TestAShallowCloneIsToldToFetchMore(t *testing.T) {
	t.Parallel()
	l := newGate(t, []step{{Role: "review", Say: passes}})
	for range 3 {
		l.commit("more", map[string]string{"more.go": "package calc\n// " + l.git("rev-parse", "HEAD")})
	}
	l.git("checkout", "-q", "main") // what a clone takes for the default branch
	origin := l.repo
	clone := filepath.Join(l.dir, "clone")
	l.git("clone", "-q", "--depth", "1", "--no-single-branch", "--branch", "feature", "file://"+origin, clone)
	l.repo = clone
	_, said := l.review(6)
	require.Contains(t, said, "shallow clone")
	require.Contains(t, said, "git fetch --deepen")
	require.Contains(t, said, "git fetch --unshallow")
	l.git("fetch", "-q", "--unshallow")
	_, said = l.review(0)
	require.Contains(t, said, "origin/")
}

// Field reports, row 15: a PASS of an old commit let a new one in.
func TestAPassOfAnOldCommitSaysNothingOfANewOne(t *testing.T) {
	t.Parallel()
	l := newGate(t, []step{{Role: "review", Say: passes}})
	old, _ := l.review(0)
	l.play([]step{{Role: "review", Say: blocks}})
	l.commit("Sneak something in", map[string]string{"calc.go": mended})
	run, said := l.review(1)
	require.NotContains(t, said, "re-used")
	require.NotEqual(t, old.WorkflowID, run.WorkflowID)

	// An amended message is another commit, and another requirement, of the same tree.
	l.play([]step{{Role: "review", Say: passes}})
	l.git("reset", "-q", "--hard", old.Head)
	again, _ := l.review(0)
	require.Equal(t, old.RunID, again.RunID)
	l.git("commit", "-q", "--amend", "-m", "Add Sum, and say so differently")
	amended, said := l.review(0)
	require.NotContains(t, said, "re-used")
	require.NotEqual(t, old.WorkflowID, amended.WorkflowID)

	// A base that moved on is another change to what is there.
	l.git("checkout", "-q", "main")
	l.commit("main goes on", map[string]string{"other.go": "package calc\n"})
	l.git("checkout", "-q", "feature")
	moved, said := l.review(0)
	require.NotContains(t, said, "re-used")
	require.Contains(t, said, "merge base")
	require.Len(t, moved.Changed, 1, "what main did meanwhile is no part of the change")
}

func TestADryRunsVerdictIsNeverUsedAgain(t *testing.T) {
	t.Parallel()
	l := newGate(t, []step{{Role: "review", Say: blocks}})
	dry, _ := l.review(0, "--dry-run")
	require.True(t, dry.DryRun)
	second, said := l.review(0, "--dry-run")
	require.NotContains(t, said, "re-used")
	require.NotEqual(t, dry.RunID, second.RunID)
	_, said = l.review(1)
	require.NotContains(t, said, "re-used", "the stub's pass is not the reviewer's")
}

// What else a verdict depends on is in starter/review_test.go.
func TestAChangedLensOrRequirementReviewsAgain(t *testing.T) {
	t.Parallel()
	l := newGate(t, []step{{Role: "review", Say: passes}})
	lens := filepath.Join(l.dir, "lens.md")
	file := filepath.Join(l.dir, "config.yaml")
	require.NoError(t, os.WriteFile(lens, []byte("Look at loops.\n"), 0o600))
	require.NoError(t, os.WriteFile(file, []byte("lenses: {loops: "+lens+"}\n"), 0o600))
	plan := []string{"--config", file, "--seat", "a=codex@loops"}
	first, _ := l.review(0, plan...)
	_, said := l.review(0, plan...)
	require.Contains(t, said, "re-used")
	seen := map[string]bool{first.WorkflowID: true}
	renewed := func(args ...string) {
		t.Helper()
		run, said := l.review(0, append(append([]string{}, plan...), args...)...)
		require.NotContains(t, said, "re-used", args)
		require.False(t, seen[run.WorkflowID], args)
		seen[run.WorkflowID] = true
	}
	require.NoError(t, os.WriteFile(lens, []byte("Look at loops twice.\n"), 0o600))
	renewed()
	renewed("--requirement", "Add Sum")
}

func TestAReviewWithoutAValidAnswerIsNoReview(t *testing.T) {
	t.Parallel()
	l := newGate(t, []step{{Role: "review", Say: "Looks fine to me."}})
	run, _ := l.review(6)
	require.Equal(t, runrecord.NoReview, run.Stop)
	l.play([]step{{Role: "review", Say: passes}})
	again, said := l.review(0)
	require.NotContains(t, said, "re-used", "what was no verdict is asked anew")
	require.Equal(t, run.WorkflowID, again.WorkflowID)
	old := l.starter("resume", run.RunID)
	require.NotZero(t, old.code, "the earlier review is not taken for the newer one")
	require.Contains(t, old.stderr, again.RunID)
}

func TestAFailingVerifierEndsAReviewBeforeAnySeat(t *testing.T) {
	t.Parallel()
	l := newGate(t, []step{{Role: "review", Say: passes}})
	run, _ := l.review(4, "--verify-cmd", "grep -rq 'i <= n' .")
	require.Equal(t, runrecord.StepFailed, run.Stop)
	require.Contains(t, run.Message, "verifier does not pass")
	require.Zero(t, l.turns())
	l.review(0, "--verify-cmd", "grep -rq 'i < n' .")
}

// Field reports, row 14: the review was of the wrong work tree, or of the base.
func TestTheReviewerReadsTheNamedHeadAndNotTheWorkTree(t *testing.T) {
	t.Parallel()
	l := newGate(t, []step{{Role: "review", Shell: `test "$(git rev-parse HEAD)" = "$(cat "$HOME/head")" && grep -q 'i < n' calc.go && ! grep -q dirty calc.go && ! test -e untracked.go`, Say: passes}})
	head := strings.TrimSpace(l.git("rev-parse", "feature"))
	require.NoError(t, os.WriteFile(filepath.Join(l.dir, "home", "head"), []byte(head), 0o600))
	l.write("calc.go", "package calc // dirty\n")
	l.write("untracked.go", "package calc\n")
	run, said := l.review(0)
	require.Equal(t, head, run.Head)
	require.Contains(t, said, "2 uncommitted path(s) are no part of the review")

	linked := filepath.Join(l.dir, "linked")
	l.git("worktree", "add", "-q", linked, "main")
	mkdir(t, filepath.Join(linked, "deep"))
	l.repo = linked
	run, _ = l.review(0, "--workdir", "deep", "--head", "feature", "--fresh")
	require.Equal(t, head, run.Head, "from a linked work tree that stands on the base")
}

func TestInvalidSettingsOfAReviewExitTwo(t *testing.T) {
	t.Parallel()
	l := newGate(t, nil)
	for _, args := range [][]string{
		{"--quorum", "9"}, {"--implementer", "claude"}, {"--max-iters", "2"}, {"--preset", "nothing"}, {"--requirement", ""},
		{"--requirement", "@/nonexistent"}, {"--constraint", "/nonexistent"}, {"--reviewer", "nobody"}, {"a-word"}, {"--preset", "panel"},
	} {
		out := l.starter(append([]string{"review"}, args...)...)
		require.Equal(t, 2, out.code, "%q\n%s", args, out)
		require.NotEmpty(t, out.stderr)
	}
	l.repo = mkdir(t, filepath.Join(l.dir, "plain"))
	require.Equal(t, 2, l.starter("review").code, "a folder that is no repository")
}

// Three real commits of this repository, each reviewed by itself.
func TestThreeRealCommitsAreReviewed(t *testing.T) {
	t.Parallel()
	l := newLab(t, []step{{Role: "review", Review: object{}}})
	commits := l.realCommits(3)
	for _, commit := range commits {
		run, _ := l.review(0, "--base", commit+"~1", "--head", commit, "--reviewers", "codex,claude", "--seat-concurrency", "2")
		require.Equal(t, runrecord.Converged, run.Stop, run.Message)
		require.NotEmpty(t, run.Changed)
		var names []string
		for _, c := range run.Changed {
			names = append(names, c.Path)
		}
		require.ElementsMatch(t, strings.Fields(l.git("diff", "--no-renames", "--name-only", commit+"~1", commit)), names)
		for _, s := range run.Steps {
			if s.Role == "reviewer" {
				require.Equal(t, "pass", s.Verdict)
			}
		}
		raw, err := json.Marshal(run)
		require.NoError(t, err)
		require.Less(t, len(raw), 1<<20)
	}
	require.Equal(t, 6, l.turns())
}

// What a writer leaves in files that git ignores decides nothing at the gate: it checks the commits out anew.
func TestAReviewVerifiesNothingButCommits(t *testing.T) {
	t.Parallel()
	l := newGate(t, []step{{Role: "review", Say: passes}})
	l.commit("Ignore caches", map[string]string{".gitignore": "cache/\n"})
	l.write("cache/verdict", "green\n")
	run, _ := l.review(4, "--verify-cmd", "grep -q green cache/verdict", "--allow-protected")
	require.Equal(t, "fail", run.Steps[0].Verdict)
	require.Zero(t, l.turns(), "no seat is asked")
	l.review(0, "--verify-cmd", "! grep -q green cache/verdict", "--allow-protected")
}
