package convergence

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// vector is one case of testdata/vectors.json.
type vector struct {
	N          int             `json:"n"`
	Name       string          `json:"name"`
	Definition json.RawMessage `json:"definition"`
	Events     []Event         `json:"events"`
	Expected   []struct {
		Kind                string          `json:"kind"`
		NodeID              string          `json:"nodeId"`
		Position            string          `json:"position"`
		ProofArtifactDigest string          `json:"proofArtifactDigest"`
		Findings            json.RawMessage `json:"findings"`
		Output              json.RawMessage `json:"output"`
		Code                string          `json:"code"`
		MessageNames        []string        `json:"messageNames"`
		ReasonNames         []string        `json:"reasonNames"`
	} `json:"expected"`
	ExpectedSeatOutcomes      map[string]*Outcome `json:"expectedSeatOutcomes"`
	ExpectedReceiptRejections []Rejection         `json:"expectedReceiptRejections"`
	Bounds                    struct {
		Min            int64 `json:"min"`
		Max            int64 `json:"max"`
		MaxConcurrency int64 `json:"maxConcurrency"`
		MaxFanOut      int64 `json:"maxFanOut"`
	} `json:"bounds"`
}

func readVectors(t testing.TB) []vector {
	raw, err := os.ReadFile("testdata/vectors.json")
	require.NoError(t, err)
	var vectors []vector
	require.NoError(t, json.Unmarshal(raw, &vectors))
	require.Len(t, vectors, 57)
	return vectors
}

func TestVectorsOfTheForm(t *testing.T) {
	for _, v := range readVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			m, err := Compile(v.Definition, V3)
			require.NoError(t, err)
			s := m.Initial()
			for _, e := range v.Events {
				s = m.Reduce(s, e)
			}
			checkVectorCommands(t, v, m.Decide(s))
			for id, want := range v.ExpectedSeatOutcomes {
				require.Equal(t, want, m.Outcomes(s)[id].Outcome, "outcome of %s", id)
			}
			require.Len(t, m.Outcomes(s), len(v.ExpectedSeatOutcomes))
			require.ElementsMatch(t, v.ExpectedReceiptRejections, s.EngineReceiptRejections.Slice())
			b := m.Bounds()
			require.Equal(t, v.Bounds.Min, b.Dispatches.Min.Value)
			require.Equal(t, v.Bounds.Max, b.Dispatches.Max.Value)
			require.Equal(t, v.Bounds.MaxConcurrency, b.MaxConcurrency.Value)
			require.Equal(t, v.Bounds.MaxFanOut, b.MaxFanOut.Value)
			requireRoundTrip(t, s)
		})
	}
}

// checkVectorCommands compares what form.md says must be equal. An absent key in
// the vector means an absent key in the command.
func checkVectorCommands(t *testing.T, v vector, got []Command) {
	require.Len(t, got, len(v.Expected))
	for i, want := range v.Expected {
		c := got[i]
		require.Equal(t, want.Kind, c.Kind)
		require.Equal(t, want.NodeID, c.NodeID)
		require.Equal(t, want.Position, c.Position)
		require.Equal(t, want.Code, c.Code)
		var input struct {
			ProofArtifactDigest string          `json:"proofArtifactDigest"`
			Findings            json.RawMessage `json:"findings"`
		}
		if c.Input != nil {
			require.NoError(t, json.Unmarshal(c.Input, &input))
		}
		require.Equal(t, want.ProofArtifactDigest, input.ProofArtifactDigest)
		requireSameJSON(t, want.Findings, input.Findings)
		requireSameJSON(t, want.Output, c.Output)
		for _, name := range want.MessageNames {
			require.Contains(t, c.Message, name)
		}
		for _, name := range want.ReasonNames {
			require.Contains(t, c.Reason, name)
		}
	}
}

func requireSameJSON(t *testing.T, want, got json.RawMessage) {
	if len(want) == 0 || len(got) == 0 {
		require.Equal(t, string(want), string(got))
		return
	}
	require.JSONEq(t, string(want), string(got))
}

func requireRoundTrip(t require.TestingT, s State) {
	raw, err := json.Marshal(s)
	require.NoError(t, err)
	var back State
	require.NoError(t, json.Unmarshal(raw, &back))
	require.Equal(t, s, back)
}

func TestSeedExample(t *testing.T) {
	raw, err := os.ReadFile("testdata/seed-example.json")
	require.NoError(t, err)
	var seed struct {
		Definition json.RawMessage `json:"definition"`
		Events     json.RawMessage `json:"events"`
		Resolution Resolution      `json:"resolution"`
		Output     json.RawMessage `json:"output"`
	}
	require.NoError(t, json.Unmarshal(raw, &seed))
	m, err := Compile(seed.Definition, V3)
	require.NoError(t, err)
	events, err := ParseEvents(seed.Events)
	require.NoError(t, err)
	s := m.Initial()
	for _, e := range events {
		s = m.Reduce(s, e)
	}
	plan, err := ResolvePlan(m.Describe(), seed.Resolution)
	require.NoError(t, err)
	require.Equal(t, "sha256:499b4c4187dfb574d3a22653145a0b3289c7c6ed25eb106eb981ae86f4136aa1", plan.Digest)
	got, err := json.Marshal(map[string]any{
		"decision": m.Decide(s)[0], "events": len(events), "planDigest": plan.Digest, "bounds": plan.Plan.Bounds,
	})
	require.NoError(t, err)
	require.JSONEq(t, string(seed.Output), string(got))
}
