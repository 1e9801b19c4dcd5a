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
