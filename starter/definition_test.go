package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const twoCommands = `agents:
  alpha: {adapter: command, argv: [sh], identity: {provider: acme, model_family: acme-large, model: m1}}
  beta: {adapter: command, argv: [sh], identity: {provider: bolt, model_family: bolt-1, model: m2}}
`

const releaseReview = `{"id":"release-review","definitionVersion":3,
 "data":{"maxIterations":3,"maxReviewRestarts":2,"quorum":1,"requireDiversity":false,"skippableSeats":["extra"],"seatConcurrency":1,"retryCapPerNode":0},
 "nodes":[
  {"id":"fix","data":{"role":"repair","lane":{"id":"w","requested":{"adapter":"alpha","provider":"acme","modelFamily":"acme-large","model":"m1","tools":[]},"knownSubstitutions":[]}}},
  {"id":"beta-review","data":{"role":"seat","lens":"security","evidencePaths":["docs/**"],"lane":{"id":"b","requested":{"adapter":"beta","provider":"bolt","modelFamily":"bolt-1","model":"m2","tools":[]},
    "knownSubstitutions":[{"adapter":"codex","provider":"openai","modelFamily":"gpt","model":"default","tools":[]}]}}},
  {"id":"extra","data":{"role":"seat","lane":{"id":"x","requested":{"adapter":"claude","provider":"anthropic","modelFamily":"claude","model":"default","tools":[]},"knownSubstitutions":[]}}},
  {"id":"gate","data":{"role":"evaluator"}},
  {"id":"draft","data":{"role":"generator","lane":{"id":"w","requested":{"adapter":"alpha","provider":"acme","modelFamily":"acme-large","model":"m1","tools":[]},"knownSubstitutions":[]}}}],
 "edges":[]}`

func withRelease(t *testing.T) *cli {
	c := newCLI(t)
	c.write("agents.yaml", twoCommands)
	c.write("d.json", releaseReview)
	c.commit()
	return c
}

func TestPlanOfADefinition(t *testing.T) {
	c := withRelease(t)
	got := c.run("", "plan", "--config", "agents.yaml", "--definition", "d.json", "--verify-cmd", "make check", "r")
	require.Equal(t, 0, got.code, got.err)
	for _, want := range []string{
		"definition d.json (release-review, version 3), discipline basic, rules conclave/v1", "plan digest sha256:", "package conclave conclave/v1 sha256:",
		"beta (bolt/bolt-1, model m2)", "codex (openai/gpt, model default)", "seat, security, voting, watches", "docs/**", "skippable", "quorum: 1", "iterations: at most 3 (2 repairs)",
		"dispatches: 4 to 12, at most 1 at once", "verify: make check",
	} {
		require.Contains(t, got.out, want)
	}
	require.Less(t, strings.Index(got.out, "draft"), strings.Index(got.out, "gate"))
	require.Less(t, strings.Index(got.out, "extra "), strings.Index(got.out, "fix "), "in the order of a run")

	got = c.run("", "plan", "--json", "--config", "agents.yaml", "--definition", "d.json", "r")
	require.Equal(t, 0, got.code, got.err)
	var doc planDocument
	require.NoError(t, json.Unmarshal([]byte(got.out), &doc))
	require.Equal(t, "conclave", doc.Package.Source)
	require.Equal(t, "conclave/v1", doc.Package.Version)
	require.Len(t, doc.Lanes, 3)
	for _, l := range doc.Lanes {
		require.Equal(t, l.Requested, l.Effective)
	}
	before := doc.PlanDigest
	c.write("d.json", strings.Replace(releaseReview, `"lens":"security"`, `"lens":"tests"`, 1))
	got = c.run("", "plan", "--json", "--config", "agents.yaml", "--definition", "d.json", "r")
	require.NoError(t, json.Unmarshal([]byte(got.out), &doc))
	require.NotEqual(t, before, doc.PlanDigest)
}

func TestPlanRefusesWhatCannotBeReached(t *testing.T) {
	c := withRelease(t)
	for _, tc := range []struct{ from, to, want string }{
		{`"quorum":1`, `"quorum":2`, "UNREACHABLE_QUORUM"},
		{`"skippableSeats":["extra"]`, `"skippableSeats":["extra","beta-review"]`, "UNREACHABLE_QUORUM"},
		{`"bolt"`, `"acme"`, "only 0 voting seats are sure to be asked"},
		{`"docs/**"`, `"drafts"`, "UNREPORTED_EVIDENCE"},
		{`"quorum":1,"requireDiversity":false,"skippableSeats":["extra"]`, `"quorum":2,"requireDiversity":true,"skippableSeats":[]`, ""},
	} {
		text := strings.Replace(releaseReview, tc.from, tc.to, 1)
		require.NotEqual(t, releaseReview, text)
		c.write("d.json", text)
		got := c.run("", "plan", "--config", "agents.yaml", "--definition", "d.json", "r")
		if tc.want == "" {
			require.Equal(t, 0, got.code, got.err)
			continue
		}
		require.Equal(t, exitUsage, got.code, tc.to)
		require.Contains(t, got.err, tc.want)
		require.Empty(t, got.out)
	}
	got := c.run("", "plan", "--reviewers", "codex@tests,codex@security", "--require-diversity", "r")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, "UNREACHABLE_DIVERSITY")
}

// TestEveryPresetHasAPlan: also of those that need what is not built yet, and says so.
func TestEveryPresetHasAPlan(t *testing.T) {
	c := newCLI(t)
	seen := map[string]string{}
	for _, name := range []string{"claude-codex", "codex-claude", "claude-solo", "dual-review", "panel", "strict"} {
		got := c.run("", "plan", "--json", "--preset", name, "r")
		require.Equal(t, 0, got.code, got.err)
		var doc planDocument
		require.NoError(t, json.Unmarshal([]byte(got.out), &doc))
		require.Empty(t, seen[doc.PlanDigest], "%s has the plan of another preset", name)
		seen[doc.PlanDigest] = name
		require.Equal(t, name == "claude-solo", doc.SelfReviewed)
		notes := strings.Join(doc.Notes, "\n")
		full := name == "panel" || name == "strict"
		require.Equal(t, full, doc.Discipline == "full")
		require.Equal(t, full, strings.Contains(notes, "discipline full"), notes)
		require.Equal(t, full, doc.Steps[len(doc.Steps)-1].Node == "final")
	}
}
