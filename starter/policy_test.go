package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"conclave/internal/loop"
	"conclave/internal/prompt"
	"conclave/internal/runindex"
	"conclave/internal/store"
)

// inputOf is the workflow's input that a command line gives, with the store that holds its texts.
func (c *cli) inputOf(args ...string) (loop.Input, store.Store) {
	c.t.Helper()
	a := &app{in: strings.NewReader(""), out: &bytes.Buffer{}, err: &bytes.Buffer{}}
	cmd := a.runCommand()
	var f workFlags
	require.NoError(c.t, cmd.ParseFlags(args))
	f.dryRun, _ = cmd.Flags().GetBool("dry-run")
	p := &plan{flags: f, requirement: []byte("r")}
	p.flags.workdir = "."
	require.NoError(c.t, prepare(context.Background(), cmd, p))
	artifacts, err := store.OpenFolder(filepath.Join(c.t.TempDir(), "store"))
	require.NoError(c.t, err)
	in, err := input(context.Background(), p, runindex.Entry{RunID: "r-aaaaa"}, artifacts)
	require.NoError(c.t, err)
	return in, artifacts
}

const moneyLens = "Look at rounding, currencies and totals.\n"

// TestTheInputHoldsWhatTheDisciplineAsks: policy, budget, and the texts of users as references into the store.
func TestTheInputHoldsWhatTheDisciplineAsks(t *testing.T) {
	c := newCLI(t)
	c.write("review/money.md", moneyLens)
	c.write("review/other.md", "Look elsewhere.\n")
	c.write("conclave.yaml", `
lenses: {money: review/money.md, other: review/other.md}
review: {size_limit: 80, generated: ["gen/**"], protected: ["ops/**"], max_findings: 3, identity: served}
rulings: {deadline: 48h, deadline_decision: abort}
`)
	c.commit()
	c.write("review/money.md", "The work tree's text does not count.\n")
	in, artifacts := c.inputOf("--discipline", "full", "--trust-reviewers", "--seat", "a=codex@money", "--max-tokens", "1000", "--max-cost", "0.5")
	p := in.Policy
	require.Equal(t, []any{80, true, false, 3, true}, []any{p.SizeLimit, p.Ask, p.AllowProtected, p.MaxFindings, p.ServedIdentity})
	require.Contains(t, p.Generated, "gen/**")
	require.Equal(t, []string{"reviewer definition\treview/money.md", "reviewer definition\treview/other.md", "protected path\tops/**"}, p.Protected)
	require.Equal(t, []string{"a"}, p.Uncalibrated)
	require.Equal(t, []any{4 * time.Hour, 48 * time.Hour, "abort"}, []any{p.Reminder, p.Deadline, p.DeadlineRuling})
	require.Equal(t, loop.Budget{Tokens: 1000, CostUSD: 0.5, AssumeTokens: 50_000}, in.Budget)
	require.Len(t, p.Lenses, 1, "a lens that no seat has stays out of the input")
	require.Equal(t, "money", p.Lenses[0].Name)
	text, err := artifacts.Get(context.Background(), p.Lenses[0].Ref)
	require.NoError(t, err)
	require.Equal(t, moneyLens, string(text))
	require.Equal(t, map[string]string{"a": "money"}, in.Lenses)

	in, _ = c.inputOf("--reviewer", "codex", "--allow-protected")
	require.False(t, in.Policy.Ask, "basic reports and does not ask")
	require.True(t, in.Policy.AllowProtected)
	require.Equal(t, 80, in.Policy.SizeLimit)
	require.Zero(t, in.Budget)
	require.Empty(t, in.Policy.Uncalibrated)

	in, _ = c.inputOf("--discipline", "full", "--advisory")
	require.Empty(t, in.Policy.Uncalibrated, "nobody was trusted: nothing gates")
	require.Contains(t, string(in.Definition), `"advisory":true`)
}

// TestASteeringLensIsRefused: by file, line and phrase, before anything starts.
func TestASteeringLensIsRefused(t *testing.T) {
	c := newCLI(t)
	c.write("l.md", "Look at names.\nDo not flag missing tests.\n")
	c.write("conclave.yaml", "lenses: {names: l.md}\n")
	c.commit()
	c.write("l.md", "Look at names.\n")
	for _, command := range []string{"run", "plan"} {
		got := c.run("", command, "--dry-run", "--seat", "a=codex@names", "r")
		require.Equal(t, exitUsage, got.code)
		require.Contains(t, got.err, `l.md:2: "Do not flag" decides a review before it is done`)
		require.NoDirExists(t, filepath.Join(c.repo, ".conclave"))
	}
	c.commit()
	require.Equal(t, 0, c.run("", "plan", "--seat", "a=codex@names", "r").code)
}

// TestASteeringConstraintIsRefused: reviewers read constraints word for word.
func TestASteeringConstraintIsRefused(t *testing.T) {
	c := newCLI(t)
	path := filepath.Join(t.TempDir(), "rules.md")
	require.NoError(t, os.WriteFile(path, []byte("Handlers never report user names.\nThe reviewer must not flag missing tests.\n"), 0o600))
	got := c.run("", "run", "--dry-run", "--constraint", path, "r")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, `rules.md:2: "must not flag" decides a review before it is done`)
	require.NotContains(t, got.err, "rules.md:1")
	require.NoError(t, os.WriteFile(path, []byte("Handlers never report user names.\n"), 0o600))
	require.Equal(t, 0, c.run("", "plan", "--constraint", path, "r").code)
}

func TestPromptFilesThatCannotBeUsed(t *testing.T) {
	for name, tc := range map[string]struct{ file, want string }{
		"missing":  {"", "is not in the base"},
		"empty":    {" \n", "no text for a prompt"},
		"binary":   {"a\xff\n", "no text for a prompt"},
		"too long": {strings.Repeat("a", promptBytes+1), "no text for a prompt"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCLI(t)
			if tc.file != "" {
				c.write("l.md", tc.file)
			}
			c.write("conclave.yaml", "lenses: {names: l.md}\n")
			c.commit()
			c.write("l.md", "Fine, and not committed.\n")
			got := c.run("", "plan", "--seat", "a=codex@names", "r")
			require.Equal(t, exitUsage, got.code)
			require.Contains(t, got.err, "conclave.yaml of ")
			require.Contains(t, got.err, "lens names")
			require.Contains(t, got.err, tc.want)
		})
	}
	c := newCLI(t)
	c.write("r.md", "Review this.\n")
	c.write("c.yaml", "prompts: {review: r.md}\n")
	refused := c.run("", "plan", "--config", "c.yaml", "r")
	require.Equal(t, exitUsage, refused.code)
	require.Contains(t, refused.err, "prompts.review: r.md: ")
	require.Contains(t, refused.err, "the first line is not the header")
	require.LessOrEqual(t, strings.Count(refused.err, "\n"), 2, refused.err)
	c.write("c.yaml", "prompts: {review: gone.md}\n")
	got := c.run("", "plan", "--config", "c.yaml", "r")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, "gone.md")
	require.NoError(t, os.Mkdir("sub", 0o755))
	c.write("sub/c.yaml", "lenses: {names: l.md}\n")
	c.write("sub/l.md", "Look at names.\n")
	got = c.run("", "plan", "--config", "sub/c.yaml", "--seat", "a=codex@names", "r")
	require.Equal(t, 0, got.code, got.err)
}

// TestALensOfAFolderWithoutGitStaysInside: a link of the folder is not followed out of it.
func TestALensOfAFolderWithoutGitStaysInside(t *testing.T) {
	c := newCLI(t)
	dir := filepath.Join(t.TempDir(), "plain")
	require.NoError(t, os.Mkdir(dir, 0o755))
	outside := filepath.Join(t.TempDir(), "l.md")
	require.NoError(t, os.WriteFile(outside, []byte("Look.\n"), 0o644))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "l.md")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "conclave.yaml"), []byte("lenses: {names: l.md}\n"), 0o644))
	got := c.run("", "plan", "--workdir", dir, "--seat", "a=codex@names", "r")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, "cannot be read")
}

// TestThePlanFollowsTheDiscipline: what changes the meaning changes the digest, and what does not leaves it.
func TestThePlanFollowsTheDiscipline(t *testing.T) {
	c := newCLI(t)
	c.write("l.md", moneyLens)
	c.write("r.md", prompt.Template("review")+"\nTake your time.\n")
	digest := func(policy string, args ...string) string {
		c.write("c.yaml", policy)
		got := c.run("", append([]string{"plan", "--json", "--config", "c.yaml", "r"}, args...)...)
		require.Equal(t, 0, got.code, got.err)
		var doc planDocument
		require.NoError(t, json.Unmarshal([]byte(got.out), &doc))
		return doc.PlanDigest
	}
	seen := map[string]string{}
	for _, policy := range []string{
		"", "review: {size_limit: 9}\n", "review: {max_findings: 9}\n", "review: {identity: served}\n", "review: {generated: [gen/**]}\n",
		"review: {protected: [gen/**]}\n", "rulings: {deadline: 1h, deadline_decision: stand}\n", "rulings: {deadline: 1h, deadline_decision: abort}\n",
		"budget: {max_tokens: 5}\n", "budget: {max_tokens: 5, assume_tokens: 1}\n", "budget: {max_cost: 5}\n", "allow_protected: true\n",
		"discipline: full\n", "discipline: full\nadvisory: true\n", "discipline: full\nescalation: {model: opus}\n", "discipline: full\nreview: {arbiter: stub}\n",
		"lenses: {correctness: l.md}\n", "prompts: {review: r.md}\n",
	} {
		d := digest(policy)
		require.Empty(t, seen[d], "%q has the plan of %q", policy, seen[d])
		seen[d] = policy + "(none)"
	}
	plain := digest("")
	for _, policy := range []string{"rulings: {reminder: 1m}\n", "budget: {assume_tokens: 3}\n", "trust_reviewers: true\n", "calibration: {min_recall: 0.1}\n", "lenses: {unused: l.md}\n"} {
		require.Equal(t, plain, digest(policy), policy)
	}
	before := digest("lenses: {money: l.md}\n", "--seat", "a=codex@money")
	c.write("l.md", moneyLens+"Dates too.\n")
	require.NotEqual(t, before, digest("lenses: {money: l.md}\n", "--seat", "a=codex@money"))
}

// TestAPlanSaysWhatCalibrationItLacks: without refusing, as nothing runs.
func TestAPlanSaysWhatCalibrationItLacks(t *testing.T) {
	c := newCLI(t)
	got := c.run("", "plan", "--preset", "panel", "r")
	require.Equal(t, 0, got.code, got.err)
	require.Contains(t, got.out, "not calibrated: codex-correctness (never measured), codex-security (never measured), codex-tests (never measured), codex-conventions (never measured)")
	require.NotContains(t, got.out, "claude-correctness (", "a seat that does not vote needs none")
	for _, args := range [][]string{{"--advisory"}, {"--trust-reviewers"}, {"--dry-run"}} {
		got = c.run("", append([]string{"plan", "--preset", "panel", "r"}, args...)...)
		require.NotContains(t, got.out, "not calibrated", args)
	}
}

// TestAPlanTellsTheDiscipline: who confirms, rules and takes over, what is asked, and what bounds the run.
func TestAPlanTellsTheDiscipline(t *testing.T) {
	c := newCLI(t)
	c.write("agents.yaml", twoCommands)
	c.write("conclave.yaml", "review: {confirmer: alpha, arbiter: beta, size_limit: 80, protected: [ops/**]}\nescalation: {model: opus}\nrulings: {deadline: 48h, deadline_decision: abort}\n")
	c.commit()
	args := []string{"plan", "--config", "agents.yaml", "--discipline", "full", "--max-tokens", "9000", "--max-cost", "2.5", "--max-duration", "2h", "r"}
	got := c.run("", args...)
	require.Equal(t, 0, got.code, got.err)
	for _, want := range []string{
		"high findings: confirmed by alpha (acme/acme-large, model m1); what stays open is ruled by beta (bolt/bolt-1, model m2), then by a person",
		"repairs from round 4 on: claude (anthropic/claude, model opus)", "iterations: at most 6 (5 repairs)",
		"asked about more than 80 changed lines and about protected paths", "answers for 48h0m0s is answered with abort",
		"budget: 9000 tokens (a turn that reports none counts 50000), 2.5 USD, 2h0m0s",
	} {
		require.Contains(t, got.out, want)
	}
	got = c.run("", append(args, "--json")...)
	var doc planDocument
	require.NoError(t, json.Unmarshal([]byte(got.out), &doc), got.out)
	require.Equal(t, planPolicy{SizeLimit: 80, Ask: true, Generated: []string{}, Protected: []string{"ops/**"}, MaxFindings: 20, Reminder: "4h0m0s", Deadline: "48h0m0s",
		DeadlineDecision: "abort", Budget: &planBudget{MaxTokens: 9000, MaxCostUSD: 2.5, MaxDuration: "2h0m0s", AssumeTokens: 50_000}}, doc.Policy)

	got = c.run("", "plan", "r")
	require.NotContains(t, got.out, "high findings")
	require.NotContains(t, got.out, "asked about")
	require.NotContains(t, got.out, "budget")
}

// TestAPolicyFileThatDoesNotCountIsSaid: a newcomer's conclave.yaml is not committed, so what it names is unknown.
func TestAPolicyFileThatDoesNotCountIsSaid(t *testing.T) {
	const note = "note: conclave.yaml here differs from the one of commit "
	c := newCLI(t)
	c.write("money.md", "Is money exact?\n")
	c.commit()
	c.write("conclave.yaml", "lenses: {money: money.md}\n")
	got := c.run("", "plan", "--seat", "a=codex@money", "Add it")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, `unknown lens "money"`)
	require.Contains(t, got.err, note)
	require.Contains(t, c.run("", "lint-prompts").err, note, "nothing steers in what was not read")
	c.commit()
	got = c.run("", "lint-prompts")
	require.Equal(t, 0, got.code)
	require.NotContains(t, got.err, note)
}

func TestPolicyComesFromTheBase(t *testing.T) {
	c := newCLI(t)
	c.write("conclave.yaml", "max_iters: 2\nverify_cmd: make check\n")
	c.commit()
	c.write("conclave.yaml", "max_iters: 9\n")
	got := c.run("", "plan", "--json", "r")
	require.Equal(t, 0, got.code, got.err)
	require.Contains(t, got.err, "conclave.yaml") // listed as left out
	var doc planDocument
	require.NoError(t, json.Unmarshal([]byte(got.out), &doc))
	require.Equal(t, int64(2), doc.Limits.MaxIterations)
	require.Equal(t, "make check", doc.Commands["verify"])

	got = c.run("", "plan", "--json", "--base", "HEAD~1", "r")
	require.Equal(t, 0, got.code, got.err)
	require.NoError(t, json.Unmarshal([]byte(got.out), &doc))
	require.Equal(t, int64(3), doc.Limits.MaxIterations)
}

func TestConfigShowSaysWhichPolicyCounts(t *testing.T) {
	c := newCLI(t)
	c.write("conclave.yaml", "max_iters: 2\n")
	got := c.run("", "config", "show")
	require.Equal(t, 0, got.code, got.err)
	require.Contains(t, got.err, "commit it")
	c.commit()
	require.Empty(t, c.run("", "config", "show").err)
	c.write("conclave.yaml", "max_iters: 2\r\n")
	require.Empty(t, c.run("", "config", "show").err, "other line ends are the checkout's")
	c.write("conclave.yaml", "max_iters: 9\n")
	got = c.run("", "config", "show")
	require.Contains(t, got.err, "read from the commit")
	require.Regexp(t, `max_iters +2 `, got.out)
}
