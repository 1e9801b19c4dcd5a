package loop

import (
	"slices"

	"conclave/internal/convergence"
	"conclave/internal/record"
)

// nodes answers what the definition says about a node.
type nodes struct {
	byID    map[string]convergence.NodeData
	voting  map[string]bool
	writers []string
	// globs are the evidence paths that are no node and no built-in key.
	globs []string
}

// builtInEvidence are the evidence keys that every run reports.
var builtInEvidence = []string{"requirement", "contract", "constraints"}

func nodesOf(m *convergence.Machine) nodes {
	out := nodes{byID: map[string]convergence.NodeData{}, voting: map[string]bool{}}
	for _, node := range m.Definition().Nodes {
		out.byID[node.ID] = node.Data
		if node.Data.Role == convergence.RoleGenerator || node.Data.Role == convergence.RoleRepair {
			out.writers = append(out.writers, node.ID)
		}
	}
	for _, seat := range m.Seats() {
		out.voting[seat.ID] = seat.Voting
	}
	for _, node := range m.Definition().Nodes {
		for _, path := range node.Data.EvidencePaths {
			known := slices.Contains(builtInEvidence, path) || slices.Contains(out.writers, path) || slices.Contains(out.globs, path)
			if !known {
				out.globs = append(out.globs, path)
			}
		}
	}
	return out
}

func (n nodes) role(id string) convergence.Role { return n.byID[id].Role }

// requested is the engine that a node's lane asks for; the zero Engine for a data-only node.
func (n nodes) requested(id string) record.Engine {
	lane := n.byID[id].Lane
	if lane == nil {
		return record.Engine{}
	}
	t := lane.Requested
	return record.Engine{Adapter: t.Adapter, Provider: t.Provider, ModelFamily: t.ModelFamily, Model: t.Model}
}
