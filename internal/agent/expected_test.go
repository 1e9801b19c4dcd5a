package agent

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// expected is a row of the tables for others who read the captures: the starter's tests of `adapters explain`.
type expected struct {
	Adapter string `json:"adapter"`
	Case    string `json:"case"`
	Exit    int    `json:"exit"`
	Class   Class  `json:"class"` // "" where there is no adapter
	Message string `json:"message"`
	Model   string `json:"model"`
	Source  string `json:"source"`
	Input   int64  `json:"input_tokens"`
	Output  int64  `json:"output_tokens"`
	Session string `json:"session"`
}

// TestExpectationsAreWritten keeps testdata/captures/expected.jsonl equal to the tables.
func TestExpectationsAreWritten(t *testing.T) {
	var all []expected
	for adapter, table := range captureTables {
		for _, e := range table {
			row := expected{Adapter: adapter, Case: e.name, Exit: e.exit, Class: e.class, Message: e.message, Input: e.tokens[0], Output: e.tokens[1]}
			if adapter != "qwen" {
				stdout, _ := readCapture(t, adapter, e.name)
				row.Session = streamSession(stdout)
			}
			row.Model, row.Source, _ = strings.Cut(e.reported, "/")
			all = append(all, row)
		}
	}
	slices.SortFunc(all, func(a, b expected) int { return cmp.Compare(a.Adapter+"/"+a.Case, b.Adapter+"/"+b.Case) })
	var b strings.Builder
	for _, row := range all {
		line, err := json.Marshal(row)
		require.NoError(t, err)
		b.Write(append(line, '\n'))
	}
	path := filepath.Join("testdata", "captures", "expected.jsonl")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o644))
	}
	have, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, b.String(), string(have), "go test ./internal/agent -update writes it")
}
