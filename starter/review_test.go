package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/gitrepo"
	"conclave/internal/record"
	"conclave/internal/runindex"
	"conclave/internal/store"
)

// gateOf resolves what `starter review` would review, without starting anything.
func (c *cli) gateOf(args ...string) (*plan, error) {
	c.t.Helper()
	a := &app{in: strings.NewReader(""), out: &bytes.Buffer{}, err: &bytes.Buffer{}}
	cmd := a.reviewCommand()
	require.NoError(c.t, cmd.ParseFlags(args))
	text := func(name string) string { return cmd.Flags().Lookup(name).Value.String() }
	f := reviewFlags{head: text("head"), requirement: text("requirement")}
	f.workdir, f.base, f.dryRun = ".", text("base"), text("dry-run") == "true"
	f.constraints, _ = cmd.Flags().GetStringArray("constraint")
	p := &plan{flags: f.workFlags, gate: &gate{}}
	return p, p.prepareGate(context.Background(), cmd, f)
}

func (c *cli) digestOf(args ...string) string {
	c.t.Helper()
	p, err := c.gateOf(args...)
	require.NoError(c.t, err)
	return p.gate.digest
}

// newChange is a repository whose branch "feature" has one commit beyond "main".
func newChange(t *testing.T) *cli {
	c := newCLI(t)
	c.git("branch", "-M", "main")
	c.git("checkout", "-qb", "feature")
	c.write("calc.go", "package calc\n")
	c.commit()
	return c
}

// Field reports, row 15: a verdict was keyed by the branch, so that it outlived what it was about.
func TestAVerdictIsKeyedByEverythingItDependsOn(t *testing.T) {
	c := newChange(t)
	lens, rules := filepath.Join(t.TempDir(), "lens.md"), filepath.Join(t.TempDir(), "rules.md")
	file := filepath.Join(t.TempDir(), "config.yaml")
	put := func(path, text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	put(lens, "Look at loops.\n")
	put(rules, "No loops.\n")
	put(file, "lenses: {loops: "+lens+"}\n")
	own := []string{"--config", file, "--seat", "a=codex@loops"}
	with := func(more ...string) []string { return append(append([]string{}, own...), more...) }
	seen := map[string]string{}
	renewed := func(what, digest string) {
		t.Helper()
		require.Len(t, digest, 64)
		require.NotContains(t, seen, digest, "%s is taken for %s", what, seen[digest])
		seen[digest] = what
	}
	renewed("the change", c.digestOf(own...))
	require.Contains(t, seen, c.digestOf(own...), "the same change under the same plan")
	require.Contains(t, seen, c.digestOf(with("--timeout", "5m", "--verify-timeout", "5m")...), "patience is no part of a verdict")
	require.Equal(t, c.digestOf("--preset", "claude-codex"), c.digestOf("--reviewers", "codex"), "a preset is what it stands for")
	for _, more := range [][]string{
		{"--dry-run"}, {"--requirement", "Add it"}, {"--constraint", rules}, {"--verify-cmd", "true"}, {"--lint-cmd", "true"}, {"--setup-cmd", "true"},
		{"--seat", "b=claude"}, {"--quorum", "1", "--seat", "b=claude"}, {"--verdict-mode", "heuristic"}, {"--review", "always"}, {"--allow-protected"},
		{"--discipline", "full", "--trust-reviewers"}, {"--discipline", "full", "--advisory"}, {"--max-tokens", "9"},
	} {
		renewed(strings.Join(more, " "), c.digestOf(with(more...)...))
	}
	renewed("a model", c.digestOf("--config", file, "--seat", "a=codex:other@loops"))
	put(rules, "Some loops.\n")
	renewed("the text of a constraint", c.digestOf(with("--constraint", rules)...))
	put(lens, "Look at loops twice.\n")
	renewed("the text of a lens", c.digestOf(own...))
	put(file, "lenses: {loops: "+lens+"}\nreview: {size_limit: 9}\n")
	renewed("a rule", c.digestOf(own...))

	c.git("commit", "-q", "--amend", "-m", "another message")
	renewed("an amended message", c.digestOf(own...))
	c.write("calc.go", "package calc // more\n")
	c.commit()
	renewed("another commit", c.digestOf(own...))
	c.git("checkout", "-q", "main")
	c.write("other", "x")
	c.commit()
	c.git("checkout", "-q", "feature")
	renewed("a base that moved", c.digestOf(own...))
}

func TestWhichBaseIsTaken(t *testing.T) {
	c := newChange(t)
	at := func(args ...string) string {
		t.Helper()
		p, err := c.gateOf(args...)
		require.NoError(t, err)
		return p.gate.baseName
	}
	require.Equal(t, "the default: main", at())
	require.Equal(t, "main~0", at("--base", "main~0"))
	c.git("update-ref", "refs/remotes/origin/master", "main")
	require.Equal(t, "the default: origin/master", at())
	c.git("update-ref", "refs/remotes/origin/main", "main")
	require.Equal(t, "the default: origin/main", at())
	c.git("update-ref", "refs/remotes/origin/trunk", "main")
	c.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
	require.Equal(t, "the default: origin/HEAD", at())

	c.git("symbolic-ref", "-d", "refs/remotes/origin/HEAD")
	c.git("update-ref", "-d", "refs/remotes/origin/main")
	c.git("update-ref", "-d", "refs/remotes/origin/master")
	c.git("branch", "-m", "main", "trunk")
	c.git("branch", "-q", "--set-upstream-to", "trunk")
	require.Equal(t, "the default: @{upstream}", at())
	c.git("branch", "--unset-upstream")
	_, err := c.gateOf()
	require.ErrorContains(t, err, "no base to compare with")
}

func TestAReviewsInputAsksInEveryDiscipline(t *testing.T) {
	c := newChange(t)
	p, err := c.gateOf("--preset", "dual-review")
	require.NoError(t, err)
	e := newEntry(p, "")
	require.Equal(t, "gate-"+p.gate.digest, e.WorkflowID)
	require.Equal(t, "review: state", e.Title)
	require.Regexp(t, `^review-state-[a-z2-7]{5}$`, e.RunID)
	artifacts, err := store.OpenFolder(filepath.Join(t.TempDir(), "store"))
	require.NoError(t, err)
	in, err := input(context.Background(), p, e, artifacts)
	require.NoError(t, err)
	require.True(t, in.Policy.Ask)
	require.Equal(t, 500, in.Policy.SizeLimit)
	require.True(t, in.Source.Gate.FromCommits)
	require.Equal(t, []string{p.gate.base.ID, p.gate.head.ID}, []string{in.Source.Gate.Base, in.Source.Gate.Head})
	require.Nil(t, in.Designer)
	require.Empty(t, gateDigest(runindex.Entry{WorkflowID: "run-x"}))
	require.Equal(t, p.gate.digest, gateDigest(e))
}

func TestCommitMessagesAreBounded(t *testing.T) {
	long := strings.Repeat("x", longestMessage+1)
	text := string(messagesText([]gitrepo.Message{{ID: strings.Repeat("a", 40), Text: "first"}, {ID: "b", Text: long}, {ID: "c"}}))
	require.Contains(t, text, "commit aaaaaaaaaaaa\nfirst\n")
	require.Contains(t, text, "(cut)")
	require.Contains(t, text, "commit c\n(no message)")
	var many []gitrepo.Message
	for range 9 {
		many = append(many, gitrepo.Message{ID: "d", Text: long})
	}
	text = string(messagesText(many))
	require.Less(t, len(text), longestMessages+longestMessage)
	require.Contains(t, text, "(6 more commits are left out)")
}

func TestTheListSaysHowAReviewEnded(t *testing.T) {
	for want, l := range map[string]runLine{
		"clean":       {State: "converged", Kind: "review", Stop: record.Converged, Converged: true},
		"blocking":    {State: "max-iters", Kind: "review", Stop: record.MaxIters},
		"converged":   {State: "converged", Kind: "run", Stop: record.Converged, Converged: true},
		"max-iters":   {State: "max-iters", Stop: record.MaxIters},
		"step-failed": {State: "step-failed", Kind: "review", Stop: record.StepFailed},
	} {
		require.Equal(t, want, stateWords(l))
	}
}
