//go:build linux || darwin

package realagents

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/fakemodel"
	"conclave/internal/record"
)

const (
	marker  = "marker-at-the-very-end-of-it"
	pattern = "marker-at-the-[a-z]*-end-of-it"
)

// TestPromptsOfFourMegabytesArrive: a prompt that is as long as we make them reaches the model whole.
func TestPromptsOfFourMegabytesArrive(t *testing.T) {
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, fakemodel.Script{Turns: []fakemodel.Turn{{Steps: []fakemodel.Step{{Say: fakemodel.Pass()}}}}})
			size := 4<<20 - 1000
			if e.name == "codex" || e.name == "gemini" {
				size = 1<<20 - 1000
			}
			line := strings.Repeat("x", 99) + "\n"
			p := w.play(turn{engine: e, prompt: strings.Repeat(line, size/len(line)) + marker + "\n"}, w.workspace(nil))
			noted(row{e.name, fmt.Sprintf("a prompt of %d bytes", size), string(p.Class), p.Message, p.took.Seconds()})
			require.Equal(t, okay, p.Class, "%s\n%s\n%s", p.Message, p.stderr, tail(p.stdout))
			requests := w.server.Requests()
			require.NotEmpty(t, requests)
			require.Contains(t, requests[len(requests)-1].Prompt, marker)
			require.Greater(t, len(requests[len(requests)-1].Prompt), size-200)
		})
	}
}

// TestAChangeOfFiveMegabytesReachesEachProgram: in a review it is a file that the prompt names, and that each program's
// own tools can read.
func TestAChangeOfFiveMegabytesReachesEachProgram(t *testing.T) {
	bins(t)
	t.Parallel()
	file := "{{workspace}}/CONCLAVE_REVIEW.diff"
	raw := func(v map[string]any) json.RawMessage { text, _ := json.Marshal(v); return text }
	l := newLab(t, fakemodel.Script{Turns: []fakemodel.Turn{{Role: "review", Contains: "CONCLAVE_REVIEW.diff", Steps: []fakemodel.Step{
		{Say: "I search it.", Calls: []fakemodel.Call{
			{API: fakemodel.Anthropic, Name: "Grep", Input: raw(map[string]any{"pattern": pattern, "path": file, "output_mode": "content"})},
			{API: fakemodel.Responses, Name: "exec_command", Input: raw(map[string]any{"cmd": "grep -o '" + pattern + "' " + file})},
			{API: fakemodel.Chat, Name: "read", Input: raw(map[string]any{"filePath": file, "offset": 394, "limit": 20})},
			{API: fakemodel.Gemini, Name: "grep_search", Input: raw(map[string]any{"pattern": pattern, "include_pattern": "CONCLAVE_REVIEW.diff"})},
		}},
		{Say: "It is long.\n\nVERDICT: PASS"},
	}}}})
	git(t, l.repo, "checkout", "-qb", "feature")
	write(t, filepath.Join(l.repo, "big.txt"), strings.Repeat(strings.Repeat("0123456789abcdef ", 800)+"\n", 390)+marker+"\n")
	git(t, l.repo, "add", "-A")
	git(t, l.repo, "commit", "-qm", "Add a large file")
	out := l.finish(l.command("review", "--json", "--no-progress", "--config", l.config, "--sandbox", l.sandbox, "--base", "main", "--head", "feature",
		"--requirement", "Add a large file", "--reviewers", "claude,codex,opencode,gemini"))
	require.Equal(t, 0, out.code, "%s\n%s", out.stderr, out.stdout)
	run := l.record(out.stdout)
	for _, s := range run.Steps {
		if s.Role == "reviewer" {
			noted(row{s.Adapter, "a change of 5 MB, as a file", string(s.Class), s.Message, float64(s.DurationMS) / 1000})
			require.Equal(t, record.OK, s.Status, s.Message)
		}
	}
	found := map[fakemodel.API]bool{}
	for _, r := range l.server.Requests() {
		if r.Step == 1 {
			found[r.API] = found[r.API] || strings.Contains(string(r.Body), marker)
		}
	}
	for _, e := range engines {
		require.True(t, found[e.api], "%s did not find the end of the change in the file", e.name)
	}
}
