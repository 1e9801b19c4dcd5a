package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	runrecord "conclave/internal/record"
)

const goTest = "test -f calc.go && touch coverage.xml && grep -q 'func Sum' calc.go"

func TestADryRunNeedsNoAgentAndNoNetwork(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	l.env = append(l.env, "CONCLAVE_CLAUDE_BIN=/nonexistent", "CONCLAVE_CODEX_BIN=/nonexistent")
	run := l.run(0, "--dry-run", "--preset", "dual-review", "Add a sum")
	require.Equal(t, runrecord.Converged, run.Stop)
	require.Equal(t, 1, run.Iterations)
	require.True(t, run.DryRun)
	require.Len(t, run.Steps, 4)
	require.Equal(t, "codex", run.Steps[2].Adapter)
	require.Equal(t, "claude", run.Steps[3].Adapter)
	l.checkBundle(run)
	require.Empty(t, l.notes(), "no scripted agent was started")
}

// checkBundle looks at what every ended run must have left.
func (l *lab) checkBundle(run runrecord.Run) {
	l.t.Helper()
	for _, name := range []string{"plan.md", "report.md", "run.json", "changes.diff", "changed-files.txt", "findings.json", "rulings.json", "events.jsonl"} {
		require.FileExists(l.t, l.bundle(run.RunID, name))
	}
	require.Equal(l.t, "*", strings.TrimSpace(l.read(filepath.Join(l.repo, ".conclave", ".gitignore"))))
	checkSchema(l.t, l.bundle(run.RunID, "run.json"))
	stored := decodeRun(l.t, l.read(l.bundle(run.RunID, "run.json")))
	require.Equal(l.t, run, stored, "--json prints what the bundle holds")
	l.checkEvents(run, []byte(l.read(l.bundle(run.RunID, "definition.json"))))
	require.Empty(l.t, strings.TrimSpace(l.git("status", "--porcelain")), "the user's tree is as it was")
	left, _ := filepath.Glob(filepath.Join(l.state, "runs", run.RunID, "work", "*"))
	require.Empty(l.t, left, "workspaces of an ended run are removed")
}

// checkSchema holds a real record against docs/run.schema.json.
func checkSchema(t *testing.T, path string) {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile("../../docs/run.schema.json")
	require.NoError(t, err)
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	document, err := jsonschema.UnmarshalJSON(file)
	require.NoError(t, err)
	require.NoError(t, schema.Validate(document))
}

func TestTwoIterations(t *testing.T) {
	t.Parallel()
	l := newLab(t, together(twoIterations()))
	before := l.git("for-each-ref")
	run := l.run(0, "--preset", "dual-review", "--verify-cmd", goTest, "Add Sum")
	l.checkTwoIterations(run)
	require.NotContains(t, l.git("ls-tree", "-r", "--name-only", "conclave/"+run.RunID), "coverage.xml")
	l.git("update-ref", "-d", "refs/heads/conclave/"+run.RunID)
	require.Equal(t, before, l.git("for-each-ref"), "one branch was added and nothing else")
}

// checkTwoIterations: a flawed draft, two blocks, a repair that was told why, two passes.
func (l *lab) checkTwoIterations(run runrecord.Run) {
	l.t.Helper()
	require.Equal(l.t, runrecord.Converged, run.Stop)
	require.Equal(l.t, 2, run.Iterations)
	require.Len(l.t, run.Steps, 8)
	l.checkBundle(run)

	prompt := l.newest(l.bundle(run.RunID, "agents", "05-implementer-claude"), "prompt.md")
	require.Contains(l.t, prompt, objected)
	require.Contains(l.t, prompt, "Claude agrees")
	for _, folder := range []string{"03-reviewer-codex", "04-reviewer-claude", "07-reviewer-codex", "08-reviewer-claude"} {
		dir := l.bundle(run.RunID, "agents", folder)
		for _, name := range []string{"prompt.md", "transcript.jsonl", "events.jsonl", "result.md"} {
			require.FileExists(l.t, filepath.Join(dir, name))
		}
		require.NotContains(l.t, l.read(filepath.Join(dir, "prompt.md")), "Sum is there.", "the writer's words never reach a reviewer")
	}
	require.Equal(l.t, []string{"block", "block", "pass", "pass"}, []string{
		run.Steps[2].Verdict, run.Steps[3].Verdict, run.Steps[6].Verdict, run.Steps[7].Verdict,
	})
	l.checkOverlap(run)
	require.Equal(l.t, "calc.go\n", l.git("diff", "--name-only", "main", "conclave/"+run.RunID))
	require.Equal(l.t, mended, l.git("show", "conclave/"+run.RunID+":calc.go"))
	require.Contains(l.t, l.read(l.bundle(run.RunID, "report.md")), "converged")
	for _, s := range run.Steps {
		if s.Role == "reviewer" || s.Role == "implementer" {
			require.NotNil(l.t, s.Identity.Reported, s.ID)
			require.NotNil(l.t, s.Usage, s.ID)
		}
	}
}

// newest is a file of a step's last attempt.
func (l *lab) newest(dir, name string) string {
	l.t.Helper()
	later, err := filepath.Glob(filepath.Join(dir, "attempt-*", name))
	require.NoError(l.t, err)
	if len(later) > 0 {
		return l.read(later[len(later)-1])
	}
	return l.read(filepath.Join(dir, name))
}

// checkOverlap: the two seats of an iteration were at work at the same time.
func (l *lab) checkOverlap(run runrecord.Run) {
	l.t.Helper()
	began, ended := map[string]int64{}, map[string]int64{}
	for _, n := range l.notes() {
		if n.Role != "review" || n.Run != run.RunID {
			continue
		}
		key := n.Round + n.Seat
		if n.What == "start" {
			began[key] = n.At
		} else {
			ended[key] = n.At
		}
	}
	for _, round := range []string{"0", "1"} {
		a, b := round+"codex", round+"claude"
		require.Less(l.t, began[a], ended[b])
		require.Less(l.t, began[b], ended[a])
	}
}

func TestOneIterationIsASinglePass(t *testing.T) {
	t.Parallel()
	l := newLab(t, twoIterations())
	run := l.run(1, "--preset", "dual-review", "--max-iters", "1", "Add Sum")
	require.Equal(t, runrecord.MaxIters, run.Stop)
	require.False(t, run.Converged)
	require.Equal(t, 1, run.Iterations)
	l.checkBundle(run)
	require.Contains(t, l.git("log", "-1", "--format=%B", "conclave/"+run.RunID), "not converged")
}

func TestARepairThatChangesNothingIsStalled(t *testing.T) {
	t.Parallel()
	script := twoIterations()
	script[1].Write = map[string]string{"calc.go": flawed}
	l := newLab(t, script)
	run := l.run(1, "--preset", "dual-review", "Add Sum")
	require.Equal(t, runrecord.Stalled, run.Stop)
	l.checkBundle(run)
}

func TestAFailingImplementerEndsTheRun(t *testing.T) {
	t.Parallel()
	l := newLab(t, []step{{Role: "implement", Silent: true, Stderr: "license server is on fire\n", Exit: 3}})
	run := l.run(4, "--preset", "dual-review", "Add Sum")
	require.Equal(t, runrecord.StepFailed, run.Stop)
	require.Contains(t, l.read(l.bundle(run.RunID, "report.md")), "license server is on fire")
	l.checkBundle(run)
}

func TestAnImplementerThatChangesNothingIsNoSuccess(t *testing.T) {
	t.Parallel()
	l := newLab(t, []step{{Role: "implement", Say: "All done!"}})
	run := l.run(4, "--preset", "dual-review", "Add Sum")
	require.Equal(t, runrecord.StepFailed, run.Stop)
	require.Contains(t, run.Message, "changed nothing")
}

func TestAVerifierThatFailsIsFedBack(t *testing.T) {
	t.Parallel()
	l := newLab(t, []step{
		{Role: "implement", Write: map[string]string{"calc.go": "package calc\n"}, Shell: "echo x > new.go", Say: "drafted"},
		{Role: "repair", Contains: "TestSum is unhappy", Write: map[string]string{"calc.go": mended}, Say: "mended"},
		{Role: "review", Say: "fine\n\nVERDICT: PASS"},
	})
	run := l.run(0, "--preset", "dual-review", "--verify-cmd", "grep -q Sum calc.go || { echo '--- FAIL: TestSum is unhappy'; exit 1; }", "Add Sum")
	require.Equal(t, 2, run.Iterations)
	require.Equal(t, []string{"implement", "verify", "repair", "verify", "review", "review"}, turns(run))
	require.Equal(t, "fail", run.Steps[1].Verdict)
	l.checkBundle(run)
}

func turns(run runrecord.Run) []string {
	var out []string
	for _, s := range run.Steps {
		out = append(out, s.Turn)
	}
	return out
}

func TestReviewAlwaysFeedsBothBack(t *testing.T) {
	t.Parallel()
	l := newLab(t, []step{
		{Role: "implement", Write: map[string]string{"calc.go": flawed}, Say: "drafted"},
		{Role: "repair", Contains: objected, Write: map[string]string{"calc.go": mended}, Say: "mended"},
		{Role: "review", Round: "0", Say: objected + "\n\nVERDICT: BLOCK"},
		{Role: "review", Say: "fine\n\nVERDICT: PASS"},
	})
	run := l.run(0, "--preset", "dual-review", "--review", "always", "--verify-cmd", "grep -q 'i <= n' calc.go || { echo '--- FAIL: TestBounds'; exit 1; }", "Add Sum")
	require.Equal(t, []string{"implement", "verify", "review", "review", "repair", "verify", "review", "review"}, turns(run))
	require.Contains(t, l.read(l.bundle(run.RunID, "agents", "05-implementer-claude", "prompt.md")), "TestBounds")
	l.checkBundle(run)
}

func TestTheDesignContractIsGivenToAll(t *testing.T) {
	t.Parallel()
	script := append([]step{{Role: "design", Say: "# Contract\n\n1. Sum(3) is 6."}}, twoIterations()...)
	l := newLab(t, script)
	run := l.run(0, "--preset", "dual-review", "--design", "--verify-cmd", `grep -q 'Sum(3) is 6' "$CONCLAVE_DESIGN_CONTRACT"`, "Add Sum")
	require.Equal(t, "designer", run.Steps[0].Role)
	require.Contains(t, l.read(l.bundle(run.RunID, "design-contract.md")), "Sum(3) is 6.")
	for _, s := range run.Steps[1:] {
		if s.Role != "verifier" {
			require.Contains(t, l.read(l.bundle(run.RunID, "agents", s.Folder(), "prompt.md")), "Sum(3) is 6.", s.ID)
		}
	}
	require.Equal(t, "calc.go\n", l.git("diff", "--name-only", "main", "conclave/"+run.RunID))
	l.checkBundle(run)
}

func TestAReviewerWithoutAVerdictIsAskedOnceAndIsNoPass(t *testing.T) {
	t.Parallel()
	l := newLab(t, []step{
		{Role: "implement", Write: map[string]string{"calc.go": mended}, Say: "drafted"},
		{Role: "review", As: "codex", Say: "Looks great, ship it!"},
		{Role: "review", Say: "fine\n\nVERDICT: PASS"},
	})
	run := l.run(4, "--preset", "dual-review", "Add Sum")
	require.Equal(t, runrecord.StepFailed, run.Stop)
	require.Equal(t, []string{"implement", "verify", "review", "review", "review"}, turns(run))
	require.Equal(t, runrecord.Invalid, run.Steps[4].Status)
	require.Contains(t, l.read(l.bundle(run.RunID, "agents", "05-reviewer-codex", "prompt.md")), "could not be used")
	l.checkBundle(run)
}

func TestAReviewerThatEditsIsNotBelieved(t *testing.T) {
	t.Parallel()
	l := newLab(t, []step{
		{Role: "implement", Write: map[string]string{"calc.go": mended}, Say: "drafted"},
		{Role: "review", As: "codex", Write: map[string]string{"calc.go": "package gone\n"}, Say: "fixed it for you\n\nVERDICT: PASS"},
		{Role: "review", Say: "fine\n\nVERDICT: PASS"},
	})
	run := l.run(4, "--preset", "dual-review", "Add Sum")
	require.Equal(t, []string{"implement", "verify", "review", "review", "review"}, turns(run), "asked once more, as the cap permits")
	for _, i := range []int{2, 4} {
		require.Equal(t, "codex", run.Steps[i].Adapter)
		require.Equal(t, "violation", string(run.Steps[i].Class))
		require.Equal(t, runrecord.Invalid, run.Steps[i].Status)
	}
	require.Contains(t, run.Message, "calc.go")
	require.Equal(t, mended, l.git("show", "conclave/"+run.RunID+":calc.go"))
}

// One that keeps its hands off when it is asked again counts, and what it did before is nowhere.
func TestAReviewerThatEditsOnceIsAskedAgain(t *testing.T) {
	t.Parallel()
	l := newLab(t, []step{
		{Role: "implement", Write: map[string]string{"calc.go": mended}, Say: "drafted"},
		{Role: "review", As: "codex", Times: 1, Write: map[string]string{"calc.go": "package gone\n", "new.txt": "mine\n"}, Say: "fixed it for you\n\nVERDICT: PASS"},
		{Role: "review", Say: "fine\n\nVERDICT: PASS"},
	})
	run := l.run(0, "--preset", "dual-review", "Add Sum")
	require.Equal(t, runrecord.Converged, run.Stop, run.Message)
	require.Equal(t, []string{"implement", "verify", "review", "review", "review"}, turns(run))
	require.Equal(t, "violation", string(run.Steps[2].Class))
	require.Contains(t, l.read(l.bundle(run.RunID, "agents", "05-reviewer-codex", "prompt.md")), "must not change files")
	require.Equal(t, mended, l.git("show", "conclave/"+run.RunID+":calc.go"))
	require.NotContains(t, l.git("ls-tree", "-r", "--name-only", "conclave/"+run.RunID), "new.txt")
	l.checkBundle(run)
}

func TestPlantedGitConfigurationExecutesNothing(t *testing.T) {
	t.Parallel()
	marker := filepath.Join(t.TempDir(), "executed")
	script := twoIterations()
	script[0].Shell = "git config filter.x.clean 'touch " + marker + "; cat'; git config filter.x.smudge 'touch " + marker + "; cat';" +
		"git config core.fsmonitor 'touch " + marker + "'; git config core.hooksPath hooks; mkdir -p hooks; printf '#!/bin/sh\\ntouch " + marker + "\\n' > hooks/post-commit; chmod +x hooks/*;" +
		"echo '* filter=x diff=x' > .gitattributes; git config diff.x.command 'touch " + marker + "'; git config diff.x.textconv 'touch " + marker + "'"
	l := newLab(t, script)
	run := l.run(0, "--preset", "dual-review", "Add Sum")
	require.Equal(t, runrecord.Converged, run.Stop)
	_, err := os.Stat(marker)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.Contains(t, l.git("show", "conclave/"+run.RunID+":.gitattributes"), "filter=x")
}

func TestTwoRunsAtOnceInOneRepository(t *testing.T) {
	t.Parallel()
	l := newLab(t, twoIterations())
	first, second := l.command("starter", "run", "--json", "--preset", "dual-review", "One"), l.command("starter", "run", "--json", "--preset", "dual-review", "Two")
	ends := make(chan done, 2)
	go func() { ends <- finish(t, first) }()
	go func() { ends <- finish(t, second) }()
	for range 2 {
		end := <-ends
		require.Equal(t, 0, end.code, end.String())
		l.checkBundle(decodeRun(t, end.stdout))
	}
}
