//go:build linux || darwin

package realagents

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"conclave/internal/fakemodel"
	"conclave/internal/record"
)

// TestWriterEditsByItsOwnTools: each program changes files by the tools that it offers its model.
func TestWriterEditsByItsOwnTools(t *testing.T) {
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, fakemodel.Script{Turns: []fakemodel.Turn{{Role: "implement", Steps: []fakemodel.Step{
				{Say: "A new file.", Write: []fakemodel.File{{Path: "new.go", Content: "package calc\n\n// New is new.\nconst New = 1\n"}}},
				{Say: "And an edit.", Edit: []fakemodel.Edit{{Path: "calc.go", Old: "package calc\n", New: "package calc // edited\n"}}},
				{Say: "All is there."},
			}}}})
			p := w.play(turn{engine: e, writing: true, prompt: "Add New."}, w.workspace(nil))
			noted(row{e.name, "writer edits", string(p.Class), p.Message, p.took.Seconds()})
			t.Logf("%+v\nstderr %s\nstdout %.3000s", p.Outcome, p.stderr, p.stdout)
			require.Equal(t, record.ClassOK, p.Class)
			require.Equal(t, "All is there.", string(p.Final))
			require.Equal(t, "package calc\n\n// New is new.\nconst New = 1\n", read(t, filepath.Join(p.workspace, "new.go")))
			require.Equal(t, "package calc // edited\n", read(t, filepath.Join(p.workspace, "calc.go")))
		})
	}
}

// TestAnswersThatAreNone: an answer without a verdict ends its turn well, and judging it is not the program's business;
// an empty one does not.
func TestAnswersThatAreNone(t *testing.T) {
	for _, c := range []struct {
		name, say string
		class     record.Class
	}{
		{"answer without a verdict", "I think it is fine.", record.ClassOK},
		{"blank answer", " \n", record.ClassMalformed},
	} {
		for _, e := range engines {
			t.Run(c.name+"/"+e.name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, fakemodel.Script{Turns: []fakemodel.Turn{{Steps: []fakemodel.Step{{Say: c.say}}}}})
				p := w.play(turn{engine: e, prompt: "Judge the change."}, w.workspace(nil))
				noted(row{e.name, c.name, string(p.Class), p.Message, p.took.Seconds()})
				want := c.class
				if want == malformed && e.name == "gemini" {
					want = transient // it says so itself, after tries of its own
				}
				require.Equal(t, want, p.Class, "%s\n%s\n%s", p.Message, p.stderr, tail(p.stdout))
			})
		}
	}
}

// TestServedModelsAreRecorded: where a program tells which model answered, it is that one and not the requested one.
func TestServedModelsAreRecorded(t *testing.T) {
	served := map[string]string{"claude": "claude-opus-9", "gemini": "gemini-9-ultra"}
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			answered := "somebody-else"
			if served[e.name] != "" {
				answered = served[e.name]
			}
			w := newWorld(t, fakemodel.Script{Turns: []fakemodel.Turn{{Steps: []fakemodel.Step{{Say: "Fine.", Model: answered}}}}})
			p := w.play(turn{engine: e, prompt: "Judge the change."}, w.workspace(nil))
			require.Equal(t, okay, p.Class, "%s\n%s\n%s", p.Message, p.stderr, tail(p.stdout))
			require.NotNil(t, p.Reported)
			noted(row{e.name, "another model answers: " + p.Reported.Model + " by " + p.Reported.Source, string(p.Class), p.Message, p.took.Seconds()})
			if served[e.name] != "" {
				require.Equal(t, answered, p.Reported.Model)
				require.Equal(t, record.SourceServed, p.Reported.Source)
			} else {
				require.Equal(t, e.model, p.Reported.Model)
				require.NotEqual(t, record.SourceServed, p.Reported.Source, "this program does not say whose answer it was")
			}
			require.EqualValues(t, 1000, p.Usage.InputTokens)
			require.EqualValues(t, 50, p.Usage.OutputTokens)
			require.NotEmpty(t, p.Session)
		})
	}
}
