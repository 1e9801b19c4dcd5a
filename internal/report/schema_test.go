package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"conclave/internal/record"
)

const schemaFile = "../../docs/run.schema.json"

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	schema, err := compiler.Compile(schemaFile)
	require.NoError(t, err)
	return schema
}

func document(t *testing.T, raw []byte) any {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	require.NoError(t, err)
	return value
}

func TestRunJSONFollowsItsSchema(t *testing.T) {
	schema := compiled(t)
	for name, make := range map[string]func(shelf) record.Run{
		"converged": twoIterations, "halted": haltedRun,
		"fresh": func(shelf) record.Run {
			return record.Run{Schema: record.Schema, RunID: "add-cache-k3f9q", Steps: []record.Step{{ID: "01", Role: "implementer", Status: record.Running}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			root, s := t.TempDir(), shelf{}
			writeRun(t, root, s, make(s))
			raw, err := os.ReadFile(filepath.Join(root, below("add-cache-k3f9q"), "run.json"))
			require.NoError(t, err)
			require.NoError(t, schema.Validate(document(t, raw)))
		})
	}
}

func TestSchemaRefusesWhatIsWrong(t *testing.T) {
	schema := compiled(t)
	for name, spoil := range map[string]func(*record.Run){
		"stop reason":       func(r *record.Run) { r.Stop = "teleported" },
		"false convergence": func(r *record.Run) { r.Converged = false },
		"false end":         func(r *record.Run) { r.Stop = record.Stalled },
		"status":            func(r *record.Run) { r.Steps[0].Status = "" },
		"verdict":           func(r *record.Run) { r.Steps[0].Verdict = "maybe" },
		"role":              func(r *record.Run) { r.Steps[0].Role = "owner" },
		"exit code":         func(r *record.Run) { r.ExitCode = 7 },
		"null list":         func(r *record.Run) { r.Findings = nil },
		"schema number":     func(r *record.Run) { r.Schema = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			run := complete(twoIterations(shelf{}), nil)
			spoil(&run)
			require.Error(t, schema.Validate(document(t, asJSON(run))))
		})
	}
}

// Every field of the record is described, and nothing else is.
func TestSchemaAndRecordHaveTheSameFields(t *testing.T) {
	raw, err := os.ReadFile(schemaFile)
	require.NoError(t, err)
	type object struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	var schema struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(raw, &schema))
	schema.Defs["run"] = schema.object
	for name, value := range map[string]any{
		"run": record.Run{}, "bounds": record.Bounds{}, "step": record.Step{}, "identity": record.Identity{}, "engine": record.Engine{},
		"usage": record.Usage{}, "stats": record.Stats{}, "finding": record.Finding{}, "place": record.Place{}, "ruling": record.Ruling{},
		"refused_ruling": record.RefusedRuling{}, "change": record.Change{},
	} {
		t.Run(name, func(t *testing.T) {
			var fields, described, always []string
			for i := range reflect.TypeOf(value).NumField() {
				field, options, _ := strings.Cut(reflect.TypeOf(value).Field(i).Tag.Get("json"), ",")
				fields = append(fields, field)
				if options == "" {
					always = append(always, field)
				}
			}
			for field := range schema.Defs[name].Properties {
				described = append(described, field)
			}
			require.ElementsMatch(t, fields, described)
			require.ElementsMatch(t, always, schema.Defs[name].Required)
		})
	}
}
