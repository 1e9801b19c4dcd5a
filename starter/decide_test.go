package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func formFile(t *testing.T, name string, into any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "internal", "convergence", "testdata", name))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, into))
}

// decision is what decide prints, as strangers read it.
type decision struct {
	Decision  json.RawMessage   `json:"decision"`
	Decisions []json.RawMessage `json:"decisions"`
	Events    int               `json:"events"`
	Bounds    map[string]any    `json:"bounds"`
	Seats     map[string]any    `json:"seats"`
	Rejected  []json.RawMessage `json:"engineReceiptRejections"`
	Digest    string            `json:"definitionDigest"`
	Plan      *string           `json:"planDigest"`
}

type command struct {
	Kind     string          `json:"kind"`
	NodeID   string          `json:"nodeId"`
	Position string          `json:"position"`
	Input    json.RawMessage `json:"input"`
	Reason   string          `json:"reason"`
	Code     string          `json:"code"`
	Message  string          `json:"message"`
	Output   json.RawMessage `json:"output"`
}

// formVector is a case of vectors.json.
type formVector struct {
	N          int
	Name       string
	Definition json.RawMessage
	Events     []json.RawMessage
	Expected   []struct {
		command
		ProofArtifactDigest       string
		Findings                  json.RawMessage
		MessageNames, ReasonNames []string
	}
	ExpectedSeatOutcomes      map[string]any
	ExpectedReceiptRejections []json.RawMessage
	Bounds                    struct{ Min, Max, MaxConcurrency, MaxFanOut float64 }
}

// TestDecideGivesEveryVector: the 57 cases of the form through the command, which uses convergence/v3 by default.
func TestDecideGivesEveryVector(t *testing.T) {
	var vectors []formVector
	formFile(t, "vectors.json", &vectors)
	require.Len(t, vectors, 57)
	c := newCLI(t)
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			events, err := json.Marshal(append([]json.RawMessage{}, v.Events...))
			require.NoError(t, err)
			c.write("d.json", string(v.Definition))
			c.write("e.json", string(events))
			got := c.run("", "decide", "--definition", "d.json", "--events", "e.json")
			require.Equal(t, 0, got.code, got.err)
			require.Empty(t, got.err)
			var doc decision
			require.NoError(t, json.Unmarshal([]byte(got.out), &doc))
			v.check(t, doc)
		})
	}
}

func (v formVector) check(t *testing.T, doc decision) {
	t.Helper()
	require.Len(t, doc.Decisions, len(v.Expected))
	if len(v.Expected) == 0 {
		require.Equal(t, "null", string(doc.Decision))
	} else {
		require.JSONEq(t, string(doc.Decisions[0]), string(doc.Decision))
	}
	for i, want := range v.Expected {
		var got command
		require.NoError(t, json.Unmarshal(doc.Decisions[i], &got))
		require.Equal(t, []string{want.Kind, want.NodeID, want.Position, want.Code}, []string{got.Kind, got.NodeID, got.Position, got.Code})
		same(t, want.Output, got.Output)
		var input struct {
			ProofArtifactDigest string
			Findings            json.RawMessage
		}
		if got.Kind == "dispatch" {
			keys := map[string]json.RawMessage{}
			require.NoError(t, json.Unmarshal(doc.Decisions[i], &keys))
			require.Len(t, keys, 4, "kind, nodeId, position and input")
			require.NoError(t, json.Unmarshal(got.Input, &input))
		}
		require.Equal(t, want.ProofArtifactDigest, input.ProofArtifactDigest)
		same(t, want.Findings, input.Findings)
		for _, name := range want.MessageNames {
			require.Contains(t, got.Message, name)
		}
		for _, name := range want.ReasonNames {
			require.Contains(t, got.Reason, name)
		}
	}
	require.Equal(t, v.ExpectedSeatOutcomes, doc.Seats)
	require.Len(t, doc.Rejected, len(v.ExpectedReceiptRejections))
	for i, want := range v.ExpectedReceiptRejections {
		require.JSONEq(t, string(want), string(doc.Rejected[i]))
	}
	known := func(n float64) any { return map[string]any{"kind": "known", "value": n} }
	require.Equal(t, map[string]any{
		"dispatches": map[string]any{"min": known(v.Bounds.Min), "max": known(v.Bounds.Max)}, "maxConcurrency": known(v.Bounds.MaxConcurrency), "maxFanOut": known(v.Bounds.MaxFanOut),
	}, doc.Bounds)
	require.Equal(t, len(v.Events), doc.Events)
	require.Regexp(t, `^sha256:[0-9a-f]{64}$`, doc.Digest)
	require.Nil(t, doc.Plan, "there is a plan digest with a resolution only")
}

func same(t *testing.T, want, got json.RawMessage) {
	t.Helper()
	if want == nil || got == nil {
		require.Equal(t, string(want), string(got))
		return
	}
	require.JSONEq(t, string(want), string(got))
}

func TestDecideGivesTheSeedsExample(t *testing.T) {
	var seed map[string]json.RawMessage
	formFile(t, "seed-example.json", &seed)
	c := newCLI(t)
	for _, name := range []string{"definition", "events", "resolution"} {
		c.write(name+".json", string(seed[name]))
	}
	args := []string{"decide", "--definition", "definition.json", "--events", "events.json", "--resolution", "resolution.json"}
	got := c.run("", append(args, "--rules", "convergence/v3")...)
	require.Equal(t, 0, got.code, got.err)
	var doc, want map[string]any
	require.NoError(t, json.Unmarshal([]byte(got.out), &doc))
	require.NoError(t, json.Unmarshal(seed["output"], &want))
	require.Len(t, want, 4)
	for key, value := range want {
		require.Equal(t, value, doc[key], key)
	}
	require.Equal(t, "sha256:499b4c4187dfb574d3a22653145a0b3289c7c6ed25eb106eb981ae86f4136aa1", doc["planDigest"])

	got = c.run("", append(args, "--rules", "conclave/v1")...)
	require.Equal(t, 0, got.code, got.err)
	require.Contains(t, got.out, `"NO_CHANGE"`, "a live writer has to say that it changed something")
}

// TestDecideReportsEveryProblemOfEveryDocument: nothing is hidden behind the first one.
func TestDecideReportsEveryProblemOfEveryDocument(t *testing.T) {
	c := newCLI(t)
	const valid = `{"id":"x","definitionVersion":1,"data":{"maxIterations":1,"maxReviewRestarts":0,"quorum":1,"requireDiversity":false,"skippableSeats":[],"seatConcurrency":1,"retryCapPerNode":0},
 "nodes":[{"id":"g","data":{"role":"generator"}},{"id":"e","data":{"role":"evaluator"}},{"id":"s","data":{"role":"seat"}},{"id":"r","data":{"role":"repair"}}],"edges":[]}`
	cases := []struct {
		name, definition, events, resolution string
		want                                 []string
	}{
		{"bad JSON", `{`, `[`, ``, []string{"d.json: /", "e.json: /", "INVALID_JSON_VALUE"}},
		{"events that are none", valid, `[{"type":"x"},{"type":"","version":0,"payload":1,"more":2},7]`, ``,
			[]string{"e.json: /0/version", "e.json: /0/payload", "e.json: /1/type", "e.json: /1/version", "e.json: /1/more", "e.json: /2:"}},
		{"no list", valid, `{}`, ``, []string{"e.json: /: must be a list"}},
		{"all layers of the form", strings.Replace(strings.Replace(valid, `"role":"repair"`, `"role":"boss"`, 1), `"quorum":1`, `"quorum":9`, 1), `[]`, ``,
			[]string{"d.json: /nodes/r/data/role", "INVALID_ROLE", "ROLE_COUNT", "d.json: /data/quorum", "INVALID_QUORUM"}},
		{"definition and events", strings.Replace(valid, `"maxIterations":1`, `"maxIterations":0`, 1), `[{}]`, ``, []string{"d.json: /data/maxIterations", "e.json: /0/type"}},
		{"a resolution of another shape", valid, `[]`, `{"package":{"source":1}}`, []string{"r.json: /package/source"}},
		{"bad JSON in a resolution", valid, `[]`, `{"package":}`, []string{"r.json: /package"}},
		{"a resolution of something else", valid, `[]`, `{"package":{"source":"s","version":"1","digest":"sha256:x"},"admission":{"package":{},"permissions":[]},"executionLanes":[{"id":"q","effective":{},"fallbacks":[]}]}`,
			[]string{"r.json: /package/digest", "PACKAGE_NOT_ADMITTED", "r.json: /executionLanes/0"}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c.write("d.json", tc.definition)
			c.write("e.json", tc.events)
			args := []string{"decide", "--definition", "d.json", "--events", "e.json"}
			if tc.resolution != "" {
				c.write("r.json", tc.resolution)
				args = append(args, "--resolution", "r.json")
			}
			got := c.run("", args...)
			require.Equal(t, exitUsage, got.code)
			require.Empty(t, got.out)
			for _, part := range tc.want {
				require.Contains(t, got.err, part)
			}
		})
	}
	got := c.run("", "decide")
	require.Contains(t, got.err, "--definition is missing")
	require.Contains(t, got.err, "--events is missing")
}

func TestDecideReportsEveryProblem(t *testing.T) {
	c := newCLI(t)
	c.write("d.json", `{"id":"x","definitionVersion":1,"data":{},"nodes":[],"edges":[]}`)
	c.write("e.json", `[{"type":"x"},{"type":"y","version":0,"payload":{}}]`)
	got := c.run("", "decide", "--definition", "d.json", "--events", "e.json")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, "ROLE_COUNT")
	require.Contains(t, got.err, "/data/maxIterations")
	c.write("bad.json", `{`)
	got = c.run("", "decide", "--definition", "bad.json", "--events", "e.json")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, "bad.json")
}
