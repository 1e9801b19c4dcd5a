package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	runrecord "conclave/internal/record"
)

// engine is a program for the command adapter: its name, and who it says it is.
type engine struct{ name, provider, family string }

// engines are three programs of three makers.
func engines() []engine {
	return []engine{{"alpha", "acme", "acme-large"}, {"beta", "bolt", "bolt-1"}, {"gamma", "grid", "grid-x"}}
}

// configure writes a configuration with the engines, played by the lab's script, and returns the file.
func (l *lab) configure(all ...engine) string {
	l.t.Helper()
	agents := map[string]any{}
	for _, e := range all {
		agents[e.name] = map[string]any{
			"adapter":  "command",
			"argv":     l.user.Argv(e.name, "--ledger", l.ledger),
			"identity": map[string]string{"provider": e.provider, "model_family": e.family, "model": "m1"},
		}
	}
	raw, err := json.Marshal(agents) // JSON is YAML
	require.NoError(l.t, err)
	file := filepath.Join(l.dir, "agents.yaml")
	require.NoError(l.t, os.WriteFile(file, []byte("agents: "+string(raw)+"\n"), 0o600))
	return file
}

// configureMore adds lines to the file that configure wrote.
func (l *lab) configureMore(text string) {
	l.t.Helper()
	file := filepath.Join(l.dir, "agents.yaml")
	require.NoError(l.t, os.WriteFile(file, []byte(l.read(file)+text), 0o600))
}

func (e engine) lane() map[string]any {
	return map[string]any{"id": e.name, "knownSubstitutions": []any{}, "requested": map[string]any{
		"adapter": e.name, "provider": e.provider, "modelFamily": e.family, "model": "m1", "tools": []string{},
	}}
}

// place is a seat of a definition.
type place struct {
	id      string
	engine  engine
	watches []string
}

// define writes a definition in which the writer drafts and repairs, and returns the file.
func (l *lab) define(writer engine, quorum int, places ...place) string {
	l.t.Helper()
	node := func(id string, data map[string]any) map[string]any { return map[string]any{"id": id, "data": data} }
	nodes := []any{
		node("draft", map[string]any{"role": "generator", "lane": writer.lane()}),
		node("gate", map[string]any{"role": "evaluator"}),
		node("fix", map[string]any{"role": "repair", "lane": writer.lane()}),
	}
	for _, p := range places {
		data := map[string]any{"role": "seat", "lane": p.engine.lane(), "lens": "security"}
		if p.watches != nil {
			data["evidencePaths"] = p.watches
		}
		nodes = append(nodes, node(p.id, data))
	}
	raw, err := json.Marshal(map[string]any{
		"id": "release-review", "definitionVersion": 1, "nodes": nodes, "edges": []any{},
		"data": map[string]any{
			"maxIterations": 3, "maxReviewRestarts": 2, "quorum": quorum, "requireDiversity": false, "skippableSeats": []any{},
			"seatConcurrency": 3, "retryCapPerNode": 0, "comment": "what the form does not know is kept",
		},
	})
	require.NoError(l.t, err)
	file := filepath.Join(l.dir, "definition.json")
	require.NoError(l.t, os.WriteFile(file, raw, 0o600))
	return file
}

// accepted is a draft that every reviewer passes.
func accepted() []step {
	return []step{
		{Role: "implement", Write: map[string]string{"calc.go": mended}, Say: "drafted"},
		{Role: "review", Say: "fine\n\nVERDICT: PASS"},
	}
}

func TestADefinitionRunsOnConfiguredEngines(t *testing.T) {
	t.Parallel()
	l := newLab(t, accepted())
	e := engines()
	definition := l.define(e[0], 1, place{id: "outside", engine: e[1]})
	run := l.run(0, "--config", l.configure(e...), "--definition", definition, "--verify-cmd", goTest, "Add Sum")
	require.Equal(t, runrecord.Converged, run.Stop)
	require.Empty(t, run.Preset)
	require.Equal(t, []string{"implement", "verify", "review"}, turns(run))
	for i, want := range map[int]engine{0: e[0], 2: e[1]} {
		identity := run.Steps[i].Identity
		require.Equal(t, want.provider+"/"+want.family, identity.Requested.Provider+"/"+identity.Requested.ModelFamily)
		require.Equal(t, *identity.Requested, runrecord.Engine{Adapter: want.name, Provider: want.provider, ModelFamily: want.family, Model: "m1"})
		require.Equal(t, runrecord.Engine{Adapter: want.name, Provider: want.provider, ModelFamily: want.family, Model: "m1", Source: "adapter"}, *identity.Reported)
	}
	require.Equal(t, "outside security", run.Steps[2].Seat+" "+run.Steps[2].Lens)
	require.Equal(t, "convergence/1/draft/1", run.Steps[0].Position)
	stored := l.read(l.bundle(run.RunID, "definition.json"))
	require.JSONEq(t, l.read(definition), stored)
	l.checkBundle(run)

	planned := l.starter("plan", "--json", "--config", filepath.Join(l.dir, "agents.yaml"), "--definition", definition, "Add Sum")
	require.Equal(t, 0, planned.code, planned.String())
	require.Contains(t, planned.stdout, run.PlanDigest, "the run has the digest of its plan")
}

// TestAnEngineOfTheWritersFamilyDoesNotCount: what an engine reports counts, whatever the definition calls it.
func TestAnEngineOfTheWritersFamilyDoesNotCount(t *testing.T) {
	t.Parallel()
	l := newLab(t, accepted())
	e := engines()
	definition := l.define(e[0], 1, place{id: "outside", engine: e[1]})
	beta := engine{"beta", "bolt", e[0].family}
	out := l.starter("run", "--json", "--no-progress", "--config", l.configure(e[0], beta), "--definition", definition, "Add Sum")
	require.Equal(t, 6, out.code, out.String())
	require.Contains(t, out.stderr, "outside declares bolt/bolt-1, but the adapter beta is bolt/acme-large")
	run := decodeRun(t, out.stdout)
	require.Equal(t, runrecord.NoReview, run.Stop)
	require.Equal(t, "pass", run.Steps[2].Verdict)
	require.Equal(t, "bolt-1", run.Steps[2].Identity.Requested.ModelFamily)
	require.Equal(t, "acme-large", run.Steps[2].Identity.Reported.ModelFamily)
	const why = `0 of 1 needed seats accept; not counted: outside its engine reported the model family "acme-large", which a writer ran on too`
	require.Contains(t, run.Message, why)
	require.Contains(t, l.read(l.bundle(run.RunID, "report.md")), why)
	l.checkBundle(run)
}

// TestAnEngineThatFallsBackIsWhatItReports: an engine that begins with the requested model and goes on with one of the
// writer's family has no vote.
func TestAnEngineThatFallsBackIsWhatItReports(t *testing.T) {
	t.Parallel()
	script := accepted()
	script[1].Shell, script[1].Model = "true", "gpt-5.5" // a first message from claude, then the fallback
	l := newLab(t, script)
	run := l.run(6, "--preset", "codex-claude", "Add Sum")
	require.Equal(t, runrecord.NoReview, run.Stop)
	identity := run.Steps[2].Identity
	require.Equal(t, "anthropic/claude", identity.Requested.Provider+"/"+identity.Requested.ModelFamily)
	require.Equal(t, "openai/gpt/gpt-5.5 served", identity.Reported.Provider+"/"+identity.Reported.ModelFamily+"/"+identity.Reported.Model+" "+identity.Reported.Source)
	require.Contains(t, run.Message, `claude its engine reported the provider "openai", which a writer ran on too`)
	transcript := l.read(l.bundle(run.RunID, "agents", run.Steps[2].Folder(), "transcript.jsonl"))
	require.Less(t, strings.Index(transcript, `"model":"claude-`), strings.Index(transcript, `"model":"gpt-5.5"`))
	l.checkBundle(run)
}

// TestEvidencePathsKeepAPass: a changed byte asks everybody again who did not say what he watches.
func TestEvidencePathsKeepAPass(t *testing.T) {
	t.Parallel()
	for name, also := range map[string]map[string]string{"code": nil, "docs": {"docs/sum.md": "Sum includes n.\n"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repair := map[string]string{"calc.go": mended}
			for path, text := range also {
				repair[path] = text
			}
			l := newLab(t, []step{
				{Role: "implement", Write: map[string]string{"calc.go": flawed, "docs/index.md": "calc\n"}, Say: "drafted"},
				{Role: "repair", Contains: objected, Write: repair, Say: "mended"},
				{Role: "review", Round: "0", Seat: "strict", Say: objected + "\n\nVERDICT: BLOCK"},
				{Role: "review", Say: "fine\n\nVERDICT: PASS"},
			})
			e := engines()
			definition := l.define(e[0], 3, place{id: "strict", engine: e[1]}, place{id: "mild", engine: e[1]}, place{id: "writing", engine: e[2], watches: []string{"docs/**"}})
			run := l.run(0, "--config", l.configure(e...), "--definition", definition, "Add Sum")
			require.Equal(t, runrecord.Converged, run.Stop)
			require.Equal(t, 2, run.Iterations)
			asked := map[int][]string{}
			for _, s := range run.Steps {
				if s.Seat != "" {
					asked[s.Iteration] = append(asked[s.Iteration], s.Seat)
				}
			}
			require.Equal(t, []string{"strict", "mild", "writing"}, asked[1])
			want := []string{"strict", "mild"}
			if also != nil {
				want = append(want, "writing")
			}
			require.Equal(t, want, asked[2])
			l.checkBundle(run)
		})
	}
}

func TestTheWritersOwnEngineIsRefusedOrNamed(t *testing.T) {
	t.Parallel()
	l := newLab(t, accepted())
	out := l.starter("run", "--implementer", "claude", "--reviewers", "claude", "Add Sum")
	require.Equal(t, 2, out.code, out.String())
	require.Contains(t, out.stderr, "--allow-self-review")
	require.Empty(t, l.notes(), "nothing was started")

	for _, args := range [][]string{{"--preset", "claude-solo"}, {"--implementer", "claude", "--reviewers", "claude", "--allow-self-review"}} {
		run := l.run(0, append(args, "Add Sum")...)
		require.True(t, run.SelfReviewed)
		require.Contains(t, l.read(l.bundle(run.RunID, "report.md")), "self-reviewed")
		require.Contains(t, l.read(l.bundle(run.RunID, "run.json")), `"self_reviewed": true`)
		l.checkBundle(run)
	}
}

func TestEveryPresetHasADryRun(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	for _, name := range []string{"claude-codex", "codex-claude", "claude-solo", "dual-review", "panel", "strict"} {
		out := l.starter("run", "--json", "--no-progress", "--dry-run", "--preset", name, "Add Sum")
		require.Equal(t, 0, out.code, out.String())
		run := decodeRun(t, out.stdout)
		require.Equal(t, runrecord.Converged, run.Stop, name)
		full := name == "panel" || name == "strict"
		require.Equal(t, full, run.Discipline == "full", name)
		require.Equal(t, full, run.Steps[len(run.Steps)-1].Seat == "final", "a run of discipline full ends with a final review")
		require.Equal(t, name == "strict", strings.Contains(out.stderr, "gemini"), out.stderr)
		require.Contains(t, l.read(l.bundle(run.RunID, "report.md")), "dry run")
		l.checkBundle(run)
	}
	require.Empty(t, l.notes())
	for _, name := range []string{"panel", "strict"} {
		out := l.starter("run", "--preset", name, "Add Sum")
		require.Equal(t, 2, out.code, out.String())
		require.Contains(t, out.stderr, "not calibrated")
	}
}

// TestASeatIsWaivedOrReopenedWhereARunWaits: the run says what it waits for, and takes the answer into its record.
func TestASeatIsWaivedOrReopenedWhereARunWaits(t *testing.T) {
	t.Parallel()
	script := accepted()
	slow := append([]step{{Role: "review", Seat: "slow", SleepMS: 600_000}}, script...)
	for name, answer := range map[string][]string{"waive": {"--waive", "slow", "--reason", "its engine is down"}, "reopen": {"--reopen", "slow"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, slow)
			e := engines()
			definition := l.define(e[0], 2, place{id: "quick", engine: e[1]}, place{id: "slow", engine: e[2]})
			cmd, output := l.begin("--config", l.configure(e...), "--definition", definition, "Add Sum")
			eventually(t, patience, func() bool { return l.started("review") == 2 })
			eventually(t, patience, func() bool { return l.answered("quick") })
			require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
			require.Error(t, cmd.Wait())
			require.Equal(t, 130, cmd.ProcessState.ExitCode(), output.String())

			shown := decodeRun(t, l.starter("show", "--json", "@last").stdout)
			require.Contains(t, shown.Waiting, "slow")
			require.Equal(t, "calc.go", shown.Changed[0].Path)
			require.Contains(t, l.starter("show", "@last").stdout, "interrupted in iteration 1 at slow", "the report says what the run waits for")
			out := l.starter("resume", "--waive", "slw", "--reason", "x", "@last")
			require.Equal(t, 2, out.code, out.String())
			require.Contains(t, out.stderr, "did you mean slow? its seats: quick, slow")

			l.play(script)
			out = l.starter(append([]string{"resume", "--json", "@last"}, answer...)...)
			require.Equal(t, 0, out.code, out.String())
			run := decodeRun(t, out.stdout)
			require.Equal(t, runrecord.Converged, run.Stop)
			events := l.read(l.bundle(run.RunID, "events.jsonl"))
			if name == "waive" {
				require.Contains(t, events, "seat-waived")
				require.Contains(t, fmt.Sprint(run.Notes), "seat slow was waived: its engine is down")
				require.Equal(t, 1, l.startedSeat("slow"), "it was not asked again")
			} else {
				require.Contains(t, events, "seat-reopened")
				require.Equal(t, 2, l.startedSeat("slow"))
			}
			l.checkBundle(run)
		})
	}
}

func (l *lab) startedSeat(seat string) int { return l.startsBySeat()["review/0/"+seat] }

// answered: the seat has given its answer, and the run has taken it in.
func (l *lab) answered(seat string) bool {
	for _, step := range decodeRun(l.t, l.starter("show", "--json", "@last").stdout).Steps {
		if step.Seat == seat {
			return step.Status == runrecord.OK
		}
	}
	return false
}
