package main

import (
	"crypto/sha256"
	"encoding/hex"

	"conclave/internal/convergence"
)

// planDigest identifies what decides a run: the definition, its engines and the rules. Every lane runs on what it asks for.
func planDigest(m *convergence.Machine) (string, error) {
	sum := sha256.Sum256([]byte(m.Rules().Name))
	pack := convergence.Package{Source: "conclave", Version: m.Rules().Name, Digest: "sha256:" + hex.EncodeToString(sum[:])}
	resolution := convergence.Resolution{Package: pack, Admission: convergence.Admission{Package: pack, Permissions: []convergence.Permission{}}}
	description := m.Describe()
	for _, lane := range description.ExecutionLanes {
		resolution.ExecutionLanes = append(resolution.ExecutionLanes, convergence.LaneResolution{
			ID: lane.ID, Effective: lane.Requested, Fallbacks: append([]convergence.Target{}, lane.KnownSubstitutions...),
		})
	}
	resolved, err := convergence.ResolvePlan(description, resolution)
	return resolved.Digest, err
}
