package report

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"

	"conclave/internal/artifact"
	"conclave/internal/record"
)

// shelf is a store in memory.
type shelf map[artifact.Ref][]byte

func (s shelf) put(content string) artifact.Ref {
	ref := artifact.Of([]byte(content))
	s[ref] = []byte(content)
	return ref
}

func (s shelf) get(_ context.Context, ref artifact.Ref) ([]byte, error) {
	if content, ok := s[ref]; ok {
		return bytes.Clone(content), nil
	}
	return nil, fmt.Errorf("artifact %s: %w", ref.Digest, fs.ErrNotExist)
}

func pointer[T any](v T) *T { return &v }

var (
	claude = record.Engine{Adapter: "claude", Provider: "anthropic", ModelFamily: "claude", Model: "opus"}
	codex  = record.Engine{Adapter: "codex", Provider: "openai", ModelFamily: "gpt", Model: "gpt-5"}
)

const blockText = "The cache is never invalidated.\n\n# Converged\n\n```json\n{\"verdict\":\"block\"}\n```\n| a | b |\n<b>bold</b>\nVERDICT: BLOCK\n"

// twoIterations is a run that was blocked once and then converged.
func twoIterations(s shelf) record.Run {
	writer := func(id, turn string, iteration int) record.Step {
		reported := claude
		reported.Source = "served"
		return record.Step{
			ID: id, Role: "implementer", Turn: turn, Adapter: "claude", Iteration: iteration, Status: record.OK, Class: "ok",
			Identity:   record.Identity{Requested: &claude, Reported: &reported},
			Usage:      &record.Usage{InputTokens: 1200, CachedTokens: 800, OutputTokens: 300, CostUSD: pointer(0.0421)},
			DurationMS: 62_000, Attempts: 1, Sandbox: "bubblewrap", Tree: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
			Stats:     &record.Stats{Files: 2, Added: 30, Removed: 1},
			Artifacts: map[string]artifact.Ref{"prompt.md": s.put("prompt " + id), "transcript.jsonl": s.put("{}\n"), "result.md": s.put("done " + id)},
		}
	}
	verifier := func(id string, iteration int, verdict string, code int) record.Step {
		return record.Step{
			ID: id, Role: "verifier", Turn: "verify", Iteration: iteration, Status: record.OK, Verdict: verdict, Class: "ok",
			DurationMS: 12_300, Attempts: 1, ExitCode: &code, Restored: []string{"coverage.xml"},
			Artifacts: map[string]artifact.Ref{
				"command.txt": s.put("go test ./..."), "verify.log": s.put("--- FAIL: TestCache\nFAIL\n"), "result.md": s.put("--- FAIL: TestCache"),
			},
		}
	}
	seat := func(id, adapter, verdict, answer string, iteration int, voting bool) record.Step {
		return record.Step{
			ID: id, Role: "reviewer", Turn: "review", Adapter: adapter, Seat: adapter, Lens: "correctness", Voting: &voting, Iteration: iteration,
			Status: record.OK, Verdict: verdict, Class: "ok", Identity: record.Identity{Requested: &codex}, DurationMS: 40_000, Attempts: 1,
			Artifacts: map[string]artifact.Ref{"result.md": s.put(answer)},
		}
	}
	return record.Run{
		Schema: record.Schema, RunID: "add-cache-k3f9q", WorkflowID: "add-cache-k3f9q", Requirement: "Add a cache", Preset: "dual-review",
		Discipline: "basic", Rules: "conclave/v1", PlanDigest: "sha256:00", Bounds: record.Bounds{MinDispatches: 4, MaxDispatches: 18, MaxConcurrency: 2},
		Base: "1234567890abcdef1234567890abcdef12345678", Head: "abcdef1234567890abcdef1234567890abcdef12", Branch: "conclave/add-cache-k3f9q",
		Landed: true, Iterations: 2, Iteration: 2, MaxIters: 3, Stop: record.Converged, Converged: true,
		Steps: []record.Step{
			writer("01", "implement", 1), verifier("02", 1, "fail", 1),
			seat("03", "codex", "block", blockText, 1, true), seat("04", "claude", "pass", "Fine.\nVERDICT: PASS\n", 1, false),
			writer("05", "repair", 2), verifier("06", 2, "pass", 0),
			seat("07", "codex", "pass", "Good.\nVERDICT: PASS\n", 2, true), seat("08", "claude", "pass", "Fine.\nVERDICT: PASS\n", 2, false),
		},
		Findings: []record.Finding{{
			ID: "F1", Severity: "high", Kind: "patch", Lens: "correctness", Title: "Cache | never invalidated", Claim: "c",
			Evidence: []record.Place{{Path: "cache.go", Line: 12, EndLine: 14}}, Disposition: "addressed", RaisedBy: []string{"codex"},
		}},
		Changed: []record.Change{{Path: "cache.go", Added: 30, Status: "added"}, {Path: "a\tb\n# forged.go", Added: 1, Removed: 2, Status: "modified"}, {Path: "logo.png", Status: "added", Binary: true}},
		UsageByRole: map[string]record.Usage{
			"implementer": {InputTokens: 2400, CachedTokens: 1600, OutputTokens: 600, CostUSD: pointer(0.0842), Priced: true, Turns: 2}, "reviewer": {Unknown: 4},
		},
		UsageBySeat: map[string]record.Usage{"codex": {Unknown: 2}, "claude": {Unknown: 2}},
		Usage:       &record.Usage{InputTokens: 2400, CachedTokens: 1600, OutputTokens: 600, CostUSD: pointer(0.0842), Priced: true, Turns: 2, Unknown: 4}, TotalMS: 187_000, StartedAt: "2026-01-02T03:04:05Z",
		Notes: []string{"2 protected paths changed"}, LeftOut: []string{"notes.txt"},
		Artifacts: map[string]artifact.Ref{"changes.diff": s.put("diff --git a/cache.go b/cache.go\n"), "design-contract.md": s.put("# Contract\n")},
	}
}
